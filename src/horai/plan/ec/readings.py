"""The readings of a rule: its temporal conditions with sign and timing, helper predicates unfolded.

Dependencies and partition keys have to see through helpers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from horai.lang.core.terms import Compound, Int, Var, variables
from horai.lang.ec.syntax import (
    AggregateAll,
    Allen,
    BackgroundRule,
    Call,
    Conjunction,
    Disjunction,
    Edge,
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
    Literal,
    Negation,
    Rule,
    TerminatedAt,
    Termination,
    conjuncts,
    walk,
)
from horai.plan.ec.delays import Effect, initiation_times
from horai.plan.ec.timing import ScopeTimes, Timing, timing_of
from horai.plan.ec.unify import Renamer
from horai.plan.unfolding import Helpers

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
    clock: ScopeTimes
    positive: bool = True
    aggregated: bool = False
    through: tuple[tuple[str, int], ...] = ()


def _rule_clock(rule: Rule, helpers: Helpers) -> ScopeTimes:
    """The clock of a rule's body: its reference is the time at which the head takes effect."""
    match rule:
        case Initiation(time=time) | Termination(time=time) | EventRule(time=time):
            return ScopeTimes(time)
        case FutureInitiation() | FutureTermination():
            return _future_clock(rule, helpers)
        case _:
            # A name no reader produces: nothing is known relative to it.
            return ScopeTimes(Var("(no time)"))


def _future_clock(rule: Effect, helpers: Helpers) -> ScopeTimes:
    """The effect comes at T+R, where T is the time of initiation; both are settled by then."""
    names, delay = initiation_times(rule, helpers), rule.delay
    due = Var("(deadline)")
    least = delay.value if isinstance(delay, Int) else 1
    known = [(name, due.name, -least) for name in names]
    starts = [Var(name) for name in names]
    sums = [Compound("+", pair) for t in starts for pair in ((t, delay), (delay, t))]
    return ScopeTimes(due, tuple(known), tuple(sums))


def readings(rule: Rule, helpers: Helpers) -> list[Reading]:
    """The temporal conditions of a rule, in the order written."""
    body = getattr(rule, "body", None)
    if body is None or isinstance(rule, Grounding | BackgroundRule):
        return []
    found = list(_read(body, _Scope(_rule_clock(rule, helpers)), helpers, Renamer()))
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
        case Conjunction():
            # Helpers may compute a deadline, or a time before it.
            whole = helpers.unfolded(literal) if scope.clock.due else literal
            inner = replace(scope, clock=scope.clock.within(conjuncts(whole)))
            for item in literal.items:
                yield from _read(item, inner, helpers, names)
        case Disjunction(items=items):
            for item in items:
                yield from _read(item, scope, helpers, names)
        case Negation(item=item):
            inner = replace(scope, positive=not scope.positive)
            yield from _read(item, inner, helpers, names)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            # The condition also decides the else branch, so it counts as negated too.
            yield from _read(condition, replace(scope, positive=False), helpers, names)
            yield from _read(then, scope, helpers, names)
            yield from _read(otherwise, scope, helpers, names)
        case FindAll(goal=goal) | AggregateAll(goal=goal):
            yield from _read(goal, replace(scope, aggregated=True), helpers, names)
        case Call() if literal.key in helpers.temporal and literal.key not in scope.through:
            inner = replace(scope, through=(*scope.through, literal.key))
            for body in helpers.bodies(literal, names):
                yield from _read(body, inner, helpers, names)
        case _:
            pass


def _subtracted(body: Conjunction) -> set[str]:
    """Interval variables that only ever take away: the later arguments of complements."""
    added: set[str] = set()
    removed: set[str] = set()
    for literal in walk(body):
        match literal:
            case IntervalOp(kind=kind, base=base, lists=lists):
                match kind:
                    case "complement_all":
                        removed.update(variables(lists))
                    case "relative_complement_all":
                        removed.update(variables(lists))
                        added.update(variables(base) if base is not None else ())
                    case "union_all" | "intersect_all":
                        added.update(variables(lists))
                    case _:
                        assert_never(kind)
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
