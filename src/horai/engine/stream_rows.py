"""Rows of items: named columns of numbers beside columns of terms.

What is waiting, admitted or kept of an item type differs in its numbers only, so all of it is
picked, joined and saved by the same few functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from horai.engine.columns import Column, bits, concat
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints, Mask

State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows. `terms` are the arguments, and after them the value if it is a fluent's."""

    numbers: dict[str, Ints]
    terms: tuple[Column, ...]

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.numbers["start"])

    def __getitem__(self, name: str) -> Ints:
        return self.numbers[name]

    def take(self, rows: Ints | Mask) -> Rows:
        """The rows at some positions, or those a mask picks, as a copy."""
        numbers = {name: data[rows] for name, data in self.numbers.items()}
        return Rows(numbers, tuple(column.take(rows) for column in self.terms))

    def split(self, at: int) -> tuple[Rows, Rows]:
        """The rows before a position and the others, not copied."""
        return self._part(slice(0, at)), self._part(slice(at, None))

    def only(self, *names: str) -> Rows:
        """The same rows with some of their numbers."""
        return Rows({name: self.numbers[name] for name in names}, self.terms)

    def having(self, **numbers: Ints) -> Rows:
        """The same rows with more numbers."""
        return Rows({**self.numbers, **numbers}, self.terms)

    def identity(self) -> list[Ints]:
        """Columns that are all equal where two of these rows say the same."""
        times = [self.numbers[name] for name in ("start", "end") if name in self.numbers]
        return [*times, *map(bits, self.terms)]

    def _part(self, rows: slice) -> Rows:
        numbers = {name: data[rows] for name, data in self.numbers.items()}
        return Rows(numbers, tuple(Column(kind, data[rows]) for kind, data in self.terms))


def empty_rows(names: Iterable[str], terms: int) -> Rows:
    """No rows, with columns of some names."""
    nothing = np.empty(0, np.int64)
    return Rows(dict.fromkeys(names, nothing), (Column("int", nothing),) * terms)


def join(parts: Iterable[Rows], symbols: Symbols) -> Rows:
    """Rows one after the other, with the numbers all have; there is at least one part."""
    listed = list(parts)
    filled = [part for part in listed if part.size] or listed[:1]
    if len(filled) == 1:
        return filled[0]
    names = [name for name in filled[0].numbers if all(name in part.numbers for part in filled)]
    numbers = {name: np.concatenate([part[name] for part in filled]) for name in names}
    columns = zip(*(part.terms for part in filled), strict=True)
    return Rows(numbers, tuple(concat(column, symbols) for column in columns))


def rows_state(rows: Rows) -> State:
    """The rows as arrays and columns; codes mean what the symbols of the session say."""
    return {"numbers": dict(rows.numbers), "terms": list(rows.terms)}


def rows_from_state(state: Mapping[str, Any], like: Rows) -> Rows:
    """The rows that `rows_state` wrote; `ValueError` if others are there than those `like` has."""
    found = Rows(state["numbers"], tuple(Column(*column) for column in state["terms"]))
    lengths = {len(data) for data in (*found.numbers.values(), *(c.data for c in found.terms))}
    if (
        not like.numbers.keys() <= found.numbers.keys()
        or len(like.terms) != len(found.terms)
        or len(lengths) > 1
    ):
        raise ValueError("these are no rows of the stream")
    return found
