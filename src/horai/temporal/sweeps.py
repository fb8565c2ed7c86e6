"""Any combination of lists, point by point, in one sweep over the part of them that matters.

Union, intersection and complements say of each time-point by itself whether it is in the result, so
a table with one entry for each combination of lists says all that there is to say. The sweep goes
through the points of a region only, and compares with what was said before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from horai.temporal.changes import Change, no_change
from horai.temporal.kernels import inside, kernel, lean
from horai.temporal.spans import INF, Ints, Mask, Spans, no_spans, plain

MOST = 16  # lists; the table has an entry for each combination


class Lists(NamedTuple):
    """The lists of many rows: each has that of a target, or none (-1); `begins` is by target."""

    spans: Spans
    begins: Ints
    target: Ints


def no_lists(rows: int) -> Lists:
    """Nothing, for every row."""
    return Lists(no_spans(), np.zeros(1, np.int64), np.full(rows, -1))


def swept(where: Spans, lists: Sequence[Lists], table: Mask, old: Lists) -> Change:
    """What a combination of lists is in a region of rows, and was not, or the other way round.

    `table` says of every combination whether it is in the result; list i counts for 2 ** i.

    >>> spans = Spans(np.array([0, 1]), np.array([2, 5]), np.array([8, INF]))
    >>> each = [Lists(spans, np.array([0, 1, 2]), np.array([pair])) for pair in (0, 1)]
    >>> where = Spans(np.array([0]), np.array([0]), np.array([20]))
    >>> gone, new = swept(where, each, np.array([False, False, False, True]), no_lists(1))
    >>> [column.tolist() for column in new]
    [[0], [5], [8]]
    """
    if not len(where):
        return no_change()
    if len(lists) > MOST:
        raise ValueError(f"{len(lists)} lists are more than {MOST}")
    # Numba compiles it anew for each length of these tuples: let there be few.
    short = 1 << max(1, (len(lists) - 1).bit_length())
    padded = [*lists, *(no_lists(0) for _ in range(short - len(lists)))]
    starts = plain(*(one.spans.start for one in padded))
    ends = plain(*(one.spans.end for one in padded))
    begins = plain(*(one.begins for one in padded))
    targets = plain(*(one.target for one in padded))
    before = plain(old.spans.start, old.spans.end, old.begins, old.target)
    gone, new = _swept(plain(*where), len(lists), starts, ends, begins, targets, table, before)
    return Change(Spans(*gone), Spans(*new))


# How far a sweep has come: the next region, the pieces written, the room that the next one needs.
NEXT, N_GONE, N_NEW, NEEDED = range(4)


@lean
def _first_after(end: Ints, low: int, high: int, time: int) -> int:
    """The first row in a range that ends after a time; mostly it is one of the last."""
    if low == high or end[high - 1] <= time:
        return high
    if high - 2 >= low and end[high - 2] <= time:
        return high - 1
    while low < high:
        middle = (low + high) // 2
        if end[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@lean
def _put(pieces: Ints, n: int, row: int, start: int, end: int) -> int:
    """One more piece, or the last one longer; how many there are then."""
    if n and pieces[0, n - 1] == row and pieces[2, n - 1] == start:
        pieces[2, n - 1] = end
        return n
    pieces[0, n], pieces[1, n], pieces[2, n] = row, start, end
    return n + 1


@inside()
def _with_room(pieces: Ints, n: int, more: int) -> Ints:
    """The pieces, with room for some more."""
    if n + more <= pieces.shape[1]:
        return pieces
    larger = np.empty((3, 2 * n + more), np.int64)
    larger[:, :n] = pieces[:, :n]
    return larger


@kernel
def _swept(
    where: tuple[Ints, ...],
    many: int,
    starts: tuple[Ints, ...],
    ends: tuple[Ints, ...],
    begins: tuple[Ints, ...],
    targets: tuple[Ints, ...],
    table: Mask,
    old: tuple[Ints, ...],
) -> tuple[Ints, Ints]:
    room = len(where[0]) + 16
    gone, new = np.empty((3, room), np.int64), np.empty((3, room), np.int64)
    desk = np.empty((3, many), np.int64)
    come = np.zeros(4, np.int64)
    while come[NEXT] < len(where[0]):
        gone = _with_room(gone, come[N_GONE], come[NEEDED])
        new = _with_room(new, come[N_NEW], come[NEEDED])
        _go_on(where, many, starts, ends, begins, targets, table, old, gone, new, desk, come)
    return gone[:, : come[N_GONE]].copy(), new[:, : come[N_NEW]].copy()


@lean
def _go_on(
    where: tuple[Ints, ...],
    many: int,
    starts: tuple[Ints, ...],
    ends: tuple[Ints, ...],
    begins: tuple[Ints, ...],
    targets: tuple[Ints, ...],
    table: Mask,
    old: tuple[Ints, ...],
    gone: Ints,
    new: Ints,
    desk: Ints,
    come: Ints,
) -> None:
    """Sweep on until all is done, or there is no room for what may be found in a region."""
    where_row, where_start, where_end = where
    old_start, old_end, old_begins, old_target = old
    at, stop, edge = desk  # the last: when each list changes next
    n_gone, n_new = come[N_GONE], come[N_NEW]
    w = come[NEXT]
    while w < len(where_row):
        row, time, last = where_row[w], where_start[w], where_end[w]
        code, needed = 0, 1
        for i in range(many):
            x, y, target = 0, 0, targets[i][row]
            if 0 <= target < len(begins[i]) - 1:
                x, y = begins[i][target], begins[i][target + 1]
                x = _first_after(ends[i], x, y, time)
            at[i], stop[i], edge[i] = x, y, INF
            needed += y - x
            if x < y and starts[i][x] <= time:
                code |= 1 << i
                edge[i] = ends[i][x]
            elif x < y:
                edge[i] = starts[i][x]
        x, y, target = 0, 0, old_target[row]
        if 0 <= target < len(old_begins) - 1:
            x, y = old_begins[target], old_begins[target + 1]
            x = _first_after(old_end, x, y, time)
        # Every span has two edges, and pieces of one sort lie between every other edge.
        needed += y - x
        if n_gone + needed > gone.shape[1] or n_new + needed > new.shape[1]:
            come[NEEDED] = needed
            break
        was, old_edge = False, INF
        if x < y:
            was = old_start[x] <= time
            old_edge = old_end[x] if was else old_start[x]
        while time < last:
            following = min(last, old_edge)
            for i in range(many):
                following = min(following, edge[i])
            if table[code] and not was:
                n_new = _put(new, n_new, row, time, following)
            elif was and not table[code]:
                n_gone = _put(gone, n_gone, row, time, following)
            time = following
            if time == last:
                break
            for i in range(many):
                if edge[i] == time:
                    code ^= 1 << i
                    if code >> i & 1:
                        edge[i] = ends[i][at[i]]
                    else:
                        at[i] += 1
                        edge[i] = starts[i][at[i]] if at[i] < stop[i] else INF
            if old_edge == time:
                was = not was
                if was:
                    old_edge = old_end[x]
                else:
                    x += 1
                    old_edge = old_start[x] if x < y else INF
        w += 1
    come[NEXT], come[N_GONE], come[N_NEW] = w, n_gone, n_new
