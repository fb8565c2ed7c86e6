"""The rows of a long list that a short one touches, and putting others in their place.

A late event touches few spans of few keys. Merging two lists walks through both; here the short one
leads, and the next row of the long one is found by galloping: steps that double, then a binary
search. So a short list costs its own length times the logarithm of how far apart its rows are in
the long one. Offsets of the keys would save a part of that logarithm, but making them is a pass
over the long list, which is what is to be avoided.
"""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import kernel, lean
from horai.temporal.spans import INF, Ints, Spans, plain


def touching(spans: Spans, where: Spans) -> tuple[Ints, Ints]:
    """Ranges of rows that meet or overlap the spans of a region: first rows, rows after the last.

    The ranges are disjoint and rise. An empty one says where the row of such a span would be.
    """
    first, after = _touching(*plain(*spans, *where))
    return first, after


def spliced(spans: Spans, first: Ints, after: Ints, instead: Spans) -> Spans:
    """Spans with other ones instead of the rows of some ranges; the rest is copied in blocks."""
    key, start, end = _spliced(*plain(*spans, first, after, *instead))
    return Spans(key, start, end)


def exchanged(spans: Spans, drop: Ints, new: Spans) -> Spans:
    """Spans without those at some places, which rise, and with others, which are sorted, too."""
    key, start, end = _exchanged(*plain(*spans, drop, *new))
    return Spans(key, start, end)


@lean
def reach(key: Ints, time: Ints, i: int, stride: int, least_key: int, least: int) -> int:
    """The first row from row `i` on with at least this key and time, both sorted.

    The first steps are as long as the stride, which is best about as far as the row is expected.
    """
    low, high = i, i
    while high < len(key) and (
        key[high] < least_key or (key[high] == least_key and time[high] < least)
    ):
        low = high + 1
        high += stride
        stride *= 2
    high = min(high, len(key))
    while low < high:
        middle = (low + high) // 2
        if key[middle] < least_key or (key[middle] == least_key and time[middle] < least):
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _touching(
    key: Ints, start: Ints, end: Ints, where_key: Ints, where_start: Ints, where_end: Ints
) -> tuple[Ints, Ints]:
    first = np.empty(len(where_key), np.int64)
    after = np.empty(len(where_key), np.int64)
    stride = 1 + len(key) // max(1, len(where_key))
    i, m = 0, 0
    for w in range(len(where_key)):
        i = reach(key, end, i, stride, where_key[w], where_start[w])
        # A span that starts just where this one ends meets it; none starts at infinity.
        beyond = where_end[w] + 1 if where_end[w] < INF else INF
        j = reach(key, start, i, 1, where_key[w], beyond)
        if m and i < after[m - 1]:
            after[m - 1] = j  # a row that two of them touch
        else:
            first[m], after[m] = i, j
            m += 1
        i = max(i, j - 1)
    return first[:m], after[:m]


@kernel
def _spliced(
    key: Ints,
    start: Ints,
    end: Ints,
    first: Ints,
    after: Ints,
    new_key: Ints,
    new_start: Ints,
    new_end: Ints,
) -> tuple[Ints, Ints, Ints]:
    n = len(key) + len(new_key) - np.sum(after - first)
    out_key = np.empty(n, np.int64)
    out_start = np.empty(n, np.int64)
    out_end = np.empty(n, np.int64)
    i, j, m = 0, 0, 0
    for r in range(len(first) + 1):
        stop = first[r] if r < len(first) else len(key)
        kept = stop - i
        out_key[m : m + kept] = key[i:stop]
        out_start[m : m + kept] = start[i:stop]
        out_end[m : m + kept] = end[i:stop]
        m += kept
        i = after[r] if r < len(first) else stop
        while j < len(new_key) and (
            i == len(key)
            or new_key[j] < key[i]
            or (new_key[j] == key[i] and new_start[j] < start[i])
        ):
            out_key[m] = new_key[j]
            out_start[m] = new_start[j]
            out_end[m] = new_end[j]
            m += 1
            j += 1
    return out_key, out_start, out_end


@kernel
def _exchanged(
    key: Ints, start: Ints, end: Ints, drop: Ints, new_key: Ints, new_start: Ints, new_end: Ints
) -> tuple[Ints, Ints, Ints]:
    n = len(key) - len(drop) + len(new_key)
    out_key = np.empty(n, np.int64)
    out_start = np.empty(n, np.int64)
    out_end = np.empty(n, np.int64)
    stride = 1 + len(key) // (1 + len(new_key))
    i, d, m = 0, 0, 0
    for j in range(len(new_key) + 1):
        stop = len(key)
        if j < len(new_key):
            stop = reach(key, start, i, stride, new_key[j], new_start[j])
        while i < stop:  # up to the next that is dropped all is copied
            last = min(stop, drop[d]) if d < len(drop) else stop
            by = m - i
            for x in range(i, last):
                out_key[x + by] = key[x]
                out_start[x + by] = start[x]
                out_end[x + by] = end[x]
            m += last - i
            i = last
            if i < stop:
                i += 1
                d += 1
        if j < len(new_key):
            out_key[m], out_start[m], out_end[m] = new_key[j], new_start[j], new_end[j]
            m += 1
    return out_key, out_start, out_end
