"""The clocks of all entities at some earlier times, from which they can go on.

An entity that a late item touches need not be settled from the cut on: it begins at the last
snapshot before, and ends at the first one after at which it is as it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from horai.engine.clockstate import ClockState
from horai.engine.deltas.cycle_keys import Keys
from horai.engine.deltas.entities import Args, different
from horai.plan.program import Key
from horai.temporal.spans import Ints

MOST = 16  # snapshots, before every other one is dropped
Clocks = dict[Args, ClockState]


@dataclass(slots=True)
class Snapshot:
    """The attempts that are open at a time, by entity."""

    time: int
    clocks: Clocks

    def state(self, who: set[Args]) -> ClockState:
        """Those of some entities."""
        return together(self.clocks[one] for one in who if one in self.clocks)

    def replace(self, who: set[Args], clocks: Clocks) -> set[Args]:
        """Take over what has become of some entities; those of whom that is something else."""
        changed: set[Args] = set()
        for one in who:
            before, now = self.clocks.pop(one, None), clocks.get(one)
            if now is not None:
                self.clocks[one] = now
            if not _same(before, now):
                changed.add(one)
        return changed


@dataclass(slots=True)
class Snapshots:
    """Snapshots in the order of time; the first one is the cut."""

    keys: Keys
    every: list[Snapshot] = field(default_factory=list)

    @property
    def last(self) -> Snapshot:
        """The latest one."""
        return self.every[-1]

    def begin(self, cut: int, state: ClockState) -> None:
        """Start anew at a cut."""
        self.every = [Snapshot(cut, self.clocks(state))]

    def add(self, time: int, clocks: Clocks) -> None:
        """One more, later than all others."""
        self.every.append(Snapshot(time, clocks))
        if len(self.every) > MOST:
            first, *others = self.every
            self.every = [first, *others[1::2]] if len(others) % 2 == 0 else [first, *others[::2]]

    def before(self, time: int) -> Snapshot:
        """The last one that is not after a time."""
        return self.every[bisect_right([one.time for one in self.every], time) - 1]

    def forget(self, cut: int, state: ClockState) -> None:
        """A later cut, and the state there."""
        later = [one for one in self.every if one.time > cut]
        self.every = [Snapshot(cut, self.clocks(state)), *later]

    def segments(self, keys: list[Ints], low: Ints, high: Ints) -> dict[int, set[Args]]:
        """Entities that are touched from some times to others, by the snapshots that lie before."""
        found: dict[int, set[Args]] = {}
        times = np.array([one.time for one in self.every])
        # What lies before the cut is final.
        first, last = (
            np.maximum(np.searchsorted(times, time, "left") - 1, 0) for time in (low, high)
        )
        for number in range(len(times)):
            mask = (first <= number) & (number <= last)
            if mask.any():
                found[number] = different([key[mask] for key in keys], int(mask.sum()))
        return found

    def clocks(self, state: ClockState) -> Clocks:
        """A state by entity."""
        found: Clocks = {}
        for pending in state.pending:
            who = self._entity(*pending.owner)
            found.setdefault(who, ClockState()).pending.append(pending)
        for source, time in state.acted.items():
            found.setdefault(self._entity(*source[1]), ClockState()).acted[source] = time
        return found

    def _entity(self, key: Key, args: Args) -> Args:
        return tuple(args[place] for place in self.keys.places["fluent", key])


def together(states: Iterable[ClockState]) -> ClockState:
    """The states of different entities as one."""
    found = ClockState()
    for state in states:
        found.pending += state.pending
        found.acted |= state.acted
    return found


def _same(one: ClockState | None, other: ClockState | None) -> bool:
    if one is None or other is None:
        return one is other
    return set(one.pending) == set(other.pending) and one.acted == other.acted
