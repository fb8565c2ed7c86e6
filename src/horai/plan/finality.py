"""How far a single rule looks, and up to where what it says is final, in words.

The border is the query time minus the window: no item at or before it can arrive any more.
"""

from __future__ import annotations

from dataclasses import dataclass

from horai.lang.printer import show
from horai.plan.program import DelayPlan, PointPlan, Program, StaticPlan, Stratum
from horai.plan.reach import Reach, reach_of

Plan = PointPlan | StaticPlan | DelayPlan
AT_BORDER = "up to the border"


@dataclass(frozen=True, slots=True)
class Looks:
    """Time-points before and after the head's own that a rule reads; None: without bound."""

    back: int | None
    ahead: int | None
    final: str

    @property
    def words(self) -> str:
        """What is worth saying: nothing of a rule that looks at its own time only."""
        found = []
        if self.back != 0:
            found.append(f"looks back {_far(self.back)}")
        if self.ahead != 0:
            found.append(f"looks ahead {_far(self.ahead)}")
        if self.final != AT_BORDER:
            found.append(f"final {self.final}")
        return "; ".join(found)


def looks_of(plan: Plan, stratum: Stratum, program: Program) -> Looks:
    """What one rule of a component looks at."""
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


def _final(reach: Reach, stratum: Stratum) -> str:
    if reach.whole:
        return "never: it depends on the query time or on all that is known"
    own = {("fluent", key) for key in stratum.fluents} | {("event", key) for key in stratum.events}
    read = [look for look in reach.looks if look.source not in own]
    if any(look.ahead is None for look in read):
        return "never: it looks at whole interval lists or at any later time"
    # A start or end is known one time-point later than it is said to be.
    late, edge = max(((max(0, look.ahead or 0), look.edge) for look in read), default=(0, False))
    parts = [str(late)] * (late > 0) + ["one time-point"] * edge
    found = f"up to {' and '.join(parts)} before the border" if parts else AT_BORDER
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
