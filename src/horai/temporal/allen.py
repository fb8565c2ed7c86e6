"""Allen relations between the spans of two relations, key by key.

Spans are compared by their first and last points; the last point of an open one is infinity. The
spans of one key are disjoint, so a source has at most one partner for most relations: the target
that contains its first or its last point. `before` has many, but the nearest decide. So each
relation is one sweep, never a loop over pairs.

Spans of the input may start and end between two time-points, and then a span can have a last point
before its start. The comments say where that matters.
"""

from __future__ import annotations

import numpy as np

from horai.temporal.algebra import union
from horai.temporal.coalesce import sort_spans
from horai.temporal.kernels import inside, kernel
from horai.temporal.spans import INF, Ints, Mask, Spans, no_spans, plain, previous_point

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

    `memory` bounds how far `before` looks back from the first point of a target to the last point
    of a source.
    """
    if relation not in RELATIONS:
        raise ValueError(f"no Allen relation {relation}")
    if mode not in MODES:
        raise ValueError(f"no mode {mode}")
    source, target = Spans(*plain(*source)), Spans(*plain(*target))
    if relation == "before":
        return _before(source, target, mode, tick, INF if memory is None else memory)
    left, right = _pairs(relation, source, target, tick)
    return _combine(_rows(source, left), _rows(target, right), mode)


def _rows(spans: Spans, rows: Ints) -> Spans:
    return Spans(spans.key[rows], spans.start[rows], spans.end[rows])


def _pairs(relation: str, source: Spans, target: Spans, tick: int) -> tuple[Ints, Ints]:
    """Rows of sources and of their partners in the relation."""
    a, b = source.start, previous_point(source.end, tick)
    last = previous_point(target.end, tick)
    if relation == "finishes":
        left, right = _finishing(source.key, a, b, target.key, target.start, last)
        return left, right
    at = b if relation in ("meets", "overlaps") else a
    partner = _containing(source.key, at, *target)
    left = np.flatnonzero(partner >= 0)
    right = partner[left]
    a, b, c, d = a[left], b[left], target.start[right], last[right]
    match relation:
        case "meets":
            holds = (b == c) & (a < c) & (c < d)
        case "overlaps":
            holds = (a < c) & (c < b) & (b < d)
        case "starts":
            holds = (a == c) & (b < d)
        case "during":
            holds = (a > c) & (b < d)
        case _:
            holds = (a == c) & (b == d)
    return left[holds], right[holds]


def _combine(left: Spans, right: Spans, mode: str) -> Spans:
    """Pairs of spans to one span list."""
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
        case _:
            return _minus(right, left)


def _minus(left: Spans, right: Spans) -> Spans:
    """Each left span without its own partner: at most a piece before and a piece after."""
    return sort_spans(
        np.concatenate((left.key, left.key)),
        np.concatenate((left.start, np.maximum(left.start, right.end))),
        np.concatenate((np.minimum(left.end, right.start), left.end)),
    )


def _before(source: Spans, target: Spans, mode: str, tick: int, memory: int) -> Spans:
    """On the grid the spans of a pair are disjoint, so modes are about sources and targets only."""
    last = previous_point(source.end, tick)
    if memory < 0:
        return no_spans()
    if tick > 1 and mode in MODES[3:]:
        # A target may start after the last point of a source and before its end.
        columns = (source.key, source.end, last, target.key, target.start, memory)
        if mode == "relative_complement_inverse":
            left, right = _behind(*columns)
        else:
            left, right = _ahead(*columns)
        return _combine(_rows(source, left), _rows(target, right), mode)
    sources, targets = _near(source.key, last, target.key, target.start, memory)
    match mode:
        case "source" | "relative_complement":
            return source.where(sources)
        case "target" | "relative_complement_inverse":
            return target.where(targets)
        case "union":
            return union(source.where(sources), target.where(targets))
        case _:
            return no_spans()


@kernel
def _containing(key: Ints, point: Ints, span_key: Ints, start: Ints, end: Ints) -> Ints:
    """For every point the span of its key that contains it, -1 if none; all sorted.

    No span contains infinity: a source without end meets and overlaps nothing.
    """
    found = np.full(len(key), -1, np.int64)
    j = 0
    for i in range(len(key)):
        while j < len(span_key) and (
            span_key[j] < key[i] or (span_key[j] == key[i] and end[j] <= point[i])
        ):
            j += 1
        if j < len(span_key) and span_key[j] == key[i] and start[j] <= point[i]:
            found[i] = j
    return found


@kernel
def _finishing(
    key: Ints, first: Ints, last: Ints, target_key: Ints, target_first: Ints, target_last: Ints
) -> tuple[Ints, Ints]:
    """Pairs with one last point whose target starts first.

    Several targets can have the same last point, all but one of them between two time-points.
    """
    left = np.empty(0, np.int64)
    right = np.empty(0, np.int64)
    for fill in (False, True):
        m, j = 0, 0
        for i in range(len(key)):
            while j < len(target_key) and (
                target_key[j] < key[i] or (target_key[j] == key[i] and target_last[j] < last[i])
            ):
                j += 1
            k = j
            while (
                k < len(target_key)
                and target_key[k] == key[i]
                and target_last[k] == last[i]
                and target_first[k] < first[i]
            ):
                if fill:
                    left[m], right[m] = i, k
                m += 1
                k += 1
        if not fill:
            left, right = np.empty(m, np.int64), np.empty(m, np.int64)
    return left, right


@inside()
def _within(last: int, first: int, memory: int) -> bool:
    """Is `first` after `last` and not farther than the memory?

    The distance may need all 64 bits, and a memory of `INF` is none.
    """
    if last >= first:
        return False
    return memory == INF or np.uint64(first) - np.uint64(last) <= np.uint64(memory)  # type: ignore[return-value]


@kernel
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
            sources[i] = _within(last[i], first[j], memory)
    i = 0
    for j in range(len(target_key)):
        while i < len(key) and (
            key[i] < target_key[j] or (key[i] == target_key[j] and last[i] < first[j])
        ):
            i += 1
        if i > 0 and key[i - 1] == target_key[j]:
            targets[j] = _within(last[i - 1], first[j], memory)
    return sources, targets


@kernel
def _ahead(
    key: Ints, end: Ints, last: Ints, target_key: Ints, first: Ints, memory: int
) -> tuple[Ints, Ints]:
    """For every source the targets it is before that its end reaches, and at least two.

    Targets are disjoint, so without one or the other of two nothing is missing from a source.
    """
    left = np.empty(0, np.int64)
    right = np.empty(0, np.int64)
    for fill in (False, True):
        m, j = 0, 0
        for i in range(len(key)):
            while j < len(target_key) and (
                target_key[j] < key[i] or (target_key[j] == key[i] and first[j] <= last[i])
            ):
                j += 1
            k = j
            while (
                k < len(target_key)
                and target_key[k] == key[i]
                and (k < j + 2 or first[k] < end[i])
                and _within(last[i], first[k], memory)
            ):
                if fill:
                    left[m], right[m] = i, k
                m += 1
                k += 1
        if not fill:
            left, right = np.empty(m, np.int64), np.empty(m, np.int64)
    return left, right


@kernel
def _behind(
    key: Ints, end: Ints, last: Ints, target_key: Ints, first: Ints, memory: int
) -> tuple[Ints, Ints]:
    """For every target the two nearest sources before it; `end` plays no part (see `_ahead`)."""
    left = np.empty(2 * len(target_key), np.int64)
    right = np.empty(2 * len(target_key), np.int64)
    m, i = 0, 0
    for j in range(len(target_key)):
        while i < len(key) and (
            key[i] < target_key[j] or (key[i] == target_key[j] and last[i] < first[j])
        ):
            i += 1
        k = i - 1
        while (
            k >= 0 and k >= i - 2 and key[k] == target_key[j] and _within(last[k], first[j], memory)
        ):
            left[m], right[m] = k, j
            m += 1
            k -= 1
    return left[:m], right[:m]
