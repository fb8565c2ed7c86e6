"""From rows to what they lead to and back, and the part of long lists in which few rows are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.coalesce import sort_spans
from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, Spans, no_spans, plain


class Links(NamedTuple):
    """The rows that lead to each of many targets, sorted by target."""

    target: Ints
    row: Ints

    def back(self, spans: Spans) -> Spans:
        """Spans of targets as spans of the rows that lead there, in any order."""
        first = np.searchsorted(self.target, spans.key, "left")
        after = np.searchsorted(self.target, spans.key, "right")
        which = np.repeat(np.arange(len(spans)), after - first)
        return Spans(self.row[ranges(first, after)], spans.start[which], spans.end[which])


def links(target: Ints) -> Links:
    """From targets to rows; -1 is no target."""
    row = np.argsort(target, kind="stable")
    return Links(target[row], row)


def ranges(first: Ints, after: Ints) -> Ints:
    """All numbers of some ranges."""
    count = after - first
    begin = np.cumsum(count) - count
    found: Ints = np.arange(int(count.sum())) + np.repeat(first - begin, count)
    return found


def together(parts: list[Spans]) -> Spans:
    """Spans from several places, in any order, as one relation."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return no_spans()
    columns = (np.concatenate(column) for column in zip(*filled, strict=True))
    return sort_spans(*columns)


def moved(spans: Spans, target: Ints) -> Spans:
    """Spans by what their rows lead to, in any order; rows that lead nowhere are left out."""
    key = target[spans.key]
    there = key >= 0
    if there.all():
        return Spans(key, spans.start, spans.end)
    return Spans(key[there], spans.start[there], spans.end[there])


def within_targets(spans: Spans, target: Ints, where: Spans) -> Spans:
    """What the targets of some rows say in a region of these rows.

    Many rows may have the same target, each with a region of its own.
    """
    if not len(spans) or not len(where):
        return no_spans()
    return Spans(*_within_targets(*plain(*spans, target, *where)))


@kernel
def _within_targets(
    key: Ints,
    start: Ints,
    end: Ints,
    target: Ints,
    where_key: Ints,
    where_start: Ints,
    where_end: Ints,
) -> tuple[Ints, Ints, Ints]:
    first = np.empty(len(where_key), np.int64)
    room = 0
    for w in range(len(where_key)):
        wanted = target[where_key[w]]
        low, high = 0, len(key)
        while low < high:  # the first span of the target that ends after the region begins
            middle = (low + high) // 2
            if key[middle] < wanted or (key[middle] == wanted and end[middle] <= where_start[w]):
                low = middle + 1
            else:
                high = middle
        first[w] = low
        while low < len(key) and key[low] == wanted and start[low] < where_end[w]:
            low += 1
        room += low - first[w]
    out_key = np.empty(room, np.int64)
    out_start = np.empty(room, np.int64)
    out_end = np.empty(room, np.int64)
    m = 0
    for w in range(len(where_key)):
        i = first[w]
        wanted = target[where_key[w]]
        while i < len(key) and key[i] == wanted and start[i] < where_end[w]:
            out_key[m] = where_key[w]
            out_start[m] = max(start[i], where_start[w])
            out_end[m] = min(end[i], where_end[w])
            m += 1
            i += 1
    return out_key, out_start, out_end
