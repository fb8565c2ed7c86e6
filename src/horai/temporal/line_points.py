"""The points of a line in memory, and what follows from those of one cell.

Only kernels call these: see `timelines`.
"""

from __future__ import annotations

import numpy as np

from horai.temporal.kernels import inside
from horai.temporal.spans import Ints, Mask

NOTHING = -1  # as what holds
EVERY_VALUE = -1  # as the value of a termination; those below it are forms, by row of a table

# The columns of a point. Its code is twice the value, and one more for an initiation; then come the
# value that holds after all points of its cell, and since when. A line is one piece of memory: what
# it costs to look at one is to wait for it.
TIME, CODE, AFTER, SINCE = 0, 1, 2, 3
COLUMNS = 4


@inside(inline="always")
def within_cell(time: int, tick: int) -> int:
    """How long after the beginning of its cell a time is. To divide takes long."""
    return time % tick if tick > 1 else 0


@inside(inline="always")
def ends_value(code: int, value: int, fits: Mask) -> bool:
    """Is it the code of a termination that ends a value?"""
    if code & 1:
        return False
    ended = code >> 1
    if ended >= 0:
        return ended == value
    return ended == EVERY_VALUE or fits[-2 - ended, value]


@inside(inline="always")
def after_cell(
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
            elif holds >= 0 and ends_value(code, holds, fits):
                ended = True
            y += 1
        if holds >= 0 and (ended or several or (begins and fresh != holds)):
            if following > since:
                closed, closed_value, closed_since = True, holds, since
            holds = NOTHING
        if begins and not several and holds < 0:
            stopped = False
            for z in range(x, y):
                stopped = stopped or ends_value(points[z, CODE], fresh, fits)
            if not stopped:
                holds, since = fresh, following
                if closed and closed_value == fresh:  # it ended and began between two time-points
                    closed, since = False, closed_since
        x = y
    return (holds, since) if holds >= 0 else (NOTHING, 0)


@inside(inline="always")
def after_one(code: int, holds: int, since: int, following: int, fits: Mask) -> tuple[int, int]:
    """The same after a point that is the only one of its cell."""
    if code & 1:
        return (holds, since) if holds == code >> 1 else (code >> 1, following)
    if holds < 0 or ends_value(code, holds, fits):
        return NOTHING, 0
    return holds, since


@inside()
def note(spans: Ints, n: int, line: int, value: int, start: int, end: int) -> int:
    """Put a span into a table; how many there are then."""
    spans[0, n], spans[1, n], spans[2, n], spans[3, n] = line, value, start, end
    return n + 1


@inside()
def copy_points(source: Ints, at: int, into: Ints, to: int, many: int) -> None:
    """Put some points elsewhere, earlier if it is in the same memory."""
    ours, theirs = source.reshape(-1), into.reshape(-1)
    by = COLUMNS * (to - at)
    for x in range(COLUMNS * at, COLUMNS * (at + many)):
        theirs[x + by] = ours[x]


@inside()
def move_up(room: Ints, first: int, last: int, by: int) -> None:
    """Let some points move to later places, the last one first."""
    flat = room.reshape(-1)
    step = COLUMNS * by
    for x in range(COLUMNS * last - 1, COLUMNS * first - 1, -1):
        flat[x + step] = flat[x]


@inside()
def place_of(room: Ints, low: int, high: int, time: int) -> int:
    """The first of some points from a time on.

    Every other step is a guess: times are spread evenly as a rule, and to look at a place is to
    wait for it. The steps between are halves, in case they are not.
    """
    guess = True
    while low < high:
        x = (low + high) // 2
        if guess:
            early, late = room[low, TIME], room[high - 1, TIME]
            if early >= time:
                return low
            if late < time:
                return high
            x = low + int((time - early) / (late - early) * (high - 1 - low))
            x = min(max(x, low), high - 1)
        guess = not guess
        if room[x, TIME] < time:
            low = x + 1
        else:
            high = x
    return low


@inside()
def mark(out: Mask, room: Ints, i: int, i2: int, time: int, code: int) -> None:
    """One of the points of a cell that are like the one that goes."""
    for q in range(i, i2):
        if room[q, TIME] == time and room[q, CODE] == code and not out[q - i]:
            out[q - i] = True
            break


@inside()
def larger(spans: Ints, need: int) -> Ints:
    """A table with room for more spans."""
    found = np.empty((4, 2 * need), np.int64)
    found[:, : spans.shape[1]] = spans
    return found
