"""Numbering: rows that are equal in several columns get the same small number.

Columns are packed into one as long as their ranges fit into one integer. A narrow range is then
numbered through a table, a wide one through a hash table; both see every row once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from horai.temporal.spans import Ints, plain

# A table pays while it has at most so many places per row.
DENSE = 4
SMALL_TABLE = 256  # a table of this size is always cheap
MOST = 1 << 62  # packed values stay below


def dense_ids(columns: Sequence[Ints], rows: int | None = None) -> tuple[Ints, Ints]:
    """For every row the number of its group, and for every group its first row.

    Groups are numbered 0, 1, ... as they first appear. Without columns all rows are equal; `rows`
    says how many there are.

    >>> ids, first = dense_ids([np.array([7, 5, 7, 7]), np.array([1, 1, 1, 2])])
    >>> ids.tolist(), first.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    if not columns:
        if rows is None:
            raise ValueError("without columns the number of rows must be given")
        return np.zeros(rows, np.int64), np.zeros(min(rows, 1), np.int64)
    columns = plain(*columns)
    if len(columns[0]) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    packed, low, width = _ranged(columns[0])
    for column in columns[1:]:
        further, further_low, further_width = _ranged(column)
        if width * further_width > MOST:
            packed, first = _number(packed, low, width)
            low, width = 0, len(first)
        if width * further_width > MOST:
            further, first = _number(further, further_low, further_width)
            further_low, further_width = 0, len(first)
        packed = _pack(packed, low, further, further_low, further_width)
        low, width = 0, width * further_width
    return _number(packed, low, width)


def _ranged(column: Ints) -> tuple[Ints, int, int]:
    """A column, its least value and the width of its range, in integers that do not overflow."""
    low = int(column.min())
    return column, low, int(column.max()) - low + 1


def _number(column: Ints, low: int, width: int) -> tuple[Ints, Ints]:
    """Numbers of one column whose values span a range of so many integers."""
    ids: Ints
    first: Ints
    if width <= max(DENSE * len(column), SMALL_TABLE):
        ids, first = _by_table(column, low, width)
    else:
        ids, first = _by_hash(column)
    return ids, first.copy()  # without the room for groups that did not come


@njit(cache=True)
def _pack(left: Ints, low: int, right: Ints, right_low: int, width: int) -> Ints:
    packed = np.empty(len(left), np.int64)
    for i in range(len(left)):
        packed[i] = (left[i] - low) * width + (right[i] - right_low)
    return packed


@njit(cache=True)
def _by_table(column: Ints, low: int, width: int) -> tuple[Ints, Ints]:
    n = len(column)
    table = np.full(width, -1, np.int64)
    ids = np.empty(n, np.int64)
    first = np.empty(min(n, width), np.int64)
    groups = 0
    for i in range(n):
        at = column[i] - low
        if table[at] < 0:
            table[at] = groups
            first[groups] = i
            groups += 1
        ids[i] = table[at]
    return ids, first[:groups]


@njit(cache=True)
def _by_hash(column: Ints) -> tuple[Ints, Ints]:
    """Open addressing; value and number lie side by side, so a look costs one cache line.

    The table grows with the groups, not the rows: a few groups stay within the cache.
    """
    n = len(column)
    bits = 10
    table = np.full((1 << bits, 2), -1, np.int64)
    ids = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    groups = 0
    for i in range(n):
        value = column[i]
        at = _slot(value, bits)
        mask = (1 << bits) - 1
        while table[at, 1] >= 0 and table[at, 0] != value:
            at = (at + 1) & mask
        if table[at, 1] < 0:
            table[at, 0] = value
            table[at, 1] = groups
            first[groups] = i
            groups += 1
        ids[i] = table[at, 1]
        if 2 * groups > mask:
            bits += 2
            if 2 * groups > i:  # most rows are new, so room for all saves growing again and again
                while (1 << bits) < 2 * n:
                    bits += 1
            mask = (1 << bits) - 1
            table = np.full((1 << bits, 2), -1, np.int64)
            for group in range(groups):
                value = column[first[group]]
                at = _slot(value, bits)
                while table[at, 1] >= 0:
                    at = (at + 1) & mask
                table[at, 0] = value
                table[at, 1] = group
    return ids, first[:groups]


@njit(cache=True)
def _slot(value: int, bits: int) -> int:
    """Multiplying by the golden ratio spreads runs and multiples; the fold brings in high bits."""
    spread = np.uint64(value)
    spread ^= spread >> np.uint64(32)
    spread *= np.uint64(0x9E3779B97F4A7C15)
    return np.int64(spread >> np.uint64(64 - bits))  # type: ignore[return-value]
