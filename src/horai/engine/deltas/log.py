"""Points in the order in which they came to be known, each with a number of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, as_codes, bits, codes_of
from horai.engine.deltas.by_time import ByTime, by_time
from horai.engine.hashing import dense
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.temporal.spans import INF, Ints, Mask

Positions = tuple[int, ...]
ROOM = 64  # rows at first
SMALLER = 2  # a segment that is no larger, compared with what has come since, becomes one with it


class Part(NamedTuple):
    """Some points and their numbers, which rise."""

    table: Relation
    numbers: Ints


class Segment(NamedTuple):
    """An index over some of the rows."""

    first: int
    last: int
    found: ByTime


class Log:
    """The points of a relation; the last column is the time.

    Rows are put at the end and only marked when they are taken out, so that neither costs more than
    what comes or goes. Now and then those that are out are dropped.
    """

    def __init__(self, nothing: Relation, symbols: Symbols) -> None:
        self.symbols = symbols
        self.last = -INF  # no point is later
        self._nothing = nothing
        self._columns = list(nothing.columns)  # with room at the end
        self._alive: Mask = np.empty(0, np.bool_)
        self._numbers: Ints = np.empty(0, np.int64)
        self._size = self._dead = self._next = 0
        self._marks: list[tuple[int, int]] = []  # rows there were, and the latest time of them
        self._indexes: dict[tuple[Positions, tuple[bool, ...]], list[Segment]] = {}

    def add(self, table: Relation) -> Ints:
        """More points; their numbers."""
        numbers: Ints = np.arange(self._next, self._next + table.rows)
        if not table.rows:
            return numbers
        self._marks.append((self._size, self.last))
        self._make_room(table.rows)
        here = slice(self._size, self._size + table.rows)
        for place, column in enumerate(table.columns):
            self._put(place, column, here)
        self._alive[here] = True
        self._numbers[here] = numbers
        self._size += table.rows
        self._next += table.rows
        self.last = max(self.last, int(table.columns[-1].data.max()))
        return numbers

    def whole(self) -> Part:
        """All points."""
        return self._part(0)

    def since(self, time: int) -> Part:
        """All points from a time on, and perhaps some before."""
        first = 0
        for rows, latest in reversed(self._marks):
            if latest < time:
                first = rows
                break
        return self._part(first if self.last >= time else self._size)

    def after(self, time: int) -> Relation:
        """All points after a time, and no others."""
        table = self.since(time + 1).table
        late = table.columns[-1].data > time
        return table if late.all() else table.where(late)

    def __len__(self) -> int:
        return self._size - self._dead

    def rows(self, numbers: Ints) -> Relation:
        """Points by their numbers."""
        return self._taken(np.searchsorted(self._numbers[: self._size], numbers))

    def snapshot(self) -> Callable[[], Relation]:
        """All points as they are now, put together when asked for."""
        columns, alive, size, dead = list(self._columns), self._alive, self._size, self._dead
        return lambda: _table(columns, alive, 0, size, bool(dead))

    def remove(self, numbers: Ints) -> Relation:
        """Take points out by their numbers; returns them."""
        if not len(numbers):
            return self._nothing
        rows = np.searchsorted(self._numbers[: self._size], numbers)
        self._alive = self._alive.copy()  # snapshots hold on to what was
        self._alive[rows] = False
        self._dead += len(rows)
        return self._taken(rows)

    def discard(self, numbers: Ints) -> None:
        """Take points out by their numbers, as far as they are still there."""
        rows = np.searchsorted(self._numbers[: self._size], numbers)
        there = rows < self._size
        there[there] = self._numbers[rows[there]] == numbers[there]
        self.remove(numbers[there])

    def between(
        self, positions: Positions, columns: list[Column], low: Ints, high: Ints
    ) -> tuple[Ints, Ints]:
        """Pairs of a question and the row of a point with its key and `low <= time < high`."""
        segments, keys = self._asked(positions, columns)
        found = [
            (asked, rows + segment.first)
            for segment in segments
            for asked, rows in [segment.found.between(keys, low, high)]
        ]
        asked = np.concatenate([_none(), *(one for one, _ in found)])
        rows = np.concatenate([_none(), *(one for _, one in found)])
        if self._dead:
            there = self._alive[rows]
            asked, rows = asked[there], rows[there]
        return asked, rows

    def following(self, positions: Positions, columns: list[Column], time: Ints) -> Ints:
        """For every question the time of the first point of its key after a time, or `INF`."""
        found = np.full(len(time), INF)
        segments, keys = self._asked(positions, columns)
        for segment in segments:
            alive = self._alive[segment.first : segment.last]
            found = np.minimum(found, segment.found.following(keys, time, alive))
        return found

    def where_driven(self, by: Ints) -> Ints:
        """The numbers of points whose last column but one is among some numbers."""
        column = self._columns[-2].data[: self._size]
        if not self._size:
            return _none()
        low, high = min(column.min(), by.min()), max(column.max(), by.max())
        flags = np.zeros(int(high - low) + 1, np.bool_)
        flags[by - low] = True
        there = flags[column - low] & self._alive[: self._size]
        found: Ints = self._numbers[: self._size][there]
        return found

    def at(self, rows: Ints) -> tuple[Relation, Ints]:
        """Points by their rows, with their numbers."""
        return self._taken(rows), self._numbers[rows]

    def numbers_of(self, points: Relation) -> Ints:
        """The numbers of points that are there, one for each, different for equal ones."""
        if not points.rows:
            return _none()
        columns = list(points.columns[:-1])
        time = points.columns[-1].data
        asked, rows = self.between(tuple(range(len(columns))), columns, time, time + 1)
        ids, _ = dense([*map(bits, columns), time], points.rows)
        return self._numbers[_one_each(ids[asked], rows, ids)]

    def forget(self, until: int, however_little: bool = False) -> None:
        """Drop what lies at or before a time, if it is much."""
        stays = self._alive[: self._size] & (self._columns[-1].data[: self._size] > until)
        rows = np.flatnonzero(stays)
        if len(rows) == self._size or (2 * len(rows) >= self._size and not however_little):
            return
        table, numbers = self.at(rows)
        self._columns = list(table.columns)
        self._numbers = numbers
        self._alive = np.ones(len(rows), np.bool_)
        self._size, self._dead = len(rows), 0
        self.last = int(table.columns[-1].data.max()) if len(rows) else -INF
        self._marks.clear()
        self._indexes.clear()

    # --- rows ------------------------------------------------------------------------------------

    def _make_room(self, more: int) -> None:
        need = self._size + more
        if need <= len(self._alive):
            return
        room = max(ROOM, need + need // 2)
        self._columns = [Column(c.kind, _grown(c.data, self._size, room)) for c in self._columns]
        self._numbers = _grown(self._numbers, self._size, room)
        self._alive = _grown(self._alive, self._size, room)

    def _put(self, place: int, column: Column, here: slice) -> None:
        mine = self._columns[place]
        if mine.kind != column.kind:
            if not self._size:
                room = np.empty(len(mine.data), column.data.dtype)
                mine = self._columns[place] = Column(column.kind, room)
            else:
                known = as_codes(Column(mine.kind, mine.data[: self._size]), self.symbols)
                mine = Column("term", _grown(known.data, self._size, len(mine.data)))
                self._columns[place] = mine
                self._indexes.clear()
                column = as_codes(column, self.symbols)
        mine.data[here] = column.data

    def _part(self, first: int) -> Part:
        numbers = self._numbers[first : self._size]
        if self._dead:
            numbers = numbers[self._alive[first : self._size]]
        table = _table(self._columns, self._alive, first, self._size, bool(self._dead))
        return Part(table, numbers)

    def _taken(self, rows: Ints) -> Relation:
        columns = (Column(c.kind, c.data[rows]) for c in self._columns)
        return Relation(tuple(columns), len(rows))

    # --- indexes ---------------------------------------------------------------------------------

    def _asked(
        self, positions: Positions, columns: list[Column]
    ) -> tuple[list[Segment], list[Ints]]:
        """Indexes over all rows, and keys by which they find what columns ask for.

        Terms get codes only where kinds differ: of every measurement a code would be kept for ever.
        """
        kinds = [self._columns[place].kind for place in positions]
        coded = tuple(k != c.kind for k, c in zip(kinds, columns, strict=True))
        keys = [_key(c, code, self.symbols) for c, code in zip(columns, coded, strict=True)]
        return self._segments(positions, coded), keys

    def _segments(self, positions: Positions, coded: tuple[bool, ...]) -> list[Segment]:
        """Indexes piece by piece: small ones become one before long."""
        found = self._indexes.setdefault((positions, coded), [])
        first = found[-1].last if found else 0
        if first == self._size:
            return found
        while found and found[-1].last - found[-1].first <= SMALLER * (self._size - first):
            first = found.pop().first
        found.append(Segment(first, self._size, self._indexed(positions, coded, first)))
        return found

    def _indexed(self, positions: Positions, coded: tuple[bool, ...], first: int) -> ByTime:
        table = _table(self._columns, self._alive, first, self._size, False)
        columns = [table.columns[place] for place in positions]
        keys = [_key(c, code, self.symbols) for c, code in zip(columns, coded, strict=True)]
        return by_time(keys, table.columns[-1].data)


def _key(column: Column, coded: bool, symbols: Symbols) -> Ints:
    return codes_of(column, symbols) if coded else bits(column)


def _table(columns: list[Column], alive: Mask, first: int, last: int, dead: bool) -> Relation:
    cut = tuple(Column(c.kind, c.data[first:last]) for c in columns)
    whole = Relation(cut, last - first)
    return whole.where(alive[first:last]) if dead else whole


def _grown(data: np.ndarray, size: int, room: int) -> np.ndarray:
    found = np.empty(room, data.dtype)
    found[:size] = data[:size]
    return found


def _none() -> Ints:
    return np.empty(0, np.int64)


def _one_each(kind: Ints, at: Ints, wanted: Ints) -> Ints:
    """As many different rows of each kind as are wanted; a row may be named several times."""
    _, once = np.unique(at, return_index=True)
    kind, at = kind[once], at[once]
    sorting = np.argsort(kind, kind="stable")
    kind, at = kind[sorting], at[sorting]
    place = np.arange(len(kind)) - np.searchsorted(kind, kind)
    return np.sort(at[place < np.bincount(wanted, minlength=int(wanted.max()) + 1)[kind]])
