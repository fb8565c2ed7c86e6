"""Inertia where points come and go: each point is kept with what holds after it.

A line has the points of one fluent in their order. A point that comes or goes changes what holds
after it, until the points that follow make up for it: from there on everything is as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.kernels import inside, kernel
from horai.temporal.line_points import (
    AFTER,
    CODE,
    COLUMNS,
    SINCE,
    TIME,
    after_cell,
    after_one,
    copy_points,
    larger,
    mark,
    move_up,
    note,
    place_of,
    within_cell,
)
from horai.temporal.spans import INF, Ints, Mask


class Lines(NamedTuple):
    """Where the points of each line are, and what holds before the first."""

    first: Ints
    length: Ints
    base: Ints
    base_since: Ints


class LineChanges(NamedTuple):
    """Points that come or go, sorted by line and time."""

    line: Ints
    time: Ints
    code: Ints
    comes: Mask


class LineSpans(NamedTuple):
    """Spans of the values of lines."""

    line: Ints
    value: Ints
    start: Ints
    end: Ints


def change_lines(
    changes: LineChanges, lines: Lines, room: Ints, fits: Mask, tick: int
) -> tuple[LineSpans, LineSpans]:
    """Put points in and take points out; returns the spans that went and those that came.

    There is room after each line for what comes. `fits` tells which values are of which form.
    """
    gone, new = _change_lines(changes, lines, room, fits, tick)
    return LineSpans(*gone), LineSpans(*new)


@inside()
def _appended(
    changes: LineChanges,
    j: int,
    last: int,
    room: Ints,
    k: int,
    now: int,
    now_since: int,
    fits: Mask,
    tick: int,
    new: Ints,
    n: int,
) -> tuple[int, int, int]:
    """Points that come after all others: what holds then, and how many spans have come."""
    line, time, code, _ = changes
    while j < last:
        t, begin = time[j], k
        step = tick - within_cell(t, tick)
        following = t + step if t < INF - step else INF
        if j + 1 == last or time[j + 1] >= following:  # alone in its cell, as most are
            holds, since = after_one(code[j], now, now_since, following, fits)
            room[k, TIME], room[k, CODE] = t, code[j]
            room[k, AFTER], room[k, SINCE] = holds, since
            k += 1
            j += 1
        else:
            while j < last and time[j] < following:
                room[k, TIME], room[k, CODE] = time[j], code[j]
                k += 1
                j += 1
            holds, since = after_cell(room, begin, k, now, now_since, following, fits)
            for x in range(begin, k):
                room[x, AFTER], room[x, SINCE] = holds, since
        if now >= 0 and following > now_since and (holds != now or since != now_since):
            n = note(new, n, line[j - 1], now, now_since, following)
        now, now_since = holds, since
    return now, now_since, n


@kernel
def _change_lines(
    changes: LineChanges, lines: Lines, room: Ints, fits: Mask, tick: int
) -> tuple[Ints, Ints]:
    line, time, code, comes = changes
    first, length, base, base_since = lines
    gone, new = np.empty((4, len(line) + 16), np.int64), np.empty((4, len(line) + 16), np.int64)
    n_gone, n_new, longest, j = 0, 0, 0, 0
    for c in range(len(line)):
        longest = max(longest, length[line[c]])
    desk = np.empty((longest + len(line), COLUMNS), np.int64)  # where lines are put together
    out = np.empty(longest, np.bool_)
    while j < len(line):
        me, last, plain = line[j], j, True
        while last < len(line) and line[last] == me:
            plain = plain and comes[last]
            last += 1
        at, end = first[me], first[me] + length[me]
        most = end - at + last - j + 1
        if n_gone + most > gone.shape[1]:
            gone = larger(gone, n_gone + most)
        if n_new + most > new.shape[1]:
            new = larger(new, n_new + most)
        # From the cell of the first change on, everything is gone through again.
        low, p = time[j] - within_cell(time[j], tick), end
        if at < end and room[end - 1, TIME] >= low:
            p = place_of(room, at, end, low)
        was, was_since = base[me], base_since[me]
        if p > at:
            was, was_since = room[p - 1, AFTER], room[p - 1, SINCE]
        now, now_since = was, was_since
        if plain and p == end:
            now, now_since, n_new = _appended(
                changes, j, last, room, end, now, now_since, fits, tick, new, n_new
            )
            end, j = end + last - j, last
            p = end
        i, k = p, 0
        while j < last or (i < end and (was != now or was_since != now_since)):
            t = room[i, TIME] if i < end else INF
            if j < last and time[j] < t:
                t = time[j]
            step = tick - within_cell(t, tick)
            following = t + step if t < INF - step else INF
            i2, j2, begin, q = i, j, k, i
            while i2 < end and room[i2, TIME] < following:
                out[i2 - i] = False
                i2 += 1
            while j2 < last and time[j2] < following:
                if not comes[j2]:
                    mark(out, room, i, i2, time[j2], code[j2])
                j2 += 1
            while q < i2 or j < j2:
                if j < j2 and not comes[j]:
                    j += 1
                elif q < i2 and out[q - i]:
                    q += 1
                elif q < i2 and (j >= j2 or room[q, TIME] <= time[j]):
                    desk[k, TIME], desk[k, CODE] = room[q, TIME], room[q, CODE]
                    k += 1
                    q += 1
                else:
                    desk[k, TIME], desk[k, CODE] = time[j], code[j]
                    k += 1
                    j += 1
            holds, since = after_cell(desk, begin, k, now, now_since, following, fits)
            for x in range(begin, k):
                desk[x, AFTER], desk[x, SINCE] = holds, since
            then, then_since = was, was_since
            if i2 > i:
                then, then_since = room[i2 - 1, AFTER], room[i2 - 1, SINCE]
            leaves = was >= 0 and (then != was or then_since != was_since)
            ends = now >= 0 and (holds != now or since != now_since)
            alike = leaves and ends and was == now and was_since == now_since
            if leaves and not alike and following > was_since:
                n_gone = note(gone, n_gone, me, was, was_since, following)
            if ends and not alike and following > now_since:
                n_new = note(new, n_new, me, now, now_since, following)
            was, was_since, now, now_since, i = then, then_since, holds, since, i2
            if j < last and i < end and was == now and was_since == now_since:
                # Up to the next change all is as it was.
                q = place_of(room, i, end, time[j] - within_cell(time[j], tick))
                copy_points(room, i, desk, k, q - i)
                k += q - i
                i = q
                if q > p:
                    was, was_since = room[q - 1, AFTER], room[q - 1, SINCE]
                    now, now_since = was, was_since
        if was != now or was_since != now_since:  # what differs goes on to the end
            if was >= 0 and was_since < INF:
                n_gone = note(gone, n_gone, me, was, was_since, INF)
            if now >= 0 and now_since < INF:
                n_new = note(new, n_new, me, now, now_since, INF)
        if k > i - p:  # those after it move as well
            move_up(room, i, end, p + k - i)
        elif k < i - p:
            copy_points(room, i, room, p + k, end - i)
        copy_points(desk, 0, room, p, k)
        length[me] = p - at + k + (end - i)
    return gone[:, :n_gone], new[:, :n_new]


@kernel
def move_lines(
    chosen: Ints, target: Ints, lines: Lines, room: Ints, into: Ints, forgotten: int
) -> None:
    """Put lines elsewhere, without what lies at or before a time."""
    first, length, base, base_since = lines
    for c in range(len(chosen)):
        me = chosen[c]
        at, end = first[me], first[me] + length[me]
        while at < end and room[at, TIME] <= forgotten:
            at += 1
        if at > first[me]:
            base[me], base_since[me] = room[at - 1, AFTER], room[at - 1, SINCE]
        copy_points(room, at, into, target[c], end - at)
        first[me], length[me] = target[c], end - at
