"""Inertia where points come and go: each point is kept with what holds after it.

A line has the points of one fluent in their order. A point that comes or goes changes what holds
after it, until the points that follow make up for it: from there on everything is as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.kernels import inside, kernel
from horai.temporal.spans import INF, Ints, Mask

NOTHING = -1  # as what holds
EVERY_VALUE = -1  # as the value of a termination; those below it are forms, by row of a table

# The columns of a point. Its code is twice the value, and one more for an initiation; then come the
# value that holds after all points of its cell, and since when. A line is one piece of memory: what
# it costs to look at one is to wait for it.
TIME, CODE, AFTER, SINCE = 0, 1, 2, 3
COLUMNS = 4


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


@inside(inline="always")
def _within(time: int, tick: int) -> int:
    """How long after the beginning of its cell a time is. To divide takes long."""
    return time % tick if tick > 1 else 0


@inside(inline="always")
def _ends(code: int, value: int, fits: Mask) -> bool:
    """Is it the code of a termination that ends a value?"""
    if code & 1:
        return False
    ended = code >> 1
    if ended >= 0:
        return ended == value
    return ended == EVERY_VALUE or fits[-2 - ended, value]


@inside(inline="always")
def _after(
    points: Ints, x: int, end: int, holds: int, since: int, following: int, fits: Mask
) -> tuple[int, int]:
    """What holds after the points of one cell, and since when."""
    closed, closed_value, closed_since = False, holds, since
    while x < end:
        y = x
        begins, several, ended = False, False, False
        fresh = holds
        while y < end and points[y, TIME] == points[x, TIME]:
            code = points[y, CODE]
            if code & 1:
                several = several or (begins and code >> 1 != fresh)
                begins, fresh = True, code >> 1
            elif holds >= 0 and _ends(code, holds, fits):
                ended = True
            y += 1
        if holds >= 0 and (ended or several or (begins and fresh != holds)):
            if following > since:
                closed, closed_value, closed_since = True, holds, since
            holds = NOTHING
        if begins and not several and holds < 0:
            stopped = False
            for z in range(x, y):
                stopped = stopped or _ends(points[z, CODE], fresh, fits)
            if not stopped:
                holds, since = fresh, following
                if closed and closed_value == fresh:  # it ended and began between two time-points
                    closed, since = False, closed_since
        x = y
    return (holds, since) if holds >= 0 else (NOTHING, 0)


@inside()
def _note(spans: Ints, n: int, line: int, value: int, start: int, end: int) -> int:
    """Put a span into a table; how many there are then."""
    spans[0, n], spans[1, n], spans[2, n], spans[3, n] = line, value, start, end
    return n + 1


@inside()
def _copy(source: Ints, at: int, into: Ints, to: int, many: int) -> None:
    """Put some points elsewhere, earlier if it is in the same memory."""
    ours, theirs = source.reshape(-1), into.reshape(-1)
    by = COLUMNS * (to - at)
    for x in range(COLUMNS * at, COLUMNS * (at + many)):
        theirs[x + by] = ours[x]


@inside()
def _mark(out: Mask, room: Ints, i: int, i2: int, time: int, code: int) -> None:
    """One of the points of a cell that are like the one that goes."""
    for q in range(i, i2):
        if room[q, TIME] == time and room[q, CODE] == code and not out[q - i]:
            out[q - i] = True
            break


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
        step = tick - _within(t, tick)
        following = t + step if t < INF - step else INF
        while j < last and time[j] < following:
            room[k, TIME], room[k, CODE] = time[j], code[j]
            k += 1
            j += 1
        holds, since = _after(room, begin, k, now, now_since, following, fits)
        for x in range(begin, k):
            room[x, AFTER], room[x, SINCE] = holds, since
        if now >= 0 and following > now_since and (holds != now or since != now_since):
            n = _note(new, n, line[j - 1], now, now_since, following)
        now, now_since = holds, since
    return now, now_since, n


@inside()
def _larger(spans: Ints, need: int) -> Ints:
    """A table with room for more spans."""
    found = np.empty((4, 2 * need), np.int64)
    found[:, : spans.shape[1]] = spans
    return found


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
            gone = _larger(gone, n_gone + most)
        if n_new + most > new.shape[1]:
            new = _larger(new, n_new + most)
        # From the cell of the first change on, everything is gone through again.
        low, p = time[j] - _within(time[j], tick), end
        if at < end and room[end - 1, TIME] >= low:
            p = at + np.searchsorted(room[at:end, TIME], low)
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
            step = tick - _within(t, tick)
            following = t + step if t < INF - step else INF
            i2, j2, begin, q = i, j, k, i
            while i2 < end and room[i2, TIME] < following:
                out[i2 - i] = False
                i2 += 1
            while j2 < last and time[j2] < following:
                if not comes[j2]:
                    _mark(out, room, i, i2, time[j2], code[j2])
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
            holds, since = _after(desk, begin, k, now, now_since, following, fits)
            for x in range(begin, k):
                desk[x, AFTER], desk[x, SINCE] = holds, since
            then, then_since = was, was_since
            if i2 > i:
                then, then_since = room[i2 - 1, AFTER], room[i2 - 1, SINCE]
            leaves = was >= 0 and (then != was or then_since != was_since)
            ends = now >= 0 and (holds != now or since != now_since)
            alike = leaves and ends and was == now and was_since == now_since
            if leaves and not alike and following > was_since:
                n_gone = _note(gone, n_gone, me, was, was_since, following)
            if ends and not alike and following > now_since:
                n_new = _note(new, n_new, me, now, now_since, following)
            was, was_since, now, now_since, i = then, then_since, holds, since, i2
            if j < last and i < end and was == now and was_since == now_since:
                # Up to the next change all is as it was.
                q = i + np.searchsorted(room[i:end, TIME], time[j] - _within(time[j], tick))
                _copy(room, i, desk, k, q - i)
                k += q - i
                i = q
                if q > p:
                    was, was_since = room[q - 1, AFTER], room[q - 1, SINCE]
                    now, now_since = was, was_since
        if was != now or was_since != now_since:  # what differs goes on to the end
            if was >= 0 and was_since < INF:
                n_gone = _note(gone, n_gone, me, was, was_since, INF)
            if now >= 0 and now_since < INF:
                n_new = _note(new, n_new, me, now, now_since, INF)
        if k != i - p:  # those after it move as well
            _copy(room, i, desk, k, end - i)
            k += end - i
            i = end
        _copy(desk, 0, room, p, k)
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
        _copy(room, at, into, target[c], end - at)
        first[me], length[me] = target[c], end - at
