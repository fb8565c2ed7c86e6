"""Arrays for a compiled machine: made, filled with what is known at the start, and made larger."""

from __future__ import annotations

import numpy as np

from horai.engine import machine_rows as row
from horai.engine.machine_rows import Given, Live
from horai.engine.machine_state import (
    alive,
    clear,
    create,
    create_pair,
    find,
    find_pair,
    push,
    rehash,
    rehash_pairs,
    reindex,
)
from horai.engine.machine_steps import is_postponable
from horai.plan.ec import opcodes as do
from horai.plan.ec.machine import Machine
from horai.temporal.kernels import compiled
from horai.temporal.spans import Ints

FEW = 1024  # rows that an array has room for at first
Begun = list[tuple[int, list[Ints], Ints, Ints]]


def new_live(machine: Machine, given: Given, regs: Ints, expected: int, held: Begun) -> Live:
    """The arrays at the start, with the values that hold."""
    widest = max((arity for _, (_, arity) in machine.nodes), default=0)
    kept = max((len(delay.saved) for delay in machine.delays), default=0)
    effects = int(np.diff(given.delay_from).max(initial=0))
    known = sum(len(value) for _, _, value, _ in held)
    few = _power(max(FEW, min(expected, 1 << 16)))
    room = _power(max(few, 2 * known))
    delayed = few if machine.delays else 1
    inst = np.zeros((room, row.ARGS + widest), np.int64)
    indexes = len(machine.indexes)
    live = Live(
        inst=inst,
        slots=np.empty(2 * room, np.int64),
        pairs=np.empty((delayed, row.ACTED + effects), np.int64),
        pair_slots=np.full(2 * delayed, -1, np.int64),
        attempts=np.empty((delayed, row.KEPT + kept), np.int64),
        queue=np.empty((delayed, 2), np.int64),
        items=np.empty((FEW, 3), np.int64),
        said=np.empty((FEW, 6), np.int64),
        touched=np.empty(FEW, np.int64),
        due=np.empty(FEW, np.int64),
        acts=np.empty(FEW, np.int64),
        effects=np.empty((FEW, 6), np.int64),
        spans=np.empty((max(expected, FEW), 4), np.int64),
        points=np.empty((few, 4), np.int64),
        index_heads=np.empty((indexes, room), np.int64),
        index_next=np.empty((room, indexes), np.int64),
        heads=np.empty(len(machine.nodes) * do.LISTS, np.int64),
        regs=regs,
        come=np.zeros(row.COME, np.int64),
    )
    n = 0
    for node, args, value, start in held:
        rows = slice(n, n + len(value))
        _clear(inst, n, n + len(value), node)
        inst[rows, row.HELD], inst[rows, row.START] = value, start
        for place, column in enumerate(args):
            inst[rows, row.ARGS + place] = column
        n += len(value)
    live.come[row.N_INST] = n
    _fill(live, given)
    return live


@compiled()
def _clear(inst: Ints, first: int, last: int, node: int) -> None:
    for one in range(first, last):
        clear(inst, one, node)


def _power(rows: int) -> int:
    return 1 << max(1, (rows - 1).bit_length())


def _fill(live: Live, given: Given) -> None:
    n = int(live.come[row.N_INST])
    rehash(live.inst, n, live.slots, given.arity)
    if live.index_heads.shape[0]:
        reindex(
            live.inst, n, live.index_heads, live.index_next, given.index_node, given.index_from,
            given.index_place,
        )  # fmt: skip


# --- more room -----------------------------------------------------------------------------------


def more_room(live: Live, given: Given) -> Live:
    """The arrays with room where it was missing."""
    match int(live.come[row.FULL]):
        case row.FULL_INST:
            inst = _wider(live.inst)
            indexes = live.index_heads.shape[0]
            live = live._replace(
                inst=inst,
                slots=np.empty(2 * len(inst), np.int64),
                index_heads=np.empty((indexes, len(inst)), np.int64),
                index_next=np.empty((len(inst), indexes), np.int64),
            )
            _fill(live, given)
            return live
        case row.FULL_PAIRS:
            pairs = _wider(live.pairs)
            slots = np.empty(2 * len(pairs), np.int64)
            rehash_pairs(pairs, int(live.come[row.N_PAIRS]), slots)
            return live._replace(pairs=pairs, pair_slots=slots)
        case row.FULL_ATTEMPTS:
            return _without_old(live)
        case row.FULL_QUEUE:
            return live._replace(queue=_wider(live.queue))
        case row.FULL_ITEMS:
            return live._replace(items=_wider(live.items))
        case row.FULL_SAID:
            return live._replace(said=_wider(live.said), touched=_wider(live.touched))
        case row.FULL_DUE:
            return live._replace(due=_wider(live.due), acts=_wider(live.acts))
        case row.FULL_EFFECTS:
            return live._replace(effects=_wider(live.effects))
        case row.FULL_SPANS:
            return live._replace(spans=_wider(live.spans))
        case _:
            return live._replace(points=_wider(live.points))


def _wider(rows: Ints) -> Ints:
    found = np.zeros((2 * len(rows), *rows.shape[1:]), np.int64)
    found[: len(rows)] = rows
    return found


def _without_old(live: Live) -> Live:
    """Attempts that are over make room; where they are few there is more of it."""
    size, n_due = int(live.come[row.N_QUEUE]), int(live.come[row.N_DUE])
    used = np.concatenate((live.queue[:size, 1], live.due[:n_due]))
    kept = live.attempts[used]
    attempts = live.attempts
    if 2 * len(used) > len(attempts):
        attempts = np.empty((2 * len(attempts), attempts.shape[1]), np.int64)
    attempts[: len(used)] = kept
    live.queue[:size, 1] = np.arange(size)
    live.due[:n_due] = np.arange(size, size + n_due)
    live.come[row.N_ATTEMPTS] = len(used)
    return live._replace(attempts=attempts)


# --- attempts made before ------------------------------------------------------------------------


def take_up(live: Live, given: Given, begun: list[tuple[int, int, Ints]]) -> Live:
    """Attempts made before the run; rows of since, deadline, arguments, value, what is kept."""
    for effect, node, rows in begun:
        while int(live.come[row.N_INST]) + len(rows) > len(live.inst):
            live.come[row.FULL] = row.FULL_INST
            live = more_room(live, given)
        while int(live.come[row.N_PAIRS]) + len(rows) > len(live.pairs):
            live.come[row.FULL] = row.FULL_PAIRS
            live = more_room(live, given)
        while int(live.come[row.N_ATTEMPTS]) + len(rows) > len(live.attempts):
            live = live._replace(attempts=_wider(live.attempts))
        while int(live.come[row.N_QUEUE]) + len(rows) > len(live.queue):
            live = live._replace(queue=_wider(live.queue))
        _take_up(given, live, effect, node, rows, len(given.pool) - (do.OTHERS - do.GIVEN))
        if live.index_heads.shape[0]:
            _fill(live, given)
    return live


@compiled()
def _take_up(given: Given, live: Live, effect: int, node: int, rows: Ints, own: int) -> None:
    """`own` is the place in the pool at which the registers that are given are listed."""
    arity = given.arity[node]
    for k in range(len(rows)):
        since, deadline, value = rows[k, 0], rows[k, 1], rows[k, 2 + arity]
        for place in range(arity):
            live.regs[do.GIVEN + place] = rows[k, 2 + place]
        one, slot = find(live.inst, live.slots, live.regs, given.pool, node, own, arity)
        if one < 0:
            one = create(
                live.inst, live.slots, live.regs, given.pool, node, own, arity, slot, live.come
            )
        pair, slot = find_pair(live.pairs, live.pair_slots, one, value)
        if pair < 0:
            again = is_postponable(
                given.post_from, given.post, live.inst, live.regs, node, one, arity, value
            )
            pair = create_pair(live.pairs, live.pair_slots, one, value, again, slot, live.come)
        live.pairs[pair, row.INITIATED] = max(live.pairs[pair, row.INITIATED], since)
        a = live.come[row.N_ATTEMPTS]
        live.come[row.N_ATTEMPTS] += 1
        live.attempts[a, row.EFFECT], live.attempts[a, row.PAIR] = effect, pair
        live.attempts[a, row.SINCE], live.attempts[a, row.DEADLINE] = since, deadline
        for place in range(rows.shape[1] - 3 - arity):
            live.attempts[a, row.KEPT + place] = rows[k, 3 + arity + place]
        push(live.queue, live.come, deadline, a)


def open_attempts(live: Live, given: Given) -> Ints:
    """The attempts that nothing has cancelled so far."""
    found: Ints = _open(live, given, np.empty(int(live.come[row.N_QUEUE]), np.int64))
    return found


@compiled()
def _open(live: Live, given: Given, found: Ints) -> Ints:
    n = 0
    for k in range(len(found)):
        a = live.queue[k, 1]
        place = given.delay_place[live.attempts[a, row.EFFECT]]
        if alive(live.attempts, live.pairs, live.inst, a, place):
            found[n] = a
            n += 1
    return found[:n]
