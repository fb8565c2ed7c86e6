"""Joins and numberings over columns of integers.

Where few different keys are possible they are addressed directly; otherwise they are hashed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from horai.engine.hash_kernels import (
    Matrix,
    chains_by_hash,
    chains_of,
    combined,
    dense_by_hash,
    first_by_hash,
    follow,
    heads_of,
    number_columns,
    probe_by_hash,
    renumbered,
    single,
)
from horai.temporal.spans import Ints, plain


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


def probe(columns: list[Ints], index: Index) -> tuple[Ints, Ints]:
    """All pairs of a row on the left and a row of the index with equal keys."""
    keys = matrix(columns)
    if not keys.size or not index.keys.size:
        return NOTHING, NOTHING
    if index.numbering is None:
        return probe_by_hash(keys, index.keys, index.head, index.after)
    place = heads_of(_keys(keys, index.numbering)[0], index.head)
    if index.unique:
        left: Ints = np.flatnonzero(place >= 0)
        return left, place if len(left) == len(place) else place[left]
    return follow(place, index.after)


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


def distinct(columns: list[Ints], rows: int) -> Ints:
    """The first row of every different row, in order."""
    return dense(columns, rows)[1]
