"""From rows to what they lead to and back, and the part of long lists in which few rows are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.changes import ranges
from horai.temporal.coalesce import sort_spans
from horai.temporal.kernels import kernel
from horai.temporal.sorting import offsets_of, order
from horai.temporal.spans import Ints, Spans, no_spans, plain


class Links(NamedTuple):
    """The rows that lead to each of many targets, sorted by target; `begins` says from where on."""

    begins: Ints
    row: Ints

    def back(self, spans: Spans) -> Spans:
        """Spans of targets as spans of the rows that lead there, in any order."""
        last = len(self.begins) - 1  # targets after that are new, and nothing leads there
        first = self.begins[np.minimum(spans.key, last)]
        after = self.begins[np.minimum(spans.key + 1, last)]
        which = np.repeat(np.arange(len(spans)), after - first)
        return Spans(self.row[ranges(first, after)], spans.start[which], spans.end[which])


def links(target: Ints) -> Links:
    """From targets to rows; -1 is no target."""
    rows = np.flatnonzero(target >= 0)
    target = target[rows]
    many = int(target.max()) + 1 if len(target) else 0
    return Links(offsets_of(target, many), rows[order(target, rows)])


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


def within_targets(spans: Spans, begins: Ints, target: Ints, where: Spans) -> Spans:
    """What the targets of some rows say in a region of these rows.

    Many rows may have the same target, each with a region of its own. `begins` says where the spans
    of each target begin.
    """
    if not len(spans) or not len(where):
        return no_spans()
    return Spans(*_within_targets(*plain(spans.start, spans.end, begins, target, *where)))


@kernel
def _within_targets(
    start: Ints,
    end: Ints,
    begins: Ints,
    target: Ints,
    where_key: Ints,
    where_start: Ints,
    where_end: Ints,
) -> tuple[Ints, Ints, Ints]:
    first = np.zeros(len(where_key), np.int64)
    after = np.zeros(len(where_key), np.int64)
    room = 0
    for w in range(len(where_key)):
        wanted = target[where_key[w]]
        if wanted < 0 or wanted >= len(begins) - 1:
            continue
        low, last = begins[wanted], begins[wanted + 1]
        high = last
        while low < high:  # the first span that ends after the region begins
            middle = (low + high) // 2
            if end[middle] <= where_start[w]:
                low = middle + 1
            else:
                high = middle
        first[w] = low
        while low < last and start[low] < where_end[w]:
            low += 1
        after[w] = low
        room += low - first[w]
    out_key = np.empty(room, np.int64)
    out_start = np.empty(room, np.int64)
    out_end = np.empty(room, np.int64)
    m = 0
    for w in range(len(where_key)):
        for i in range(first[w], after[w]):
            out_key[m] = where_key[w]
            out_start[m] = max(start[i], where_start[w])
            out_end[m] = min(end[i], where_end[w])
            m += 1
    return out_key, out_start, out_end
