"""From rows to what they lead to and back, and the part of long lists in which few rows are."""

from __future__ import annotations

import numpy as np

from horai.temporal.coalesce import sort_spans
from horai.temporal.kernels import kernel, lean
from horai.temporal.sorting import offsets_of
from horai.temporal.spans import FIRST, INF, Ints, Spans, no_spans, plain
from horai.temporal.sweeps import Lists as RowLists

ROOM = 64  # targets and rows at first
FEW = 500  # pieces whose rows are found one by one


class Links:
    """The rows that lead to each of many targets, as chains: to add some costs what they are."""

    def __init__(self) -> None:
        self._last = np.full(ROOM, -1)  # the last row that leads to each target
        self._before = np.full(ROOM, -1)  # the one before each row

    def add(self, rows: Ints, target: Ints) -> None:
        """More rows, each with its target, or none (-1)."""
        if len(rows):
            self._last = _grown(self._last, int(target.max()))
            self._before = _grown(self._before, int(rows.max()))
            _chain(*plain(rows, target, self._last, self._before))

    def back(self, spans: Spans) -> Spans:
        """Spans of targets as spans of the rows that lead there, in any order."""
        return Spans(*_back(*plain(*spans, self._last, self._before)))

    def back_while(
        self, spans: Spans, lists: RowLists, since: int = FIRST, until: int = INF
    ) -> Spans:
        """The same, but only as far as the lists of these rows hold.

        Only spans count that start before `until` and end after `since`.
        """
        held = plain(lists.spans.start, lists.spans.end, lists.begins, lists.target)
        links = plain(self._last, self._before)
        return Spans(*_back_while(since, until, *plain(*spans), *links, *held))


def common(
    pieces: Spans, target: Ints, lists: RowLists, readers: Links, others: Links
) -> list[Spans]:
    """Where rows lead to some pieces while their lists hold; `target` has the key of each row.

    Most of what changes is late in a window, and of many lists few hold then: for that time rows
    are found by way of these lists.
    """
    if len(pieces) < FEW:
        return [readers.back_while(pieces, lists)]
    most = len(pieces) // 4
    since = int(np.partition(pieces.start, most)[most])
    if 2 * np.count_nonzero(lists.spans.end > since) > len(pieces):
        return [readers.back_while(pieces, lists)]
    changed = RowLists(pieces, offsets_of(pieces.key, int(pieces.key[-1]) + 1), target)
    return [
        readers.back_while(pieces, lists, until=since),
        others.back_while(lists.spans, changed, since=since),
    ]


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


def within_targets(lists: RowLists, where: Spans) -> Spans:
    """What the lists of some rows are in a region of these rows.

    Many rows may have the same target, each with a region of its own.
    """
    spans, begins, target = lists
    if not len(spans) or not len(where):
        return no_spans()
    return Spans(*_within_targets(*plain(spans.start, spans.end, begins, target, *where)))


def _grown(chains: Ints, last: int) -> Ints:
    if last < len(chains):
        return chains
    found = np.full(2 * (last + 1), -1)
    found[: len(chains)] = chains
    return found


@kernel
def _chain(rows: Ints, target: Ints, last: Ints, before: Ints) -> None:
    for i in range(len(rows)):
        if target[i] >= 0:
            before[rows[i]] = last[target[i]]
            last[target[i]] = rows[i]


@kernel
def _back(key: Ints, start: Ints, end: Ints, last: Ints, before: Ints) -> tuple[Ints, Ints, Ints]:
    room = 0
    for i in range(len(key)):
        row = last[key[i]] if key[i] < len(last) else -1
        while row >= 0:
            room += 1
            row = before[row]
    out_key = np.empty(room, np.int64)
    out_start = np.empty(room, np.int64)
    out_end = np.empty(room, np.int64)
    n = 0
    for i in range(len(key)):
        row = last[key[i]] if key[i] < len(last) else -1
        while row >= 0:
            out_key[n], out_start[n], out_end[n] = row, start[i], end[i]
            n += 1
            row = before[row]
    return out_key, out_start, out_end


@lean
def _first_after(end: Ints, low: int, high: int, time: int) -> int:
    """The first row in a range that ends after a time; mostly there is none."""
    if low == high or end[high - 1] <= time:
        return high
    while low < high:
        middle = (low + high) // 2
        if end[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _back_while(
    since: int,
    until: int,
    key: Ints,
    start: Ints,
    end: Ints,
    last: Ints,
    before: Ints,
    held_start: Ints,
    held_end: Ints,
    begins: Ints,
    targets: Ints,
) -> Ints:
    found = np.empty((3, len(key) + 16), np.int64)
    n = 0
    for i in range(len(key)):
        if end[i] <= since or start[i] >= until:
            continue
        row = last[key[i]] if key[i] < len(last) else -1
        while row >= 0:
            target, at, stop = targets[row], 0, 0
            if 0 <= target < len(begins) - 1:
                stop = begins[target + 1]
                at = _first_after(held_end, begins[target], stop, start[i])
            while at < stop and held_start[at] < end[i]:
                if n == found.shape[1]:
                    larger = np.empty((3, 2 * n), np.int64)
                    larger[:, :n] = found
                    found = larger
                found[0, n] = row
                found[1, n] = max(held_start[at], start[i])
                found[2, n] = min(held_end[at], end[i])
                n += 1
                at += 1
            row = before[row]
    return found[:, :n].copy()


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
        last = begins[wanted + 1]
        low = _first_after(end, begins[wanted], last, where_start[w])
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
