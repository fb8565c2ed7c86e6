"""Grid points: spans written out point by point, for rules that must look at each."""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.spans import INF, Ints, Points, Spans, plain


def grid_points(spans: Spans, low: int, high: int, tick: int = 1) -> tuple[Points, Ints]:
    """All time-points of spans after `low` and up to `high`, and the row of the span of each.

    >>> spans = Spans(np.array([7]), np.array([3]), np.array([INF]))
    >>> points, rows = grid_points(spans, 0, 20, 5)
    >>> points.time.tolist(), rows.tolist()
    ([5, 10, 15, 20], [0, 0, 0, 0])
    """
    if high == INF and (spans.end == INF).any():
        raise ValueError("the points of a span without end need a bound")
    key, time, row = _grid_points(low, high, tick, *plain(*spans))
    return Points(key, time), row


@kernel
def _grid_points(
    low: int, high: int, tick: int, key: Ints, start: Ints, end: Ints
) -> tuple[Ints, Ints, Ints]:
    n = len(key)
    first = np.empty(n, np.int64)
    count = np.zeros(n, np.int64)
    total = 0
    for i in range(n):
        last = min(end[i] - 1, high)
        first[i] = start[i] if low < start[i] else low + 1
        if low >= high or last < first[i]:
            continue
        rest = first[i] % tick
        gap = 0 if rest == 0 else tick - rest
        if gap <= last - first[i]:  # asked before moving, which might leave 64 bits
            first[i] += gap
            count[i] = (last - first[i]) // tick + 1
            total += count[i]
    out_key = np.empty(total, np.int64)
    out_time = np.empty(total, np.int64)
    out_row = np.empty(total, np.int64)
    m = 0
    for i in range(n):
        for k in range(count[i]):
            out_key[m] = key[i]
            out_time[m] = first[i] + k * tick
            out_row[m] = i
            m += 1
    return out_key, out_time, out_row
