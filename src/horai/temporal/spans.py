"""Spans and points of many keys at once, as columns.

A span relation is sorted by (key, start); the spans of one key neither overlap nor touch. The end
of a span that still lasts is `INF`. Times are integers; those that the grid would push out of 64
bits stay at the last integer on that side, which for late ones is `INF`. Sorting by (key, time) is
the one order everything is kept in.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

INF = int(np.iinfo(np.int64).max)
FIRST = int(np.iinfo(np.int64).min)


BITS = 63  # of a packed row: all but the sign


def order(key: Ints, time: Ints) -> Ints:
    """Positions that sort rows by key, then time; equal rows keep their order.

    Key, time and row number go into one integer if they fit: numpy sorts integers faster than it
    finds an order.

    >>> order(np.array([7, 2, 7]), np.array([5, 5, 1])).tolist()
    [1, 2, 0]
    """
    rows = np.arange(len(key))
    rises = (key[1:] > key[:-1]) | ((key[1:] == key[:-1]) & (time[1:] >= time[:-1]))
    if rises.all():
        return rows
    low, early = int(key.min()), int(time.min())  # Python's integers do not overflow
    time_bits, row_bits = (int(time.max()) - early).bit_length(), len(key).bit_length()
    if (int(key.max()) - low).bit_length() + time_bits + row_bits > BITS:
        return np.lexsort((time, key))
    packed: Ints = ((((key - low) << time_bits) | (time - early)) << row_bits) | rows
    packed.sort()
    return packed & ((1 << row_bits) - 1)


def offsets_of(key: Ints, many: int) -> Ints:
    """Where the rows of each of many keys begin when sorted, and after them where the last end.

    >>> offsets_of(np.array([0, 0, 2]), 3).tolist()
    [0, 2, 2, 3]
    """
    found = np.zeros(many + 1, np.int64)
    np.cumsum(np.bincount(key, minlength=many), out=found[1:])
    return found


class Spans(NamedTuple):
    """Maximal intervals `[start, end)` by key. Its length is the number of spans."""

    key: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.key)

    def where(self, mask: Mask) -> Spans:
        """The spans a mask picks."""
        return Spans(self.key[mask], self.start[mask], self.end[mask])


def no_spans() -> Spans:
    """The empty relation."""
    empty = np.empty(0, np.int64)
    return Spans(empty, empty, empty)


def sort_spans(key: Ints, start: Ints, end: Ints) -> Spans:
    """Any spans, sorted and made maximal: those that overlap or touch become one.

    >>> spans = sort_spans(np.array([1, 0, 1]), np.array([5, 3, 2]), np.array([9, 3, 5]))
    >>> [column.tolist() for column in spans]
    [[1], [2], [9]]
    """
    return _covered(Spans(key, start, end).where(start < end), no_spans())


def difference(left: Spans, right: Spans) -> Spans:
    """The points of the left side that are not on the right."""
    return _covered(left, right)


def _covered(more: Spans, fewer: Spans) -> Spans:
    """Where more spans of one relation than of another lie on each other."""
    key = np.concatenate([more.key, more.key, fewer.key, fewer.key])
    time = np.concatenate([more.start, more.end, fewer.end, fewer.start])
    step = np.repeat([1, -1, 1, -1], [len(more), len(more), len(fewer), len(fewer)])
    rows = order(key, time)
    key, time, depth = key[rows], time[rows], np.cumsum(step[rows])
    same = (key[1:] == key[:-1]) & (time[1:] == time[:-1])
    last = np.append(~same, np.ones(min(len(key), 1), np.bool_))  # what counts is after all steps
    key, time, inside = key[last], time[last], depth[last] > 0
    before = np.append(np.zeros(min(len(key), 1), np.bool_), inside[:-1])
    return Spans(key[inside & ~before], time[inside & ~before], time[before & ~inside])


def previous_point(time: Ints, tick: int) -> Ints:
    """The time-point before each time; infinity stays.

    >>> previous_point(np.array([13, 20, INF]), 10).tolist()[:2]
    [10, 10]
    """
    rest = time % tick
    step = np.where(rest == 0, tick, rest)
    before = np.where(time > FIRST + step, time - step, FIRST)
    return np.where(time == INF, INF, before)
