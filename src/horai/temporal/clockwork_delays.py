"""Deadlines of delayed effects, inside the compiled pass of `clockwork`.

Of all attempts of one effect only one can ever act, so one is kept per effect: as long as it lives,
a later one that does not restart the clock would be cancelled by it, or die with it. Likewise the
last break of each origin pair is all one has to know of the past.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from horai.temporal.spans import Ints, Mask

if TYPE_CHECKING:
    from horai.temporal.clockwork import Effects

NEVER = int(np.iinfo(np.int64).min)
INITIATE, TERMINATE, GHOST = 0, 1, 2
MAX_ROUNDS = 500

# Columns of `Delays.effect`: what is fixed of an effect. A group is what has acted together: the
# effects of one rule on one origin pair. The target pair is -1 if nothing follows from it.
PAIR, GROUP, DELAY, KIND, FLUENT, VALUE, TARGET, POSTPONABLE = 0, 1, 2, 3, 4, 5, 6, 7
# Columns of `Delays.armed`: its attempt, and the time for which it is in the queue.
SINCE, DEADLINE, QUEUED = 0, 1, 2
# Columns of `Delays.broken`: the last break of all values but one (which, when), and the last time
# before that at which this one was broken too.
SPARED, OTHERS, ALL = 0, 1, 2


class Delays(NamedTuple):
    """Effects by origin pair, their attempts, and the past of the pairs."""

    effect: Ints
    armed: Ints
    pair_fluent: Ints
    pair_value: Ints
    first_pair: Ints  # by fluent
    first_effect: Ints  # by pair
    terminated: Ints  # by pair: the last termination that names its value
    initiated: Ints  # by pair: the number of the last moment that initiates it
    said: Ints  # by pair: the last round in which an effect initiates it
    broken: Ints  # by fluent
    acted: Ints  # by group
    queue: Ints  # a binary heap of (time, effect)
    size: Ints  # of the queue, the number of the round


@njit(cache=True)
def pair_of(delays: Delays, fluent: int, value: int) -> int:
    """The number of an origin pair; -1 if no effect starts from it."""
    low: int = delays.first_pair[fluent]
    high: int = delays.first_pair[fluent + 1]
    while low < high:
        middle = (low + high) // 2
        if delays.pair_value[middle] < value:
            low = middle + 1
        else:
            high = middle
    if low < delays.first_pair[fluent + 1] and delays.pair_value[low] == value:
        return low
    return -1


# --- attempts ------------------------------------------------------------------------------------


@njit(cache=True)
def alive(delays: Delays, effect: int) -> bool:
    """Has nothing cancelled the attempt since it was made?"""
    since = delays.armed[effect, SINCE]
    if since == NEVER:
        return False
    pair = delays.effect[effect, PAIR]
    fluent = delays.pair_fluent[pair]
    spared = delays.broken[fluent, SPARED] == delays.pair_value[pair]
    if delays.terminated[pair] > since or delays.broken[fluent, ALL if spared else OTHERS] > since:
        return False
    group = delays.effect[effect, GROUP]
    return bool(delays.effect[effect, POSTPONABLE] or delays.acted[group] <= since)


@njit(cache=True)
def arm(delays: Delays, pair: int, t: int, query: int) -> None:
    """An initiation of the pair is an attempt of each of its effects."""
    for effect in range(delays.first_effect[pair], delays.first_effect[pair + 1]):
        if delays.effect[effect, POSTPONABLE] or not alive(delays, effect):
            delays.armed[effect, SINCE] = t
            delays.armed[effect, DEADLINE] = t + delays.effect[effect, DELAY]
            schedule(delays, effect, query)


@njit(cache=True)
def note_breaks(delays: Delays, fluent: int, new: int, every: bool, t: int) -> None:
    """Remember that all values are broken, or all but the one that is initiated."""
    row = delays.broken[fluent]
    if every:
        row[SPARED], row[OTHERS], row[ALL] = -1, t, t
    elif row[SPARED] == new:
        row[OTHERS] = t
    else:
        row[SPARED], row[ALL], row[OTHERS] = new, row[OTHERS], t


# --- the queue of deadlines ----------------------------------------------------------------------


@njit(cache=True)
def schedule(delays: Delays, effect: int, query: int) -> None:
    """Queue a deadline. A postponed one waits until the old one comes up: one entry is enough."""
    deadline, queued = delays.armed[effect, DEADLINE], delays.armed[effect, QUEUED]
    if deadline > query or (queued != NEVER and queued <= deadline):
        return
    delays.armed[effect, QUEUED] = deadline
    queue, k = delays.queue, delays.size[0]
    delays.size[0] += 1
    while k > 0 and queue[(k - 1) // 2, 0] > deadline:
        queue[k, 0], queue[k, 1] = queue[(k - 1) // 2, 0], queue[(k - 1) // 2, 1]
        k = (k - 1) // 2
    queue[k, 0], queue[k, 1] = deadline, effect


@njit(cache=True)
def _pop(queue: Ints, size: Ints) -> int:
    effect: int = queue[0, 1]
    size[0] -= 1
    n = size[0]
    time, k = queue[n, 0], 0
    while True:
        child = 2 * k + 1
        if child + 1 < n and queue[child + 1, 0] < queue[child, 0]:
            child += 1
        if child >= n or queue[child, 0] >= time:
            break
        queue[k, 0], queue[k, 1] = queue[child, 0], queue[child, 1]
        k = child
    queue[k, 0], queue[k, 1] = time, queue[n, 1]
    return effect


@njit(cache=True)
def collect_due(delays: Delays, t: int, query: int, due: Ints) -> int:
    """The effects with a living attempt due at t; their attempts are over."""
    n = 0
    while delays.size[0] > 0 and delays.queue[0, 0] == t:
        effect = _pop(delays.queue, delays.size)
        if delays.armed[effect, QUEUED] != t:
            continue  # an entry that an earlier deadline has replaced
        delays.armed[effect, QUEUED] = NEVER
        if delays.armed[effect, SINCE] == NEVER:
            continue
        if delays.armed[effect, DEADLINE] > t:
            schedule(delays, effect, query)
            continue
        if alive(delays, effect):
            due[n] = effect
            n += 1
        delays.armed[effect, SINCE] = NEVER
    return n


@njit(cache=True)
def judge(delays: Delays, due: Ints, n: int, moment: int, acts: Mask) -> bool:
    """Which of the due attempts act, if that can be said.

    An effect may initiate, at this moment, what postpones another one: rounds from "nothing acts"
    until nothing changes.
    """
    acts[:n] = False
    for _ in range(MAX_ROUNDS):
        delays.size[1] += 1
        this_round = delays.size[1]
        for k in range(n):
            target = delays.effect[due[k], TARGET]
            if acts[k] and target >= 0 and delays.effect[due[k], KIND] == INITIATE:
                delays.said[target] = this_round
        settled = True
        for k in range(n):
            pair = delays.effect[due[k], PAIR]
            again = delays.initiated[pair] == moment or delays.said[pair] == this_round
            act = not (again and delays.effect[due[k], POSTPONABLE])
            settled &= act == acts[k]
            acts[k] = act
        if settled:
            return True
    return False


# --- before the run ------------------------------------------------------------------------------


@njit(cache=True)
def prepare(fluents: int, effects: Effects, acted: Ints) -> tuple[bool, Delays]:
    """Effects as the pass wants them; False if they are not sorted by origin pair."""
    rule, fluent, value = effects.rule, effects.origin_fluent, effects.origin_value
    n = len(rule)
    effect = np.empty((n, 8), np.int64)
    last_acted = np.full(n, NEVER)
    group_rule = np.empty(n, np.int64)
    pair_fluent, pair_value = np.empty(n, np.int64), np.empty(n, np.int64)
    first_effect = np.empty(n + 1, np.int64)
    ordered, pairs, groups, first_group = True, 0, 0, 0
    for e in range(n):
        same = e > 0 and fluent[e] == fluent[e - 1] and value[e] == value[e - 1]
        if not same:
            if e > 0 and (fluent[e], value[e]) < (fluent[e - 1], value[e - 1]):
                ordered = False
            pair_fluent[pairs], pair_value[pairs], first_effect[pairs] = fluent[e], value[e], e
            pairs += 1
            first_group = groups
        group = first_group
        while group < groups and group_rule[group] != rule[e]:
            group += 1
        if group == groups:
            group_rule[group] = rule[e]
            groups += 1
        last_acted[group] = max(last_acted[group], acted[e])
        effect[e, PAIR], effect[e, GROUP] = pairs - 1, group
        effect[e, DELAY], effect[e, KIND] = effects.delay[e], effects.kind[e]
        effect[e, FLUENT], effect[e, VALUE] = effects.target_fluent[e], effects.target_value[e]
        effect[e, POSTPONABLE] = effects.postponable[e]
    first_effect[pairs] = n
    pair_fluent, pair_value = pair_fluent[:pairs].copy(), pair_value[:pairs].copy()
    delays = Delays(
        effect, np.full((n, 3), NEVER), pair_fluent, pair_value,
        np.searchsorted(pair_fluent, np.arange(fluents + 1 if n else 0)),
        first_effect[: pairs + 1].copy(), np.full(pairs, NEVER), np.zeros(pairs, np.int64),
        np.zeros(pairs, np.int64), np.full((fluents if n else 0, 3), NEVER), last_acted,
        np.empty((2 * n, 2), np.int64), np.zeros(2, np.int64),
    )  # fmt: skip
    for e in range(n):
        effect[e, TARGET] = pair_of(delays, effect[e, FLUENT], effect[e, VALUE])
    return ordered, delays


@njit(cache=True)
def take_up(
    delays: Delays, effect: Ints, since: Ints, deadline: Ints, start: int, query: int
) -> None:
    """Attempts made before the run: the first that is due, or the last that restarts the clock."""
    for k in range(len(effect)):
        e, known = effect[k], delays.armed[effect[k], SINCE]
        if delays.effect[e, POSTPONABLE]:
            counts = known == NEVER or since[k] > known
        else:
            over = delays.acted[delays.effect[e, GROUP]] > since[k]
            counts = not over and (known == NEVER or since[k] < known)
        if counts and deadline[k] > start:
            delays.armed[e, SINCE], delays.armed[e, DEADLINE] = since[k], deadline[k]
    for e in range(len(delays.armed)):
        if delays.armed[e, SINCE] != NEVER:
            schedule(delays, e, query)
