"""Up to where each component is final, and how far back its readers still look.

An item that may still arrive lies after the border of the window. What a rule says at T is final if
nothing it looks at from there on lies after the border. So every component has a cut, found from
those of what it reads; what lies before all that readers look at is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from horai.engine.late_entities import Latecomers
from horai.engine.memory import FOREVER
from horai.engine.static import known_before
from horai.engine.world import Undecided
from horai.plan.ec.reach import ComponentReach, Look, Source, reach_of
from horai.plan.program import Plan, Stratum

Key = tuple[str, int]


@dataclass(slots=True)
class Horizon:
    """The cuts of all components of a program."""

    program: Plan
    start: int
    tick: int
    reaches: list[ComponentReach] = field(default_factory=list)
    makers: dict[Source, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reaches = self.reaches or reaches_of(self.program)
        for place, stratum in enumerate(self.program.strata):
            for source in sources_of(stratum):
                self.makers.setdefault(source, []).append(place)

    def settled(self, place: int, border: int, cuts: list[int]) -> int:
        """Up to where everything a component looks at is final; its own past aside."""
        reach = self.reaches[place]
        if reach.whole:
            return self.start
        found = border
        for look in reach.looks:
            own = self.makers.get(look.source, [])
            below = [cuts[maker] for maker in own if maker != place]
            if own == [place]:
                continue  # what a component reads of itself is settled before
            if look.ahead is None:
                return self.start
            final = min([border, *below])
            found = min(found, final - max(0, look.ahead) - (self.tick if look.edge else 0))
        return found

    def cut(self, place: int, settled: int, undecided: Undecided, before: int) -> int:
        """Up to where a component is final, on the grid; it never goes back."""
        found = settled
        reach = self.reaches[place]
        if reach.durations:
            if undecided.longest == float("inf"):
                return max(before, self.start)
            found -= int(undecided.longest) + 1 + self.tick
        if reach.relations:
            found = min(found, undecided.earliest - 1 - self.tick)
        # The point after a cut lies on the grid: a cell is final as a whole or not at all.
        found -= (found + 1) % self.tick
        return max(before, found, self.start)

    def needed(self, cuts: list[int], border: int, attempts: list[int]) -> dict[Source, int]:
        """For every relation the time at or before which no reader looks any more.

        `attempts` are, for every component, the first of its attempts that are open at its cut, or
        the start of the first interval that is compared with others and goes on after it.
        """
        found: dict[Source, int] = {}
        for place, reach in enumerate(self.reaches):
            for look in reach.looks:
                since = min(cuts[place], attempts[place]) if look.attempt else cuts[place]
                back = FOREVER if look.back is None else since - look.back - 2 * self.tick
                found[look.source] = min(found.get(look.source, border), back)
        return found

    def final(self, source: Source, cuts: list[int], border: int) -> int:
        """Up to where a relation is final."""
        return min([border, *(cuts[maker] for maker in self.makers.get(source, ()))])


def reaches_of(program: Plan) -> list[ComponentReach]:
    """What every component looks at."""
    found = [reach_of(stratum, program) for stratum in program.strata]
    latecomers = Latecomers(program)
    for reach, stratum in zip(found, program.strata, strict=True):
        reach.whole |= latecomers.noticed_by(stratum)
        for key in {key for plan in stratum.static for key in known_before(plan, program)}:
            # A row that comes to be known has a past, which is worked out when it does.
            reach.looks.append(Look(("fluent", key), None, 0))
    return found


def sources_of(stratum: Stratum) -> list[Source]:
    """The relations that a component defines."""
    found: list[Source] = [("event", key) for key in stratum.events]
    found += [("fluent", key) for key in stratum.fluents]
    found += [("fluent", plan.key) for plan in stratum.static]
    return list(dict.fromkeys(found))
