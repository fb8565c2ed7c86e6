"""What is known while an answer is worked out: facts, points and spans, as relations.

Components are worked out one after the other; each reads the relations of those before it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, bits, codes, concat
from horai.engine.hashing import dense
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.temporal.coalesce import sort_spans
from horai.temporal.kernels import kernel
from horai.temporal.sorting import offsets_of
from horai.temporal.spans import Ints, Mask, Spans, no_spans, plain

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
