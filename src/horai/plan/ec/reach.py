"""How far the rules of a component look into the past and the future, and when they are final.

From this an engine knows what it may forget: what lies further back than any rule looks, and what
no item that may still arrive can change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from horai.lang.core.printer import show
from horai.lang.core.terms import Term, Var, key_of
from horai.lang.ec import syntax as ec
from horai.plan.ec.literals import Names, given_by, names
from horai.plan.ec.readings import Reading, readings
from horai.plan.program import DelayPlan, Key, Plan, PointPlan, StaticPlan, Stratum
from horai.plan.unfolding import Helpers

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
class ComponentReach:
    """A reading of a component.

    `whole` marks rules that depend on the query time or on interval lists as wholes: nothing they
    say is ever final. `durations` are bounds of duration filters, `relations` Allen relations: what
    they say of an interval is final only when the interval is.
    """

    looks: list[Look] = field(default_factory=list)
    whole: bool = False
    durations: list[Term] = field(default_factory=list)
    relations: list[ec.Allen] = field(default_factory=list)


def reach_of(stratum: Stratum, program: Plan) -> ComponentReach:
    """The stretch that the rules of a component look at."""
    found = ComponentReach()
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
        found.whole |= bool(delay.domain) and bool(program.dynamic)
    return found


def _rule(clause: ec.Clause, program: Plan) -> ec.Rule:
    return next(rule for rule in program.description.rules if rule.clause is clause)


def _look(reading: Reading) -> Look:
    if isinstance(reading.literal, ec.HoldsFor):
        return Look(_source(reading), None, None)
    edge = isinstance(reading.literal, ec.Edge)
    return Look(_source(reading), reading.back, reading.ahead, edge)


def _delayed_look(reading: Reading, delay: DelayPlan) -> Look:
    """The head's time is the deadline, which lies after the cut while an attempt is open."""
    literal, source = reading.literal, _source(reading)
    edge = isinstance(literal, ec.Edge)
    time = None if isinstance(literal, ec.HoldsFor) or reading.through else literal.time
    if delay.time is not None and time == Var(delay.time):
        return Look(source, 0, 0, edge, attempt=True)
    return Look(source, reading.back, reading.ahead, edge)


def _source(reading: Reading) -> Source:
    literal = reading.literal
    if isinstance(literal, ec.Happens):
        return "event", key_of(literal.event)
    return "fluent", literal.fvp.key


def _add_static(
    found: ComponentReach, rule: ec.HoldsForRule | ec.HoldsAtRule, program: Plan
) -> None:
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
            case ec.DurationFilter(bound=bound):
                found.durations.append(bound)
            case ec.Allen():
                found.relations.append(literal)
            case ec.Compare() | ec.Is() | ec.Call() | ec.FindAll() | ec.AggregateAll():
                # A list looked at as a whole says something of its end, which may still change.
                found.whole |= bool(names(literal.term) & lists)


def _given(literal: ec.Literal) -> Names:
    """The variables that conditions give a value to, whatever is absent."""
    match literal:
        case ec.Conjunction(items=items):
            return frozenset().union(*(_given(item) for item in items))
        case ec.Disjunction(items=items):
            found = [_given(item) for item in items]
            return frozenset.intersection(*found) if found else frozenset()
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            return (_given(condition) | _given(then)) & _given(otherwise)
        case ec.Negation() | ec.Compare():
            return frozenset()
        case _:
            return names(literal.term)


def _interval_variables(rule: ec.HoldsForRule | ec.HoldsAtRule) -> Names:
    found = names(rule.intervals) if isinstance(rule, ec.HoldsForRule) else names()
    for literal in ec.walk(rule.body):
        if isinstance(literal, ec.HoldsFor):
            found |= names(literal.intervals)
        elif isinstance(literal, ec.Computation) and not isinstance(literal, ec.Is):
            found |= given_by(literal)
    return found


def _never_final(body: ec.Literal, program: Plan) -> bool:
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


HasReach = PointPlan | StaticPlan | DelayPlan
AT_FRONTIER = "up to the frontier"


@dataclass(frozen=True, slots=True)
class Looks:
    """Time-points before and after the head's own that a rule reads; None: without bound."""

    back: int | None
    ahead: int | None
    final: str

    @property
    def words(self) -> str:
        """The words worth saying: none of a rule that looks at its own time only."""
        found = []
        if self.back != 0:
            found.append(f"looks back {_far(self.back)}")
        if self.ahead != 0:
            found.append(f"looks ahead {_far(self.ahead)}")
        if self.final != AT_FRONTIER:
            found.append(f"final {self.final}")
        return "; ".join(found)


def looks_of(plan: HasReach, stratum: Stratum, program: Plan) -> Looks:
    """The stretch that one rule of a component looks at."""
    alone = Stratum(stratum.component)
    match plan:
        case PointPlan(kind="initially"):
            return Looks(0, 0, "from the start of the run")
        case PointPlan():
            alone.points = [plan]
        case StaticPlan():
            alone.static = [plan]
        case DelayPlan():
            alone.delays = [plan]
    reach = reach_of(alone, program)
    back = _most([look.back for look in reach.looks])
    ahead = _most([look.ahead for look in reach.looks])
    return Looks(back, ahead, _final(reach, stratum))


def _final(reach: ComponentReach, stratum: Stratum) -> str:
    if reach.whole:
        return "never: it depends on the query time or on all that is known"
    own = {("fluent", key) for key in stratum.fluents} | {("event", key) for key in stratum.events}
    read = [look for look in reach.looks if look.source not in own]
    if any(look.ahead is None for look in read):
        return "never: it looks at whole interval lists or at any later time"
    # A start or end is known one time-point later than it is said to be.
    late, edge = max(((max(0, look.ahead or 0), look.edge) for look in read), default=(0, False))
    parts = [str(late)] * (late > 0) + ["one time-point"] * edge
    found = f"up to {' and '.join(parts)} before the frontier" if parts else AT_FRONTIER
    if reach.durations:
        bounds = ", ".join(show(bound) for bound in reach.durations)
        found += f", where no interval waits for its duration ({bounds})"
    if reach.relations:
        found += ", where no interval waits for an Allen relation"
    return found


def _most(ways: list[int | None]) -> int | None:
    known = [way for way in ways if way is not None]
    return None if len(known) < len(ways) else max([0, *known])


def _far(way: int | None) -> str:
    return "without bound" if way is None else str(way)
