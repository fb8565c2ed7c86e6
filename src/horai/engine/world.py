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
from horai.temporal.spans import Ints, Mask, Spans, no_spans, sort_spans

Key = tuple[str, int]


@dataclass(slots=True)
class Fluent:
    """The pairs of a fluent (arguments, then value) and the spans of each, keyed by its row."""

    pairs: Relation
    spans: Spans

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
