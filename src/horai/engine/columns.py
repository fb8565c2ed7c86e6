"""Typed columns of terms.

| kind | data | what every row is |
|---|---|---|
| int | int64 | an integer |
| float | float64 | a decimal |
| term | int64 | the code of any term, numbers included |

3 and 3.0 are different terms, so columns of different kinds meet as columns of codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from horai.engine.numbering import dense
from horai.engine.symbols import LARGEST, Symbols
from horai.lang.core.terms import Constant, Float, Int, Term
from horai.temporal.spans import Ints, Mask

Kind = Literal["int", "float", "term"]
Data = npt.NDArray[Any]


class Column(NamedTuple):
    """One value per row."""

    kind: Kind
    data: Data

    def __len__(self) -> int:
        return len(self.data)

    def take(self, rows: Ints | Mask) -> Column:
        """The rows at some positions, or those a mask picks."""
        return Column(self.kind, self.data[rows])


def ints(data: Data) -> Column:
    """A column of integers."""
    return Column("int", np.asarray(data, np.int64))


def floats(data: Data) -> Column:
    """A column of decimals, in which there is one zero: -0.0 is equal to it as a term."""
    found = np.asarray(data, np.float64)
    if np.signbit(found[found == 0.0]).any():
        found = found + 0.0
    return Column("float", found)


def codes(data: Data) -> Column:
    """A column of codes."""
    return Column("term", np.asarray(data, np.int64))


def constant(term: Term, rows: int, symbols: Symbols) -> Column:
    """The same term in every row."""
    match term:
        case Int(value=value) if -LARGEST < value < LARGEST:
            return ints(np.full(rows, value, np.int64))
        case Float(value=real):
            return floats(np.full(rows, real))
        case _:
            return codes(np.full(rows, symbols.code(term), np.int64))


def column_of(terms: Sequence[Term], symbols: Symbols) -> Column:
    """A column of the narrowest kind that holds all the terms."""
    kinds = set(map(type, terms))
    if kinds == {Constant}:
        return codes(symbols.atoms(term.name for term in terms if isinstance(term, Constant)))
    if kinds <= {Int} and all(
        isinstance(term, Int) and -LARGEST < term.value < LARGEST for term in terms
    ):
        return ints(np.array([term.value for term in terms if isinstance(term, Int)], np.int64))
    if kinds == {Float}:
        return floats(np.array([term.value for term in terms if isinstance(term, Float)]))
    return codes(symbols.codes(terms))


def terms_of(column: Column, symbols: Symbols) -> list[Term]:
    """The terms of a column."""
    match column.kind:
        case "int":
            return [Int(value) for value in column.data.tolist()]
        case "float":
            return [Float(value) for value in column.data.tolist()]
        case _:
            return symbols.terms(column.data)


def codes_of(column: Column, symbols: Symbols) -> Ints:
    """The codes of all rows, whatever the kind."""
    match column.kind:
        case "term":
            return column.data
        case "int":
            data: Ints = column.data
            if len(data) and (data.max() >= LARGEST or data.min() <= -LARGEST):
                return symbols.codes(Int(value) for value in data.tolist())
            return data * 2 + 1
        case _:
            numbers, firsts = dense([bits(column)], len(column))
            different = column.data[firsts].tolist()
            found: Ints = symbols.codes(Float(value) for value in different)[numbers]
            return found


def as_codes(column: Column, symbols: Symbols) -> Column:
    """The column as one of codes."""
    return column if column.kind == "term" else codes(codes_of(column, symbols))


def bits(column: Column) -> Ints:
    """Integers that are equal where the rows are, among columns of one kind."""
    return column.data.view(np.int64) if column.kind == "float" else column.data


def common(left: Column, right: Column, symbols: Symbols) -> tuple[Ints, Ints]:
    """Two columns as integers that are equal exactly where the terms are."""
    if left.kind == right.kind:
        return bits(left), bits(right)
    return codes_of(left, symbols), codes_of(right, symbols)


def concat(columns: Iterable[Column], symbols: Symbols) -> Column:
    """Columns one after the other; of codes where kinds differ."""
    listed = list(columns)
    filled = [column for column in listed if len(column)] or listed[:1]
    if not filled:
        return codes(np.empty(0, np.int64))
    if any(column.kind != filled[0].kind for column in filled):
        filled = [as_codes(column, symbols) for column in filled]
    if len(filled) == 1:
        return filled[0]
    return Column(filled[0].kind, np.concatenate([column.data for column in filled]))


def narrow(column: Column, symbols: Symbols) -> Column:
    """A column of codes as one of numbers, where every row is a number of one kind."""
    if column.kind != "term" or not len(column):
        return column
    if (column.data & 1).all():
        return ints(column.data >> 1)
    if not isinstance(symbols.term(int(column.data[0])), Int | Float):
        return column
    numbers, firsts = dense([column.data], len(column))
    found = column_of([symbols.term(code) for code in column.data[firsts].tolist()], symbols)
    return column if found.kind == "term" else found.take(numbers)
