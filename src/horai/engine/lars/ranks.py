"""Windows of the last signals, for all query times at once.

The signal of rank r leaves a window of n when the signal of rank r + n comes. The timeline of the
window begins with the oldest signal in it, or with the stream if there are too few.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, plain


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
