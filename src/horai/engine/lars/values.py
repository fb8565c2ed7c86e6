"""Expressions and comparisons of LARS over columns.

Whole numbers divide towards zero. A row whose expression has no value (`1/0`, `a + 1`) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, Data, codes_of, column_of, constant, floats, ints, terms_of
from horai.engine.hashing import dense
from horai.engine.matching import build, equal
from horai.engine.symbols import LARGEST, Symbols
from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.lars.arithmetic import COMPARISONS, compare, compute_term
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import Sign
from horai.temporal.spans import Ints, Mask

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
