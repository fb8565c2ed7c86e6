"""Allen relations between the spans of two relations, key by key.

The spans of one key are disjoint, so a source has at most one partner for every relation but
`before`: the target that contains its first or its last point. `before` needs no pairs either: a
source counts if any target starts after it. So each relation is one sweep, never a loop over pairs.
Spans are compared by their first and last points; the last point of an open one is infinity.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from horai.temporal.algebra import union
from horai.temporal.coalesce import sort_spans
from horai.temporal.spans import INF, Ints, Mask, Spans, no_spans, previous_point

RELATIONS = ("before", "meets", "starts", "finishes", "during", "overlaps", "equal")
MODES = (
    "source",
    "target",
    "union",
    "intersection",
    "relative_complement",
    "relative_complement_inverse",
)


def allen(
    relation: str,
    source: Spans,
    target: Spans,
    mode: str,
    tick: int = 1,
    memory: int | None = None,
) -> Spans:
    """What `mode` says of all pairs in the relation, coalesced.

    `memory` bounds how far `before` looks back from the first point of a target.
    """
    if relation == "before":
        return _before(source, target, mode, tick, INF if memory is None else memory)
    chosen, partner = _pairs(relation, source, target, tick)
    left = source.where(chosen)
    right = Spans(*(column[partner] for column in target))
    return _combine(left, right, mode)


def _pairs(relation: str, source: Spans, target: Spans, tick: int) -> tuple[Mask, Ints]:
    """The sources in the relation and the position of the partner of each."""
    a, b = source.start, previous_point(source.end, tick)
    at = b if relation in ("meets", "overlaps") else a
    partner = _containing(source.key, at, target.key, target.start, target.end)
    found = partner >= 0
    c = np.where(found, target.start[partner], 0) if len(target) else np.zeros_like(a)
    last = previous_point(target.end, tick)
    d = np.where(found, last[partner], 0) if len(target) else np.zeros_like(a)
    match relation:
        case "meets":
            holds = (b == c) & (a < c) & (c < d)
        case "overlaps":
            holds = (a < c) & (c < b) & (b < d)
        case "starts":
            holds = (a == c) & (b < d)
        case "finishes":
            holds = (b == d) & (a > c)
        case "during":
            holds = (a > c) & (b < d)
        case "equal":
            holds = (a == c) & (b == d)
        case _:
            raise ValueError(f"no Allen relation {relation}")
    chosen = found & holds
    return chosen, partner[chosen]


def _combine(left: Spans, right: Spans, mode: str) -> Spans:
    """Pairs of overlapping spans to one span list."""
    match mode:
        case "source":
            return sort_spans(*left)
        case "target":
            return sort_spans(*right)
        case "union":
            return sort_spans(
                np.concatenate((left.key, right.key)),
                np.concatenate((left.start, right.start)),
                np.concatenate((left.end, right.end)),
            )
        case "intersection":
            return sort_spans(
                left.key, np.maximum(left.start, right.start), np.minimum(left.end, right.end)
            )
        case "relative_complement":
            return _minus(left, right)
        case "relative_complement_inverse":
            return _minus(right, left)
        case _:
            raise ValueError(f"no mode {mode}")


def _minus(left: Spans, right: Spans) -> Spans:
    """Each left span without its own partner: at most a piece before and a piece after."""
    return sort_spans(
        np.concatenate((left.key, left.key)),
        np.concatenate((left.start, np.maximum(left.start, right.end))),
        np.concatenate((np.minimum(left.end, right.start), left.end)),
    )


def _before(source: Spans, target: Spans, mode: str, tick: int, memory: int) -> Spans:
    """Pairs of `before` are disjoint, so no mode has to look at single pairs."""
    last = previous_point(source.end, tick)
    sources, targets = _near(source.key, last, target.key, target.start, memory)
    earlier, later = source.where(sources), target.where(targets)
    match mode:
        case "source" | "relative_complement":
            return earlier
        case "target" | "relative_complement_inverse":
            return later
        case "union":
            return union(earlier, later)
        case "intersection":
            return no_spans()
        case _:
            raise ValueError(f"no mode {mode}")


@njit(cache=True)
def _containing(key: Ints, point: Ints, span_key: Ints, start: Ints, end: Ints) -> Ints:
    """For every point the span of its key that contains it, -1 if none; all sorted."""
    found = np.full(len(key), -1, np.int64)
    j = 0
    for i in range(len(key)):
        while j < len(span_key) and (
            span_key[j] < key[i] or (span_key[j] == key[i] and end[j] <= point[i] and end[j] != INF)
        ):
            j += 1
        if j < len(span_key) and span_key[j] == key[i] and start[j] <= point[i]:
            found[i] = j
    return found


@njit(cache=True)
def _near(key: Ints, last: Ints, target_key: Ints, first: Ints, memory: int) -> tuple[Mask, Mask]:
    """Sources that end before some target of their key starts, and those targets.

    The nearest target decides for a source, the nearest source for a target.
    """
    sources = np.zeros(len(key), np.bool_)
    targets = np.zeros(len(target_key), np.bool_)
    j = 0
    for i in range(len(key)):
        while j < len(target_key) and (
            target_key[j] < key[i] or (target_key[j] == key[i] and first[j] <= last[i])
        ):
            j += 1
        if j < len(target_key) and target_key[j] == key[i]:
            sources[i] = first[j] - last[i] <= memory
    i = 0
    for j in range(len(target_key)):
        while i < len(key) and (
            key[i] < target_key[j] or (key[i] == target_key[j] and last[i] < first[j])
        ):
            i += 1
        if i > 0 and key[i - 1] == target_key[j] and last[i - 1] < first[j]:
            targets[j] = first[j] - last[i - 1] <= memory
    return sources, targets
