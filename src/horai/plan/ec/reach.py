"""How far rules look into the past and the future, and when what they say is final."""

from __future__ import annotations

from dataclasses import dataclass

from horai.lang.core.printer import show
from horai.lang.core.terms import Var, key_of
from horai.lang.ec import syntax as ec
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import Names, given_by, names
from horai.plan.ec.readings import Reading, readings
from horai.plan.program import DelayPlan, Key, Plan, PointPlan, StaticPlan, Stratum
from horai.plan.unfolding import Helpers

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


def looks_of(plan: PointPlan | StaticPlan | DelayPlan, stratum: Stratum, program: Plan) -> Looks:
    """The stretch that a rule of a component looks at."""
    if isinstance(plan, PointPlan) and plan.kind == "initially":
        return Looks(0, 0, "from the start of the run")
    helpers = program.graph.helpers
    if isinstance(plan, PointPlan):
        rule = next(rule for rule in program.description.rules if rule.clause is plan.clause)
        parts = unfolded(plan.body, helpers)
    else:
        rule, parts = plan.rule, unfolded(plan.rule.body, helpers)
    found = [(reading, *_stretch(reading, plan)) for reading in readings(rule, helpers)]
    back, ahead = _most([one[1] for one in found]), _most([one[2] for one in found])
    if _is_never_final(plan, parts, program):
        return Looks(back, ahead, "never: it depends on the query time or on all that is known")
    own = {("fluent", key) for key in stratum.fluents} | {("event", key) for key in stratum.events}
    read = [(one, far) for one, _, far in found if _source(one) not in own]
    if any(far is None for _, far in read):
        return Looks(back, ahead, "never: it looks at whole interval lists or at any later time")
    # A start or end is known one time-point later than it is said to be.
    at_edge = not isinstance(plan, StaticPlan)
    late, edge = max(
        ((max(0, far or 0), at_edge and isinstance(one.literal, ec.Edge)) for one, far in read),
        default=(0, False),
    )
    words = [str(late)] * (late > 0) + ["one time-point"] * edge
    final = f"up to {' and '.join(words)} before the frontier" if words else AT_FRONTIER
    if isinstance(plan, StaticPlan):
        bounds = ", ".join(show(one.bound) for one in parts if isinstance(one, ec.DurationFilter))
        final += f", where no interval waits for its duration ({bounds})" if bounds else ""
        if any(isinstance(one, ec.Allen) for one in parts):
            final += ", where no interval waits for an Allen relation"
    return Looks(back, ahead, final)


def _stretch(
    reading: Reading, plan: PointPlan | StaticPlan | DelayPlan
) -> tuple[int | None, int | None]:
    """How far before and after the head's time a condition looks."""
    literal = reading.literal
    if isinstance(plan, StaticPlan):
        return 0, 0  # interval operations and formulas say something of each time-point by itself
    if isinstance(literal, ec.HoldsFor):
        return (None, None) if isinstance(plan, PointPlan) else (reading.back, reading.ahead)
    if isinstance(plan, DelayPlan) and not reading.through and literal.time == Var(plan.time or ""):
        return (
            0,
            0,
        )  # the head's time is the deadline: what is asked of the attempt is known by then
    return reading.back, reading.ahead


def _source(reading: Reading) -> tuple[str, Key]:
    literal = reading.literal
    if isinstance(literal, ec.Happens):
        return "event", key_of(literal.event)
    return "fluent", literal.fvp.key


def _is_never_final(
    plan: PointPlan | StaticPlan | DelayPlan, parts: list[ec.Literal], program: Plan
) -> bool:
    """Does it depend on the query time, on interval lists as wholes, or on who may still come?"""
    changing = program.dynamic | {("queryTime", 1)}
    if any(isinstance(part, ec.Call) and part.key in changing for part in parts):
        return True
    if not isinstance(plan, StaticPlan):
        # A new member of a dynamic domain has a past of its own.
        return bool(plan.domain) and bool(program.dynamic)
    rule = plan.rule
    # A formula that only asks about an entity speaks of all that are known.
    grounded = key_of(rule.fvp.fluent) in program.groundings and not program.dynamic
    if isinstance(rule, ec.HoldsAtRule) and not grounded:
        order = order_body(rule.body, names(rule.time), program.lowering.table)
        if names(rule.fvp.term) - order.bound:
            return True
    lists = _interval_variables(rule)
    looking = ec.Compare | ec.Is | ec.Call | ec.FindAll | ec.AggregateAll
    # A list looked at as a whole says something of its end, which may still change.
    return any(isinstance(part, looking) and names(part.term) & lists for part in parts)


def _interval_variables(rule: ec.HoldsForRule | ec.HoldsAtRule) -> Names:
    found = names(rule.intervals) if isinstance(rule, ec.HoldsForRule) else names()
    for literal in ec.walk(rule.body):
        if isinstance(literal, ec.HoldsFor):
            found |= names(literal.intervals)
        elif isinstance(literal, ec.Computation) and not isinstance(literal, ec.Is):
            found |= given_by(literal)
    return found


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


def _most(ways: list[int | None]) -> int | None:
    known = [way for way in ways if way is not None]
    return None if len(known) < len(ways) else max([0, *known])


def _far(way: int | None) -> str:
    return "without bound" if way is None else str(way)
