"""A list of spans in which some time is exchanged, in one pass over what that touches.

What goes was in the list and what comes was not, so at the edges of both the list changes from one
to the other: the new list has the edges of the old one and those of the change, but for edges that
fall together and undo each other. Spans without such an edge are copied in blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.changes import Change
from horai.temporal.kernels import kernel, lean
from horai.temporal.spans import INF, Ints, Spans, no_spans, plain
from horai.temporal.touched import reach


class Toggled(NamedTuple):
    """The new list, the spans of the old one that are touched, and those that are there instead."""

    spans: Spans
    gone: Spans
    new: Spans


def toggled(spans: Spans, change: Change) -> Toggled:
    """A list after a change that is normalised (equation 12).

    >>> spans = Spans(np.array([1, 1, 2]), np.array([0, 6, 0]), np.array([4, 9, 9]))
    >>> gone = Spans(np.array([2]), np.array([3]), np.array([5]))
    >>> new = Spans(np.array([1]), np.array([4]), np.array([6]))
    >>> found = toggled(spans, Change(gone, new))
    >>> [column.tolist() for column in found.spans]
    [[1, 2, 2], [0, 0, 5], [9, 3, 9]]
    """
    if not len(change):
        return Toggled(spans, no_spans(), no_spans())
    old, gone, new = (plain(*one) for one in (spans, change.gone, change.new))
    whole, rows, instead = _toggled(*old, *gone, *new)
    left = Spans(*(column[rows] for column in spans))
    return Toggled(Spans(*whole), left, Spans(*instead))


@lean
def _comes_first(
    key: Ints, start: Ints, i: int, other_key: Ints, other_start: Ints, j: int
) -> bool:
    """Is the next row of one list before that of another?"""
    if i == len(key) or j == len(other_key):
        return i < len(key)
    if key[i] != other_key[j]:
        return bool(key[i] < other_key[j])
    return bool(start[i] <= other_start[j])


@kernel
def _toggled(
    key: Ints,
    start: Ints,
    end: Ints,
    gone_key: Ints,
    gone_start: Ints,
    gone_end: Ints,
    new_key: Ints,
    new_start: Ints,
    new_end: Ints,
) -> tuple[tuple[Ints, Ints, Ints], Ints, tuple[Ints, Ints, Ints]]:
    n, pieces = len(key), len(gone_key) + len(new_key)
    out_key = np.empty(n + pieces, np.int64)
    out_start = np.empty(n + pieces, np.int64)
    out_end = np.empty(n + pieces, np.int64)
    rows = np.empty(2 * pieces, np.int64)  # what goes lies in one span, what comes between two
    stride = 1 + n // (1 + pieces)
    at = np.empty(3 * pieces, np.int64)  # the places of spans that are new
    i, g, c, m, touched, fresh = 0, 0, 0, 0, 0, 0
    while g < len(gone_key) or c < len(new_key):
        if _comes_first(gone_key, gone_start, g, new_key, new_start, c):
            k, t = gone_key[g], gone_start[g]
        else:
            k, t = new_key[c], new_start[c]
        stop = reach(key, end, i, stride, k, t)
        for x in range(i, stop):
            out_key[m], out_start[m], out_end[m] = key[x], start[x], end[x]
            m += 1
        i = stop
        in_old, in_gone, in_new, is_open = False, False, False, False
        begun = t
        while True:  # from edge to edge until all are closed
            t = INF
            if i < n and key[i] == k:
                t = end[i] if in_old else start[i]
            if g < len(gone_key) and gone_key[g] == k:
                t = min(t, gone_end[g] if in_gone else gone_start[g])
            if c < len(new_key) and new_key[c] == k:
                t = min(t, new_end[c] if in_new else new_start[c])
            odd = False
            if i < n and key[i] == k:
                if in_old and end[i] == t:
                    in_old, odd = False, not odd
                    i += 1
                if not in_old and i < n and key[i] == k and start[i] == t:
                    in_old, odd = True, not odd
                    rows[touched] = i
                    touched += 1
            if g < len(gone_key) and gone_key[g] == k:
                if in_gone and gone_end[g] == t:
                    in_gone, odd = False, not odd
                    g += 1
                if not in_gone and g < len(gone_key) and gone_key[g] == k and gone_start[g] == t:
                    in_gone, odd = True, not odd
            if c < len(new_key) and new_key[c] == k:
                if in_new and new_end[c] == t:
                    in_new, odd = False, not odd
                    c += 1
                if not in_new and c < len(new_key) and new_key[c] == k and new_start[c] == t:
                    in_new, odd = True, not odd
            if odd and not is_open:
                is_open, begun = True, t
            elif odd:
                is_open = False
                out_key[m], out_start[m], out_end[m] = k, begun, t
                at[fresh] = m
                m += 1
                fresh += 1
            if not (in_old or in_gone or in_new or is_open):
                break
    for x in range(i, n):
        out_key[m], out_start[m], out_end[m] = key[x], start[x], end[x]
        m += 1
    whole = (out_key[:m], out_start[:m], out_end[:m])
    there = at[:fresh]
    return whole, rows[:touched], (out_key[there], out_start[there], out_end[there])
