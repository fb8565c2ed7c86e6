"""Spans and points of many keys at once, as columns.

A span relation is sorted by (key, start); the spans of one key neither overlap nor touch. The end
of a span that still lasts is `INF`. Times are integers; those that the grid would push out of 64
bits stay at the last integer on that side, which for late ones is `INF`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from horai.temporal.kernels import kernel

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

INF = int(np.iinfo(np.int64).max)
FIRST = int(np.iinfo(np.int64).min)


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


def plain(*columns: Ints) -> tuple[Ints, ...]:
    """The columns in the one memory layout that sweeps are compiled for.

    Columns of Arrow tables are read-only and slices may have strides: to numba these are other
    types, and it would compile each sweep anew for every mixture of them.
    """
    return tuple(c if c.flags.carray else np.array(c, order="C") for c in columns)


def fitted(columns: tuple[Ints, ...], room: int) -> tuple[Ints, ...]:
    """Results of a sweep without the room it did not need: they may be kept for long."""
    if 2 * len(columns[0]) >= room:
        return columns
    return tuple(column.copy() for column in columns)


def previous_point(time: Ints, tick: int) -> Ints:
    """The time-point before each time; infinity stays.

    >>> previous_point(np.array([13, 20, INF]), 10).tolist()[:2]
    [10, 10]
    """
    before: Ints = _previous(tick, *plain(time))
    return before


@kernel
def _previous(tick: int, time: Ints) -> Ints:
    before = np.empty(len(time), np.int64)
    for i in range(len(time)):
        rest = time[i] % tick
        step = tick if rest == 0 else rest
        if time[i] == INF:
            before[i] = INF
        else:
            before[i] = time[i] - step if time[i] > FIRST + step else FIRST
    return before
