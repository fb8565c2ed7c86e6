"""The spans of a fluent, kept from one query to the next, and how they change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.deltas.directory import Directory
from horai.engine.relations import Relation, joined
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.temporal.algebra import difference, union
from horai.temporal.changes import Change
from horai.temporal.kernels import kernel
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, Mask, Spans, no_spans, plain
from horai.temporal.toggled import toggled
from horai.temporal.touched import exchanged

MANY = 1_000  # pairs, before those that hold no more are dropped


@dataclass(slots=True)
class SpanChange:
    """How a fluent changed. Keys are rows of `pairs`, those of the store after the change.

    `gone` and `new` are whole spans that are no longer there, or were not there before; `pieces` is
    the time in which a pair holds now and did not before, or the other way round (I+ and I-).
    """

    pairs: Relation
    gone: Spans
    new: Spans
    _pieces: Spans | None = None

    def __bool__(self) -> bool:
        return bool(len(self.gone) or len(self.new))

    @property
    def pieces(self) -> Spans:
        """The time that changed."""
        if self._pieces is None:
            gone, new = difference(self.gone, self.new), difference(self.new, self.gone)
            self._pieces = union(gone, new)
        return self._pieces


def no_change(pairs: Relation) -> SpanChange:
    """Nothing changed."""
    return SpanChange(pairs, no_spans(), no_spans())


class FluentStore:
    """All spans of a fluent. The row of a pair stays the same until the store is trimmed."""

    def __init__(self, fluent: Fluent, symbols: Symbols) -> None:
        self.symbols = symbols
        self.fluent = fluent
        self._directory = Directory(symbols)

    @property
    def fluent(self) -> Fluent:
        """All pairs there have been since the store was trimmed, and their spans."""
        return self._fluent

    @fluent.setter
    def fluent(self, fluent: Fluent) -> None:
        self._fluent = fluent
        self._public: Fluent | None = None

    def public(self) -> Fluent:
        """The fluent as readers know it: only pairs that hold at some time."""
        if self._public is None:
            self._public = without_bare_pairs(self.fluent)
        return self._public

    def rows_of(self, pairs: Relation, since: int = 0) -> Ints:
        """The rows of some pairs, from one row on; -1 for those that are not known."""
        return self._directory.rows_of(pairs, self.fluent.pairs, since)

    def added(self, pairs: Relation) -> Ints:
        """The rows of some different pairs; those that were not known get one."""
        rows = self.rows_of(pairs)
        new = np.flatnonzero(rows < 0)
        if len(new):
            fluent, before = self.fluent, self.fluent.pairs.rows
            rows[new] = np.arange(before, before + len(new))
            whole = joined([fluent.pairs, pairs.where(new)], self.symbols)
            offsets = np.concatenate((fluent.offsets, np.full(len(new), len(fluent.spans))))
            self.fluent = Fluent(whole, fluent.spans, offsets)
        return rows

    def exchange(self, drop: Ints, new: Spans) -> SpanChange:
        """Drop spans by their places, which rise, and put others in, sorted by row and start."""
        fluent = self.fluent
        old = Spans(*(column[drop] for column in fluent.spans))
        gone = np.asarray(_without(*plain(*old, *new)))
        fresh = np.asarray(_without(*plain(*new, *old)))
        change = SpanChange(fluent.pairs, old.where(gone), new.where(fresh))
        if change:
            spans = Spans(*exchanged(fluent.spans, drop, new))
            self.fluent = Fluent(fluent.pairs, spans, self._offsets(old, new))
        return change

    def _offsets(self, gone: Spans, new: Spans) -> Ints:
        """Where the spans of each pair begin when some have gone and others come."""
        fluent = self.fluent
        more = np.bincount(new.key, minlength=fluent.pairs.rows)
        more -= np.bincount(gone.key, minlength=fluent.pairs.rows)
        offsets = fluent.offsets.copy()
        offsets[1:] += np.cumsum(more)
        return offsets

    def change(self, change: Change) -> SpanChange:
        """Let pairs hold at other times; only spans that these touch are looked at."""
        if not len(change):
            return no_change(self.fluent.pairs)
        fluent = self.fluent
        spans, gone, new = toggled(fluent.spans, change)
        self.fluent = Fluent(fluent.pairs, spans, self._offsets(gone, new))
        return SpanChange(fluent.pairs, gone, new, change.region())

    def places_of(self, row: Ints, start: Ints) -> Ints:
        """The places of spans of some pairs that start at some time, as they rise."""
        fluent = self.fluent
        places: Ints = _places(*plain(row, start, fluent.offsets, fluent.spans.start))
        places.sort()
        return places

    def forget(self, until: int) -> bool:
        """Drop spans that are over by then; True if rows of pairs have moved."""
        fluent = self.fluent
        self.fluent = Fluent(fluent.pairs, fluent.spans.where(fluent.spans.end > until))
        if fluent.pairs.rows < MANY or 2 * self.public().pairs.rows >= fluent.pairs.rows:
            return False
        self.fluent = self.public()
        self._directory = Directory(self.symbols)
        return True

    def replace(self, fluent: Fluent) -> SpanChange:
        """Take over what was worked out from scratch."""
        rows = self.added(fluent.pairs)
        spans = fluent.spans
        return self.exchange(np.arange(len(self.fluent.spans)), moved(spans, rows))


class SharedStore(FluentStore):
    """The spans of a fluent whose values are worked out by several components."""

    def __init__(self, fluent: Fluent, symbols: Symbols) -> None:
        super().__init__(fluent, symbols)
        self._maker: Ints = np.empty(0, np.int64)  # of every pair
        self.clashes = False  # one pair comes from two components, and one may hide the other

    def take(self, maker: int, change: SpanChange) -> SpanChange:
        """How the fluent changes when the part of one component does."""
        used = np.unique(np.concatenate((change.gone.key, change.new.key)))
        rows = self.added(change.pairs.where(used))
        more = np.full(self.fluent.pairs.rows - len(self._maker), maker)
        self._maker = np.concatenate((self._maker, more))
        self.clashes |= bool((self._maker[rows] != maker).any())
        place = np.zeros(change.pairs.rows, np.int64)
        place[used] = rows
        gone, new = (moved(spans, place) for spans in (change.gone, change.new))
        stays = np.asarray(_without(*plain(*self.fluent.spans, *gone)))
        return self.exchange(np.flatnonzero(~stays), new)


def both(one: SpanChange, other: SpanChange) -> SpanChange:
    """Changes of different pairs of one fluent; the pairs are those of the second."""
    return SpanChange(other.pairs, _stacked(one.gone, other.gone), _stacked(one.new, other.new))


def reviewed(change: SpanChange, spans: Spans, before: Mask, now: Mask) -> SpanChange:
    """A change as those see it who know only some of the pairs, perhaps others than before.

    `spans` are all that there are after the change.
    """
    stays, came, went = before & now, now & ~before, before & ~now
    if not came.any() and not went.any():
        sides = (side.where(stays[side.key]) for side in (change.gone, change.new))
        return SpanChange(change.pairs, *sides)
    old = spans.where(np.asarray(_without(*plain(*spans, *change.new))))
    gone = _stacked(change.gone.where(before[change.gone.key]), old.where(went[old.key]))
    new = _stacked(change.new.where(stays[change.new.key]), spans.where(came[spans.key]))
    return SpanChange(change.pairs, gone, new)


def _stacked(one: Spans, other: Spans) -> Spans:
    together = Spans(*(np.concatenate(pair) for pair in zip(one, other, strict=True)))
    return moved(together, np.arange(int(together.key.max()) + 1 if len(together) else 0))


def moved(spans: Spans, place: Ints) -> Spans:
    """Spans with other keys, in their order."""
    key = place[spans.key]
    sorting = order(key, spans.start)
    return Spans(key[sorting], spans.start[sorting], spans.end[sorting])


def without_bare_pairs(fluent: Fluent) -> Fluent:
    """Only pairs that hold at some time."""
    used = np.zeros(fluent.pairs.rows, np.bool_)
    used[fluent.spans.key] = True
    return fluent.where(used)


def since(fluent: Fluent, pair: Ints, time: Ints) -> tuple[Mask, Ints]:
    """Which pairs hold at a time, and since when."""
    return _since(*plain(pair, time, fluent.offsets, fluent.spans.start, fluent.spans.end))


def in_regions(fluent: Fluent, pair: Ints, low: Ints, high: Ints) -> Mask:
    """Spans that lie in a region of their pair, but for those that go on after its end."""
    spans = fluent.spans
    return _in_regions(*plain(pair, low, high, fluent.offsets, spans.start, spans.end))


@kernel
def _in_regions(pair: Ints, low: Ints, high: Ints, offsets: Ints, start: Ints, end: Ints) -> Mask:
    found = np.zeros(len(start), np.bool_)
    for i in range(len(pair)):
        a, last = offsets[pair[i]], offsets[pair[i] + 1]
        b = last
        while a < b:  # the first span that ends after the beginning of the region
            middle = (a + b) // 2
            if end[middle] <= low[i]:
                a = middle + 1
            else:
                b = middle
        while a < last and start[a] < high[i] and (end[a] <= high[i] or high[i] == INF):
            found[a] = True
            a += 1
    return found


@kernel
def _places(row: Ints, start: Ints, offsets: Ints, starts: Ints) -> Ints:
    found = np.empty(len(row), np.int64)
    n = 0
    for i in range(len(row)):
        a, b = offsets[row[i]], offsets[row[i] + 1]
        at = a + np.searchsorted(starts[a:b], start[i])
        if at < b and starts[at] == start[i]:
            found[n] = at
            n += 1
    return found[:n]


@kernel
def _since(pair: Ints, time: Ints, offsets: Ints, start: Ints, end: Ints) -> tuple[Mask, Ints]:
    there = np.zeros(len(pair), np.bool_)
    begun = np.zeros(len(pair), np.int64)
    for i in range(len(pair)):
        low, high = offsets[pair[i]], offsets[pair[i] + 1]
        begin = low
        while low < high:  # the last span that starts by then
            middle = (low + high) // 2
            if start[middle] <= time[i]:
                low = middle + 1
            else:
                high = middle
        at = low - 1
        if at >= begin and time[i] < end[at]:
            there[i] = True
            begun[i] = start[at]
    return there, begun


@kernel
def _without(
    key: Ints, start: Ints, end: Ints, other_key: Ints, other_start: Ints, other_end: Ints
) -> Mask:
    """The spans that the other side has not, both sorted."""
    found = np.ones(len(key), np.bool_)
    j = 0
    for i in range(len(key)):
        while j < len(other_key) and (
            other_key[j] < key[i] or (other_key[j] == key[i] and other_start[j] < start[i])
        ):
            j += 1
        if j < len(other_key) and other_key[j] == key[i] and other_start[j] == start[i]:
            found[i] = other_end[j] != end[i]
    return found
