"""How a compiled machine finds instances, pairs and deadlines.

Rows are only ever added, and hash tables hold their numbers. Nothing here makes arrays, so that the
pass may call it at every step; arrays grow outside of it.
"""

from __future__ import annotations

import numpy as np

from horai.engine import machine_rows as row
from horai.temporal.clockwork_delays import NEVER
from horai.temporal.kernels import compiled, lean
from horai.temporal.spans import Ints


@lean
def mixed(state: int, code: int) -> int:
    """One more code in a hash."""
    found: np.uint64 = (np.uint64(state) ^ np.uint64(code)) * np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(found ^ (found >> np.uint64(29)))  # type: ignore[return-value]


@lean
def spread(state: int) -> int:
    """The low bits of a hash, all others in them."""
    found = np.uint64(state) * np.uint64(0x94D049BB133111EB)
    return np.int64((found ^ (found >> np.uint64(32))) >> np.uint64(1))  # type: ignore[return-value]


@lean
def find(
    inst: Ints, slots: Ints, regs: Ints, pool: Ints, node: int, args: int, arity: int
) -> tuple[int, int]:
    """An instance by the registers of its arguments, -1 if there is none; and its slot."""
    state = mixed(0, node)
    for k in range(arity):
        state = mixed(state, regs[pool[args + k]])
    mask = len(slots) - 1
    slot = spread(state) & mask
    while slots[slot] >= 0:
        one = slots[slot]
        same = inst[one, row.NODE] == node
        k = 0
        while same and k < arity:
            same = inst[one, row.ARGS + k] == regs[pool[args + k]]
            k += 1
        if same:
            return one, slot
        slot = (slot + 1) & mask
    return -1, slot


@lean
def create(
    inst: Ints, slots: Ints, regs: Ints, pool: Ints, node: int, args: int, arity: int,
    slot: int, come: Ints,
) -> int:  # fmt: skip
    """A new instance in a free slot; there is room for it."""
    one: int = come[row.N_INST]
    come[row.N_INST] += 1
    slots[slot] = one
    clear(inst, one, node)
    for k in range(arity):
        inst[one, row.ARGS + k] = regs[pool[args + k]]
    return one


@lean
def clear(inst: Ints, one: int, node: int) -> None:
    """A row about an instance of which nothing is known."""
    inst[one, row.NODE], inst[one, row.HELD], inst[one, row.START] = node, row.NONE, 0
    inst[one, row.MOMENT], inst[one, row.NEW], inst[one, row.SIGNS] = 0, row.NONE, 0
    inst[one, row.AFTER], inst[one, row.SETTLED], inst[one, row.SPARED] = row.NONE, 0, row.NONE
    inst[one, row.OTHERS], inst[one, row.ALL] = NEVER, NEVER


@lean
def enter(
    inst: Ints, one: int, heads: Ints, after: Ints, index_node: Ints, index_from: Ints,
    index_place: Ints,
) -> None:  # fmt: skip
    """Note a new instance in the indexes of its node."""
    for x in range(len(index_node)):
        if index_node[x] == inst[one, row.NODE]:
            state = mixed(0, x)
            for k in range(index_from[x], index_from[x + 1]):
                state = mixed(state, inst[one, row.ARGS + index_place[k]])
            slot = spread(state) & (heads.shape[1] - 1)
            after[one, x] = heads[x, slot]
            heads[x, slot] = one


@lean
def find_pair(pairs: Ints, slots: Ints, one: int, value: int) -> tuple[int, int]:
    """A pair, -1 if it is not known; and its slot."""
    mask = len(slots) - 1
    slot = spread(mixed(mixed(0, one), value)) & mask
    while slots[slot] >= 0:
        pair = slots[slot]
        if pairs[pair, row.INSTANCE] == one and pairs[pair, row.VALUE] == value:
            return pair, slot
        slot = (slot + 1) & mask
    return -1, slot


@lean
def create_pair(
    pairs: Ints, slots: Ints, one: int, value: int, postponable: bool, slot: int, come: Ints
) -> int:
    """A new pair in a free slot."""
    pair: int = come[row.N_PAIRS]
    come[row.N_PAIRS] += 1
    slots[slot] = pair
    pairs[pair, :] = NEVER
    pairs[pair, row.INSTANCE], pairs[pair, row.VALUE] = one, value
    pairs[pair, row.POSTPONABLE] = postponable
    return pair


# --- the queue of deadlines ----------------------------------------------------------------------


@lean
def push(queue: Ints, come: Ints, time: int, attempt: int) -> None:
    """Queue a deadline."""
    k = come[row.N_QUEUE]
    come[row.N_QUEUE] += 1
    while k > 0 and queue[(k - 1) // 2, 0] > time:
        queue[k, 0], queue[k, 1] = queue[(k - 1) // 2, 0], queue[(k - 1) // 2, 1]
        k = (k - 1) // 2
    queue[k, 0], queue[k, 1] = time, attempt


@lean
def pop(queue: Ints, come: Ints) -> int:
    """Take the first deadline off the queue."""
    first: int = queue[0, 1]
    come[row.N_QUEUE] -= 1
    n = come[row.N_QUEUE]
    time, attempt, k = queue[n, 0], queue[n, 1], 0
    while True:
        child = 2 * k + 1
        if child + 1 < n and queue[child + 1, 0] < queue[child, 0]:
            child += 1
        if child >= n or queue[child, 0] >= time:
            break
        queue[k, 0], queue[k, 1] = queue[child, 0], queue[child, 1]
        k = child
    queue[k, 0], queue[k, 1] = time, attempt
    return first


@lean
def alive(attempts: Ints, pairs: Ints, inst: Ints, attempt: int, place: int) -> bool:
    """Has nothing cancelled an attempt so far? `place` is that of its effect among those of pairs.

    An act, or for postponable pairs a new initiation, settles the matter too.
    """
    pair, since = attempts[attempt, row.PAIR], attempts[attempt, row.SINCE]
    one = pairs[pair, row.INSTANCE]
    if pairs[pair, row.TERMINATED] > since:
        return False
    spared = inst[one, row.SPARED] == pairs[pair, row.VALUE]
    if inst[one, row.ALL if spared else row.OTHERS] > since:
        return False
    if pairs[pair, row.POSTPONABLE]:
        return bool(pairs[pair, row.INITIATED] <= since)
    return bool(pairs[pair, row.ACTED + place] <= since)


# --- more room -----------------------------------------------------------------------------------


@compiled()
def rehash(inst: Ints, n: int, slots: Ints, arity: Ints) -> None:
    """Fill a hash table of instances anew."""
    slots[:] = -1
    mask = len(slots) - 1
    for one in range(n):
        state = mixed(0, inst[one, row.NODE])
        for k in range(arity[inst[one, row.NODE]]):
            state = mixed(state, inst[one, row.ARGS + k])
        slot = spread(state) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = one


@compiled()
def reindex(
    inst: Ints, n: int, heads: Ints, after: Ints, index_node: Ints, index_from: Ints,
    index_place: Ints,
) -> None:  # fmt: skip
    """Fill the indexes anew."""
    heads[:] = -1
    for one in range(n):
        enter(inst, one, heads, after, index_node, index_from, index_place)


@compiled()
def rehash_pairs(pairs: Ints, n: int, slots: Ints) -> None:
    """Fill a hash table of pairs anew."""
    slots[:] = -1
    mask = len(slots) - 1
    for pair in range(n):
        slot = spread(mixed(mixed(0, pairs[pair, row.INSTANCE]), pairs[pair, row.VALUE])) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = pair
