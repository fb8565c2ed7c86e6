"""Spans and points of many keys at once, as columns.

A span relation is sorted by (key, start); the spans of one key neither overlap nor touch. The end
of a span that still lasts is `INF`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

INF = int(np.iinfo(np.int64).max)


class Spans(NamedTuple):
    """Maximal intervals `[start, end)` by key."""

    key: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.key)

    def where(self, mask: Mask) -> Spans:
        """The spans a mask picks."""
        return Spans(self.key[mask], self.start[mask], self.end[mask])


class Points(NamedTuple):
    """Time-points by key, sorted by (key, time)."""

    key: Ints
    time: Ints


def no_spans() -> Spans:
    """The empty relation."""
    empty = np.empty(0, np.int64)
    return Spans(empty, empty, empty)


def next_point(time: Ints, tick: int) -> Ints:
    """The time-point after each time; infinity stays.

    >>> next_point(np.array([13, 20, INF]), 10).tolist()[:2]
    [20, 30]
    """
    following: Ints = time + np.where(time == INF, 0, tick - time % tick)
    return following


def previous_point(time: Ints, tick: int) -> Ints:
    """The time-point before each time; infinity stays.

    >>> previous_point(np.array([13, 20, INF]), 10).tolist()[:2]
    [10, 10]
    """
    rest = time % tick
    step = np.where(rest == 0, tick, rest)
    before: Ints = time - np.where(time == INF, 0, step)
    return before
