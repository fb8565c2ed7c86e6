"""What is known while an answer is worked out: facts, points and spans, as relations.

Components are worked out one after the other; each reads the relations of those before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from horai.engine.columns import Column, bits, codes, concat, ints
from horai.engine.hashing import dense
from horai.engine.relations import Relation, joined
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term
from horai.temporal.coalesce import sort_spans
from horai.temporal.kernels import kernel
from horai.temporal.sorting import offsets_of
from horai.temporal.spans import INF, Ints, Mask, Spans, no_spans, plain, previous_point

Key = tuple[str, int]


@dataclass(slots=True)
class Fluent:
    """The pairs of a fluent (arguments, then value) and the spans of each, keyed by its row."""

    pairs: Relation
    spans: Spans
    _offsets: Ints | None = None

    @property
    def offsets(self) -> Ints:
        """Where the spans of each pair begin."""
        if self._offsets is None:
            self._offsets = offsets_of(self.spans.key, self.pairs.rows)
        return self._offsets

    def holds(self, pair: Ints, time: Ints) -> Mask:
        """Does each pair hold at its time?"""
        mask: Mask = _holds(*plain(pair, time, self.offsets, self.spans.start, self.spans.end))
        return mask

    def where(self, mask: Mask) -> Fluent:
        """Only some of the pairs."""
        if mask.all():
            return self
        number = np.cumsum(mask) - 1
        spans = self.spans.where(mask[self.spans.key])
        kept = Spans(number[spans.key], spans.start, spans.end)
        return Fluent(self.pairs.where(np.flatnonzero(mask)), kept)

    def holding(self) -> Fluent:
        """Only the pairs that hold at some time."""
        used = np.zeros(self.pairs.rows, np.bool_)
        used[self.spans.key] = True
        return self.where(used)

    def lists(self, pair: Ints) -> Spans:
        """The spans of some pairs by their place in the list; -1 is a pair that is not known."""
        return Spans(*_lists(*plain(pair, self.offsets, self.spans.start, self.spans.end)))


def fluent_of(
    columns: tuple[Column, ...], start: Ints, end: Ints, rows: int, symbols: Symbols
) -> Fluent:
    """A fluent from rows of arguments, value and span, in any order and possibly overlapping."""
    ids, firsts = dense([bits(column) for column in columns], rows)
    pairs = Relation(tuple(column.take(firsts) for column in columns), len(firsts))
    return Fluent(pairs, sort_spans(ids, start, end))


def no_fluent(width: int) -> Fluent:
    """A fluent without pairs; `width` counts arguments and value."""
    empty = tuple(codes(np.empty(0, np.int64)) for _ in range(width))
    return Fluent(Relation(empty, 0), no_spans())


def merged(parts: list[Fluent], symbols: Symbols) -> Fluent:
    """Fluents of one name together: the union of what they say."""
    filled = [part for part in parts if part.pairs.rows] or parts[:1]
    if len(filled) == 1:
        return filled[0]
    width = len(filled[0].pairs.columns)
    columns = tuple(
        concat([part.pairs.columns[i].take(part.spans.key) for part in filled], symbols)
        for i in range(width)
    )
    start = np.concatenate([part.spans.start for part in filled])
    end = np.concatenate([part.spans.end for part in filled])
    return fluent_of(columns, start, end, len(start), symbols)


@dataclass(slots=True)
class Undecided:
    """What a run found out about intervals that are not over yet."""

    longest: float = 0.0  # the largest bound of a duration filter
    earliest: int = INF  # the first start of an interval whose Allen relations may change
    # Lists whose intervals are compared, each with how far apart they may lie.
    related: list[tuple[Spans, int]] = field(default_factory=list)

    def first(self, cut: int) -> int:
        """From when on intervals may be compared with one that goes on after a cut."""
        found = cut
        for spans, apart in self.related:
            starts = spans.start[spans.end > cut]
            found = min(found, min(cut, int(starts.min(initial=cut))) - apart)
        return found


@dataclass(slots=True)
class Terminations:
    """Terminations as rows of arguments, value and time.

    With `every` there is no column of values: all of them end, or all of a form.
    """

    table: Relation
    form: Term | None
    every: bool


@dataclass
class World:
    """All relations at a query time. Points lie after `start` and not after `query`."""

    symbols: Symbols
    tick: int
    start: int
    query: int
    allen_memory: int | None = None
    points: dict[tuple[str, Key], list[Relation]] = field(default_factory=dict)
    fluents: dict[Key, list[Fluent]] = field(default_factory=dict)
    terminations: dict[Key, list[Terminations]] = field(default_factory=dict)
    derived: frozenset[Key] = frozenset()  # fluents that rules define
    settled: int = 0  # up to where all that the component in work reads is final
    undecided: Undecided = field(default_factory=Undecided)
    _points: dict[tuple[str, Key], Relation] = field(default_factory=dict)
    _fluents: dict[Key, Fluent] = field(default_factory=dict)

    @property
    def first(self) -> int:
        """The first time-point of the run."""
        return self.start + self.tick - self.start % self.tick

    def add_points(self, kind: str, key: Key, table: Relation) -> None:
        """More points of a relation; the last column is the time."""
        self.points.setdefault((kind, key), []).append(table)
        self._points.pop((kind, key), None)

    def add_fluent(self, key: Key, part: Fluent) -> None:
        """More pairs of a fluent."""
        self.fluents.setdefault(key, []).append(part)
        self._fluents.pop(key, None)
        for kind in ("start", "end", "startI", "endI"):
            self._points.pop((kind, key), None)

    def fluent(self, key: Key) -> Fluent:
        """All that is known of a fluent."""
        if key not in self._fluents:
            parts = self.fluents.get(key)
            self._fluents[key] = merged(parts, self.symbols) if parts else no_fluent(key[1] + 1)
        return self._fluents[key]

    def grows(self, key: Key) -> bool:
        """Is more of a fluent found while rules read it?"""
        return False

    def relations(self) -> tuple[dict[Key, Fluent], dict[Key, Relation]]:
        """All fluents and events."""
        events = [key for kind, key in self.points if kind == "event"]
        return (
            {key: self.fluent(key) for key in self.fluents},
            {key: self.scan("event", key) for key in events},
        )

    def refuse_future(self, key: Key, kind: str, at: Ints | None) -> None:
        """Everything there is to know is known here."""

    def is_now(self, key: Key, at: Ints) -> bool:
        """Are all times in a cell that is being settled, of a fluent that is?"""
        return False

    def value_now(self, key: Key, args: tuple[int, ...]) -> int | None:
        """The code of the value that a fluent has in the cell in work."""
        raise KeyError(key)

    def last_point(self, key: Key) -> int:
        """The last time-point at which a fluent is known."""
        return self.query

    def terminated(self, key: Key) -> list[Terminations]:
        """What ends the values of a fluent."""
        return self.terminations.get(key, [])

    def scan(self, kind: str, key: Key, at: Ints | None = None) -> Relation:
        """The points of one kind: arguments, then the value for fluents, then the time.

        `at` are the only times of interest, for worlds that can make use of it.
        """
        found = self._points.get((kind, key))
        if found is None:
            if kind in ("start", "end", "startI", "endI"):
                found = self._edges(kind, key)
            else:
                width = key[1] + (1 if kind == "event" else 2)
                parts = self.points.get((kind, key))
                found = joined(parts, self.symbols) if parts else _no_points(width)
            self._points[kind, key] = found
        return found

    def _edges(self, kind: str, key: Key) -> Relation:
        """The points at which pairs start or end, those in the run."""
        fluent = self.fluent(key)
        spans = fluent.spans
        at = spans.start if kind in ("start", "startI") else spans.end
        there = at != INF
        time = previous_point(at, self.tick) if kind in ("start", "end") else at
        there &= (time > self.start) & (time <= self.query)
        rows = np.flatnonzero(there)
        columns = tuple(column.take(spans.key[rows]) for column in fluent.pairs.columns)
        return Relation((*columns, ints(time[rows])), len(rows))


def _no_points(width: int) -> Relation:
    empty = tuple(codes(np.empty(0, np.int64)) for _ in range(width - 1))
    return Relation((*empty, ints(np.empty(0, np.int64))), 0)


@kernel
def _holds(pair: Ints, time: Ints, offsets: Ints, start: Ints, end: Ints) -> Mask:
    inside = np.zeros(len(pair), np.bool_)
    for i in range(len(pair)):
        low, high = offsets[pair[i]], offsets[pair[i] + 1]
        t = time[i]
        last = high
        while low < high:  # the last span that starts by t
            middle = (low + high) // 2
            if start[middle] <= t:
                low = middle + 1
            else:
                high = middle
        at = low - 1
        inside[i] = at >= offsets[pair[i]] and at < last and t < end[at]
    return inside


@kernel
def _lists(pair: Ints, offsets: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    total = 0
    for p in pair:
        if p >= 0:
            total += offsets[p + 1] - offsets[p]
    out_key = np.empty(total, np.int64)
    out_start = np.empty(total, np.int64)
    out_end = np.empty(total, np.int64)
    n = 0
    for place in range(len(pair)):
        p = pair[place]
        if p < 0:
            continue
        for i in range(offsets[p], offsets[p + 1]):
            out_key[n] = place
            out_start[n] = start[i]
            out_end[n] = end[i]
            n += 1
    return out_key, out_start, out_end
