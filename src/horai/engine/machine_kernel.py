"""The compiled pass of a machine: moment by moment, layer by layer, rule by rule.

A moment changes nothing that lasts before all of it is known. So if an array is full in the midst
of one, the pass stops, and with more room it begins the moment again.
"""

from __future__ import annotations

from horai.engine import machine_rows as row
from horai.engine.machine_execute import execute
from horai.engine.machine_rows import Candidates, Given, Live
from horai.engine.machine_state import alive, pop, push
from horai.engine.machine_steps import (
    gather,
    judge,
    list_changes,
    list_said,
    move,
    note_breaks,
    settle,
)
from horai.plan.ec import opcodes as do
from horai.temporal.kernels import compiled, lean
from horai.temporal.spans import INF, Ints, Mask

# What is done in a layer, and after the last one.
FIRE, ASK, WHAT_IS_DUE, SETTLE, TRY, ALL_KNOWN = range(6)


@lean
def begin_moment(
    time: Ints, queue: Ints, due: Ints, attempts: Ints, pairs: Ints, inst: Ints,
    delay_place: Ints, heads: Ints, acts: Ints, regs: Ints, come: Ints, until: int,
) -> int:  # fmt: skip
    """Go to the next moment, or begin one again; what is due at it. `NO_ROOM` if that is much."""
    if not come[row.RETRY]:
        t = time[come[row.NEXT]] if come[row.NEXT] < len(time) else INF
        if come[row.N_QUEUE] > 0 and queue[0, 0] < t:
            t = queue[0, 0]
        come[row.CLOCK], come[row.N_DUE] = t, 0
        if t > until or t == INF:
            return row.DONE
    t = come[row.CLOCK]
    come[row.RETRY] = 1
    while come[row.N_QUEUE] > 0 and queue[0, 0] == t:
        if come[row.N_DUE] == len(due):
            come[row.FULL] = row.FULL_DUE
            return row.NO_ROOM
        a = pop(queue, come)
        if alive(attempts, pairs, inst, a, delay_place[attempts[a, row.EFFECT]]):
            due[come[row.N_DUE]] = a
            come[row.N_DUE] += 1
    come[row.MOMENTS] += 1
    for k in (row.M_ITEMS, row.M_SAID, row.M_TOUCHED, row.M_EFFECTS):
        come[k] = 0
    come[row.M_POINTS], come[row.M_ATTEMPTS] = come[row.N_POINTS], come[row.N_ATTEMPTS]
    heads[:] = -1
    acts[: come[row.N_DUE]] = 0
    regs[do.TIME] = 2 * t + 1
    return row.DONE


@lean
def load_origin(
    inst: Ints, pairs: Ints, arity: Ints, attempts: Ints, regs: Ints, pair: int, attempt: int,
    kept: int,
) -> None:  # fmt: skip
    """Registers for a delayed effect: arguments and value of its origin, what an attempt keeps."""
    one = pairs[pair, row.INSTANCE]
    width = arity[inst[one, row.NODE]]
    for k in range(width):
        regs[do.GIVEN + k] = inst[one, row.ARGS + k]
    regs[do.GIVEN + width] = pairs[pair, row.VALUE]
    for k in range(kept):
        regs[do.GIVEN + width + 1 + k] = attempts[attempt, row.KEPT + k]
    regs[do.SINCE] = 2 * attempts[attempt, row.SINCE] + 1 if attempt >= 0 else regs[do.TIME]


@lean
def effects_act(
    attempts: Ints, pairs: Ints, due: Ints, acts: Ints, effects: Ints, said: Ints, come: Ints
) -> int:
    """An effect fires where it acts: what it says becomes part of what is said."""
    moment, n_effects = come[row.MOMENTS], come[row.M_EFFECTS]
    if not judge(attempts, pairs, due, acts, effects, n_effects, moment, come):
        return row.UNSETTLED
    if come[row.M_SAID] + n_effects > len(said):
        come[row.FULL] = row.FULL_SAID
        return row.NO_ROOM
    for e in range(n_effects):
        if acts[effects[e, row.DUE_PLACE]]:
            for k in range(row.DUE_PLACE):
                said[come[row.M_SAID], k] = effects[e, k]
            come[row.M_SAID] += 1
            if effects[e, row.KIND] == do.INITIATE and effects[e, row.FROM] >= 0:
                pairs[effects[e, row.FROM], row.MOMENT_OF] = moment
    come[row.M_EFFECTS] = 0
    return row.DONE


@lean
def end_layer(
    inst: Ints, said: Ints, touched: Ints, first_said: int, read: Mask, told: Mask, points: Ints,
    items: Ints, heads: Ints, come: Ints,
) -> int:  # fmt: skip
    """From what a layer has said to the values after the moment, for the layers after it."""
    last, moment, t = come[row.M_SAID], come[row.MOMENTS], come[row.CLOCK]
    if come[row.M_POINTS] + last - first_said > len(points):
        come[row.FULL] = row.FULL_POINTS
        return row.NO_ROOM
    if come[row.M_ITEMS] + 3 * (last - first_said) > len(items):
        come[row.FULL] = row.FULL_ITEMS
        return row.NO_ROOM
    first = come[row.M_TOUCHED]
    come[row.M_TOUCHED] = gather(inst, said, first_said, last, moment, touched, first)
    settle(inst, touched, first, come[row.M_TOUCHED], moment)
    list_said(said, first_said, last, read, told, points, items, heads, t, come)
    come[row.M_ITEMS] = list_changes(
        inst, touched, first, come[row.M_TOUCHED], read, items, heads, come[row.M_ITEMS]
    )
    return row.DONE


@lean
def end_moment(
    inst: Ints, touched: Ints, said: Ints, pairs: Ints, pair_slots: Ints, attempts: Ints,
    queue: Ints, due: Ints, acts: Ints, delay_place: Ints, spans: Ints, come: Ints,
) -> int:  # fmt: skip
    """All of the moment is known: values and attempts go on."""
    t, n_touched = come[row.CLOCK], come[row.M_TOUCHED]
    first, last = come[row.N_ATTEMPTS], come[row.M_ATTEMPTS]
    if come[row.N_SPANS] + n_touched > len(spans):
        come[row.FULL] = row.FULL_SPANS
        return row.NO_ROOM
    if come[row.N_QUEUE] + last - first > len(queue):
        come[row.FULL] = row.FULL_QUEUE
        return row.NO_ROOM
    if len(delay_place) > 0:
        note_breaks(inst, touched, n_touched, said, come[row.M_SAID], pairs, pair_slots, t)
        for k in range(come[row.N_DUE]):
            if acts[k]:
                place = row.ACTED + delay_place[attempts[due[k], row.EFFECT]]
                pairs[attempts[due[k], row.PAIR], place] = t
        for a in range(first, last):
            push(queue, come, attempts[a, row.DEADLINE], a)
    come[row.N_SPANS] = move(inst, touched, n_touched, spans, come[row.N_SPANS], t)
    come[row.N_POINTS], come[row.N_ATTEMPTS] = come[row.M_POINTS], last
    come[row.RETRY], come[row.N_DUE] = 0, 0
    return row.DONE


@compiled(_nrt=False)
def go_on(candidates: Candidates, given: Given, live: Live, layers: int, until: int) -> int:
    """Settle the moments up to some time, or until the pass has to stop."""
    time, layer_of, rule_of, place_of, brought = candidates
    outcome: int
    come, regs, said, pairs = live.come, live.regs, live.said, live.pairs
    while True:
        outcome = begin_moment(
            time, live.queue, live.due, live.attempts, pairs, live.inst, given.delay_place,
            live.heads, live.acts, regs, come, until,
        )  # fmt: skip
        if outcome != row.DONE or not come[row.RETRY]:
            return outcome
        t, i = come[row.CLOCK], come[row.NEXT]
        phase, layer, cursor, tried, first_said = FIRE, 0, 0, -1, 0
        while phase != ALL_KNOWN:
            entry, effect, about = 0, -1, -1
            if phase == FIRE:  # candidates of the layer
                if i < len(time) and time[i] == t and layer_of[i] == layer:
                    for k in range(given.rule_width[rule_of[i]]):
                        regs[do.GIVEN + k] = brought[place_of[i] + k]
                    entry = given.rule_entry[rule_of[i]]
                    i += 1
                else:
                    phase, cursor = ASK, given.asked_from[layer]
            elif phase == ASK:  # rules that wait for something to happen
                if cursor < given.asked_from[layer + 1]:
                    for k in range(given.source_from[cursor], given.source_from[cursor + 1]):
                        if live.heads[given.sources[k]] >= 0:
                            entry = given.asked_entry[cursor]
                    cursor += 1
                else:
                    phase, cursor = WHAT_IS_DUE, 0
            elif phase == WHAT_IS_DUE:
                if cursor < come[row.N_DUE]:
                    a, about = live.due[cursor], cursor
                    effect = live.attempts[a, row.EFFECT]
                    if given.delay_layer[effect] == layer:
                        load_origin(
                            live.inst, pairs, given.arity, live.attempts, regs,
                            live.attempts[a, row.PAIR], a, given.delay_kept[effect],
                        )  # fmt: skip
                        entry = given.delay_late[effect]
                    cursor += 1
                else:
                    phase = SETTLE
            elif phase == SETTLE:
                if come[row.M_EFFECTS] > 0:
                    outcome = effects_act(
                        live.attempts, pairs, live.due, live.acts, live.effects, said, come
                    )
                    if outcome != row.DONE:
                        return outcome
                if come[row.M_SAID] > first_said:
                    outcome = end_layer(
                        live.inst, said, live.touched, first_said, given.read, given.told,
                        live.points, live.items, live.heads, come,
                    )  # fmt: skip
                    if outcome != row.DONE:
                        return outcome
                first_said = come[row.M_SAID]
                layer += 1
                phase, cursor = (FIRE, 0) if layer < layers else (TRY, 0)
            elif cursor == come[row.M_SAID]:
                phase = ALL_KNOWN
            else:  # attempts of what was initiated; `tried` is the next effect that starts from it
                pair, node = said[cursor, row.FROM], said[cursor, row.ABOUT]
                new = tried < 0 and said[cursor, row.KIND] == do.INITIATE and pair >= 0
                if new and pairs[pair, row.TRIED] != come[row.MOMENTS]:
                    pairs[pair, row.TRIED] = come[row.MOMENTS]
                    tried = given.delay_from[node]
                if tried < 0 or tried == given.delay_from[node + 1]:
                    cursor, tried = cursor + 1, -1
                else:
                    load_origin(live.inst, pairs, given.arity, live.attempts, regs, pair, -1, 0)
                    effect, about, entry = tried, pair, given.delay_early[tried]
                    tried += 1
            if entry > 0:
                outcome = execute(given, live, entry, effect, about)
                if outcome != row.DONE:
                    return outcome
        outcome = end_moment(
            live.inst, live.touched, said, pairs, live.pair_slots, live.attempts, live.queue,
            live.due, live.acts, given.delay_place, live.spans, come,
        )  # fmt: skip
        if outcome != row.DONE:
            return outcome
        come[row.NEXT] = i
