"""Rows found by key and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from horai.engine.hashing import build, dense, first
from horai.temporal.kernels import kernel
from horai.temporal.sorting import offsets_of, order
from horai.temporal.spans import Ints, plain


class ByTime(NamedTuple):
    """Rows sorted by key and time. `find` gives the number of a key, or -1."""

    find: Callable[[list[Ints], int], Ints]
    offsets: Ints
    rows: Ints
    time: Ints

    def between(self, keys: list[Ints], low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Pairs of a question and a row of its key with `low <= time < high`."""
        group = self.find(keys, len(low))
        asked, place = _between(*plain(group, low, high, self.offsets, self.time))
        return asked, self.rows[place]


def by_time(keys: list[Ints], time: Ints) -> ByTime:
    """An index over the columns of a table."""
    ids, firsts = dense(keys, len(time))
    rows = order(ids, time)
    offsets = offsets_of(ids, len(firsts))
    if keys:
        known = build([key[firsts] for key in keys])
        return ByTime(lambda asked, _: first(asked, known), offsets, rows, time[rows])
    nothing = -1 if not len(time) else 0
    return ByTime(lambda _, size: np.full(size, nothing), offsets, rows, time[rows])


@kernel
def _between(group: Ints, low: Ints, high: Ints, offsets: Ints, time: Ints) -> tuple[Ints, Ints]:
    first = np.zeros(len(group), np.int64)
    last = np.zeros(len(group), np.int64)
    total = 0
    for i in range(len(group)):
        if group[i] < 0:
            continue
        end = offsets[group[i] + 1]
        for side in range(2):
            bound = low[i] if side == 0 else high[i]
            a, b = offsets[group[i]], end
            while a < b:  # the first row at or after the bound
                middle = (a + b) // 2
                if time[middle] < bound:
                    a = middle + 1
                else:
                    b = middle
            if side == 0:
                first[i] = a
            else:
                last[i] = a
        if last[i] > first[i]:
            total += last[i] - first[i]
    asked = np.empty(total, np.int64)
    place = np.empty(total, np.int64)
    n = 0
    for i in range(len(group)):
        for k in range(first[i], last[i]):
            asked[n] = i
            place[n] = k
            n += 1
    return asked, place
