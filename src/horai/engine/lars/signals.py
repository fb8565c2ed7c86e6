"""The signals of a stream: what is known of them at which query times, and in what order.

A signal counts at query times from its arrival on, and what is taken back until then. Tuple windows
count signals as they came in.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, ints
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of
from horai.temporal.spans import INF, Ints

Key = tuple[str, int]


class Rows(NamedTuple):
    """Signals of one predicate, each at its time, known from `start` until `end`.

    `number` tells in which order all signals came in.
    """

    args: tuple[Column, ...]
    time: Ints
    start: Ints
    end: Ints
    number: Ints

    def __len__(self) -> int:
        return len(self.time)


class Signals:
    """All signals, predicate by predicate."""

    def __init__(self, rows: dict[Key, Rows], symbols: Symbols, first: int) -> None:
        self.rows = rows
        self.symbols = symbols
        self.first = first
        self._relations: dict[Key, Fluent] = {}

    def relation(self, key: Key) -> Fluent:
        """The signals of a predicate: arguments and time, and the query times that know them."""
        if key not in self._relations:
            self._relations[key] = self._related(self.rows[key])
        return self._relations[key]

    def _related(self, rows: Rows) -> Fluent:
        there = rows.start < rows.end
        columns = (*(column.take(there) for column in rows.args), ints(rows.time[there]))
        size = int(there.sum())
        return fluent_of(columns, rows.start[there], rows.end[there], size, self.symbols)


class Counted(NamedTuple):
    """All signals by time and order, while nothing late changes which there are.

    `place` says which row of which predicate each is. The version is that of the query times from
    `low` until `high`.
    """

    predicate: Ints
    row: Ints
    time: Ints
    low: int
    high: int


def versions(signals: Signals, keys: list[Key]) -> list[Counted]:
    """What tuple windows count: one version of it, or one from each late change to the next."""
    every = [signals.rows[key] for key in keys]
    if not any(len(rows) for rows in every):
        return []
    predicate = np.repeat(np.arange(len(keys)), [len(rows) for rows in every])
    row = np.concatenate([np.arange(len(rows)) for rows in every])
    time, start, end, number = (
        np.concatenate([rows[place] for rows in every]) for place in range(1, 5)
    )
    start = np.maximum(start, time)  # what is still to come is not counted yet
    sorting = np.lexsort((number, time))
    predicate, row, time = predicate[sorting], row[sorting], time[sorting]
    start, end = start[sorting], end[sorting]
    late = np.unique(np.concatenate((start[start > time], end[end < INF])))
    borders = [signals.first, *(one for one in late.tolist() if one > signals.first), INF]
    found = []
    for low, high in pairwise(borders):
        there = (start < high) & (end > low)
        found.append(Counted(predicate[there], row[there], time[there], low, high))
    return found


def versions_ahead(signals: Signals, keys: list[Key]) -> list[Counted]:
    """What is known of signals to come: one version from each announcement to the next."""
    every = [signals.rows[key] for key in keys]
    if not any(len(rows) for rows in every):
        return []
    predicate = np.repeat(np.arange(len(keys)), [len(rows) for rows in every])
    row = np.concatenate([np.arange(len(rows)) for rows in every])
    time, start, end, number = (
        np.concatenate([rows[place] for rows in every]) for place in range(1, 5)
    )
    sorting = np.lexsort((number, time))
    sorting = sorting[start[sorting] < np.minimum(time, end)[sorting]]
    predicate, row, time = predicate[sorting], row[sorting], time[sorting]
    start, end = start[sorting], end[sorting]
    borders = [*np.unique(np.concatenate((start, end[end < INF]))).tolist(), INF]
    found = []
    for low, high in pairwise(borders):
        there = (start < high) & (end > low)
        found.append(Counted(predicate[there], row[there], time[there], low, high))
    return found


def table(rows: Rows, chosen: Ints) -> Relation:
    """Arguments and time of some signals."""
    columns = (*(column.take(chosen) for column in rows.args), ints(rows.time[chosen]))
    return Relation(columns, len(chosen))
