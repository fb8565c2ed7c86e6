"""The compiled pass of `clockwork`: moment by moment, all fluents together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from horai.temporal import clockwork_delays as effect_columns
from horai.temporal.clockwork_delays import (
    DEADLINE,
    GROUP,
    INITIATE,
    NEVER,
    SINCE,
    TERMINATE,
    Delays,
    alive,
    arm,
    collect_due,
    judge,
    note_breaks,
    pair_of,
)
from horai.temporal.clockwork_values import (
    EVERY,
    FLUENT,
    HELD,
    KIND,
    NEW,
    NONE,
    PAIR,
    SEVERAL,
    SIGNS,
    START,
    VALUE,
    by_fluent,
    close_cell,
    gather,
    move,
    with_room,
)
from horai.temporal.spans import INF, Ints, Mask

if TYPE_CHECKING:
    from horai.temporal.clockwork import Candidates, Guards


class Snapshot(NamedTuple):
    """The state at some time: values, living attempts as (effect, since, deadline), last acts."""

    value: Ints
    since: Ints
    attempts: Ints
    acted: Ints


class Found(NamedTuple):
    """What the pass found; `unsettled` is INF if all is well."""

    spans: tuple[Ints, Ints, Ints, Ints]
    met: Mask
    points: Ints
    snapshot: Snapshot
    unsettled: int


@njit(cache=True)
def settle_all(
    candidates: Candidates, guards: Guards, delays: Delays, board: Ints,
    start: int, query: int, tick: int, cut: int,
) -> Found:  # fmt: skip
    """Settle every moment after the start, up to the query time."""
    n, effects = len(candidates.time), len(delays.effect)
    met = np.zeros(n, np.bool_)
    spans, points = np.empty((1024, 4), np.int64), np.empty((0, 2), np.int64)
    said, due, acts = _no_rows(), np.empty(effects, np.int64), np.empty(effects, np.bool_)
    touched, moved = np.empty(len(board), np.int64), np.empty(len(board), np.int64)
    n_spans, n_points, n_moved, moment = 0, 0, 0, 0
    cell_end, unsettled = NEVER, INF
    kept, keeps = take_snapshot(board, delays), False
    i = np.searchsorted(candidates.time, start, side="right")
    while True:
        t = candidates.time[i] if i < n else INF
        if effects and delays.size[0] > 0:
            t = min(t, delays.queue[0, 0])
        if t > query:
            break
        if t >= cell_end:
            spans, n_spans = close_cell(board, moved, n_moved, cell_end, spans, n_spans)
            cell_end, n_moved = t + tick - t % tick, 0
            if t > cut and not keeps:
                kept, keeps = take_snapshot(board, delays), True
        moment += 1
        m = 0
        while i < n and candidates.time[i] == t:
            if _meets(guards, candidates.guard_begin[i], candidates.guard_end[i], board):
                met[i] = True
                said = with_room(said, m)
                said[m, FLUENT], said[m, VALUE] = candidates.fluent[i], candidates.value[i]
                said[m, KIND] = candidates.kind[i]
                m += 1
            i += 1
        if effects:
            _look_up_pairs(said, m, delays, moment)
            n_due = collect_due(delays, t, query, due)
            if not judge(delays, due, n_due, moment, acts):
                unsettled = t
                break
            said, m = _act(delays, due, n_due, acts, t, said, m)
            points, n_points = _note_points(due, n_due, acts, t, points, n_points)
        n_touched = gather(said, m, moment, board, touched)
        n_moved = move(touched, n_touched, board, moved, n_moved)
        if effects:
            _remember_breaks(said, m, touched, n_touched, board, delays, t)
            _make_attempts(said, m, delays, t, query)
    spans, n_spans = close_cell(board, moved, n_moved, cell_end, spans, n_spans)
    if not keeps:
        kept = take_snapshot(board, delays)
    in_order = by_fluent(spans, n_spans, board)
    return Found(in_order, met, points[:n_points], kept, unsettled)


@njit(cache=True)
def _no_rows() -> Ints:
    return np.full((1024, 4), NONE)


@njit(cache=True)
def _meets(guards: Guards, begin: int, end: int, board: Ints) -> bool:
    """Are the guards true of the values that hold in the cell?"""
    for g in range(begin, end):
        if (board[guards.fluent[g], HELD] == guards.value[g]) != guards.positive[g]:
            return False
    return True


@njit(cache=True)
def _look_up_pairs(said: Ints, m: int, delays: Delays, moment: int) -> None:
    """Which candidates speak of an origin pair, and which pairs are initiated."""
    for k in range(m):
        pair = pair_of(delays, said[k, FLUENT], said[k, VALUE])
        said[k, PAIR] = pair
        if pair >= 0 and said[k, KIND] == INITIATE:
            delays.initiated[pair] = moment


@njit(cache=True)
def _act(
    delays: Delays, due: Ints, n_due: int, acts: Mask, t: int, said: Ints, m: int
) -> tuple[Ints, int]:
    """Effects speak like candidates do."""
    for k in range(n_due):
        if acts[k]:
            row = delays.effect[due[k]]
            delays.acted[row[GROUP]] = t
            said = with_room(said, m)
            said[m, FLUENT], said[m, VALUE] = row[effect_columns.FLUENT], row[effect_columns.VALUE]
            said[m, KIND], said[m, PAIR] = row[effect_columns.KIND], row[effect_columns.TARGET]
            m += 1
    return said, m


@njit(cache=True)
def _note_points(
    due: Ints, n_due: int, acts: Mask, t: int, points: Ints, n: int
) -> tuple[Ints, int]:
    """Write down which effects have acted."""
    for k in range(n_due):
        if acts[k]:
            points = with_room(points, n)
            points[n, 0], points[n, 1] = due[k], t
            n += 1
    return points, n


@njit(cache=True)
def _remember_breaks(
    said: Ints, m: int, touched: Ints, n: int, board: Ints, delays: Delays, t: int
) -> None:
    """Note the breaks that cancel attempts."""
    for k in range(m):
        if said[k, KIND] == TERMINATE and said[k, PAIR] >= 0:
            delays.terminated[said[k, PAIR]] = t
    for k in range(n):
        row = board[touched[k]]
        every = row[SIGNS] & EVERY != 0 or row[NEW] == SEVERAL
        if every or row[NEW] != NONE:
            note_breaks(delays, touched[k], row[NEW], every, t)


@njit(cache=True)
def _make_attempts(said: Ints, m: int, delays: Delays, t: int, query: int) -> None:
    """Every initiation is an attempt, also one that is broken at its own moment."""
    for k in range(m):
        if said[k, KIND] == INITIATE and said[k, PAIR] >= 0:
            arm(delays, said[k, PAIR], t, query)


@njit(cache=True)
def take_snapshot(board: Ints, delays: Delays) -> Snapshot:
    """All that the future depends on."""
    n = 0
    attempts = np.empty((len(delays.armed), 3), np.int64)
    acted = np.empty(len(delays.armed), np.int64)
    for e in range(len(attempts)):
        acted[e] = delays.acted[delays.effect[e, GROUP]]
        if alive(delays, e):
            attempts[n, 0] = e
            attempts[n, 1], attempts[n, 2] = delays.armed[e, SINCE], delays.armed[e, DEADLINE]
            n += 1
    return Snapshot(board[:, HELD].copy(), board[:, START].copy(), attempts[:n], acted)
