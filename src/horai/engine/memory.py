"""Parts of fluents: what of them is kept where the rest is final."""

from __future__ import annotations

import numpy as np

from horai.engine.world import Fluent
from horai.temporal.spans import Ints, Mask, Spans

FOREVER = -(1 << 62)  # as a bound: keep everything


def clipped(fluent: Fluent, cut: int, keep: int) -> Fluent:
    """The part of a fluent up to the cut, as far back as it is needed; starts stay true."""
    spans = fluent.spans
    found = only(fluent, (spans.start <= cut) & (spans.end > keep))
    end = np.minimum(found.spans.end, cut + 1)
    return Fluent(found.pairs, Spans(found.spans.key, found.spans.start, end))


def after(fluent: Fluent, cut: int, free: Mask | None = None) -> Fluent:
    """The part of a fluent after the cut; pairs that are `free` are left whole."""
    spans = fluent.spans
    start = np.maximum(spans.start, cut + 1)
    if free is not None:
        start = np.where(free[spans.key], spans.start, start)
    there = start < spans.end
    found = only(Fluent(fluent.pairs, Spans(spans.key, start, spans.end)), there)
    return found


def only(fluent: Fluent, mask: Mask) -> Fluent:
    """Some of the spans, with the pairs they need."""
    if mask.all():
        return fluent
    spans = fluent.spans.where(mask)
    used = np.zeros(fluent.pairs.rows, np.bool_)
    used[spans.key] = True
    if used.all():
        return Fluent(fluent.pairs, spans)
    number: Ints = np.cumsum(used) - 1
    pairs = fluent.pairs.where(np.flatnonzero(used))
    return Fluent(pairs, Spans(number[spans.key], spans.start, spans.end))
