"""The signals of a stream: what is known of them at which query times, in what order and groups.

A signal counts at query times from its arrival on, and what is taken back until then. Tuple windows
count signals as they came in, perhaps by group. The signal of rank r leaves a window of n when the
signal of rank r + n comes; the timeline of the window begins with the oldest signal in it, or with
the stream if there are too few.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from horai.engine.columns import Column, codes_of, ints
from horai.engine.frames import unit
from horai.engine.hashing import dense
from horai.engine.relations import Relation, join
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of
from horai.lang.core.terms import is_anonymous, variables
from horai.lang.lars.syntax import Pattern
from horai.temporal.kernels import kernel
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, plain

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


def versions(signals: Signals, keys: list[Key], *, ahead: bool = False) -> list[Counted]:
    """What tuple windows count: one version of it, or one from each late change to the next.

    With `ahead`, what is known of signals to come: from each announcement to the next.
    """
    every = [signals.rows[key] for key in keys]
    if not any(len(rows) for rows in every):
        return []
    predicate = np.repeat(np.arange(len(keys)), [len(rows) for rows in every])
    row = np.concatenate([np.arange(len(rows)) for rows in every])
    time, start, end, number = (
        np.concatenate([rows[place] for rows in every]) for place in range(1, 5)
    )
    sorting = np.lexsort((number, time))
    if ahead:
        sorting = sorting[start[sorting] < np.minimum(time, end)[sorting]]
    else:
        start = np.maximum(start, time)  # what is still to come is not counted yet
    predicate, row, time = predicate[sorting], row[sorting], time[sorting]
    start, end = start[sorting], end[sorting]
    if ahead:
        changes = np.unique(np.concatenate((start, end[end < INF])))
        borders = [*changes.tolist(), INF]
    else:
        late = np.unique(np.concatenate((start[start > time], end[end < INF])))
        borders = [signals.first, *(one for one in late.tolist() if one > signals.first), INF]
    found = []
    for low, high in pairwise(borders):
        there = (start < high) & (end > low)
        found.append(Counted(predicate[there], row[there], time[there], low, high))
    return found


def table(rows: Rows, chosen: Ints) -> Relation:
    """Arguments and time of some signals."""
    columns = (*(column.take(chosen) for column in rows.args), ints(rows.time[chosen]))
    return Relation(columns, len(chosen))


def groups_of(
    counted: Counted,
    signals: Signals,
    keys: list[Key],
    patterns: tuple[Pattern, ...] | None,
    symbols: Symbols,
) -> Ints:
    """The group of every signal: one for all, or one for each value of the variables of a pattern.

    The first pattern that fits counts; what fits none is in no group, -1.
    """
    if patterns is None:
        return np.zeros(len(counted.time), np.int64)
    found = np.full(len(counted.time), -1)
    groups = 0
    for pattern in patterns:
        for number, key in enumerate(keys):
            if pattern.name != key[0] or (pattern.args is not None and len(pattern.args) != key[1]):
                continue
            mine = np.flatnonzero((counted.predicate == number) & (found < 0))
            args = signals.rows[key].args
            table = Relation(tuple(c.take(counted.row[mine]) for c in args), len(mine))
            rows, groups_here = _values(table, pattern, symbols)
            found[mine[rows]] = groups_here + groups
            groups += int(groups_here.max()) + 1 if len(groups_here) else 0
    return found


def _values(table: Relation, pattern: Pattern, symbols: Symbols) -> tuple[Ints, Ints]:
    """The rows that fit a pattern, and a number for the values of its variables."""
    if pattern.args is None:
        return np.arange(table.rows), np.zeros(table.rows, np.int64)
    found = join(unit(), table, pattern.args, symbols)
    frame = found.to_frame(lambda _: True)
    named = {
        name
        for term in pattern.args
        for name, var in variables(term).items()
        if not is_anonymous(var)
    }
    keys = [codes_of(frame.columns[name], symbols) for name in sorted(named)]
    return found.source_rows(), dense(keys, frame.rows)[0]


class Ranked(NamedTuple):
    """When each signal is in the window; for every query time from `first` on the left point."""

    start: Ints
    end: Ints
    left: Ints


def ranked(time: Ints, group: Ints, size: int, first: int, last: int) -> Ranked:
    """Signals sorted by time, in groups that are counted apart; -1 is no group.

    >>> found = ranked(np.array([1, 2, 4]), np.zeros(3, np.int64), 2, 0, 5)
    >>> found.start.tolist(), (found.end[:1]).tolist(), found.left.tolist()
    ([1, 2, 4], [4], [0, 0, 1, 1, 2, 2])
    """
    counted = np.flatnonzero(group >= 0)
    sorting = counted[order(group[counted], counted)]
    start, end = time.copy(), time.copy()  # without a group they are never in
    of, at = group[sorting], time[sorting]
    if size > 0:
        leaves = np.full(len(sorting), INF)
        if size < len(sorting):
            same = of[size:] == of[:-size]
            leaves[:-size][same] = at[size:][same]
        end[sorting] = leaves
    groups = int(group.max()) + 1 if len(group) else 0
    groups_, times = plain(group, time)
    lefts = _lefts(groups_, times, groups, min(size, len(time) + 1), first, last)
    return Ranked(start, end, lefts)


def entering(time: Ints, group: Ints, size: int | None) -> Ints:
    """When each signal to come is among the next ones of its group: from that time on.

    Signals are sorted by time, and all are known.

    >>> entering(np.array([3, 5, 9]), np.zeros(3, np.int64), 1).tolist()[1:]
    [3, 5]
    """
    found = np.full(len(time), -INF)
    if size is None or size >= len(time):
        return found
    counted = np.flatnonzero(group >= 0)
    sorting = counted[order(group[counted], counted)]
    same = group[sorting[size:]] == group[sorting[:-size]]
    found[sorting[size:][same]] = time[sorting[:-size][same]]
    return found


@kernel
def _lefts(group: Ints, time: Ints, groups: int, size: int, first: int, last: int) -> Ints:
    """The left point of the window at every query time: the least of its groups."""
    found = np.empty(last - first + 1, np.int64)
    # The last times of each group, oldest first from `begin` on, in a ring.
    ring = np.zeros(groups * max(size, 1), np.int64)
    count = np.zeros(groups, np.int64)
    i = 0
    for now in range(first, last + 1):
        while i < len(time) and time[i] <= now:
            g = group[i]
            if g >= 0 and size > 0:
                ring[g * size + count[g] % size] = time[i]
                count[g] += 1
            i += 1
        left = now
        if size > 0:
            for g in range(groups):
                if count[g] == 0:
                    continue  # a group nobody has seen adds no time
                mine = first if count[g] < size else ring[g * size + count[g] % size]
                left = min(left, mine)
        found[now - first] = left
    return found
