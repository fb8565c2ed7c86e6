"""Work once per distinct row, then spread the outcome over all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from horai.engine.columns import Column, bits
from horai.engine.hashing import dense
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
