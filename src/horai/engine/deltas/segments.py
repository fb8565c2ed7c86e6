"""Indexes over a table that grows at its end and is forgotten at its beginning, piece by piece.

An index over all rows would be made anew for each row that comes. Pieces are only put together
with their neighbours: each row is indexed a few times in its life.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from horai.engine.deltas.by_time import ByTime

SMALLER = 2  # a segment that is no larger, compared with what has come since, becomes one with it
Kind = tuple[tuple[int, ...], tuple[bool, ...]]  # the columns that are keys, and which are coded


class Segment(NamedTuple):
    """An index over some of the rows, by their places."""

    first: int
    last: int
    found: ByTime


class Segments:
    """The indexes of each kind that was asked for."""

    def __init__(self) -> None:
        self._known: dict[Kind, list[Segment]] = {}

    def clear(self) -> None:
        """No place is known any more."""
        self._known.clear()

    def over(
        self, kind: Kind, begin: int, end: int, indexed: Callable[[int], ByTime]
    ) -> list[Segment]:
        """Indexes over the rows of some places; `indexed` makes one from a place to the end."""
        found = self._known.setdefault(kind, [])
        while found and found[0].last <= begin:
            del found[0]
        first = found[-1].last if found else begin
        if first == end:
            return found
        while found and found[-1].last - found[-1].first <= SMALLER * (end - first):
            first = max(begin, found.pop().first)
        found.append(Segment(first, end, indexed(first)))
        return found
