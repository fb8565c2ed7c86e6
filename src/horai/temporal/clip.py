"""Clipping: the part of spans that lies in a window."""

from __future__ import annotations

import numpy as np

from horai.temporal.spans import FIRST, INF, Spans


def clip(spans: Spans, low: int = FIRST, high: int = INF) -> Spans:
    """The points of spans from `low` on and before `high`. What stays maximal stays sorted.

    >>> spans = Spans(np.array([1, 1]), np.array([2, 8]), np.array([6, INF]))
    >>> [column.tolist() for column in clip(spans, 4, 10)]
    [[1, 1], [4, 8], [6, 10]]
    """
    if low >= high:
        return spans.where(np.zeros(len(spans), np.bool_))
    inside = (spans.end > low) & (spans.start < high)
    # Mostly a window takes whole spans or none, and then nothing but the mask is needed.
    kept = spans if inside.all() else spans.where(inside)
    return Spans(kept.key, np.maximum(kept.start, low), np.minimum(kept.end, high))
