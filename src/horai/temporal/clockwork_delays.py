"""Deadlines of delayed effects, inside the compiled pass of `clockwork`.

Of all attempts of one effect only one can ever act, so one is kept per effect: as long as it lives,
a later one that does not restart the clock would be cancelled by it, or die with it. Likewise the
last break of each origin pair is all one has to know of the past.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from horai.temporal.kernels import kernel, lean
from horai.temporal.spans import INF, Ints, Mask

if TYPE_CHECKING:
    from horai.temporal.clockwork import Effects

NEVER = int(np.iinfo(np.int64).min)
INITIATE, TERMINATE, GHOST = 0, 1, 2
MAX_ROUNDS = 500

# Columns of an effect. What is fixed: its origin as pair, fluent and value; the first effect of its
# group (the effects of one rule on one origin pair), which keeps what the group has in common; what
# it does; the pair that it acts on, or -1 if no effect starts from that. Then its attempt, the time
# for which it is in the queue, and the last act of the group.
PAIR, ORIGIN, ORIGIN_VALUE, GROUP, DELAY, POSTPONABLE, KIND, FLUENT, VALUE, TARGET = range(10)
SINCE, DEADLINE, QUEUED, ACTED = range(10, 14)
EFFECT_WIDTH = 16  # two lines of the cache
# Columns of an origin pair: its value, its first effect, its last termination by name, the number
# of the last moment that initiates it, and of the last round in which an effect does.
PAIR_VALUE, FIRST, TERMINATED, INITIATED, SAID = range(5)
# Columns of a fluent: the last break of all values but one (which, when), and the last time before
# that at which this one was broken too.
SPARED, OTHERS, ALL = range(3)
# Counters: the entries of the queue, the rounds so far.
SIZE, ROUND = range(2)


class Delays(NamedTuple):
    """Effects by origin pair with their attempts, and the past of the pairs; arrays of rows.

    The pass hands the arrays around one by one: those inside a tuple would be counted at every use.
    """

    effects: Ints
    pairs: Ints  # one more than there are, so that each has a next one
    first_pair: Ints  # by fluent
    broken: Ints  # by fluent
    queue: Ints  # a binary heap of (time, effect)
    counts: Ints


@lean
def pair_of(first_pair: Ints, pairs: Ints, fluent: int, value: int) -> int:
    """The number of an origin pair; -1 if no effect starts from it."""
    low: int = first_pair[fluent]
    high: int = first_pair[fluent + 1]
    end = high
    while low < high:
        middle = (low + high) // 2
        if pairs[middle, PAIR_VALUE] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < end and pairs[low, PAIR_VALUE] == value else -1


# --- attempts ------------------------------------------------------------------------------------


@lean
def alive(effects: Ints, pairs: Ints, broken: Ints, e: int) -> bool:
    """Is there an attempt, and has nothing cancelled it since it was made?"""
    since, origin = effects[e, SINCE], effects[e, ORIGIN]
    if since == NEVER or pairs[effects[e, PAIR], TERMINATED] > since:
        return False
    spared = broken[origin, SPARED] == effects[e, ORIGIN_VALUE]
    if broken[origin, ALL if spared else OTHERS] > since:
        return False
    return bool(effects[e, POSTPONABLE] or effects[effects[e, GROUP], ACTED] <= since)


@lean
def arm(
    effects: Ints, pairs: Ints, broken: Ints, queue: Ints, counts: Ints,
    pair: int, t: int, query: int,
) -> None:  # fmt: skip
    """An initiation of the pair is an attempt of each of its effects."""
    for e in range(pairs[pair, FIRST], pairs[pair + 1, FIRST]):
        if effects[e, POSTPONABLE] or not alive(effects, pairs, broken, e):
            delay = effects[e, DELAY]
            effects[e, SINCE], effects[e, DEADLINE] = t, min(t, INF - delay) + delay
            schedule(effects, queue, counts, e, query)


@lean
def note_breaks(broken: Ints, fluent: int, new: int, every: bool, t: int) -> None:
    """Remember that all values are broken, or all but the one that is initiated."""
    if every:
        broken[fluent, SPARED] = -1
    elif broken[fluent, SPARED] != new:
        broken[fluent, SPARED], broken[fluent, ALL] = new, broken[fluent, OTHERS]
    broken[fluent, OTHERS] = t


# --- the queue of deadlines ----------------------------------------------------------------------


@lean
def _comes_first(queue: Ints, k: int, time: int, e: int) -> bool:
    """Is an entry before another? By effect too: the order must not tell of the past."""
    return bool(queue[k, 0] < time or (queue[k, 0] == time and queue[k, 1] < e))


@lean
def schedule(effects: Ints, queue: Ints, counts: Ints, e: int, query: int) -> None:
    """Queue a deadline. A postponed one waits until the old one comes up: one entry is enough."""
    deadline, queued = effects[e, DEADLINE], effects[e, QUEUED]
    if deadline > query or (queued != NEVER and queued <= deadline):
        return
    effects[e, QUEUED] = deadline
    k = counts[SIZE]
    counts[SIZE] += 1
    while k > 0 and not _comes_first(queue, (k - 1) // 2, deadline, e):
        queue[k, 0], queue[k, 1] = queue[(k - 1) // 2, 0], queue[(k - 1) // 2, 1]
        k = (k - 1) // 2
    queue[k, 0], queue[k, 1] = deadline, e


@lean
def _pop(queue: Ints, counts: Ints) -> int:
    first: int = queue[0, 1]
    counts[SIZE] -= 1
    n = counts[SIZE]
    time, e, k = queue[n, 0], queue[n, 1], 0
    while True:
        child = 2 * k + 1
        if child + 1 < n and _comes_first(queue, child + 1, queue[child, 0], queue[child, 1]):
            child += 1
        if child >= n or not _comes_first(queue, child, time, e):
            break
        queue[k, 0], queue[k, 1] = queue[child, 0], queue[child, 1]
        k = child
    queue[k, 0], queue[k, 1] = time, e
    return first


@lean
def collect_due(
    effects: Ints, pairs: Ints, broken: Ints, queue: Ints, counts: Ints,
    t: int, query: int, due: Ints,
) -> int:  # fmt: skip
    """The effects that fire at t: their attempt lives, is due then, and is over now."""
    n = 0
    while counts[SIZE] > 0 and queue[0, 0] == t:
        e = _pop(queue, counts)
        if effects[e, QUEUED] != t:
            continue  # an entry that an earlier deadline has replaced
        effects[e, QUEUED] = NEVER
        if effects[e, SINCE] == NEVER:
            continue
        if effects[e, DEADLINE] > t:
            schedule(effects, queue, counts, e, query)
            continue
        if alive(effects, pairs, broken, e):
            due[n] = e
            n += 1
        effects[e, SINCE] = NEVER
    return n


@lean
def judge(
    effects: Ints, pairs: Ints, counts: Ints, due: Ints, n: int, moment: int, acts: Mask
) -> bool:
    """Which of the due attempts act, if that can be said.

    An effect may initiate, at this moment, what postpones another one: rounds from "nothing acts"
    until nothing changes.
    """
    acts[:n] = False
    for _ in range(MAX_ROUNDS):
        counts[ROUND] += 1
        for k in range(n):
            target = effects[due[k], TARGET]
            if acts[k] and target >= 0 and effects[due[k], KIND] == INITIATE:
                pairs[target, SAID] = counts[ROUND]
        settled = True
        for k in range(n):
            pair = effects[due[k], PAIR]
            again = pairs[pair, INITIATED] == moment or pairs[pair, SAID] == counts[ROUND]
            act = not (again and effects[due[k], POSTPONABLE])
            settled &= act == acts[k]
            acts[k] = act
        if settled:
            return True
    return False


# --- before the run ------------------------------------------------------------------------------


@kernel
def prepare(fluents: int, given: Effects, acted: Ints) -> tuple[bool, Delays]:
    """Effects as the pass wants them; False if they are not sorted by origin pair."""
    n = len(given.rule)
    effects, pairs = np.full((n, EFFECT_WIDTH), NEVER), np.full((n + 1, 5), NEVER)
    pair_fluent = np.empty(n, np.int64)
    ordered, size = True, 0
    for e in range(n):
        fluent, value = given.origin_fluent[e], given.origin_value[e]
        before = (effects[e - 1, ORIGIN], effects[e - 1, ORIGIN_VALUE])
        if e == 0 or before != (fluent, value):
            ordered &= e == 0 or before < (fluent, value)
            pair_fluent[size], pairs[size, PAIR_VALUE], pairs[size, FIRST] = fluent, value, e
            size += 1
        group = pairs[size - 1, FIRST]
        while given.rule[group] != given.rule[e]:
            group += 1
        effects[e, PAIR], effects[e, ORIGIN], effects[e, ORIGIN_VALUE] = size - 1, fluent, value
        effects[e, GROUP], effects[e, POSTPONABLE] = group, given.postponable[e]
        effects[e, DELAY], effects[e, KIND] = given.delay[e], given.kind[e]
        effects[e, FLUENT], effects[e, VALUE] = given.target_fluent[e], given.target_value[e]
        effects[group, ACTED] = max(effects[group, ACTED], acted[e])
    pairs[size, FIRST] = n
    first_pair = np.searchsorted(pair_fluent[:size], np.arange(fluents + 1 if n else 0))
    for e in range(n):
        effects[e, TARGET] = pair_of(first_pair, pairs, effects[e, FLUENT], effects[e, VALUE])
    broken = np.full((fluents if n else 0, 4), NEVER)
    queue, counts = np.empty((2 * n, 2), np.int64), np.zeros(2, np.int64)
    return ordered, Delays(effects, pairs, first_pair, broken, queue, counts)


@kernel
def take_up(
    delays: Delays, effect: Ints, since: Ints, deadline: Ints, start: int, query: int
) -> None:
    """Attempts made before the run: the first that is due, or the last that restarts the clock."""
    effects = delays.effects
    for k in range(len(effect)):
        e, known = effect[k], effects[effect[k], SINCE]
        if effects[e, POSTPONABLE]:
            counts = known == NEVER or since[k] > known
        else:
            over = effects[effects[e, GROUP], ACTED] > since[k]
            counts = not over and (known == NEVER or since[k] < known)
        if counts and deadline[k] > start:
            effects[e, SINCE], effects[e, DEADLINE] = since[k], deadline[k]
    for e in range(len(effects)):
        if effects[e, SINCE] != NEVER:
            schedule(effects, delays.queue, delays.counts, e, query)
