"""What a rule reads: its temporal conditions with sign and timing, helper predicates unfolded.

Background predicates may hide temporal conditions (`busy(X,T) :- holdsAt(working(X)=true,T).`);
dependencies and partition keys have to see through them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from horai.lang.ec.syntax import (
    Aggregate,
    Allen,
    And,
    BackgroundRule,
    Call,
    Edge,
    EventDescription,
    EventRule,
    FindAll,
    FutureInitiation,
    FutureTermination,
    Grounding,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    Initiation,
    IntervalOp,
    Is,
    Literal,
    Not,
    Or,
    Rule,
    TerminatedAt,
    Termination,
    conjuncts,
    walk,
)
from horai.lang.terms import Atom, Compound, Term, Var, functor, variables
from horai.plan.timing import Clock, Timing, timing_of
from horai.plan.unify import Renamer, substitute_literal, unify

TEMPORAL = (Happens, Edge, HoldsAt, HoldsFor, InitiatedAt, TerminatedAt)
Temporal = Happens | Edge | HoldsAt | HoldsFor | InitiatedAt | TerminatedAt


@dataclass(frozen=True, slots=True)
class Reading:
    """One temporal condition of a rule. `through` names the background predicates it sits in."""

    literal: Temporal
    positive: bool
    aggregated: bool
    timing: Timing
    through: tuple[tuple[str, int], ...] = ()
    # How far before and after the head's time it may look; None without bound.
    back: int | None = None
    ahead: int | None = None

    @property
    def monotone(self) -> bool:
        """True when more of what is read can only make the rule fire more often."""
        return self.positive and not self.aggregated


@dataclass(frozen=True, slots=True)
class _Scope:
    clock: Clock
    positive: bool = True
    aggregated: bool = False
    through: tuple[tuple[str, int], ...] = ()


class Helpers:
    """Background rules by name and arity; those that hide temporal conditions are `temporal`."""

    def __init__(self, description: EventDescription) -> None:
        self.rules: dict[tuple[str, int], list[BackgroundRule]] = {}
        for rule in description.rules:
            if isinstance(rule, BackgroundRule):
                key = functor(rule.head)
                if key is not None:
                    self.rules.setdefault(key, []).append(rule)
        self.temporal = self._find_temporal()

    def _find_temporal(self) -> frozenset[tuple[str, int]]:
        calls: dict[tuple[str, int], set[tuple[str, int]]] = {}
        found: set[tuple[str, int]] = set()
        for key, rules in self.rules.items():
            inside = [literal for rule in rules for literal in walk(rule.body)]
            calls[key] = {literal.key for literal in inside if isinstance(literal, Call)}
            if any(isinstance(literal, TEMPORAL) for literal in inside):
                found.add(key)
        return callers(calls, found)


def callers(
    calls: dict[tuple[str, int], set[tuple[str, int]]], found: set[tuple[str, int]]
) -> frozenset[tuple[str, int]]:
    """The given predicates and all that call them, directly or not."""
    reached = set(found)
    while True:
        more = {key for key, called in calls.items() if called & reached} - reached
        if not more:
            return frozenset(reached)
        reached |= more


def rule_clock(rule: Rule) -> Clock:
    """The clock of a rule's body: its reference is the time at which the head takes effect."""
    match rule:
        case Initiation(time=time) | Termination(time=time) | EventRule(time=time):
            return Clock(time)
        case FutureInitiation(body=body, delay=delay) | FutureTermination(body=body, delay=delay):
            return _future_clock(body, delay)
        case _:
            # A name no reader produces: nothing is known relative to it.
            return Clock(Var("(no time)"))


def _future_clock(body: And, delay: Term) -> Clock:
    """The effect comes at T+R, where T is the time of initiation; both are settled by then."""
    names = future_times(body)
    due = Var("(deadline)")
    known = [(name, due.name, -1) for name in names]
    starts = [Var(name) for name in names]
    sums = [Compound("+", pair) for t in starts for pair in ((t, delay), (delay, t))]
    for literal in conjuncts(body):
        match literal:
            case Is(target=Var(name=name), expression=expression) if expression in sums:
                known.append((name, due.name, 0))
            case _:
                pass
    return Clock(due, tuple(known))


def future_times(body: And) -> list[str]:
    """The time variables of the body of an `fi` or `ft` that nothing binds but a reading.

    Exactly one of them stands for the time of initiation.
    """
    read: dict[str, None] = {}
    bound: set[str] = set()
    for literal in walk(body):
        match literal:
            case HoldsAt(time=Var(name=name)):
                read[name] = None
            case Is(target=Var(name=name), expression=expression):
                bound.add(name)
                if isinstance(expression, Compound) and expression.name in "+-":
                    read.update(dict.fromkeys(_time_operands(expression, body)))
            case Happens() | Edge() | InitiatedAt() | TerminatedAt():
                bound.update(variables(literal.time))
            case _:
                pass
    return [name for name in read if name not in bound]


def _time_operands(expression: Compound, body: And) -> list[str]:
    """The variables of a sum that nothing else in the body could bind."""
    elsewhere: set[str] = set()
    for literal in walk(body):
        if not isinstance(literal, Is | And | Or | Not | HoldsAt):
            elsewhere.update(variables(literal.term))
        elif isinstance(literal, HoldsAt):
            elsewhere.update(variables(literal.fvp.term))
        elif isinstance(literal, Is):
            elsewhere.update(variables(literal.target))
    first = expression.args[0]
    return [first.name] if isinstance(first, Var) and first.name not in elsewhere else []


def readings(rule: Rule, helpers: Helpers) -> list[Reading]:
    """The temporal conditions of a rule, in the order written."""
    body = getattr(rule, "body", None)
    if body is None or isinstance(rule, Grounding | BackgroundRule):
        return []
    found = list(_read(body, _Scope(rule_clock(rule)), helpers, Renamer()))
    taken_away = _subtracted(body)
    return [_mark_subtracted(reading, taken_away) for reading in found]


def _read(literal: Literal, scope: _Scope, helpers: Helpers, names: Renamer) -> Iterator[Reading]:
    match literal:
        case Happens() | Edge() | HoldsAt() | HoldsFor() | InitiatedAt() | TerminatedAt():
            timing = timing_of(literal, scope.clock)
            back = ahead = None
            if not isinstance(literal, HoldsFor):
                back, ahead = scope.clock.earliest(literal.time), scope.clock.latest(literal.time)
            yield Reading(
                literal, scope.positive, scope.aggregated, timing, scope.through, back, ahead
            )
        case And():
            inner = replace(scope, clock=scope.clock.within(conjuncts(literal)))
            for item in literal.items:
                yield from _read(item, inner, helpers, names)
        case Or(items=items):
            for item in items:
                yield from _read(item, scope, helpers, names)
        case Not(item=item):
            inner = replace(scope, positive=not scope.positive)
            yield from _read(item, inner, helpers, names)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            # The condition also decides the else branch, so it counts as negated too.
            yield from _read(condition, replace(scope, positive=False), helpers, names)
            yield from _read(then, scope, helpers, names)
            yield from _read(otherwise, scope, helpers, names)
        case FindAll(goal=goal) | Aggregate(goal=goal):
            yield from _read(goal, replace(scope, aggregated=True), helpers, names)
        case Call() if literal.key in helpers.temporal and literal.key not in scope.through:
            inner = replace(scope, through=(*scope.through, literal.key))
            yield from _read_helper(literal, inner, helpers, names)
        case _:
            pass


def _read_helper(call: Call, scope: _Scope, helpers: Helpers, names: Renamer) -> Iterator[Reading]:
    for rule in helpers.rules[call.key]:
        renaming = names.fresh(*variables(rule.head), *variables(rule.body.term))
        head = Compound(call.name, call.args) if call.args else Atom(call.name)
        fresh_head = substitute_literal(Call(call.name, _args(rule.head), rule.head), renaming).term
        unifier = unify(fresh_head, head)
        if unifier is None:
            continue
        body = substitute_literal(substitute_literal(rule.body, renaming), unifier)
        yield from _read(body, scope, helpers, names)


def _args(head: Term) -> tuple[Term, ...]:
    return head.args if isinstance(head, Compound) else ()


def _subtracted(body: And) -> set[str]:
    """Interval variables that only ever take away: the later arguments of complements."""
    added: set[str] = set()
    removed: set[str] = set()
    for literal in walk(body):
        match literal:
            case IntervalOp(kind="complement_all", lists=lists):
                removed.update(variables(lists))
            case IntervalOp(kind="relative_complement_all", base=base, lists=lists):
                removed.update(variables(lists))
                added.update(variables(base) if base is not None else ())
            case IntervalOp(lists=lists):
                added.update(variables(lists))
            case Allen(source=source, target=target):
                added.update(variables(source), variables(target))
            case _:
                pass
    return removed - added


def _mark_subtracted(reading: Reading, taken_away: set[str]) -> Reading:
    literal = reading.literal
    if isinstance(literal, HoldsFor) and set(variables(literal.intervals)) & taken_away:
        return replace(reading, positive=not reading.positive)
    return reading
