"""Stabbing: which points lie in spans of their key."""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, Mask, Points, Spans, plain


def stab(points: Points, spans: Spans) -> Mask:
    """For every point, is it in a span of its key?"""
    mask: Mask = _stab(*plain(*points, *spans))
    return mask


@kernel
def _stab(key: Ints, time: Ints, span_key: Ints, start: Ints, end: Ints) -> Mask:
    inside = np.zeros(len(key), np.bool_)
    j = 0
    for i in range(len(key)):
        while j < len(span_key) and (
            span_key[j] < key[i] or (span_key[j] == key[i] and end[j] <= time[i])
        ):
            j += 1
        inside[i] = j < len(span_key) and span_key[j] == key[i] and start[j] <= time[i]
    return inside
