"""Which items count at a query time: arrival, lateness, waiting, retraction.

The reference engine forgets nothing it has admitted: a window only decides what may still be
admitted. That is the meaning the faster engines must keep while they forget what cannot matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from horai.lang.terms import Term
from horai.oracle.evaluate import Occurrence
from horai.oracle.intervals import Grid
from horai.oracle.items import Dropped, Item, Reason

Identity = tuple[Term, Term | None, int, float]


def identity(item: Item) -> Identity:
    """What makes two items the same one; an event has no end."""
    return (item.entity, item.value, item.start, item.start if item.value is None else item.end)


@dataclass(slots=True)
class Admitted:
    """Copies of one item that were admitted, each with the part of it that counts."""

    arrivals: list[int] = field(default_factory=list)
    parts: list[tuple[int, float]] = field(default_factory=list)


class Stream:
    """The admitted items of a run."""

    def __init__(self, grid: Grid, start: int, window: int | None) -> None:
        self.grid = grid
        self.start = start
        self.window = window
        self._admitted: dict[Identity, Admitted] = {}
        self._kept: list[Occurrence] = []  # parts of retracted intervals that have become final
        self._waiting: list[Item] = []

    def border(self, query: int) -> int:
        """The point at or before which nothing is admitted any more."""
        return self.start if self.window is None else max(self.start, query - self.window)

    def admit(self, items: Iterable[Item], query: int) -> list[Dropped]:
        """Take in the items that have arrived by `query`; what cannot be used comes back."""
        dropped: list[Dropped] = []
        arrived = [*self._waiting, *items]
        self._waiting = []
        for item in sorted(arrived, key=lambda i: (i.arrival, i.retract)):
            if item.arrival > query or (item.start > query and not item.retract):
                self._waiting.append(item)
            elif item.start > query:
                # All that arrived before it is known, so it never finds what it does not find now.
                if not self._cancel_waiting(item):
                    dropped.append(self._unknown(item, query))
            else:
                dropped.extend(self._take(item, query))
        return dropped

    def occurrences(self) -> Iterator[Occurrence]:
        """Everything that counts now."""
        yield from self._kept
        for (entity, value, _, _), admitted in self._admitted.items():
            for start, end in admitted.parts:
                yield Occurrence(entity, value, start, end)

    def left_over(self, query: int) -> list[Dropped]:
        """Items that never came to count because the run is over."""
        text = f"it arrives or happens after the end of the run, {query}"
        return [Dropped(item, Reason.OUTSIDE_RUN, query, text) for item in self._waiting]

    def _cancel_waiting(self, retraction: Item) -> bool:
        """Items are taken in by arrival: those that wait now have arrived no later."""
        for index, item in enumerate(self._waiting):
            if identity(item) == identity(retraction) and not item.retract:
                del self._waiting[index]
                return True
        return False

    def _take(self, item: Item, query: int) -> Iterator[Dropped]:
        border = self.border(query)
        first = item.start if item.start > border else self.grid.next(border)
        gone = item.start <= border if item.value is None else first >= item.end
        if gone:
            yield self._too_late(item, query, border)
        elif item.retract:
            yield from self._retract(item, query, first)
        else:
            admitted = self._admitted.setdefault(identity(item), Admitted())
            admitted.arrivals.append(item.arrival)
            admitted.parts.append((first, item.end))
            if first != item.start:
                yield self._cut(item, query, first)

    def _retract(self, item: Item, query: int, first: int) -> Iterator[Dropped]:
        admitted = self._admitted.get(identity(item))
        known = (
            [i for i, t in enumerate(admitted.arrivals) if t <= item.arrival] if admitted else []
        )
        if admitted is None or not known:
            yield self._unknown(item, query)
            return
        start, _ = admitted.parts.pop(known[-1])
        admitted.arrivals.pop(known[-1])
        if not admitted.parts:
            del self._admitted[identity(item)]
        if item.value is not None and start < first:
            self._kept.append(Occurrence(item.entity, item.value, start, first))
            yield self._cut(item, query, first)

    def _unknown(self, item: Item, query: int) -> Dropped:
        text = "nothing equal to it has arrived before"
        return Dropped(item, Reason.UNKNOWN_RETRACTION, query, text)

    def _too_late(self, item: Item, query: int, border: int) -> Dropped:
        if border == self.start and (self.window is None or query - self.window <= self.start):
            text = f"it lies at or before the start of the run, {self.start}"
            return Dropped(item, Reason.OUTSIDE_RUN, query, text)
        text = f"it lies at or before {border}, where the window at {query} begins"
        return Dropped(item, Reason.TOO_LATE, query, text)

    def _cut(self, item: Item, query: int, first: int) -> Dropped:
        done = "taken back" if item.retract else "used"
        text = f"only its part from {first} on is {done}; what is before is final"
        return Dropped(item, Reason.PARTLY_TOO_LATE, query, text)
