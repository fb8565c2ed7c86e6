"""Rows of columns: items, what answers say of them, spans that came or went.

All of them have whole numbers by name, times above all, and terms. So whatever is kept of a stream
is picked, joined, compared and saved in one way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, bits, concat
from horai.engine.numbering import dense
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints, Mask, Spans, difference, sort_spans


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

    def part(self, rows: slice) -> Rows:
        """Rows that follow each other, not copied."""
        numbers = {name: data[rows] for name, data in self.numbers.items()}
        return Rows(numbers, tuple(Column(kind, data[rows]) for kind, data in self.terms))

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

    def once(self) -> Rows:
        """Each row once."""
        firsts = dense(self.identity(), self.size)[1]
        return self if len(firsts) == self.size else self.take(firsts)


def spans(start: Ints, end: Ints, terms: Iterable[Column]) -> Rows:
    """Rows that last from a start to an end."""
    return Rows({"start": start, "end": end}, tuple(terms))


def no_rows(names: Iterable[str], terms: int) -> Rows:
    """No rows, with columns of some names."""
    nothing = np.empty(0, np.int64)
    return Rows(dict.fromkeys(names, nothing), (Column("int", nothing),) * terms)


def no_spans(terms: int) -> Rows:
    """No spans of so many terms."""
    return no_rows(("start", "end"), terms)


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


def merged(parts: Iterable[Rows], symbols: Symbols) -> Rows:
    """Spans of any kind as maximal ones; there is at least one part."""
    rows = join(parts, symbols)
    key, firsts = dense([*map(bits, rows.terms)], rows.size)
    found = sort_spans(key, rows["start"], rows["end"])
    first = firsts[found.key]
    return spans(found.start, found.end, (column.take(first) for column in rows.terms))


def clipped(rows: Rows, low: int, high: int) -> Rows:
    """What of spans lies in [low, high)."""
    start, end = np.maximum(rows["start"], low), np.minimum(rows["end"], high)
    return rows.having(start=start, end=end).take(start < end)


def without(rows: Rows, others: Rows, symbols: Symbols) -> Rows:
    """The rows that are not among others."""
    if not (rows.size and others.size):
        return rows
    both = join([rows, others], symbols)
    number, firsts = dense(both.identity(), both.size)
    known = np.zeros(len(firsts), np.bool_)
    known[number[rows.size :]] = True
    return rows.take(~known[number[: rows.size]])


def minus(rows: Rows, others: Rows, symbols: Symbols) -> Rows:
    """The time in which spans hold and others of the same terms do not; both are maximal."""
    if not (rows.size and others.size):
        return rows
    both = join([rows, others], symbols)
    key, firsts = dense([*map(bits, both.terms)], both.size)
    sides = ((key[: rows.size], rows), (key[rows.size :], others))
    left = difference(*(sort_spans(keys, side["start"], side["end"]) for keys, side in sides))
    first = firsts[left.key]
    return spans(left.start, left.end, (column.take(first) for column in both.terms))


def without_times(rows: Rows, none: Ints) -> Rows:
    """What is left of spans where nothing holds in some others, given as starts and ends."""
    if not (rows.size and len(none)):
        return rows
    every = np.arange(rows.size)
    gone = Spans(np.repeat(every, len(none)), *(np.tile(side, rows.size) for side in none.T))
    left = difference(Spans(every, rows["start"], rows["end"]), gone)
    return spans(left.start, left.end, (column.take(left.key) for column in rows.terms))
