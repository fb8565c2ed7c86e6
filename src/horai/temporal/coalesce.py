"""Coalescing: overlapping and touching spans become one."""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.sorting import order
from horai.temporal.spans import Ints, Spans, fitted, plain


def sort_spans(key: Ints, start: Ints, end: Ints) -> Spans:
    """Any spans, sorted and coalesced.

    >>> spans = sort_spans(np.array([1, 0, 1]), np.array([5, 3, 2]), np.array([9, 3, 5]))
    >>> [column.tolist() for column in spans]
    [[1], [2], [9]]
    """
    rows = order(key, start)
    return coalesce(Spans(key[rows], start[rows], end[rows]))


def coalesce(spans: Spans) -> Spans:
    """Spans sorted by (key, start), made maximal; empty ones are dropped."""
    return Spans(*fitted(_coalesce(*plain(*spans)), len(spans)))


@kernel
def _coalesce(key: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    n = len(key)
    out_key = np.empty(n, np.int64)
    out_start = np.empty(n, np.int64)
    out_end = np.empty(n, np.int64)
    m = 0
    for i in range(n):
        if start[i] >= end[i]:
            continue
        if m and out_key[m - 1] == key[i] and start[i] <= out_end[m - 1]:
            if end[i] > out_end[m - 1]:
                out_end[m - 1] = end[i]
        else:
            out_key[m] = key[i]
            out_start[m] = start[i]
            out_end[m] = end[i]
            m += 1
    return out_key[:m], out_start[:m], out_end[:m]
