"""Union, intersection, difference and complement of span relations, key by key.

Both sides are sorted, so every operation is one merge: two cursors that only move forward.
"""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.spans import INF, Ints, Spans, fitted, plain


def union(left: Spans, right: Spans) -> Spans:
    """The points of either side."""
    return Spans(*fitted(_union(*plain(*left, *right)), len(left) + len(right)))


def intersection(left: Spans, right: Spans) -> Spans:
    """The points of both sides."""
    return Spans(*fitted(_intersection(*plain(*left, *right)), len(left) + len(right)))


def difference(left: Spans, right: Spans) -> Spans:
    """The points of the left side that are not on the right."""
    return Spans(*fitted(_difference(*plain(*left, *right)), len(left) + len(right)))


def complement(keys: Ints, spans: Spans, first: int) -> Spans:
    """The points from `first` on that are not in the spans, for every key of a sorted list.

    >>> spans = Spans(np.array([4]), np.array([3]), np.array([7]))
    >>> rest = complement(np.array([4, 5]), spans, 0)
    >>> rest.key.tolist(), rest.start.tolist(), rest.end.tolist() == [3, INF, INF]
    ([4, 4, 5], [0, 7, 0], True)
    """
    whole = Spans(keys, np.full(len(keys), first, np.int64), np.full(len(keys), INF, np.int64))
    return difference(whole, spans)


@kernel
def _union(
    key_a: Ints, start_a: Ints, end_a: Ints, key_b: Ints, start_b: Ints, end_b: Ints
) -> tuple[Ints, Ints, Ints]:
    n = len(key_a) + len(key_b)
    out_key = np.empty(n, np.int64)
    out_start = np.empty(n, np.int64)
    out_end = np.empty(n, np.int64)
    i, j, m = 0, 0, 0
    while i < len(key_a) or j < len(key_b):
        take_a = j >= len(key_b) or (
            i < len(key_a)
            and (key_a[i] < key_b[j] or (key_a[i] == key_b[j] and start_a[i] <= start_b[j]))
        )
        if take_a:
            key, start, end = key_a[i], start_a[i], end_a[i]
            i += 1
        else:
            key, start, end = key_b[j], start_b[j], end_b[j]
            j += 1
        if m and out_key[m - 1] == key and start <= out_end[m - 1]:
            if end > out_end[m - 1]:
                out_end[m - 1] = end
        else:
            out_key[m] = key
            out_start[m] = start
            out_end[m] = end
            m += 1
    return out_key[:m], out_start[:m], out_end[:m]


@kernel
def _intersection(
    key_a: Ints, start_a: Ints, end_a: Ints, key_b: Ints, start_b: Ints, end_b: Ints
) -> tuple[Ints, Ints, Ints]:
    n = len(key_a) + len(key_b)
    out_key = np.empty(n, np.int64)
    out_start = np.empty(n, np.int64)
    out_end = np.empty(n, np.int64)
    i, j, m = 0, 0, 0
    while i < len(key_a) and j < len(key_b):
        if key_a[i] < key_b[j]:
            i += 1
        elif key_b[j] < key_a[i]:
            j += 1
        else:
            start = max(start_a[i], start_b[j])
            end = min(end_a[i], end_b[j])
            if start < end:
                out_key[m] = key_a[i]
                out_start[m] = start
                out_end[m] = end
                m += 1
            if end_a[i] <= end_b[j]:
                i += 1
            else:
                j += 1
    return out_key[:m], out_start[:m], out_end[:m]


@kernel
def _difference(
    key_a: Ints, start_a: Ints, end_a: Ints, key_b: Ints, start_b: Ints, end_b: Ints
) -> tuple[Ints, Ints, Ints]:
    n = len(key_a) + len(key_b)  # every span on the right cuts at most one piece more
    out_key = np.empty(n, np.int64)
    out_start = np.empty(n, np.int64)
    out_end = np.empty(n, np.int64)
    j, m = 0, 0
    for i in range(len(key_a)):
        key, rest, end = key_a[i], start_a[i], end_a[i]
        while j < len(key_b) and (key_b[j] < key or (key_b[j] == key and end_b[j] <= rest)):
            j += 1
        k = j
        while k < len(key_b) and key_b[k] == key and start_b[k] < end and rest < end:
            if start_b[k] > rest:
                out_key[m] = key
                out_start[m] = rest
                out_end[m] = start_b[k]
                m += 1
            rest = end_b[k]
            k += 1
        if rest < end:
            out_key[m] = key
            out_start[m] = rest
            out_end[m] = end
            m += 1
        # The last span met may reach into the next one of the same key.
        j = max(j, k - 1)
    return out_key[:m], out_start[:m], out_end[:m]
