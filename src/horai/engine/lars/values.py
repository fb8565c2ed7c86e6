"""Expressions, comparisons and aggregates of LARS over columns.

Whole numbers divide towards zero. A row whose expression has no value (`1/0`, `a + 1`) is left out.
The terms of an aggregate count once each, at every query time by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from horai.engine.columns import (
    Column,
    Data,
    codes,
    codes_of,
    column_of,
    concat,
    constant,
    floats,
    ints,
    terms_of,
)
from horai.engine.hashing import dense
from horai.engine.matching import build, equal
from horai.engine.symbols import LARGEST, Symbols
from horai.engine.world import Fluent, fluent_of, no_fluent
from horai.lang.core.terms import Compound, Float, Int, Term, Var
from horai.lang.lars.arithmetic import COMPARISONS, TooLarge, added, compare, compute_term
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import Function, Sign
from horai.temporal.sorting import order
from horai.temporal.spans import Ints, Mask, Spans

Columns = Mapping[str, Column]


class Values(NamedTuple):
    """The values of an expression, and the rows that have one."""

    column: Column
    valid: Mask


def evaluate(term: Term, columns: Columns, rows: int, symbols: Symbols) -> Values:
    """The values of a term whose variables all have columns."""
    every = np.ones(rows, np.bool_)
    match term:
        case Var(name=name):
            return Values(columns[name], every)
        case Compound(name=sign, args=args) if sign in ARITHMETIC:
            return _computed(sign, [evaluate(arg, columns, rows, symbols) for arg in args], symbols)
        case Compound():
            return Values(build(term, columns, rows, symbols), every)
        case _:
            return Values(constant(term, rows, symbols), every)


def _computed(sign: str, parts: list[Values], symbols: Symbols) -> Values:
    valid = np.logical_and.reduce([part.valid for part in parts])
    if any(part.column.kind == "term" or _is_large(part.column) for part in parts):
        return _one_by_one(sign, parts, valid, symbols)
    if len(parts) == 1:
        column = parts[0].column
        return Values(Column(column.kind, -column.data if sign == "-" else column.data), valid)
    left, right = (part.column for part in parts)
    whole = left.kind == right.kind == "int"
    with np.errstate(all="ignore"):
        found, good, is_large = (_whole if whole else _real)(sign, left.data, right.data)
    if (is_large & valid).any():
        return _one_by_one(sign, parts, valid, symbols)
    return Values(ints(found) if whole else floats(found), valid & good)


def _is_large(column: Column) -> bool:
    """Are there whole numbers with which 64 bits may not do?"""
    data = column.data
    return (
        column.kind == "int" and len(data) > 0 and (data.max() >= LARGEST or data.min() <= -LARGEST)
    )


def _one_by_one(sign: str, parts: list[Values], valid: Mask, symbols: Symbols) -> Values:
    """The same where 64 bits do not do, or rows are of several kinds: each different row once."""
    rows = np.flatnonzero(valid)
    columns = [part.column.take(rows) for part in parts]
    numbers, firsts = dense([codes_of(column, symbols) for column in columns], len(rows))
    each = zip(*(terms_of(column.take(firsts), symbols) for column in columns), strict=True)
    found = [compute_term(sign, terms) for terms in each]
    of_row = np.zeros(len(valid), np.int64)
    of_row[rows] = numbers
    good = np.array([term is not None for term in [*found, None]], np.bool_)
    column = column_of([Int(0) if term is None else term for term in [*found, None]], symbols)
    return Values(column.take(of_row), valid & good[of_row])


def _whole(sign: str, left: Data, right: Data) -> tuple[Data, Mask, Mask]:
    """The values, which rows have one, and for which of them 64 bits may not do."""
    wide = left.astype(np.float64), right.astype(np.float64)
    every = np.ones(len(left), np.bool_)
    match sign:
        case "+":
            return left + right, every, np.abs(wide[0] + wide[1]) >= LARGEST
        case "-":
            return left - right, every, np.abs(wide[0] - wide[1]) >= LARGEST
        case "*":
            return left * right, every, np.abs(wide[0] * wide[1]) >= LARGEST
        case "/" | "%":
            divisor = np.where(right == 0, 1, right)
            quotient = np.abs(left) // np.abs(divisor) * np.sign(left) * np.sign(divisor)
            found = quotient if sign == "/" else left - divisor * quotient
            return found, right != 0, ~every
        case _:
            power = np.maximum(right, 0)
            return left**power, right >= 0, np.abs(wide[0] ** power) >= LARGEST


def _real(sign: str, left: Data, right: Data) -> tuple[Data, Mask, Mask]:
    one, other = left.astype(np.float64), right.astype(np.float64)
    match sign:
        case "+":
            found = one + other
        case "-":
            found = one - other
        case "*":
            found = one * other
        case "/":
            found = one / other
        case "%":
            found = np.mod(one, other)
        case _:
            found = one**other
    # What is divided by nothing has no value; what is infinite otherwise was too large.
    good = np.isfinite(found)
    return found, good, np.isinf(found)


def holds(sign: Sign, left: Values, right: Values, symbols: Symbols) -> Mask:
    """The rows in which a comparison holds."""
    valid = left.valid & right.valid
    one, other = left.column, right.column
    if sign in ("=", "!="):  # the same term: 3 is not 3.0
        same = equal(one, other, symbols)
        return same & valid if sign == "=" else ~same & valid
    if one.kind != "term" and other.kind != "term":
        found: Mask = np.asarray(COMPARISONS[sign](one.data, other.data), np.bool_)
        return found & valid
    keys = [codes_of(one, symbols), codes_of(other, symbols)]
    numbers, firsts = dense(keys, len(one))
    pairs = zip(
        terms_of(one.take(firsts), symbols), terms_of(other.take(firsts), symbols), strict=True
    )
    each = np.array([compare(sign, a, b) for a, b in pairs], np.bool_)
    return each[numbers] & valid if len(numbers) else valid


def whole_numbers(column: Column) -> tuple[Ints, Mask]:
    """The whole numbers of a column that may be times, and the rows that have one."""
    match column.kind:
        case "int":
            return column.data, np.abs(column.data) < LARGEST
        case "float":
            return np.zeros(len(column), np.int64), np.zeros(len(column), np.bool_)
        case _:  # only the codes of whole numbers are odd
            return column.data >> 1, column.data & 1 == 1


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
