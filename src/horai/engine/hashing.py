"""Joins and numberings over columns of integers.

Where few different keys are possible they are addressed directly; otherwise they are hashed.

The compiled loops come first. Key columns are the rows of a matrix. In chains `head` has for every
slot or key the first row, `after` the next row of the same one. Rows of one chain are in their
order, so joins keep the order of both sides.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from horai.engine.numbering import (
    combined,
    dense_by_hash,
    number_columns,
    renumbered,
    single,
)
from horai.temporal.kernels import kernel, lean
from horai.temporal.spans import Ints, plain

Matrix = npt.NDArray[np.int64]  # one row per key column


@lean
def hashed(keys: Matrix, row: int) -> np.uint64:
    mixed = np.uint64(0x9E3779B97F4A7C15)
    for k in range(keys.shape[0]):
        mixed ^= np.uint64(keys[k, row])
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(32))


@lean
def same(left: Matrix, i: int, right: Matrix, j: int) -> bool:
    for k in range(left.shape[0]):  # noqa: SIM110 - compiled code
        if left[k, i] != right[k, j]:
            return False
    return True


@lean
def slots(rows: int) -> int:
    size = 16
    while size < 2 * rows:
        size *= 2
    return size


@kernel
def chains_by_hash(keys: Matrix) -> tuple[Ints, Ints]:
    rows = keys.shape[1]
    size = slots(rows)
    head = np.full(size, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    mask = np.uint64(size - 1)
    for i in range(rows - 1, -1, -1):
        slot = np.int64(hashed(keys, i) & mask)
        after[i] = head[slot]
        head[slot] = i
    return head, after


@kernel
def first_by_hash(left: Matrix, right: Matrix, head: Ints, after: Ints) -> Ints:
    rows = left.shape[1]
    mask = np.uint64(len(head) - 1)
    found = np.full(rows, -1, np.int64)
    for i in range(rows):
        j = head[np.int64(hashed(left, i) & mask)]
        while j >= 0:
            if same(left, i, right, j):
                found[i] = j
                break
            j = after[j]
    return found


@kernel
def chains_of(keys: Ints, size: int) -> tuple[Ints, Ints, bool]:
    rows = len(keys)
    head = np.full(size, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    unique = True
    for i in range(rows - 1, -1, -1):
        if head[keys[i]] >= 0:
            unique = False
        after[i] = head[keys[i]]
        head[keys[i]] = i
    return head, after, unique


@kernel
def heads_of(keys: Ints, head: Ints) -> Ints:
    found = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        found[i] = head[keys[i]] if keys[i] >= 0 else -1
    return found


class Numbering(NamedTuple):
    """Small numbers for the values of each column, by a table per column.

    Value v of column k has the number `ids[base[k] + v - low[k]]`, one of `sizes[k]`.
    """

    ids: Ints
    low: Ints
    width: Ints
    base: Ints
    sizes: Ints


class Index(NamedTuple):
    """Rows found by their key.

    Where few keys are possible at all they are numbered: rows of key k are `head[k]`, then `after`
    of that, and so on. Otherwise `head` is a hash table of such chains.
    """

    keys: Matrix
    head: Ints
    after: Ints
    numbering: Numbering | None
    unique: bool


NOTHING = np.empty(0, np.int64)
# A direct table pays while it is not much larger than what it is for.
SPREAD = 8
SMALL = 1 << 16


def matrix(columns: list[Ints]) -> Matrix:
    """Key columns as one block of memory."""
    if len(columns) == 1:
        return plain(columns[0])[0].reshape(1, -1)
    return np.vstack(columns) if columns else np.empty((0, 0), np.int64)


def _numbering(keys: Matrix) -> Numbering | None:
    """Numbers for the columns, if few keys are possible at all."""
    if not keys.size:
        return None
    low, high = keys.min(axis=1), keys.max(axis=1)
    most = SPREAD * keys.shape[1] + SMALL
    if any(b - a >= most for a, b in zip(low.tolist(), high.tolist(), strict=True)):
        return None
    width = high - low + 1
    base = np.cumsum(width) - width
    if len(keys) == 1:  # the value itself is as good a number
        return Numbering(np.empty(0, np.int64), low, width, base, width)
    ids, count = number_columns(keys, low, base, int(width.sum()))
    if math.prod(count.tolist()) > most:
        return None
    return Numbering(ids, low, width, base, count)


def build(columns: list[Ints]) -> Index:
    """An index over the rows of some key columns."""
    keys = matrix(columns)
    if not keys.size:
        return Index(keys, NOTHING, NOTHING, None, True)
    numbering = _numbering(keys)
    if numbering is None:
        return Index(keys, *chains_by_hash(keys), None, False)
    head, after, unique = chains_of(*_keys(keys, numbering))
    return Index(keys, head, after, numbering, unique)


def _keys(keys: Matrix, numbering: Numbering) -> tuple[Ints, int]:
    """One number per row, -1 where a value has none; and how many there can be."""
    size = math.prod(numbering.sizes.tolist())
    if len(keys) == 1:
        return single(keys[0], int(numbering.low[0]), size), size
    return combined(keys, *numbering), size


def first(columns: list[Ints], index: Index) -> Ints:
    """For every row on the left the first row of the index with its key, or -1."""
    keys = matrix(columns)
    if not keys.size or not index.keys.size:
        return np.full(keys.shape[1], -1, np.int64)
    if index.numbering is not None:
        place: Ints = heads_of(_keys(keys, index.numbering)[0], index.head)
        return place
    found: Ints = first_by_hash(keys, index.keys, index.head, index.after)
    return found


def dense(columns: list[Ints], rows: int) -> tuple[Ints, Ints]:
    """A number 0, 1, ... for every different row, and the first row of each number."""
    if not rows:
        return NOTHING, NOTHING
    if not columns:
        ids = np.zeros(rows, np.int64)
        return ids, np.zeros(min(rows, 1), np.int64)
    keys = matrix(columns)
    numbering = _numbering(keys)
    if numbering is None:
        return dense_by_hash(keys)
    return renumbered(*_keys(keys, numbering))
