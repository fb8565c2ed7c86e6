"""The points of a line in memory, and what follows from those of one cell.

Only kernels call these: see `inertia_changes`.
"""

from __future__ import annotations

from horai.temporal.kernels import inside, lean
from horai.temporal.spans import Ints, Mask

NOTHING = -1  # as what holds
EVERY_VALUE = -1  # as the value of a termination; those below it are forms, by row of a table

# The columns of a point; its code is twice the value, and one more for an initiation. A line is one
# piece of memory: what it costs to look at one is to wait for it.
TIME, CODE = 0, 1
# The columns of a turn: from when on which value holds, or nothing. All else follows from them.
START, VALUE = 0, 1
COLUMNS = 2


@inside(inline="always", _nrt=False)
def within_cell(time: int, tick: int) -> int:
    """How long after the beginning of its cell a time is. To divide takes long."""
    return time % tick if tick > 1 else 0


@inside(inline="always", _nrt=False)
def ends_value(code: int, value: int, fits: Mask) -> bool:
    """Is it the code of a termination that ends a value?"""
    if code & 1:
        return False
    ended = code >> 1
    if ended >= 0:
        return ended == value
    return ended == EVERY_VALUE or fits[-2 - ended, value]


@inside(inline="always", _nrt=False)
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


@inside(inline="always", _nrt=False)
def after_one(code: int, holds: int, since: int, following: int, fits: Mask) -> tuple[int, int]:
    """The same after a point that is the only one of its cell."""
    if code & 1:
        return (holds, since) if holds == code >> 1 else (code >> 1, following)
    if holds < 0 or ends_value(code, holds, fits):
        return NOTHING, 0
    return holds, since


@inside(inline="always", _nrt=False)
def state(turns: Ints, at: int, many: int) -> tuple[int, int]:
    """What holds after some turns, and since when."""
    if many == 0 or turns[at + many - 1, VALUE] < 0:
        return NOTHING, 0
    return turns[at + many - 1, VALUE], turns[at + many - 1, START]


@lean
def turns_until(turns: Ints, at: int, many: int, time: int) -> int:
    """How many of the turns of a line lie at or before a time; mostly it is all of them."""
    low, high = 0, many
    if many and turns[at + many - 1, START] <= time:
        return many
    while low < high:
        middle = (low + high) // 2
        if turns[at + middle, START] <= time:
            low = middle + 1
        else:
            high = middle
    return low


@lean
def note(spans: Ints, n: int, line: int, value: int, start: int, end: int) -> int:
    """Put a span into a table; how many there are then."""
    spans[n, 0], spans[n, 1], spans[n, 2], spans[n, 3] = line, value, start, end
    return n + 1


@lean
def copy_rows(source: Ints, at: int, into: Ints, to: int, many: int) -> None:
    """Put some rows elsewhere; within one table they may overlap."""
    if to <= at:
        for x in range(many):
            into[to + x, 0], into[to + x, 1] = source[at + x, 0], source[at + x, 1]
    else:
        for x in range(many - 1, -1, -1):
            into[to + x, 0], into[to + x, 1] = source[at + x, 0], source[at + x, 1]


@lean
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


@lean
def take_out(
    room: Ints, at: int, end: int, time: Ints, code: Ints, comes: Mask, j: int, last: int
) -> int:
    """Take the points that go out of a line; where it ends then."""
    to, source = end, end  # everything before `to` is in its place
    for x in range(j, last):
        if comes[x]:
            continue
        low = at if to == end else source
        first = place_of(room, low, end, time[x])
        q = first
        while q < end and room[q, TIME] == time[x] and room[q, CODE] != code[x]:
            q += 1
        if q == end or room[q, TIME] != time[x]:
            continue
        room[q, CODE] = room[first, CODE]  # those of one time are in no order
        if to == end:
            to = first
        else:
            copy_rows(room, source, room, to, first - source)
            to += first - source
        source = first + 1
    if to == end:
        return end
    copy_rows(room, source, room, to, end - source)
    return to + end - source


@lean
def put_in(
    room: Ints, at: int, end: int, time: Ints, code: Ints, comes: Mask, j: int, last: int
) -> int:
    """Put the points that come into a line, the last one first; where it ends then."""
    longer = end
    for x in range(j, last):
        longer += comes[x]
    to, i = longer, end
    for x in range(last - 1, j - 1, -1):
        if not comes[x]:
            continue
        if i > at and room[i - 1, TIME] > time[x]:
            q = place_of(room, at, i, time[x] + 1)
            to -= i - q
            copy_rows(room, q, room, to, i - q)
            i = q
        to -= 1
        room[to, TIME], room[to, CODE] = time[x], code[x]
    return longer
