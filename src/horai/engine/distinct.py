"""Work once per distinct row, then spread the outcome over all rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, bits, column_of, terms_of
from horai.engine.hashing import dense
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term
from horai.temporal.spans import Ints

Env = dict[str, Term]


class Found(NamedTuple):
    """Answers to a condition: each refers to the row it extends and binds new variables."""

    rows: Ints
    new: dict[str, Column]


class Groups(NamedTuple):
    """Equal rows as one: a row of each group, and the group of each row."""

    first: Ints
    of_row: Ints


def groups(columns: Sequence[Column], rows: int) -> Groups:
    """The distinct rows of some columns; without columns all rows are equal."""
    of_row, first = dense([bits(column) for column in columns], rows)
    return Groups(first, of_row)


def environments(columns: Mapping[str, Column], first: Ints, symbols: Symbols) -> list[Env]:
    """What the variables stand for in some rows."""
    if not columns:
        return [{} for _ in first]
    listed = [terms_of(column.take(first), symbols) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*listed, strict=True)]


def spread(
    answers: Sequence[Sequence[tuple[Term, ...]]],
    names: Sequence[str],
    of_row: Ints,
    symbols: Symbols,
) -> Found:
    """The answers of each group as answers of its rows: values for the named variables."""
    counts = np.array([len(found) for found in answers], np.int64)
    flat = [values for found in answers for values in found]
    begins = np.concatenate(([0], np.cumsum(counts)))
    rows, places = repeated(begins[:-1][of_row], counts[of_row])
    new = {
        name: column_of([values[i] for values in flat], symbols).take(places)
        for i, name in enumerate(names)
    }
    return Found(rows, new)


def repeated(begins: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Each row as often as it counts, beside the integers from its begin on.

    >>> repeated(np.array([7, 0, 3]), np.array([2, 0, 1]))
    (array([0, 0, 2]), array([7, 8, 3]))
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return rows, np.arange(len(rows)) - before[rows] + begins[rows]
