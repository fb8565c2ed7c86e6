"""Spans filtered by how long they last."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from horai.temporal.kernels import kernel
from horai.temporal.spans import FIRST, INF, Ints, Mask, Spans, plain

Bound = int | float | Ints | npt.NDArray[np.float64]


def by_duration(spans: Spans, op: str, bound: Bound, query: int, open_counts: bool = True) -> Spans:
    """The spans whose duration compares with a bound; open ones count up to the query time.

    The bound is one number or an array with one for each span. Comparisons are exact: bounds
    that are no integers are rounded to the side that does not change the answer, since durations
    near 2**53 and above would lose digits as floats. Durations beyond 64 bits count as the longest
    within.

    >>> spans = Spans(np.array([0, 1]), np.array([2, 2]), np.array([5, INF]))
    >>> by_duration(spans, ">", 3.5, 10).key.tolist()
    [1]
    >>> by_duration(spans, "=<", np.array([3, 7]), 10).key.tolist()
    [0]
    """
    if op not in (">", ">=", "<", "=<"):
        raise ValueError(f"no comparison {op}")
    # With w = floor(b), d > b is d > w; with w = ceil(b) - 1, d >= b is d > w. The others negate.
    whole, known = _whole(bound, below=op in (">=", "<"))
    duration: Ints = _durations(query, *plain(spans.start, spans.end))
    chosen: Mask = duration > whole if op in (">", ">=") else duration <= whole
    chosen &= known
    if not open_counts:
        chosen &= spans.end != INF
    return spans.where(chosen)


def _whole(bound: Bound, below: bool) -> tuple[int | Ints, bool | Mask]:
    """The greatest integers up to a bound, or below it, in 64 bits; and is the bound a number?"""
    if not isinstance(bound, np.ndarray):
        if math.isnan(bound):
            return 0, False
        if math.isinf(bound):
            return (INF if bound > 0 else FIRST), True
        whole = math.ceil(bound) - 1 if below else math.floor(bound)
        return min(max(whole, FIRST), INF), True
    if bound.dtype.kind != "f":
        exact: Ints = bound.astype(np.int64)
        return (exact - (exact != FIRST) if below else exact), True
    rounded = np.ceil(bound) if below else np.floor(bound)
    known: Mask = ~np.isnan(rounded)
    inside = known & (np.abs(rounded) < 2.0**63)
    wholes: Ints = np.where(inside, rounded, 0).astype(np.int64) - below
    return np.where(inside, wholes, np.where(rounded > 0, INF, FIRST)), known


@kernel
def _durations(query: int, start: Ints, end: Ints) -> Ints:
    duration = np.empty(len(start), np.int64)
    for i in range(len(start)):
        until = query if end[i] == INF else end[i]
        if start[i] < 0 and until > INF + start[i]:
            duration[i] = INF
        elif start[i] > 0 and until < FIRST + start[i]:
            duration[i] = FIRST
        else:
            duration[i] = until - start[i]
    return duration
