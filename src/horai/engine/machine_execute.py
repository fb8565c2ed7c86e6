"""The instructions of a compiled machine, one after the other; see `plan.opcodes`."""

from __future__ import annotations

from horai.engine import machine_rows as row
from horai.engine.machine_rows import Given, Live
from horai.engine.machine_state import create, create_pair, enter, find, find_pair, mixed, spread
from horai.engine.machine_steps import (
    allowed,
    first_row,
    is_postponable,
    lasts,
    next_row,
    put,
    tell,
)
from horai.plan.ec import opcodes as do
from horai.temporal.kernels import inside, lean
from horai.temporal.spans import INF, Ints

WIDEST = 1 << 60  # codes of integers beyond are not for a machine
FACTOR = 1 << 29  # products of smaller integers have such codes

# Handing all arrays to a function takes longer than what it does with them. So these two become
# part of the functions that call them.
_inlined = inside(_nrt=False, inline="always")


@lean
def computed(step: int, left: int, right: int) -> int:
    """The code of a sum, product and so on; even if there is none that fits."""
    if not left & right & 1 or max(abs(left), abs(right)) > WIDEST:
        return 0
    one, other = left >> 1, right >> 1
    if step in (do.DIVIDE, do.MODULO) and other == 0:
        return 0
    if step == do.ADD:
        found = one + other
    elif step == do.SUBTRACT:
        found = one - other
    elif step == do.MODULO:
        found = one % other
    elif step == do.DIVIDE:  # towards zero
        found = abs(one) // abs(other)
        found = found if (one >= 0) == (other >= 0) else -found
    elif step == do.SMALLER:
        found = min(one, other)
    elif step == do.LARGER:
        found = max(one, other)
    elif max(abs(one), abs(other)) < FACTOR:
        found = one * other
    else:
        return 0
    return 2 * found + 1


@lean
def compared(step: int, left: int, right: int) -> bool:
    """Codes of integers are in their order."""
    if step == do.LESS:
        return left < right
    if step == do.AT_MOST:
        return left <= right
    return (left == right) == (step == do.EVEN)


@lean
def hold_attempt(
    attempts: Ints, regs: Ints, pool: Ints, come: Ints, effect: int, pair: int, wait: int,
    args: int, count: int,
) -> bool:  # fmt: skip
    """Note an attempt, False if there is no room; a delay that is no positive integer is none."""
    if not wait & 1 or wait <= 1:
        return True
    n, t, wait = come[row.M_ATTEMPTS], come[row.CLOCK], wait >> 1
    if n == len(attempts):
        come[row.FULL] = row.FULL_ATTEMPTS
        return False
    attempts[n, row.EFFECT], attempts[n, row.PAIR] = effect, pair
    attempts[n, row.SINCE] = t
    attempts[n, row.DEADLINE] = min(t, INF - 1 - wait) + wait
    for k in range(count):
        attempts[n, row.KEPT + k] = regs[pool[args + k]]
    come[row.M_ATTEMPTS] += 1
    return True


@_inlined
def say(given: Given, live: Live, step: int, kind: int, node: int, args: int, value: int,
        about: int) -> int:  # fmt: skip
    """What the head of a rule says, or what an effect that is due would say."""
    come, inst = live.come, live.inst
    moment = come[row.MOMENTS]
    width = given.arity[node]
    known = kind in (do.TERMINATE_ALL, do.HEARD) or (step == do.EFFECT and kind == do.TERMINATE)
    inside = known or given.domain_from[node] == given.domain_from[node + 1]
    if not inside:
        inside = allowed(
            given.domain_from, given.domains, given.tables, given.cells, given.table_heads,
            given.table_next, live.regs, given.pool, node, args, value,
        )  # fmt: skip
    outcome = row.DONE
    if inside or kind == do.INITIATE:
        kind = kind if inside else do.GHOST
        one, slot = find(inst, live.slots, live.regs, given.pool, node, args, width)
        if one < 0 and come[row.N_INST] == len(inst):
            come[row.FULL], outcome = row.FULL_INST, row.NO_ROOM
        else:
            if one < 0:
                one = create(inst, live.slots, live.regs, given.pool, node, args, width, slot, come)
                enter(
                    inst, one, live.index_heads, live.index_next, given.index_node,
                    given.index_from, given.index_place,
                )  # fmt: skip
            if kind == do.HAPPEN or kind == do.HEARD:
                if inst[one, row.MOMENT] != moment:
                    inst[one, row.MOMENT] = moment
                    which = node * do.LISTS + do.HAPPENED_LIST
                    if come[row.M_POINTS] == len(live.points):
                        come[row.FULL], outcome = row.FULL_POINTS, row.NO_ROOM
                    elif come[row.M_ITEMS] == len(live.items):
                        come[row.FULL], outcome = row.FULL_ITEMS, row.NO_ROOM
                    else:
                        if kind == do.HAPPEN:
                            come[row.M_POINTS] = tell(
                                live.points, kind, one, row.NONE, come[row.CLOCK],
                                come[row.M_POINTS],
                            )  # fmt: skip
                        if given.read[which]:
                            come[row.M_ITEMS] = put(
                                live.items, live.heads, which, one, row.NONE, come[row.M_ITEMS]
                            )
            else:
                pair = -1
                if kind == do.INITIATE and given.delay_from[node] < given.delay_from[node + 1]:
                    pair, slot = find_pair(live.pairs, live.pair_slots, one, value)
                    if pair < 0 and come[row.N_PAIRS] == len(live.pairs):
                        come[row.FULL], outcome = row.FULL_PAIRS, row.NO_ROOM
                    elif pair < 0:
                        again = is_postponable(
                            given.post_from, given.post, inst, live.regs, node, one, width, value
                        )
                        pair = create_pair(
                            live.pairs, live.pair_slots, one, value, again, slot, come
                        )
                rows, which = live.said, row.M_SAID
                if step == do.EFFECT:
                    rows, which = live.effects, row.M_EFFECTS
                n = come[which]
                if outcome == row.DONE and n == len(rows):
                    come[row.FULL] = row.FULL_SAID if step == do.SAY else row.FULL_EFFECTS
                    outcome = row.NO_ROOM
                elif outcome == row.DONE:
                    rows[n, row.OF], rows[n, row.WHAT], rows[n, row.KIND] = one, value, kind
                    rows[n, row.ABOUT], rows[n, row.FROM] = node, pair
                    rows[n, row.DUE_PLACE] = about
                    come[which] += 1
                    if pair >= 0 and step == do.SAY:
                        live.pairs[pair, row.MOMENT_OF] = moment
    return outcome


@_inlined
def execute(given: Given, live: Live, entry: int, effect: int, about: int) -> int:
    """Run code from some place on; `about` is the pair of an attempt or the place of what is due.

    It stops early if there is no room for something, or if only others can work it out.
    """
    code, pool, arity = given.code, given.pool, given.arity
    inst, slots, regs, come = live.inst, live.slots, live.regs, live.come
    moment = come[row.MOMENTS]
    outcome = row.DONE
    pc = entry
    while pc != 0:
        step, a, b, c, d = code[pc, 0], code[pc, 1], code[pc, 2], code[pc, 3], code[pc, 4]
        met = True
        if step == do.JUMP:
            met = False
        elif step == do.SAME:
            met = regs[a] == regs[b]
        elif step == do.DIFFER:
            met = regs[a] != regs[b]
        elif step == do.MOVE:
            regs[a] = regs[b]
        elif step <= do.UNEVEN:
            if not regs[a] & regs[b] & 1:
                outcome = row.GAVE_UP
            met = compared(step, regs[a], regs[b])
        elif step <= do.LARGER:
            regs[a] = computed(step, regs[b], regs[c])
            if not regs[a] & 1:
                outcome = row.GAVE_UP
        elif step <= do.ENDED:  # questions about an instance
            one, _ = find(inst, slots, regs, pool, a, b, arity[a])
            if one < 0:
                met = False
            elif step == do.HOLDS:
                met = inst[one, row.HELD] == regs[c]
            elif step == do.HAPPENED:
                met = inst[one, row.MOMENT] == moment
            elif step == do.VALUE:
                regs[c] = inst[one, row.HELD]
                met = regs[c] != row.NONE
            else:
                held, after = inst[one, row.HELD], inst[one, row.AFTER]
                regs[c] = after if step == do.STARTED else held
                met = inst[one, row.SETTLED] == moment and held != after and regs[c] != row.NONE
        elif step == do.NO_MORE:
            met = regs[a] >= 0
        elif step == do.ITEMS:
            regs[a] = live.heads[b]
        elif step == do.ITEM_ARG:
            regs[a] = inst[live.items[regs[b], row.ITEM], row.ARGS + c]
        elif step == do.ITEM_VALUE:
            regs[a] = live.items[regs[b], row.ITEM_VALUE]
        elif step == do.NEXT_ITEM:
            regs[a] = live.items[regs[a], row.AFTER_IT]
        elif step == do.INSTANCES:
            state = mixed(0, b)
            for k in range(given.index_from[b + 1] - given.index_from[b]):
                state = mixed(state, regs[pool[c + k]])
            regs[a] = live.index_heads[b, spread(state) & (live.index_heads.shape[1] - 1)]
        elif step == do.INSTANCE_ARG:
            regs[a] = inst[regs[b], row.ARGS + c]
        elif step == do.INSTANCE_VALUE:
            regs[a] = inst[regs[b], row.HELD]
            met = regs[a] != row.NONE
        elif step == do.NEXT_INSTANCE:
            regs[a] = live.index_next[regs[a], b]
        elif step == do.ROWS:
            regs[a] = first_row(
                given.tables, given.cells, given.table_heads, given.table_next, regs, pool, b, c
            )
        elif step == do.CELL:
            begin = given.tables[c, row.CELLS] + regs[b] * given.tables[c, row.WIDE]
            regs[a] = given.cells[begin + d]
        elif step == do.NEXT_ROW:
            regs[a] = next_row(given.tables, given.cells, given.table_next, b, regs[a])
        elif step == do.LASTS:
            met = lasts(
                given.before_from, given.before_start, given.before_end, regs[a], come[row.CLOCK]
            )
        elif step == do.NOW:
            if regs[a] != regs[do.TIME]:
                outcome = row.GAVE_UP
        elif step == do.ATTEMPT:
            if not hold_attempt(live.attempts, regs, pool, come, effect, about, regs[a], b, c):
                outcome = row.NO_ROOM
        else:
            value = regs[d] if d >= 0 else row.NONE
            outcome = say(given, live, step, a, b, c, value, about)
        if outcome != row.DONE:
            break
        pc = pc + 1 if met else code[pc, 5]
    return outcome
