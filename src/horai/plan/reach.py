"""How far the rules of a component look into the past and the future.

From this an engine knows what it may forget: what lies further back than any rule looks, and what
no item that may still arrive can change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from horai.lang.ec import syntax as ec
from horai.lang.terms import Term, Var
from horai.plan.literals import literal_fvp
from horai.plan.program import DelayPlan, Key, Program, Stratum, key_of
from horai.plan.readings import Helpers, Reading, readings
from horai.plan.scopes import names

Source = tuple[str, Key]  # "event" or "fluent", and what it is called


@dataclass(frozen=True, slots=True)
class Look:
    """A relation that is read `back` before to `ahead` after the head's time; None: unbounded.

    A start or end (`edge`) is known one time-point later than it is said to be. What a delayed
    effect asks about the time of its attempt (`attempt`) is read as far back as attempts are open;
    intervals that are compared, as far back as those begin that go on after the cut.
    """

    source: Source
    back: int | None
    ahead: int | None
    edge: bool = False
    attempt: bool = False


@dataclass(slots=True)
class Reach:
    """What a component reads.

    `whole` marks rules that depend on the query time or on interval lists as wholes: nothing they
    say is ever final. `durations` are bounds of duration filters, `relations` Allen relations: what
    they say of an interval is final only when the interval is.
    """

    looks: list[Look] = field(default_factory=list)
    whole: bool = False
    durations: list[Term] = field(default_factory=list)
    relations: list[ec.Allen] = field(default_factory=list)


def reach_of(stratum: Stratum, program: Program) -> Reach:
    """What the rules of a component look at."""
    found = Reach()
    for plan in stratum.points:
        for reading in readings(_rule(plan.clause, program), program.graph.helpers):
            found.looks.append(_look(reading))
        found.whole |= _never_final(plan.body, program)
        # A new member of a dynamic domain has a past of its own.
        found.whole |= bool(plan.domain) and bool(program.dynamic)
    for static in stratum.static:
        _add_static(found, static.rule, program)
    for delay in stratum.delays:
        for reading in readings(delay.rule, program.graph.helpers):
            found.looks.append(_delayed_look(reading, delay))
        if delay.origin_key not in stratum.fluents:
            found.looks.append(Look(("fluent", delay.origin_key), 0, 0))
        found.whole |= _never_final(delay.rule.body, program)
    return found


def _rule(clause: ec.Clause, program: Program) -> ec.Rule:
    return next(rule for rule in program.description.rules if rule.clause is clause)


def _look(reading: Reading) -> Look:
    if isinstance(reading.literal, ec.HoldsFor):
        return Look(_source(reading), None, None)
    edge = isinstance(reading.literal, ec.Edge)
    return Look(_source(reading), reading.back, reading.ahead, edge)


def _delayed_look(reading: Reading, delay: DelayPlan) -> Look:
    """The head's time is the deadline, which lies after the cut while an attempt is open."""
    literal = reading.literal
    if reading.back is not None:
        return Look(_source(reading), reading.back, 0)
    at_attempt = (
        isinstance(literal, ec.HoldsAt)
        and delay.time is not None
        and literal.time == Var(delay.time)
        and not reading.through
    )
    return Look(_source(reading), 0 if at_attempt else None, 0, attempt=at_attempt)


def _source(reading: Reading) -> Source:
    literal = reading.literal
    if isinstance(literal, ec.Happens):
        return "event", key_of(literal.event)
    fvp = literal_fvp(literal)
    assert fvp is not None
    return "fluent", key_of(fvp.fluent)


def _add_static(found: Reach, rule: ec.HoldsForRule | ec.HoldsAtRule, program: Program) -> None:
    parts = unfolded(rule.body, program.graph.helpers)
    compares = any(isinstance(literal, ec.Allen) for literal in parts)
    for reading in readings(rule, program.graph.helpers):
        # Interval operations and formulas say something of each time-point by itself.
        found.looks.append(Look(_source(reading), 0, 0, attempt=compares))
    found.whole |= _never_final(rule.body, program)
    if isinstance(rule, ec.HoldsAtRule):
        # A formula that only asks about an entity speaks of all that are known.
        asked = names(rule.fvp.term) - _given(rule.body)
        grounded = key_of(rule.fvp.fluent) in program.groundings and not program.dynamic
        found.whole |= bool(asked) and not grounded
    lists = _interval_variables(rule)
    for literal in unfolded(rule.body, program.graph.helpers):
        match literal:
            case ec.Duration(bound=bound):
                found.durations.append(bound)
            case ec.Allen():
                found.relations.append(literal)
            case ec.Compare() | ec.Is() | ec.Call() | ec.FindAll() | ec.Aggregate():
                # A list looked at as a whole says something of its end, which may still change.
                found.whole |= bool(names(literal.term) & lists)
            case _:
                pass


def _given(literal: ec.Literal) -> frozenset[str]:
    """The variables that conditions give a value to, whatever is absent."""
    match literal:
        case ec.And(items=items):
            return frozenset().union(*(_given(item) for item in items))
        case ec.Or(items=items):
            found = [_given(item) for item in items]
            return frozenset.intersection(*found) if found else frozenset()
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            return (_given(condition) | _given(then)) & _given(otherwise)
        case ec.Not() | ec.Compare():
            return frozenset()
        case _:
            return names(literal.term)


def _interval_variables(rule: ec.HoldsForRule | ec.HoldsAtRule) -> frozenset[str]:
    found = names(rule.intervals) if isinstance(rule, ec.HoldsForRule) else frozenset()
    for literal in ec.walk(rule.body):
        match literal:
            case ec.HoldsFor(intervals=intervals):
                found |= names(intervals)
            case ec.IntervalOp(result=result) | ec.Duration(result=result):
                found |= names(result)
            case ec.Allen(result=result):
                found |= names(result)
            case _:
                pass
    return found


def absence_read(program: Program, present: Iterable[ec.Clause] = ()) -> frozenset[Key]:
    """Fluents of rules that may speak of what is absent: their instances are never forgotten.

    The rules of some clauses are known to speak of what is `present` only.
    """
    found: set[Key] = set()
    skipped = {id(clause) for clause in present}
    for rule in program.description.rules:
        if id(rule.clause) in skipped:
            continue
        body = getattr(rule, "body", None)
        if body is None or isinstance(rule, ec.BackgroundRule | ec.Grounding):
            continue
        parts = list(ec.walk(body))
        lists = any(isinstance(part, ec.HoldsFor) for part in parts)
        if lists or isinstance(rule, ec.HoldsAtRule):
            found.update(
                key_of(part.fvp.fluent)
                for part in parts
                if isinstance(part, ec.HoldsFor | ec.HoldsAt)
            )
    return frozenset(found)


def _never_final(body: ec.Literal, program: Program) -> bool:
    """Does a body ask for the query time, or for members that may still come?"""
    asked = program.dynamic | {("queryTime", 1)}
    return any(
        isinstance(part, ec.Call) and part.key in asked
        for part in unfolded(body, program.graph.helpers)
    )


def unfolded(body: ec.Literal, helpers: Helpers) -> list[ec.Literal]:
    """All conditions of a body, those of helper predicates included."""
    found: list[ec.Literal] = []
    seen: set[Key] = set()
    bodies = [body]
    while bodies:
        for part in ec.walk(bodies.pop()):
            found.append(part)
            if isinstance(part, ec.Call) and part.key not in seen:
                seen.add(part.key)
                bodies += [rule.body for rule in helpers.rules.get(part.key, ())]
    return found
