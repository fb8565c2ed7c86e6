"""Changes of inertia where points come and go: a line has its points, and the turns of what holds.

A line has the points of one fluent in their order. A point that comes or goes changes what holds
after it, until the points that follow make up for it: from there on everything is as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.kernels import lean, lean_kernel
from horai.temporal.line_points import (
    CODE,
    START,
    TIME,
    VALUE,
    after_cell,
    after_one,
    copy_rows,
    note,
    place_of,
    put_in,
    state,
    take_out,
    turns_until,
    within_cell,
)
from horai.temporal.line_tables import SPARE, Lines, Turns, rows_for
from horai.temporal.spans import INF, Ints, Mask


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
    changes: LineChanges, lines: Lines, room: Ints, turns: Turns, fits: Mask, tick: int
) -> tuple[LineSpans, LineSpans, Turns]:
    """Put points in and take points out; returns the spans that went and came, and the turns.

    There is room after each line for what comes. `fits` tells which values are of which form.
    """
    table, used = turns
    many = 2 * len(changes.line) + SPARE
    gone, new, desk = np.empty((many, 4), np.int64), np.empty((many, 4), np.int64), rows_for(many)
    begin = n_gone = n_new = need = 0
    while begin < len(changes.line):
        gone, new = _longer(gone, n_gone + need), _longer(new, n_new + need)
        desk, table = _longer(desk, need), _longer(table, used + 2 * need + SPARE)
        begin, n_gone, n_new, used, need = _change_lines(
            changes, begin, lines, room, table, used, desk, gone, n_gone, new, n_new, fits, tick
        )
    return LineSpans(*gone[:n_gone].T), LineSpans(*new[:n_new].T), Turns(table, used)


def _longer(table: Ints, need: int) -> Ints:
    """A table with so many rows, or more."""
    if need <= len(table):
        return table
    found = np.empty((2 * need, table.shape[1]), np.int64)
    found[: len(table)] = table
    return found


@lean
def _appended(
    room: Ints,
    i: int,
    end: int,
    now: int,
    now_since: int,
    fits: Mask,
    tick: int,
    me: int,
    new: Ints,
    n_new: int,
    desk: Ints,
    k: int,
) -> tuple[int, int, int, int]:
    """Points that come after all others: what holds then, how many spans and turns there are."""
    while i < end:
        t = room[i, TIME]
        step = tick - within_cell(t, tick)
        following = t + step if t < INF - step else INF
        if i + 1 == end or room[i + 1, TIME] >= following:  # alone in its cell, as most are
            holds, since = after_one(room[i, CODE], now, now_since, following, fits)
            i += 1
        else:
            begin = i
            while i < end and room[i, TIME] < following:
                i += 1
            holds, since = after_cell(room, begin, i, now, now_since, following, fits)
        if holds != now or since != now_since:
            if now >= 0 and following > now_since:
                n_new = note(new, n_new, me, now, now_since, following)
            desk[k, START], desk[k, VALUE] = following, holds
            k += 1
            now, now_since = holds, since
    return now, now_since, n_new, k


@lean_kernel
def _change_lines(
    changes: LineChanges,
    j: int,
    lines: Lines,
    room: Ints,
    turns: Ints,
    used: int,
    desk: Ints,
    gone: Ints,
    n_gone: int,
    new: Ints,
    n_new: int,
    fits: Mask,
    tick: int,
) -> tuple[int, int, int, int, int]:
    """Change one line after the other, until one needs more rows in some table than there are.

    Returns the first change not made, and how many rows are used and needed. Tables that were
    replaced in the midst of the loop would be counted in and out at every turn of it.
    """
    line, time, code, comes = changes
    first, length, turn_first, turn_length, turn_space = lines
    while j < len(line):
        me, last, going = line[j], j, False
        while last < len(line) and line[last] == me:
            going = going or not comes[last]
            last += 1
        at, end = first[me], first[me] + length[me]
        here, many = turn_first[me], turn_length[me]
        low = time[j] - within_cell(time[j], tick)
        # From the cell of the first change on, what holds is worked out again.
        i = end
        if at < end and room[end - 1, TIME] >= low:
            i = place_of(room, at, end, low)
        need = end - i + 2 * (last - j) + many + SPARE
        if (
            n_gone + need > len(gone)
            or n_new + need > len(new)
            or need > len(desk)
            or used + 2 * need > len(turns)
        ):
            return j, n_gone, n_new, used, need
        if going:
            end = take_out(room, i, end, time, code, comes, j, last)
        end = put_in(room, i, end, time, code, comes, j, last)
        length[me] = end - at
        x = turns_until(turns, here, many, low)
        stays, k = x, 0  # turns before it, and how many take the place of others
        was, was_since = state(turns, here, x)
        now, now_since = was, was_since
        while j < last or (i < end and (was != now or was_since != now_since)):
            if last - j == end - i and x == many and not going:
                now, now_since, n_new, k = _appended(
                    room, i, end, now, now_since, fits, tick, me, new, n_new, desk, k
                )
                j = last
                break
            if j < last and was == now and was_since == now_since:
                # Up to the next change all is as it was.
                low = time[j] - within_cell(time[j], tick)
                if i < end and room[i, TIME] < low:
                    i = place_of(room, i, end, low)
                    while x < many and turns[here + x, START] <= low:
                        desk[k, START], desk[k, VALUE] = (
                            turns[here + x, START],
                            turns[here + x, VALUE],
                        )
                        k += 1
                        x += 1
                    was, was_since = state(turns, here, x)
                    now, now_since = was, was_since
            t = room[i, TIME] if i < end else INF
            if j < last and time[j] < t:
                t = time[j]
            step = tick - within_cell(t, tick)
            following = t + step if t < INF - step else INF
            while j < last and time[j] < following:
                j += 1
            begin = i
            while i < end and room[i, TIME] < following:
                i += 1
            holds, since = now, now_since
            if i == begin + 1:  # alone in its cell, as most are
                holds, since = after_one(room[begin, CODE], now, now_since, following, fits)
            elif i > begin:
                holds, since = after_cell(room, begin, i, now, now_since, following, fits)
            then, then_since = was, was_since
            if x < many and turns[here + x, START] <= following:
                x += 1
                then, then_since = state(turns, here, x)
            leaves = was >= 0 and (then != was or then_since != was_since)
            turned = holds != now or since != now_since
            alike = leaves and turned and was == now and was_since == now_since
            if leaves and not alike and following > was_since:
                n_gone = note(gone, n_gone, me, was, was_since, following)
            if turned:
                if now >= 0 and not alike and following > now_since:
                    n_new = note(new, n_new, me, now, now_since, following)
                desk[k, START], desk[k, VALUE] = following, holds
                k += 1
            was, was_since, now, now_since = then, then_since, holds, since
        if was != now or was_since != now_since:  # what differs goes on to the end
            if was >= 0 and was_since < INF:
                n_gone = note(gone, n_gone, me, was, was_since, INF)
            if now >= 0 and now_since < INF:
                n_new = note(new, n_new, me, now, now_since, INF)
        if k or x > stays:
            after = many - x
            many = stays + k + after
            if many > turn_space[me]:  # the line gets a place behind all others
                copy_rows(turns, here, turns, used, stays)
                copy_rows(turns, here + x, turns, used + stays + k, after)
                turn_first[me], turn_space[me] = used, many + many // 2 + SPARE
                here = used
                used += turn_space[me]
            else:
                copy_rows(turns, here + x, turns, here + stays + k, after)
            copy_rows(desk, 0, turns, here + stays, k)
            turn_length[me] = many
    return j, n_gone, n_new, used, 0
