"""The compiled pass of `clockwork`: moment by moment, all fluents together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from horai.temporal import clockwork_delays as of_effect
from horai.temporal.clockwork_delays import (
    ACTED,
    DEADLINE,
    GROUP,
    INITIATE,
    INITIATED,
    NEVER,
    SINCE,
    SIZE,
    TERMINATE,
    TERMINATED,
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
    close_cell,
    gather,
    move,
)
from horai.temporal.kernels import inside, kernel, lean
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
    """What the pass found, the spans that have ended in time order; `unsettled` may be INF."""

    spans: Ints
    met: Mask
    points: Ints
    snapshot: Snapshot
    unsettled: int


class Desk(NamedTuple):
    """Where the pass works: how far it has come, what is said at a moment, which effects are due
    and act, the fluents touched at the moment and those that moved in the cell."""

    come: Ints
    said: Ints
    due: Ints
    acts: Mask
    touched: Ints
    moved: Ints


# Columns of `Desk.come`: the next candidate, the spans and points written, the number of fluents
# that moved, the number of the moment and its time, the end of the cell.
NEXT, N_SPANS, N_POINTS, N_MOVED, MOMENTS, NOW, CELL_END = range(7)
# Why it stopped.
DONE, NO_ROOM, UNSETTLED = range(3)


@kernel
def settle_all(
    candidates: Candidates, guards: Guards, delays: Delays, board: Ints, spans: Ints,
    start: int, query: int, tick: int, cut: int,
) -> Found:  # fmt: skip
    """Settle every moment after the start, up to the query time; `spans` is room for those."""
    met = np.zeros(len(candidates.time), np.bool_)
    points = np.empty((16, 2), np.int64)
    desk = _new_desk(candidates.time, len(delays.effects), len(board))
    come, first_stop = desk.come, min(cut, query)
    come[NEXT] = np.searchsorted(candidates.time, start, side="right")
    snapshot = take_snapshot(board, delays)
    until = first_stop
    while True:
        outcome = _go_on(
            candidates, guards, delays, board, desk, until, query, tick, met, spans, points
        )
        spans = _with_room(spans, come[N_SPANS] + come[N_MOVED])
        points = _with_room(points, come[N_POINTS] + delays.counts[SIZE])
        if outcome == NO_ROOM:
            continue
        come[N_SPANS] = close_cell(
            board, desk.moved, come[N_MOVED], come[CELL_END], spans, come[N_SPANS]
        )
        come[N_MOVED] = 0
        if until == first_stop:
            snapshot = take_snapshot(board, delays)
        if outcome == UNSETTLED or until == query:
            break
        until = query
    unsettled = come[NOW] if outcome == UNSETTLED else INF
    return Found(spans[: come[N_SPANS]], met, points[: come[N_POINTS]], snapshot, unsettled)


@inside()
def _new_desk(time: Ints, effects: int, fluents: int) -> Desk:
    said = np.full((_most_at_once(time) + effects, 4), NONE)
    due, acts = np.empty(effects, np.int64), np.empty(effects, np.bool_)
    touched, moved = np.empty(fluents, np.int64), np.empty(fluents, np.int64)
    come = np.array([0, 0, 0, 0, 0, NEVER, NEVER])
    return Desk(come, said, due, acts, touched, moved)


@inside()
def _with_room(rows: Ints, n: int) -> Ints:
    """The rows, with room for n."""
    if n <= len(rows):
        return rows
    wider = np.empty((max(n, 2 * len(rows)), rows.shape[1]), np.int64)
    wider[: len(rows)] = rows
    return wider


@lean
def _go_on(
    candidates: Candidates, guards: Guards, delays: Delays, board: Ints, desk: Desk,
    until: int, query: int, tick: int, met: Mask, spans: Ints, points: Ints,
) -> int:  # fmt: skip
    """Settle the moments up to some time, or until there is no room for what is found.

    Arrays can grow only outside of it, since it is lean.
    """
    time, fluent, value, kind, guard_begin, guard_end = candidates
    guard_fluent, guard_value, guard_positive = guards
    effects, pairs, first_pair, broken, queue, counts = delays
    come, said, due, acts, touched, moved = desk
    i, n_spans, n_points, n_moved = come[NEXT], come[N_SPANS], come[N_POINTS], come[N_MOVED]
    moment, t, cell_end = come[MOMENTS], come[NOW], come[CELL_END]
    n, delayed = len(time), len(effects) > 0
    outcome = DONE
    while True:
        t = time[i] if i < n else INF
        if counts[SIZE] > 0:
            t = min(t, queue[0, 0])
        if t > until or t == INF:
            break
        if n_spans + n_moved > len(spans) or n_points + counts[SIZE] > len(points):
            outcome = NO_ROOM
            break
        if t >= cell_end:
            n_spans = close_cell(board, moved, n_moved, cell_end, spans, n_spans)
            step = tick - t % tick
            cell_end, n_moved = min(t, INF - step) + step, 0
        moment += 1
        m = 0
        while i < n and time[i] == t:
            counts_here = True
            for g in range(guard_begin[i], guard_end[i]):
                holds = board[guard_fluent[g], HELD] == guard_value[g]
                counts_here &= holds == guard_positive[g]
            met[i] = counts_here
            if counts_here:
                said[m, FLUENT], said[m, VALUE], said[m, KIND] = fluent[i], value[i], kind[i]
                m += 1
            i += 1
        if delayed:
            _look_up_pairs(said, m, first_pair, pairs, moment)
            n_due = collect_due(effects, pairs, broken, queue, counts, t, query, due)
            if not judge(effects, pairs, counts, due, n_due, moment, acts):
                outcome = UNSETTLED
                break
            n_points = _note_points(due, n_due, acts, t, points, n_points)
            m = _act(effects, due, n_due, acts, t, said, m)
        n_touched = gather(said, m, moment, board, touched)
        n_moved = move(touched, n_touched, board, moved, n_moved)
        if delayed:
            _remember_breaks(said, m, touched, n_touched, board, pairs, broken, t)
            for k in range(m):  # also an initiation that is broken at its own moment is an attempt
                if said[k, KIND] == INITIATE and said[k, PAIR] >= 0:
                    arm(effects, pairs, broken, queue, counts, said[k, PAIR], t, query)
    come[NEXT], come[N_SPANS], come[N_POINTS], come[N_MOVED] = i, n_spans, n_points, n_moved
    come[MOMENTS], come[NOW], come[CELL_END] = moment, t, cell_end
    return outcome


@inside()
def _most_at_once(time: Ints) -> int:
    """The greatest number of candidates at one and the same time."""
    most, begin = 0, 0
    for k in range(len(time)):
        if time[k] != time[begin]:
            begin = k
        most = max(most, k - begin + 1)
    return most


@lean
def _look_up_pairs(said: Ints, m: int, first_pair: Ints, pairs: Ints, moment: int) -> None:
    """Which candidates speak of an origin pair, and which pairs are initiated."""
    for k in range(m):
        pair = pair_of(first_pair, pairs, said[k, FLUENT], said[k, VALUE])
        said[k, PAIR] = pair
        if pair >= 0 and said[k, KIND] == INITIATE:
            pairs[pair, INITIATED] = moment


@lean
def _note_points(due: Ints, n_due: int, acts: Mask, t: int, points: Ints, n: int) -> int:
    """Write down which effects act."""
    for k in range(n_due):
        if acts[k]:
            points[n, 0], points[n, 1] = due[k], t
            n += 1
    return n


@lean
def _act(effects: Ints, due: Ints, n_due: int, acts: Mask, t: int, said: Ints, m: int) -> int:
    """An effect that fires speaks like candidates do."""
    for k in range(n_due):
        if acts[k]:
            e = due[k]
            effects[effects[e, GROUP], ACTED] = t
            said[m, FLUENT], said[m, VALUE] = (
                effects[e, of_effect.FLUENT],
                effects[e, of_effect.VALUE],
            )
            said[m, KIND], said[m, PAIR] = effects[e, of_effect.KIND], effects[e, of_effect.TARGET]
            m += 1
    return m


@lean
def _remember_breaks(
    said: Ints, m: int, touched: Ints, n: int, board: Ints, pairs: Ints, broken: Ints, t: int
) -> None:
    """Note the breaks that cancel attempts."""
    for k in range(m):
        if said[k, KIND] == TERMINATE and said[k, PAIR] >= 0:
            pairs[said[k, PAIR], TERMINATED] = t
    for k in range(n):
        new = board[touched[k], NEW]
        every = board[touched[k], SIGNS] & EVERY != 0 or new == SEVERAL
        if every or new != NONE:
            note_breaks(broken, touched[k], new, every, t)


@inside()
def take_snapshot(board: Ints, delays: Delays) -> Snapshot:
    """All that the future depends on."""
    effects, n = delays.effects, 0
    attempts = np.empty((len(effects), 3), np.int64)
    acted = np.empty(len(effects), np.int64)
    for e in range(len(effects)):
        acted[e] = effects[effects[e, GROUP], ACTED]
        if alive(effects, delays.pairs, delays.broken, e):
            attempts[n, 0] = e
            attempts[n, 1], attempts[n, 2] = effects[e, SINCE], effects[e, DEADLINE]
            n += 1
    return Snapshot(board[:, HELD].copy(), board[:, START].copy(), attempts[:n], acted)
