"""Windows that slide over time, for all times at once.

A row is what a key says of a point `time`, known in the query times `start` to `end`. A window
atom holds at a query time. So "some point of the window" stretches points (dilate), "all points of
the window" shrinks runs of them (erode), and a window of the last signals asks for ranks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.coalesce import sort_spans
from horai.temporal.kernels import kernel
from horai.temporal.sorting import order
from horai.temporal.spans import INF, Ints, Spans, no_spans, plain

FAR = INF // 4  # as long as any timeline, with room to add to it


class Sliding(NamedTuple):
    """The points from `past` before to `future` after the last multiple of `hop`."""

    past: int
    future: int = 0
    hop: int = 1


def plus(time: Ints, more: int) -> Ints:
    """Times moved on; beyond all numbers is infinity."""
    if abs(more) == INF:
        return np.full(len(time), more if more > 0 else -FAR)
    return time + more


def seen(time: Ints, window: Sliding) -> tuple[Ints, Ints]:
    """The query times from and up to which a window sees each point.

    >>> low, high = seen(np.array([3, 4]), Sliding(2))
    >>> low.tolist(), high.tolist()
    ([3, 4], [6, 7])
    """
    past, future, hop = window
    if hop == 1:
        return plus(time, -future), plus(time, past if past == INF else past + 1)
    # The query times of a hop share their window.
    low = np.full(len(time), -FAR) if future == INF else -((future - time) // hop) * hop
    high = np.full(len(time), INF) if past == INF else (time + past) // hop * hop + hop
    return low, high


def throughout(
    key: Ints, time: Ints, start: Ints, end: Ints, window: Sliding, first: int, last: int
) -> Spans:
    """The query times up to `last` at which a key has all points of a window.

    The timeline begins at `first` and has no end. The spans of one key and point do not overlap.
    """
    if window.future == INF:
        return no_spans()
    low, high = seen(time, window)
    low = np.maximum(np.maximum(low, start), first)
    high = np.minimum(np.minimum(high, end), last + 1)
    there = low < high
    keys, times, signs = plain(*_steps(key[there], low[there], high[there]))
    past, future = min(window.past, FAR), window.future
    if window.hop == 1:
        return sort_spans(*_all_points(keys, times, signs, first, past, future))
    return sort_spans(*_all_points_hopping(keys, times, signs, first, past, future, window.hop))


def since_left(key: Ints, start: Ints, end: Ints, left: Ints, first: int, last: int) -> Spans:
    """The query times at which a key has all points from a left one on, which `left` has.

    Of each key there is one row for each of its points, known in `start` to `end`.
    """
    high = np.minimum(end, last + 1)
    there = start < high
    steps = _steps(key[there], start[there], high[there])
    keys, times, signs, lefts = plain(*steps, left)
    return sort_spans(*_from_left(keys, times, signs, lefts, first))


def full_count(key: Ints, start: Ints, end: Ints, number: int) -> Spans:
    """When so many spans of a key hold together.

    >>> found = full_count(np.zeros(2, np.int64), np.array([1, 3]), np.array([9, 6]), 2)
    >>> found.start.tolist(), found.end.tolist()
    ([3], [6])
    """
    there = start < end
    keys, times, signs = _steps(key[there], start[there], end[there])
    if not len(keys):
        return no_spans()
    full = (np.cumsum(signs)[:-1] == number) & (times[:-1] < times[1:]) & (keys[:-1] == keys[1:])
    return sort_spans(keys[:-1][full], times[:-1][full], times[1:][full])


def _steps(key: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints, Ints]:
    """Where counts go up and down, by key and time."""
    keys, times = np.concatenate((key, key)), np.concatenate((low, high))
    signs = np.concatenate((np.ones(len(key), np.int64), np.full(len(key), -1)))
    sorting = order(keys, times)
    return keys[sorting], times[sorting], signs[sorting]


@kernel
def _all_points(
    key: Ints, time: Ints, sign: Ints, first: int, past: int, future: int
) -> tuple[Ints, Ints, Ints]:
    room = 2 * len(key)
    out_key = np.empty(room, np.int64)
    out_start = np.empty(room, np.int64)
    out_end = np.empty(room, np.int64)
    m, count = 0, 0
    for i in range(len(key)):
        count += sign[i]
        if i + 1 == len(key) or key[i + 1] != key[i] or count == 0:
            continue
        low, high = time[i], time[i + 1]
        if low == high:
            continue
        at = first + count - 1 - future  # the query time whose window has just that many points
        if low <= at and at < high and at - first < past:
            out_key[m], out_start[m], out_end[m] = key[i], at, at + 1
            m += 1
        if count == past + future + 1 and high - first > past:
            out_key[m], out_start[m], out_end[m] = key[i], max(low, first + past), high
            m += 1
    return out_key[:m], out_start[:m], out_end[:m]


@kernel
def _all_points_hopping(
    key: Ints, time: Ints, sign: Ints, first: int, past: int, future: int, hop: int
) -> tuple[Ints, Ints, Ints]:
    room = 0
    for i in range(len(key) - 1):
        if key[i + 1] == key[i]:
            room += (time[i + 1] - time[i]) // hop + 2
    out_key = np.empty(room, np.int64)
    out_start = np.empty(room, np.int64)
    out_end = np.empty(room, np.int64)
    m, count = 0, 0
    for i in range(len(key)):
        count += sign[i]
        if i + 1 == len(key) or key[i + 1] != key[i] or count == 0:
            continue
        low = time[i]
        while low < time[i + 1]:
            pivot = low // hop * hop
            high = min(time[i + 1], pivot + hop)
            if count == pivot + future - max(first, pivot - past) + 1:
                out_key[m], out_start[m], out_end[m] = key[i], low, high
                m += 1
            low = high
    return out_key[:m], out_start[:m], out_end[:m]


@kernel
def _from_left(
    key: Ints, time: Ints, sign: Ints, left: Ints, first: int
) -> tuple[Ints, Ints, Ints]:
    out_key = np.empty(len(key), np.int64)
    out_start = np.empty(len(key), np.int64)
    out_end = np.empty(len(key), np.int64)
    m, count = 0, 0
    for i in range(len(key)):
        count += sign[i]
        if i + 1 == len(key) or key[i + 1] != key[i] or count == 0 or time[i + 1] == time[i]:
            continue
        now = time[i]  # its own point is in every window, so it is new and the count has changed
        if count == now - left[now - first] + 1:
            out_key[m], out_start[m], out_end[m] = key[i], now, now + 1
            m += 1
    return out_key[:m], out_start[:m], out_end[:m]
