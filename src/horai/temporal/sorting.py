"""Sorting by (key, time), the one order everything is kept in."""

from __future__ import annotations

import numpy as np
from numba import njit

from horai.temporal.spans import Ints

# A counting sort pays while keys are dense: at most so many keys per row.
DENSE = 4


def order(key: Ints, time: Ints) -> Ints:
    """Positions that sort rows by key, then time; equal rows keep their order."""
    n = len(key)
    if n < 2 or _rises(key, time):
        return np.arange(n, dtype=np.int64)
    low, high = int(key.min()), int(key.max())
    if high - low < DENSE * n and _rises(time, time):
        counted: Ints = _count_sort(key, low, high - low + 1)
        return counted
    return np.lexsort((time, key)).astype(np.int64)


@njit(cache=True)
def _rises(first: Ints, second: Ints) -> bool:
    """Are the rows sorted by the two columns already?"""
    for i in range(1, len(first)):
        if first[i] < first[i - 1] or (first[i] == first[i - 1] and second[i] < second[i - 1]):
            return False
    return True


@njit(cache=True)
def _count_sort(key: Ints, low: int, width: int) -> Ints:
    """A stable counting sort by key: rows that come in time order stay so within each key."""
    place = np.zeros(width + 1, np.int64)
    for k in key:
        place[k - low + 1] += 1
    for w in range(width):
        place[w + 1] += place[w]
    positions = np.empty(len(key), np.int64)
    for i in range(len(key)):
        at = key[i] - low
        positions[place[at]] = i
        place[at] += 1
    return positions
