"""Rows of the same type that were made in several goes, as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from streams import Column, Ints, Rows, Words


def joined(parts: Iterable[Rows]) -> list[Rows]:
    """One `Rows` per name, so that a type is one table in the order of arrival."""
    groups: dict[str, list[Rows]] = {}
    for part in parts:
        groups.setdefault(part.name, []).append(part)
    return [_join(group) for group in groups.values()]


def _join(group: Sequence[Rows]) -> Rows:
    first = group[0]
    starts = np.concatenate([part.start for part in group])
    args = tuple(_column([part.args[i] for part in group]) for i in range(len(first.args)))
    ends = [part.end for part in group if part.end is not None]
    return Rows(first.name, starts, args, np.concatenate(ends) if ends else None)


def _column(columns: Sequence[Column]) -> Column:
    """The columns one after the other; those of words share one list of words."""
    words = [column for column in columns if isinstance(column, Words)]
    if words:
        return Words(np.concatenate([column.codes for column in words]), words[0].words)
    numbers: Ints = np.concatenate([column for column in columns if not isinstance(column, Words)])
    return numbers
