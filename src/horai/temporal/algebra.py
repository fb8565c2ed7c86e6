"""Union, intersection, difference and complement of span relations, key by key.

Both sides are sorted, so every operation is one merge: two cursors that only move forward.
"""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, Spans, fitted, plain


def union(left: Spans, right: Spans) -> Spans:
    """The points of either side."""
    return Spans(*fitted(_union(*plain(*left, *right)), len(left) + len(right)))


def difference(left: Spans, right: Spans) -> Spans:
    """The points of the left side that are not on the right."""
    return Spans(*fitted(_difference(*plain(*left, *right)), len(left) + len(right)))


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
