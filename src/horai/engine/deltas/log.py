"""Points in the order in which they came to be known, each with a number of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, as_codes, bits, codes_of
from horai.engine.deltas.by_time import ByTime, by_time
from horai.engine.deltas.segments import Segment, Segments
from horai.engine.hashing import build
from horai.engine.hashing import first as first_of
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.temporal.among import among
from horai.temporal.spans import INF, Ints, Mask

Positions = tuple[int, ...]
ROOM = 64  # rows at first


class Part(NamedTuple):
    """Some points and their numbers, which rise."""

    table: Relation
    numbers: Ints


class Log:
    """The points of a relation; the last column is the time.

    Rows are put at the end and only marked when they are taken out, so that neither costs more than
    what comes or goes. Those at the beginning are forgotten by a step of `_first`; now and then the
    rest moves up. `_dropped` rows are no longer there at all: places in indexes count them.
    """

    def __init__(self, nothing: Relation, symbols: Symbols) -> None:
        self.symbols = symbols
        self.last = -INF  # no point is later
        self._nothing = nothing
        self._columns = list(nothing.columns)  # with room at the end
        self._alive: Mask = np.empty(0, np.bool_)
        self._numbers: Ints = np.empty(0, np.int64)
        self._first = self._size = self._dead = self._next = self._dropped = 0
        self._marks: list[tuple[int, int]] = []  # places there were, and the latest time of them
        self._indexes = Segments()

    def add(self, table: Relation) -> Ints:
        """More points; their numbers."""
        numbers: Ints = np.arange(self._next, self._next + table.rows)
        if not table.rows:
            return numbers
        self._make_room(table.rows)
        self._marks.append((self._dropped + self._size, self.last))
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
        return self._part(self._first)

    def since(self, time: int) -> Part:
        """All points from a time on, and perhaps some before."""
        first = self._first
        for place, latest in reversed(self._marks):
            if latest < time:
                first = max(first, place - self._dropped)
                break
        return self._part(first if self.last >= time else self._size)

    def after(self, time: int) -> Relation:
        """All points after a time, and no others."""
        table = self.since(time + 1).table
        late = table.columns[-1].data > time
        return table if late.all() else table.where(late)

    def __len__(self) -> int:
        return self._size - self._first - self._dead

    def rows(self, numbers: Ints) -> Relation:
        """Points by their numbers."""
        return self._taken(self._row_of(numbers))

    def snapshot(self) -> Callable[[], Relation]:
        """All points as they are now, put together when asked for."""
        columns, alive, dead = list(self._columns), self._alive, bool(self._dead)
        first, size = self._first, self._size
        return lambda: _table(columns, alive, first, size, dead)

    def remove(self, numbers: Ints) -> Relation:
        """Take points out by their numbers; returns them."""
        if not len(numbers):
            return self._nothing
        rows = self._row_of(numbers)
        self._alive = self._alive.copy()  # snapshots hold on to what was
        self._alive[rows] = False
        self._dead += len(rows)
        return self._taken(rows)

    def between(
        self, positions: Positions, columns: list[Column], low: Ints, high: Ints
    ) -> tuple[Ints, Ints]:
        """Pairs of a question and the row of a point with its key and `low <= time < high`."""
        segments, keys = self._asked(positions, columns)
        found = [
            (asked, rows + (segment.first - self._dropped))
            for segment in segments
            for asked, rows in [segment.found.between(keys, low, high)]
        ]
        asked = np.concatenate([_none(), *(one for one, _ in found)])
        rows = np.concatenate([_none(), *(one for _, one in found)])
        if segments and segments[0].first - self._dropped < self._first:
            there = rows >= self._first
            asked, rows = asked[there], rows[there]
        if self._dead:
            there = self._alive[rows]
            asked, rows = asked[there], rows[there]
        return asked, rows

    def where_driven(self, by: Ints) -> Ints:
        """The numbers of points whose last column but one is among some numbers."""
        here = slice(self._first, self._size)
        there = among(self._columns[-2].data[here], by) & self._alive[here]
        found: Ints = self._numbers[here][there]
        return found

    def at(self, rows: Ints) -> tuple[Relation, Ints]:
        """Points by their rows, with their numbers."""
        return self._taken(rows), self._numbers[rows]

    def numbers_of(self, points: Relation) -> Ints:
        """The numbers of points that are there, one for each, different for equal ones."""
        if not points.rows:
            return _none()
        here = slice(self._first, self._size)
        there = among(self._columns[-1].data[here], points.columns[-1].data) & self._alive[here]
        rows = np.flatnonzero(there) + self._first
        there_columns = self._taken(rows).columns
        pairs = zip(points.columns, there_columns, strict=True)
        coded = [one.kind != other.kind for one, other in pairs]
        mine, theirs = (
            [_key(c, code, self.symbols) for c, code in zip(columns, coded, strict=True)]
            for columns in (points.columns, there_columns)
        )
        index = build(mine)
        kind, found = first_of(mine, index), first_of(theirs, index)  # equal ones have one kind
        wanted = np.flatnonzero(found >= 0)
        return self._numbers[_one_each(kind[found[wanted]], rows[wanted], kind)]

    def forget(self, until: int) -> None:
        """Drop what lies at or before a time, as far as nothing later came before it."""
        first = self._first
        for place, latest in self._marks:
            if latest > until:
                break
            first = place - self._dropped
        if self.last <= until:
            first = self._size
        if first > self._first:
            self._dead -= int((~self._alive[self._first : first]).sum())
            self._first = first
            self._marks = [mark for mark in self._marks if mark[0] - self._dropped >= first]
        if 2 * self._dead > self._size - self._first:
            self._leave_out(self._alive[self._first : self._size])

    def forget_all(self, until: int) -> None:
        """Drop whatever lies at or before a time."""
        here = slice(self._first, self._size)
        self._leave_out(self._alive[here] & (self._columns[-1].data[here] > until))

    def _leave_out(self, stays: Mask) -> None:
        rows = np.flatnonzero(stays) + self._first
        table, numbers = self.at(rows)
        self._columns = list(table.columns)
        self._numbers = numbers
        self._alive = np.ones(len(rows), np.bool_)
        self._dropped += self._size  # places that were known before are there no more
        self._first, self._size, self._dead = 0, len(rows), 0
        self.last = int(table.columns[-1].data.max()) if len(rows) else -INF
        self._marks.clear()
        self._indexes.clear()

    # --- rows ------------------------------------------------------------------------------------

    def _row_of(self, numbers: Ints) -> Ints:
        first = self._first
        return first + np.searchsorted(self._numbers[first : self._size], numbers)

    def _make_room(self, more: int) -> None:
        """Move everything to larger arrays, so that this is seldom; snapshots keep the old ones."""
        if self._size + more <= len(self._alive):
            return
        here = slice(self._first, self._size)
        room = max(ROOM, 2 * (self._size - self._first + more))
        self._columns = [Column(c.kind, _grown(c.data[here], room)) for c in self._columns]
        self._numbers = _grown(self._numbers[here], room)
        self._alive = _grown(self._alive[here], room)
        self._dropped += self._first
        self._first, self._size = 0, self._size - self._first

    def _put(self, place: int, column: Column, here: slice) -> None:
        mine = self._columns[place]
        if mine.kind != column.kind:
            if not self._size:
                room = np.empty(len(mine.data), column.data.dtype)
                mine = self._columns[place] = Column(column.kind, room)
            else:
                known = as_codes(Column(mine.kind, mine.data[: self._size]), self.symbols)
                mine = Column("term", _grown(known.data, len(mine.data)))
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
        segments = self._indexes.over(
            (positions, coded),
            self._dropped + self._first,
            self._dropped + self._size,
            lambda place: self._indexed(positions, coded, place - self._dropped),
        )
        return segments, keys

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


def _grown(data: np.ndarray, room: int) -> np.ndarray:
    found = np.empty(room, data.dtype)
    found[: len(data)] = data
    return found


def _none() -> Ints:
    return np.empty(0, np.int64)


def _one_each(kind: Ints, at: Ints, wanted: Ints) -> Ints:
    """As many rows of each kind as are wanted."""
    sorting = np.argsort(kind, kind="stable")
    kind, at = kind[sorting], at[sorting]
    place = np.arange(len(kind)) - np.searchsorted(kind, kind)
    return np.sort(at[place < np.bincount(wanted, minlength=int(wanted.max()) + 1)[kind]])
