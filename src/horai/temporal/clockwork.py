"""A component of simple fluents, settled in time order for all entities together.

Rules that read each other's fluents, and delayed effects, make the points of a fluent depend on
values settled before. So one compiled pass goes through time once: it judges the candidates of a
moment by the values that hold in its cell, lets due effects act, and moves the values on. It knows
fluent instances and values by number only.

>>> import numpy as np
>>> ints = lambda *numbers: np.array(numbers, np.int64)
>>> nothing = ints(0, 0)
>>> toggle = Candidates(ints(3, 7), nothing, ints(1, 0), nothing, nothing, nothing)
>>> settled = settle(toggle, no_guards(), no_effects(), no_state(1), start=0, query=10)
>>> [column.tolist() for column in settled.spans[1:3]]
[[1, 0], [4, 8]]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.clockwork_delays import GHOST, INITIATE, NEVER, TERMINATE, prepare, take_up
from horai.temporal.clockwork_kernel import settle_all
from horai.temporal.clockwork_values import HELD, NONE, by_fluent, new_board
from horai.temporal.inertia import ValueSpans
from horai.temporal.spans import INF, Ints, Mask

__all__ = [
    "GHOST", "INITIATE", "NEVER", "NONE", "TERMINATE",
    "Attempts", "Candidates", "Effects", "Guards", "Settled", "State",
    "no_effects", "no_guards", "no_state", "settle",
]  # fmt: skip


class Candidates(NamedTuple):
    """Points that count if all their guards are met, sorted by time.

    `kind` is `INITIATE`, `TERMINATE` (whose value may be `EVERY_VALUE`) or `GHOST`: an initiation
    outside its domain, which breaks other values and does nothing else. `guard_begin` and
    `guard_end` are a slice of the guards.
    """

    time: Ints
    fluent: Ints
    value: Ints
    kind: Ints
    guard_begin: Ints
    guard_end: Ints


class Guards(NamedTuple):
    """Conditions on the cell of a candidate: a fluent has a value or, if not `positive`, has not.

    They see the values before any effect of the cell.
    """

    fluent: Ints
    value: Ints
    positive: Mask


class Effects(NamedTuple):
    """What an initiation of the origin brings about `delay` later; sorted by origin pair.

    The attempt comes to nothing if the origin is broken strictly between. If the origin is
    `postponable`, so it does by a new initiation, up to the deadline itself; if not, by another
    act, strictly between, of an effect with the same rule and origin. To be cancelled by nothing
    but itself, an effect needs a rule number of its own.
    """

    rule: Ints
    origin_fluent: Ints
    origin_value: Ints
    delay: Ints
    kind: Ints
    target_fluent: Ints
    target_value: Ints
    postponable: Mask


class Attempts(NamedTuple):
    """Attempts that nothing has cancelled so far; `effect` is a position in the effects."""

    effect: Ints
    since: Ints
    deadline: Ints


class State(NamedTuple):
    """All that the future depends on.

    The value of each fluent instance (or `NONE`) and the start of its span, the attempts, and when
    each effect, or another one of its rule and origin, last acted (or `NEVER`).
    """

    held_value: Ints
    held_since: Ints
    attempts: Attempts
    acted: Ints


class Settled(NamedTuple):
    """The spans, which candidates had their guards met, which effects acted when (in time order).

    `snapshot` is the state after all moments up to the cut. `unsettled` is the first moment, if
    any, at which effects act if, and only if, they do not; everything else then ends before it.
    """

    spans: ValueSpans
    met: Mask
    effect: Ints
    effect_time: Ints
    snapshot: State
    unsettled: int | None


def no_guards() -> Guards:
    """For candidates that always count."""
    empty = np.empty(0, np.int64)
    return Guards(empty, empty, np.empty(0, np.bool_))


def no_effects() -> Effects:
    """For components without delays."""
    empty = np.empty(0, np.int64)
    return Effects(empty, empty, empty, empty, empty, empty, empty, np.empty(0, np.bool_))


def no_state(fluents: int, effects: int = 0) -> State:
    """Before anything has happened."""
    empty = np.empty(0, np.int64)
    without = np.full(fluents, NONE, np.int64)
    never = np.full(effects, NEVER, np.int64)
    return State(without, np.zeros(fluents, np.int64), Attempts(empty, empty, empty), never)


def settle(
    candidates: Candidates,
    guards: Guards,
    effects: Effects,
    state: State,
    start: int,
    query: int,
    tick: int = 1,
    cut: int | None = None,
) -> Settled:
    """Settle all moments after `start` and up to `query`.

    The point after `cut` lies on the grid, or `cut` is the start: a run from the snapshot, with
    `cut` as its start, goes on as this one does. Without a cut the snapshot is the end state.
    """
    ordered, delays = prepare(len(state.held_value), _effects(effects), _ints(state.acted))
    if not ordered:
        raise ValueError("effects are to be sorted by origin fluent and value")
    attempts = state.attempts
    take_up(delays, _ints(attempts[0]), _ints(attempts[1]), _ints(attempts[2]), start, query)
    board = new_board(_ints(state.held_value), _ints(state.held_since))
    found = settle_all(
        Candidates(*map(_ints, candidates)),
        Guards(_ints(guards.fluent), _ints(guards.value), _mask(guards.positive)),
        delays,
        board,
        np.empty((len(candidates.time) + len(board), 4), np.int64),
        start,
        query,
        tick,
        query if cut is None else cut,
    )
    kept = found.snapshot
    return Settled(
        _in_order(found.spans, board),
        found.met,
        found.points[:, 0].copy(),
        found.points[:, 1].copy(),
        State(kept.value, kept.since, Attempts(*kept.attempts.T.copy()), kept.acted),
        None if found.unsettled == INF else found.unsettled,
    )


def _in_order(ended: Ints, board: Ints) -> ValueSpans:
    # Large arrays are made here, not in the pass: numpy asks for large pages, numba does not.
    size = len(ended) + int(np.count_nonzero(board[:, HELD] != NONE))
    columns = np.empty((4, size), np.int64)
    by_fluent(ended, len(ended), board, np.empty((size, 4), np.int64), columns)
    return ValueSpans(columns[0], columns[1], columns[2], columns[3])


# One kind of array only: for every other one (read-only, with steps) the pass is compiled anew.


def _ints(column: Ints) -> Ints:
    return np.require(column, np.int64, ["C", "W"])


def _mask(column: Mask) -> Mask:
    return np.require(column, np.bool_, ["C", "W"])


def _effects(effects: Effects) -> Effects:
    ints = [_ints(column) for column in effects[:7]]
    return Effects(
        ints[0], ints[1], ints[2], ints[3], ints[4], ints[5], ints[6], _mask(effects.postponable)
    )
