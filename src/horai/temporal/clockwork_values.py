"""From what is said at a moment to values and spans, inside the compiled pass of `clockwork`.

What is known of a fluent lies in one row of the board, so that a point costs one visit to memory.
"""

from __future__ import annotations

import numpy as np

from horai.temporal.clockwork_delays import GHOST, TERMINATE
from horai.temporal.inertia import EVERY_VALUE
from horai.temporal.kernels import kernel, lean
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


@kernel
def new_board(held_value: Ints, held_since: Ints) -> Ints:
    """The board at the beginning of the run."""
    board = np.zeros((len(held_value), WIDTH), np.int64)
    board[:, HELD] = held_value
    board[:, RUNNING] = held_value
    board[:, START] = held_since
    return board


@lean
def gather(said: Ints, m: int, moment: int, board: Ints, touched: Ints) -> int:
    """Put what is said of each fluent together; initiations first, for ends refer to them."""
    n, ends = 0, False
    for k in range(m):
        f, value, kind = said[k, FLUENT], said[k, VALUE], said[k, KIND]
        if board[f, MOMENT] != moment:
            board[f, MOMENT], board[f, NEW], board[f, SIGNS] = moment, NONE, 0
            touched[n] = f
            n += 1
        if kind == TERMINATE:
            ends = True
        else:
            new = board[f, NEW]
            board[f, NEW] = value if new in (NONE, value) else SEVERAL
            if kind != GHOST:
                board[f, SIGNS] |= HOLDS
    if ends:
        _gather_ends(said, m, board)
    return n


@lean
def _gather_ends(said: Ints, m: int, board: Ints) -> None:
    for k in range(m):
        if said[k, KIND] == TERMINATE:
            f, value, new = said[k, FLUENT], said[k, VALUE], board[said[k, FLUENT], NEW]
            if value == EVERY_VALUE:
                board[f, SIGNS] |= EVERY
            elif value == (board[f, RUNNING] if new == NONE else new):
                board[f, SIGNS] |= ENDED


@lean
def move(touched: Ints, n: int, board: Ints, moved: Ints, n_moved: int) -> int:
    """The running values after the moment: a break wins over an initiation."""
    for k in range(n):
        f = touched[k]
        before, new, signs = board[f, RUNNING], board[f, NEW], board[f, SIGNS]
        if signs & (ENDED | EVERY) or new == SEVERAL:
            after = NONE
        elif new in (NONE, before):
            after = before
        else:
            after = new if signs & HOLDS else NONE
        if after != before:
            board[f, RUNNING] = after
            if not board[f, LISTED]:
                board[f, LISTED] = 1
                moved[n_moved] = f
                n_moved += 1
    return n_moved


@lean
def close_cell(board: Ints, moved: Ints, n_moved: int, following: int, spans: Ints, n: int) -> int:
    """The values after the cell begin to hold at the next point."""
    for k in range(n_moved):
        f = moved[k]
        board[f, LISTED] = 0
        held, running = board[f, HELD], board[f, RUNNING]
        if running != held:
            if held != NONE:
                spans[n, 0], spans[n, 1] = f, held
                spans[n, 2], spans[n, 3] = board[f, START], following
                n += 1
            board[f, HELD], board[f, START] = running, following
    return n


@kernel
def by_fluent(spans: Ints, n: int, board: Ints, rows: Ints, columns: Ints) -> None:
    """The spans that have ended and those that have not, as columns sorted by fluent and start.

    Spans end in time order, so a counting sort by fluent is enough. Whole rows are put in their
    place first: that is one visit to far-off memory for each, instead of one for each column.
    """
    place = np.zeros(len(board) + 1, np.int64)
    for k in range(n):
        place[spans[k, 0] + 1] += 1
    for f in range(len(board)):
        place[f + 1] += place[f] + (board[f, HELD] != NONE)
    for k in range(n):
        at = place[spans[k, 0]]
        place[spans[k, 0]] += 1
        for c in range(4):
            rows[at, c] = spans[k, c]
    for f in range(len(board)):
        if board[f, HELD] != NONE:
            at = place[f]
            rows[at, 0], rows[at, 1] = f, board[f, HELD]
            rows[at, 2], rows[at, 3] = board[f, START], INF
    for at in range(len(rows)):
        for c in range(4):
            columns[c, at] = rows[at, c]
