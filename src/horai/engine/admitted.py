"""The items of one type that count now, query by query as they were admitted.

What came with one query is mostly all old or all new, so it is kept apart: forgetting and taking
back copy only what they touch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.engine.stream_rows import Rows, join
from horai.engine.symbols import Symbols
from horai.temporal.among import among
from horai.temporal.spans import Ints, Mask

PARTS = 64  # of what was admitted, before they are put together


class Part(NamedTuple):
    """What was admitted at one query, and which of it was taken back since."""

    rows: Rows
    out: Mask | None = None

    @property
    def size(self) -> int:
        """How many rows there are still."""
        return self.rows.size - (0 if self.out is None else int(self.out.sum()))

    def left(self) -> Rows:
        """The rows that there are still."""
        return self.rows if self.out is None else self.rows.take(~self.out)

    def without(self, places: Ints) -> Part:
        """The same but for some rows."""
        out = np.zeros(self.rows.size, np.bool_) if self.out is None else self.out.copy()
        out[places] = True
        found = Part(self.rows, out)
        return found if 2 * found.size > self.rows.size else Part(found.left())

    def after(self, last: str, until: int) -> Part:
        """The rows whose last point, in the column of that name, lies after a time."""
        times = self.rows[last]
        if not times.size or times.min() > until:
            return self
        stays = times > until
        return Part(self.rows.take(stays if self.out is None else stays & ~self.out))


class Admitted:
    """What was admitted and not taken back; `nothing` has its columns."""

    def __init__(self, nothing: Rows, symbols: Symbols) -> None:
        self._symbols = symbols
        self._parts = [Part(nothing)]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the numbers of each row."""
        return tuple(self._parts[0].rows.numbers)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return sum(part.size for part in self._parts)

    def whole(self) -> Rows:
        """All rows, generation by generation."""
        if len(self._parts) > 1 or self._parts[0].out is not None:
            self.replace(join([part.left() for part in self._parts], self._symbols))
        return self._parts[0].rows

    def replace(self, rows: Rows) -> None:
        """These are all rows now."""
        self._parts = [Part(rows)]

    def add(self, rows: Rows) -> None:
        """Some more rows."""
        self._parts.append(Part(rows))

    def forget(self, last: str, until: int) -> None:
        """Drop rows whose last point, in the column of that name, lies at or before a time."""
        parts = [part.after(last, until) for part in self._parts]
        self._parts = [part for part in parts if part.size] or parts[:1]
        if len(self._parts) > PARTS:
            self.whole()

    def starting(self, starts: Ints) -> tuple[Ints, Rows]:
        """The rows that start at some times, and their places for `take_out`."""
        first, places, found = 0, [], [self._parts[0].rows.split(0)[0]]
        for part in self._parts:
            there = among(part.rows["start"], starts)
            rows = np.flatnonzero(there if part.out is None else there & ~part.out)
            places.append(first + rows)
            found.append(part.rows.take(rows))
            first += part.rows.size
        return np.concatenate(places), join(found, self._symbols)

    def take_out(self, places: Ints) -> None:
        """Mark what is taken back: rows that stay are copied only if they are fewer."""
        first = 0
        for number, part in enumerate(self._parts):
            size = part.rows.size
            mine = places[(places >= first) & (places < first + size)] - first
            first += size
            if len(mine):
                self._parts[number] = part.without(mine)
