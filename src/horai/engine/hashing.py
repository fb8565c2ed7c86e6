"""Hash joins over columns of integers, compiled.

A table of chains: `head` has for every slot the first row, `after` the next row of the same slot.
Rows of one chain are in their order, so joins keep the order of both sides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from horai.temporal.spans import Ints

Matrix = npt.NDArray[np.int64]  # one row per key column


class Index(NamedTuple):
    """Rows found by their key.

    Where the keys of all columns together have a small range (`low` and `width` of each column),
    they are addressed directly: rows of key k are `head[k]`, then `after` of that, and so on.
    Otherwise `head` is a hash table of such chains, and `width` is empty.
    """

    keys: Matrix
    head: Ints
    after: Ints
    low: Ints
    width: Ints
    unique: bool


NOTHING = np.empty(0, np.int64)
# A direct table pays while it is not much larger than what it is for.
SPREAD = 8
SMALL = 1 << 16


def matrix(columns: list[Ints]) -> Matrix:
    """Key columns as one block of memory."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0]).reshape(1, -1)
    return np.ascontiguousarray(np.vstack(columns)) if columns else np.empty((0, 0), np.int64)


def _ranges(keys: Matrix) -> tuple[Ints, Ints] | None:
    """The least key and the number of keys of each column, if few keys are possible at all."""
    if not keys.size:
        return None
    low, high = keys.min(axis=1), keys.max(axis=1)
    most = SPREAD * keys.shape[1] + SMALL
    total = 1
    for least, largest in zip(low.tolist(), high.tolist(), strict=True):
        total *= largest - least + 1
        if total > most:
            return None
    return low, high - low + 1


def build(columns: list[Ints]) -> Index:
    """An index over the rows of some key columns."""
    keys = matrix(columns)
    ranges = _ranges(keys)
    if ranges is None:
        return Index(keys, *_build(keys), NOTHING, NOTHING, False)
    head, after, unique = _build_direct(keys, *ranges)
    return Index(keys, head, after, *ranges, unique)


def probe(columns: list[Ints], index: Index) -> tuple[Ints, Ints]:
    """All pairs of a row on the left and a row of the index with equal keys."""
    keys = matrix(columns)
    if not len(index.width):
        return _probe(keys, index.keys, index.head, index.after)
    place = _place(keys, index.head, index.low, index.width)
    if index.unique:
        left: Ints = np.flatnonzero(place >= 0)
        return left, place if len(left) == len(place) else place[left]
    return _follow(place, index.after)


def first(columns: list[Ints], index: Index) -> Ints:
    """For every row on the left the first row of the index with its key, or -1."""
    keys = matrix(columns)
    if len(index.width):
        place: Ints = _place(keys, index.head, index.low, index.width)
        return place
    found: Ints = _first(keys, index.keys, index.head, index.after)
    return found


def dense(columns: list[Ints], rows: int) -> tuple[Ints, Ints]:
    """A number 0, 1, ... for every different row, and the first row of each number."""
    if not columns:
        ids = np.zeros(rows, np.int64)
        return ids, np.zeros(min(rows, 1), np.int64)
    keys = matrix(columns)
    ranges = _ranges(keys)
    if ranges is None:
        ids, firsts = _dense(keys)
    else:
        ids, firsts = _direct_dense(keys, *ranges)
    return ids, firsts


def distinct(columns: list[Ints], rows: int) -> Ints:
    """The first row of every different row, in order."""
    return dense(columns, rows)[1]


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
def _direct_dense(keys: Matrix, low: Ints, width: Ints) -> tuple[Ints, Ints]:
    rows = keys.shape[1]
    size = 1
    for w in width:
        size *= w
    table = np.full(size, -1, np.int64)
    ids = np.empty(rows, np.int64)
    firsts = np.empty(min(rows, size), np.int64)
    n = 0
    for i in range(rows):
        at = keys[0, i] - low[0]
        for k in range(1, keys.shape[0]):
            at = at * width[k] + keys[k, i] - low[k]
        if table[at] < 0:
            table[at] = n
            firsts[n] = i
            n += 1
        ids[i] = table[at]
    return ids, firsts[:n].copy()


@njit(cache=True)
def _build_direct(keys: Matrix, low: Ints, width: Ints) -> tuple[Ints, Ints, bool]:
    rows = keys.shape[1]
    size = 1
    for w in width:
        size *= w
    head = np.full(size, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    unique = True
    for i in range(rows - 1, -1, -1):
        at = keys[0, i] - low[0]
        for k in range(1, keys.shape[0]):
            at = at * width[k] + keys[k, i] - low[k]
        if head[at] >= 0:
            unique = False
        after[i] = head[at]
        head[at] = i
    return head, after, unique


@njit(cache=True)
def _place(keys: Matrix, head: Ints, low: Ints, width: Ints) -> Ints:
    """The first row of each key, -1 if there is none."""
    rows = keys.shape[1]
    found = np.empty(rows, np.int64)
    for i in range(rows):
        at = 0
        inside = True
        for k in range(keys.shape[0]):
            part = keys[k, i] - low[k]
            if part < 0 or part >= width[k]:
                inside = False
                break
            at = at * width[k] + part
        found[i] = head[at] if inside else -1
    return found


@njit(cache=True)
def _follow(place: Ints, after: Ints) -> tuple[Ints, Ints]:
    """All rows of the chains that begin at some places."""
    total = 0
    for j in place:
        while j >= 0:
            total += 1
            j = after[j]
    left = np.empty(total, np.int64)
    right = np.empty(total, np.int64)
    n = 0
    for i in range(len(place)):
        j = place[i]
        while j >= 0:
            left[n] = i
            right[n] = j
            n += 1
            j = after[j]
    return left, right
