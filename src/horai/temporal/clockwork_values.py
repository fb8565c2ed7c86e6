"""From what is said at a moment to values and spans, inside the compiled pass of `clockwork`.

What is known of a fluent lies in one row of the board, so that a point costs one visit to memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from horai.temporal.clockwork_delays import GHOST, TERMINATE
from horai.temporal.inertia import EVERY_VALUE
from horai.temporal.spans import INF, Ints

NONE = -1
SEVERAL = -2  # different values are initiated at one moment

# Columns of the board: the value that holds in the cell, its start, and the value after the moments
# so far; the number of the last moment at which something was said of it, the value initiated then
# and the signs below; whether it is on the list of those that moved in the cell.
HELD, START, RUNNING, MOMENT, NEW, SIGNS, LISTED = 0, 1, 2, 3, 4, 5, 6
WIDTH = 8  # a line of the cache
# Signs: the new value may hold; it (without one: the running value) is terminated; all values are.
HOLDS, ENDED, EVERY = 1, 2, 4
# Columns of what is said at a moment; the last is the number of the pair if effects start from it.
FLUENT, VALUE, KIND, PAIR = 0, 1, 2, 3


@njit(cache=True)
def new_board(held_value: Ints, held_since: Ints) -> Ints:
    """The board at the beginning of the run."""
    board = np.zeros((len(held_value), WIDTH), np.int64)
    board[:, HELD] = held_value
    board[:, RUNNING] = held_value
    board[:, START] = held_since
    return board


@njit(cache=True)
def with_room(rows: Ints, n: int) -> Ints:
    """The rows, with room for one more."""
    if n < len(rows):
        return rows
    wider = np.empty((2 * n + 1, rows.shape[1]), np.int64)
    wider[:n] = rows[:n]
    return wider


@njit(cache=True)
def gather(said: Ints, m: int, moment: int, board: Ints, touched: Ints) -> int:
    """Put what is said of each fluent together; initiations first, for ends refer to them."""
    n, ends = 0, False
    for k in range(m):
        row = board[said[k, FLUENT]]
        value, kind = said[k, VALUE], said[k, KIND]
        if row[MOMENT] != moment:
            row[MOMENT], row[NEW], row[SIGNS] = moment, NONE, 0
            touched[n] = said[k, FLUENT]
            n += 1
        if kind == TERMINATE:
            ends = True
        else:
            row[NEW] = value if row[NEW] == NONE or row[NEW] == value else SEVERAL
            if kind != GHOST:
                row[SIGNS] |= HOLDS
    if ends:
        _gather_ends(said, m, board)
    return n


@njit(cache=True)
def _gather_ends(said: Ints, m: int, board: Ints) -> None:
    for k in range(m):
        if said[k, KIND] == TERMINATE:
            row, value = board[said[k, FLUENT]], said[k, VALUE]
            if value == EVERY_VALUE:
                row[SIGNS] |= EVERY
            elif value == (row[RUNNING] if row[NEW] == NONE else row[NEW]):
                row[SIGNS] |= ENDED


@njit(cache=True)
def move(touched: Ints, n: int, board: Ints, moved: Ints, n_moved: int) -> int:
    """The running values after the moment: a break wins over an initiation."""
    for k in range(n):
        row = board[touched[k]]
        before, new = row[RUNNING], row[NEW]
        if row[SIGNS] & (ENDED | EVERY) or new == SEVERAL:
            after = NONE
        elif new in (NONE, before):
            after = before
        else:
            after = new if row[SIGNS] & HOLDS else NONE
        if after != before:
            row[RUNNING] = after
            if not row[LISTED]:
                row[LISTED] = 1
                moved[n_moved] = touched[k]
                n_moved += 1
    return n_moved


@njit(cache=True)
def close_cell(
    board: Ints, moved: Ints, n_moved: int, following: int, spans: Ints, n: int
) -> tuple[Ints, int]:
    """The values after the cell begin to hold at the next point."""
    for k in range(n_moved):
        row = board[moved[k]]
        row[LISTED] = 0
        if row[RUNNING] != row[HELD]:
            if row[HELD] != NONE:
                spans = with_room(spans, n)
                spans[n, 0], spans[n, 1] = moved[k], row[HELD]
                spans[n, 2], spans[n, 3] = row[START], following
                n += 1
            row[HELD], row[START] = row[RUNNING], following
    return spans, n


@njit(cache=True)
def by_fluent(spans: Ints, n: int, board: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """The spans that have ended and those that have not, sorted by fluent and start.

    Spans end in time order, so a counting sort by fluent is enough.
    """
    place = np.zeros(len(board) + 1, np.int64)
    for k in range(n):
        place[spans[k, 0] + 1] += 1
    for f in range(len(board)):
        place[f + 1] += place[f] + (board[f, HELD] != NONE)
    size = place[len(board)]
    fluent, value = np.empty(size, np.int64), np.empty(size, np.int64)
    start, end = np.empty(size, np.int64), np.empty(size, np.int64)
    for k in range(n):
        at = place[spans[k, 0]]
        place[spans[k, 0]] += 1
        fluent[at], value[at] = spans[k, 0], spans[k, 1]
        start[at], end[at] = spans[k, 2], spans[k, 3]
    for f in range(len(board)):
        if board[f, HELD] != NONE:
            at = place[f]
            fluent[at], value[at] = f, board[f, HELD]
            start[at], end[at] = board[f, START], INF
    return fluent, value, start, end
