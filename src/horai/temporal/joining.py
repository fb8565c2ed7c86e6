"""Joins on small integer keys: rows by key once, then every look-up is two reads.

Keys are numbers as `dense_ids` gives them. A negative key stands for "not numbered" and matches
nothing, on either side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from horai.temporal.spans import Ints, Mask, plain


class Index(NamedTuple):
    """The rows of key k are `order[offsets[k]:offsets[k + 1]]`, in the order they came."""

    order: Ints
    offsets: Ints


def build(keys: Ints) -> Index:
    """The index of a column of keys.

    >>> index = build(np.array([1, 0, 1]))
    >>> index.order.tolist(), index.offsets.tolist()
    ([1, 0, 2], [0, 1, 3])
    """
    (keys,) = plain(keys)
    return Index(*_build(keys, int(keys.max(initial=-1)) + 1))


def probe(keys: Ints, index: Index) -> tuple[Ints, Ints]:
    """All matches as (row on the left, row of the index), by left row.

    >>> left, right = probe(np.array([5, 1]), build(np.array([1, 0, 1])))
    >>> left.tolist(), right.tolist()
    ([1, 1], [0, 2])
    """
    left, right = _probe(*plain(keys, *index))
    return left, right


def matched(keys: Ints, index: Index) -> Mask:
    """For every row on the left, is there any match?"""
    mask: Mask = _matched(*plain(keys, index.offsets))
    return mask


@njit(cache=True)
def _build(keys: Ints, width: int) -> tuple[Ints, Ints]:
    offsets = np.zeros(width + 2, np.int64)
    for key in keys:
        if key >= 0:
            offsets[key + 2] += 1
    for k in range(width + 1):
        offsets[k + 1] += offsets[k]
    # offsets[k + 1] is now where key k begins; placing its rows moves it to where they end.
    order = np.empty(offsets[width + 1], np.int64)
    for i in range(len(keys)):
        if keys[i] >= 0:
            order[offsets[keys[i] + 1]] = i
            offsets[keys[i] + 1] += 1
    return order, offsets[: width + 1]


@njit(cache=True)
def _probe(keys: Ints, order: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    width = len(offsets) - 1
    total = 0
    for key in keys:
        if 0 <= key < width:
            total += offsets[key + 1] - offsets[key]
    left = np.empty(total, np.int64)
    right = np.empty(total, np.int64)
    m = 0
    for i in range(len(keys)):
        if 0 <= keys[i] < width:
            for at in range(offsets[keys[i]], offsets[keys[i] + 1]):
                left[m] = i
                right[m] = order[at]
                m += 1
    return left, right


@njit(cache=True)
def _matched(keys: Ints, offsets: Ints) -> Mask:
    width = len(offsets) - 1
    mask = np.zeros(len(keys), np.bool_)
    for i in range(len(keys)):
        if 0 <= keys[i] < width:
            mask[i] = offsets[keys[i]] < offsets[keys[i] + 1]
    return mask
