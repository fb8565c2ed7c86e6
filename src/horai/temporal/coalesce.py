"""Coalescing: overlapping and touching spans become one."""

from __future__ import annotations

import numpy as np
from numba import njit

from horai.temporal.spans import Ints, Spans


def sort_spans(key: Ints, start: Ints, end: Ints) -> Spans:
    """Any spans, sorted and coalesced."""
    order = np.lexsort((start, key))
    return coalesce(Spans(key[order], start[order], end[order]))


def coalesce(spans: Spans) -> Spans:
    """Spans sorted by (key, start), made maximal; empty ones are dropped."""
    return Spans(*_coalesce(spans.key, spans.start, spans.end))


@njit(cache=True)
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
