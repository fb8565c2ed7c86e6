"""Aggregates for all query times at once: what they come to changes when a row comes or goes.

For each outer row the query times are cut at every change into pieces, and each piece has a value.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, codes, codes_of, column_of, concat, floats, ints, terms_of
from horai.engine.symbols import LARGEST, Symbols
from horai.engine.world import Fluent, fluent_of, no_fluent
from horai.lang.core.terms import Float, Int, Term
from horai.lang.lars.arithmetic import TooLarge, added
from horai.lang.lars.syntax import Function
from horai.temporal.sorting import order
from horai.temporal.spans import Ints, Mask, Spans


class Pieces(NamedTuple):
    """Query times, each piece with the row it is for, the value then, and if there is one."""

    spans: Spans
    value: Column
    valid: Mask


def together(parts: list[Fluent], symbols: Symbols) -> Fluent:
    """The different rows of all elements; rows of different length are different."""
    filled = [part for part in parts if len(part.spans)]
    if not filled:
        return no_fluent(2)
    if len(filled) == 1:
        return filled[0]
    width = max(len(part.pairs.columns) for part in filled)
    columns = [_padded(part, width) for part in filled]
    every = tuple(concat([part[place] for part in columns], symbols) for place in range(width + 1))
    start = np.concatenate([part.spans.start for part in filled])
    end = np.concatenate([part.spans.end for part in filled])
    return fluent_of(every, start, end, len(start), symbols)


def _padded(part: Fluent, width: int) -> list[Column]:
    rows = part.spans.key
    own = [column.take(rows) for column in part.pairs.columns]
    filling = [ints(np.zeros(len(rows), np.int64)) for _ in range(width - len(own))]
    return [*own, *filling, ints(np.full(len(rows), len(own)))]


def totals(function: Function, rows: Fluent, queries: Spans, symbols: Symbols) -> Pieces:
    """What an aggregate comes to, for all rows that query times belong to.

    The first column of `rows` says for which of these each one counts, the second one is summed or
    compared.
    """
    member = rows.spans
    outer = rows.pairs.columns[0].data[member.key] if len(member) else member.key
    cuts = _Cuts(outer, member, queries)
    count = cuts.running(np.ones(len(member), np.int64))
    if function == "count":
        return cuts.pieces(ints(count), np.ones(len(count), np.bool_))
    if not len(member):
        return cuts.pieces(ints(count), np.full(len(count), function == "sum"))
    first = rows.pairs.columns[1] if len(rows.pairs.columns) > 1 else ints(outer[:0])
    if not len(first) and rows.pairs.rows:  # rows without terms have nothing to sum
        return cuts.pieces(ints(count), (count == 0) & (function == "sum"))
    number, good = _numbers(first, symbols)
    bad = cuts.running((~good[member.key]).astype(np.int64))
    value = number.take(member.key)
    if function == "sum":
        return cuts.pieces(*_summed(cuts, value, count, bad, symbols))
    return cuts.pieces(_best(cuts, value, function, symbols), (count > 0) & (bad == 0))


def _numbers(column: Column, symbols: Symbols) -> tuple[Column, Mask]:
    """A column with numbers only, and where there is one; what is none is 0."""
    good = np.ones(len(column), np.bool_)
    if column.kind != "term":
        return column, good
    terms = terms_of(column, symbols)
    good = np.array([isinstance(term, Int | Float) for term in terms], np.bool_)
    numbers: list[Term] = [t if isinstance(t, Int | Float) else Int(0) for t in terms]
    return column_of(numbers, symbols), good


def _summed(
    cuts: _Cuts, value: Column, count: Ints, bad: Ints, symbols: Symbols
) -> tuple[Column, Mask]:
    if value.kind == "int":
        # As decimals first, which are not exact: 64 bits may not hold a sum of whole numbers.
        near = cuts.running(np.abs(value.data.astype(np.float64)))
        if near.max() < LARGEST / 2:
            return ints(cuts.running(value.data)), bad == 0
    if value.kind == "float":
        piece, member = cuts.members()
        found, number = np.zeros(cuts.size), value.data[member]
        rising = np.lexsort((number, piece))  # see `added`
        with np.errstate(over="ignore"):  # which is looked for below
            np.add.at(found, piece[rising], number[rising])
        infinite = np.isinf(found)
        if infinite.any():
            raise TooLarge("sum", number[piece == np.argmax(infinite)].tolist())
        nothing = symbols.code(Int(0))  # also of decimals
        return codes(np.where(count == 0, nothing, codes_of(floats(found), symbols))), bad == 0
    sums = _each(cuts, value, symbols, added)
    return sums, bad == 0


def _best(cuts: _Cuts, value: Column, function: Function, symbols: Symbols) -> Column:
    """The least or the largest of each piece; any number where there is none."""
    if value.kind == "term":
        return _each(
            cuts, value, symbols, lambda numbers: best(function, numbers) if numbers else 0
        )
    piece, member = cuts.members()
    data = value.data
    worst = data.max() if function == "min" else data.min()
    found = np.full(cuts.size, worst, data.dtype)
    (np.minimum if function == "min" else np.maximum).at(found, piece, data[member])
    return ints(found) if value.kind == "int" else floats(found)


def best(function: Function, numbers: list[int | float]) -> int | float:
    """The least or the largest; of equal numbers the whole one."""
    if function == "min":
        return min(numbers, key=lambda number: (number, isinstance(number, float)))
    return max(numbers, key=lambda number: (number, isinstance(number, int)))


def _each(cuts: _Cuts, value: Column, symbols: Symbols, total: object) -> Column:
    """Piece by piece, where whole numbers and decimals are mixed."""
    assert callable(total)
    listed: list[list[int | float]] = [[] for _ in range(cuts.size)]
    numbers = [t.value for t in terms_of(value, symbols) if isinstance(t, Int | Float)]
    for piece, member in zip(*(part.tolist() for part in cuts.members()), strict=True):
        listed[piece].append(numbers[member])
    found = [total(some) for some in listed]
    terms: list[Term] = [Float(one) if isinstance(one, float) else Int(one) for one in found]
    return column_of(terms, symbols)


class _Cuts:
    """The times at which something changes for a row; a piece goes from one to the next."""

    def __init__(self, outer: Ints, member: Spans, queries: Spans) -> None:
        keys = np.concatenate((outer, outer, queries.key, queries.key))
        times = np.concatenate((member.start, member.end, queries.start, queries.end))
        sorting = order(keys, times)
        keys, times = keys[sorting], times[sorting]
        new = np.ones(len(keys), np.bool_)
        new[1:] = (keys[1:] != keys[:-1]) | (times[1:] != times[:-1])
        place = np.empty(len(keys), np.int64)
        place[sorting] = np.cumsum(new) - 1
        self.key, self.time = keys[new], times[new]
        self.size = len(self.key)
        many = len(outer)
        self._from, self._to = place[:many], place[many : 2 * many]
        begun, ended = place[2 * many :][: len(queries)], place[2 * many + len(queries) :]
        asked = np.zeros(self.size, np.int64)
        np.add.at(asked, begun, 1)
        np.add.at(asked, ended, -1)
        self._asked = np.cumsum(asked) > 0

    def running(self, value: Ints) -> Ints:
        """The sum over the members of each piece."""
        found = np.zeros(self.size, value.dtype)
        np.add.at(found, self._from, value)
        np.add.at(found, self._to, -value)
        return np.cumsum(found)

    def members(self) -> tuple[Ints, Ints]:
        """All pairs of a piece and a member of it."""
        count = self._to - self._from
        member = np.repeat(np.arange(len(count)), count)
        begin = np.cumsum(count) - count
        piece = np.arange(int(count.sum())) + np.repeat(self._from - begin, count)
        return piece, member

    def pieces(self, value: Column, valid: Mask) -> Pieces:
        """The pieces at which somebody asks, with their values."""
        kept = np.flatnonzero(self._asked)
        spans = Spans(self.key[kept], self.time[kept], self.time[kept + 1])
        return Pieces(spans, value.take(kept), valid[kept])
