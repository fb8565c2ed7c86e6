"""Hash joins over columns of integers, compiled.

A table of chains: `head` has for every slot the first row, `after` the next row of the same slot.
Rows of one chain are in their order, so joins keep the order of both sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from horai.temporal.spans import Ints, Mask

Matrix = npt.NDArray[np.int64]  # one row per key column


class Index(NamedTuple):
    """Rows found by their key."""

    keys: Matrix
    head: Ints
    after: Ints


def matrix(columns: list[Ints]) -> Matrix:
    """Key columns as one block of memory."""
    return np.ascontiguousarray(np.vstack(columns)) if columns else np.empty((0, 0), np.int64)


def build(columns: list[Ints]) -> Index:
    """An index over the rows of some key columns."""
    keys = matrix(columns)
    return Index(keys, *_build(keys))


def probe(columns: list[Ints], index: Index) -> tuple[Ints, Ints]:
    """All pairs of a row on the left and a row of the index with equal keys."""
    left, right = _probe(matrix(columns), index.keys, index.head, index.after)
    return left, right


def first(columns: list[Ints], index: Index) -> Ints:
    """For every row on the left the first row of the index with its key, or -1."""
    found: Ints = _first(matrix(columns), index.keys, index.head, index.after)
    return found


def dense(columns: list[Ints], rows: int) -> tuple[Ints, Ints]:
    """A number 0, 1, ... for every different row, and the first row of each number."""
    if not columns:
        ids = np.zeros(rows, np.int64)
        return ids, np.zeros(min(rows, 1), np.int64)
    if len(columns) == 1:
        found = _small_dense(columns[0])
        if found is not None:
            return found
    ids, firsts = _dense(matrix(columns))
    return ids, firsts


# A direct table pays while the range of the keys is not much larger than the number of rows.
SPREAD = 4


def _small_dense(column: Ints) -> tuple[Ints, Ints] | None:
    if not len(column):
        return None
    low, high = int(column.min()), int(column.max())
    if high - low > SPREAD * len(column) + 1024:
        return None
    ids, firsts = _direct_dense(column, low, high - low + 1)
    return ids, firsts


def distinct(columns: list[Ints], rows: int) -> Ints:
    """The first row of every different row, in order."""
    return dense(columns, rows)[1]


def membership(left: list[Ints], right: list[Ints]) -> Mask:
    """Which rows of the left occur on the right?"""
    found: Mask = first(left, build(right)) >= 0
    return found


@njit(cache=True)
def _hash(keys: Matrix, row: int) -> np.uint64:
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for k in range(keys.shape[0]):
        mixed ^= np.uint64(keys[k, row])
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(32))


@njit(cache=True)
def _same(left: Matrix, i: int, right: Matrix, j: int) -> bool:
    for k in range(left.shape[0]):  # noqa: SIM110 - compiled code
        if left[k, i] != right[k, j]:
            return False
    return True


@njit(cache=True)
def _slots(rows: int) -> int:
    size = 16
    while size < 2 * rows:
        size *= 2
    return size


@njit(cache=True)
def _build(keys: Matrix) -> tuple[Ints, Ints]:
    rows = keys.shape[1]
    size = _slots(rows)
    head = np.full(size, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    mask = np.uint64(size - 1)
    for i in range(rows - 1, -1, -1):
        slot = np.int64(_hash(keys, i) & mask)
        after[i] = head[slot]
        head[slot] = i
    return head, after


@njit(cache=True)
def _probe(left: Matrix, right: Matrix, head: Ints, after: Ints) -> tuple[Ints, Ints]:
    rows = left.shape[1]
    mask = np.uint64(len(head) - 1)
    # Most joins find about one partner per row; room grows when there are more.
    out_left = np.empty(rows + 16, np.int64)
    out_right = np.empty(rows + 16, np.int64)
    n = 0
    for i in range(rows):
        j = head[np.int64(_hash(left, i) & mask)]
        while j >= 0:
            if _same(left, i, right, j):
                if n == len(out_left):
                    more_left = np.empty(2 * n, np.int64)
                    more_left[:n] = out_left
                    out_left = more_left
                    more_right = np.empty(2 * n, np.int64)
                    more_right[:n] = out_right
                    out_right = more_right
                out_left[n] = i
                out_right[n] = j
                n += 1
            j = after[j]
    return out_left[:n].copy(), out_right[:n].copy()


@njit(cache=True)
def _first(left: Matrix, right: Matrix, head: Ints, after: Ints) -> Ints:
    rows = left.shape[1]
    mask = np.uint64(len(head) - 1)
    found = np.full(rows, -1, np.int64)
    for i in range(rows):
        j = head[np.int64(_hash(left, i) & mask)]
        while j >= 0:
            if _same(left, i, right, j):
                found[i] = j
                break
            j = after[j]
    return found


@njit(cache=True)
def _dense(keys: Matrix) -> tuple[Ints, Ints]:
    rows = keys.shape[1]
    size = _slots(rows)
    table = np.full(size, -1, np.int64)  # the number of the row in each slot
    mask = size - 1
    ids = np.empty(rows, np.int64)
    firsts = np.empty(rows, np.int64)
    n = 0
    for i in range(rows):
        slot = np.int64(_hash(keys, i) & np.uint64(mask))
        while True:
            number = table[slot]
            if number < 0:
                table[slot] = n
                firsts[n] = i
                ids[i] = n
                n += 1
                break
            if _same(keys, i, keys, firsts[number]):
                ids[i] = number
                break
            slot = (slot + 1) & mask
    return ids, firsts[:n].copy()


@njit(cache=True)
def _direct_dense(column: Ints, low: int, width: int) -> tuple[Ints, Ints]:
    table = np.full(width, -1, np.int64)
    ids = np.empty(len(column), np.int64)
    firsts = np.empty(min(len(column), width), np.int64)
    n = 0
    for i in range(len(column)):
        at = column[i] - low
        if table[at] < 0:
            table[at] = n
            firsts[n] = i
            n += 1
        ids[i] = table[at]
    return ids, firsts[:n].copy()
