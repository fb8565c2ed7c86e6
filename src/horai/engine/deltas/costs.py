"""What a query costs by change and from scratch, from sizes that are known before.

A rule for points costs one unit from scratch for each item in the window; others cost more or less.
By change a rule costs several units for each item that came or went, and more if it is late, for
then it has to be found where it belongs. The numbers are from the runs in `bench/RESULTS.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from horai.engine.deltas.reasons import Kind
from horai.plan.program import Stratum


class Cost(NamedTuple):
    """Units for each item from scratch, for each that came or went, and more if that is late."""

    scratch: float
    changed: float
    late: float


COSTS: dict[Kind | None, Cost] = {
    "points": Cost(1, 2, 3),
    "lists": Cost(0.4, 3.5, 2),
    "delays": Cost(1, 4, 12),
    "cycles": Cost(3, 25, 60),
    None: Cost(1, 0, 0),  # worked out as a whole in any case
}
COMPARED = 1  # more for each item in the window, if a component is worked out as a whole
COST_OF_COMPONENT = 20_000  # units more by change than from scratch, however little there is to do


class Sizes(NamedTuple):
    """How many items came or went, how many of these are late, and how many there are in all."""

    changed: int
    late: int
    counting: int


class CostModel:
    """The costs of the components of a description."""

    def __init__(self, components: Iterable[tuple[Stratum, Kind | None]]) -> None:
        self._rules: dict[Kind | None, int] = {}
        self._components = 0
        for stratum, kind in components:
            rules = len(stratum.points) + len(stratum.static) + len(stratum.delays)
            self._rules[kind] = self._rules.get(kind, 0) + rules
            self._components += 1

    def by_change(self, sizes: Sizes) -> float:
        """What it costs to bring everything up to date."""
        found: float = COST_OF_COMPONENT * self._components
        for kind, rules in self._rules.items():
            cost = COSTS[kind]
            if kind is None:
                found += rules * (cost.scratch + COMPARED) * sizes.counting
            found += rules * (cost.changed * sizes.changed + cost.late * sizes.late)
        return found

    def from_scratch(self, sizes: Sizes) -> float:
        """What it costs to work everything out."""
        return sizes.counting * sum(n * COSTS[kind].scratch for kind, n in self._rules.items())
