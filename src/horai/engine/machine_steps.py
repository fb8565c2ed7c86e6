"""What a compiled machine does between the instructions of rules: from what is said to values."""

from __future__ import annotations

from horai.engine import machine_rows as row
from horai.engine.machine_state import find_pair, mixed, spread
from horai.plan.ec import opcodes as do
from horai.temporal.kernels import lean
from horai.temporal.spans import Ints, Mask

MAX_ROUNDS = 500


# --- tables --------------------------------------------------------------------------------------


@lean
def first_row(
    tables: Ints, cells: Ints, table_heads: Ints, table_next: Ints, regs: Ints, pool: Ints,
    table: int, args: int,
) -> int:  # fmt: skip
    """The first row of a table with the keys in some registers, -1 if there is none."""
    state = mixed(0, 0)
    for k in range(tables[table, row.KEYS]):
        state = mixed(state, regs[pool[args + k]])
    at = tables[table, row.HEADS] + (spread(state) & (tables[table, row.SIZE] - 1))
    found: int = table_heads[at]
    while found >= 0:
        begin = tables[table, row.CELLS] + found * tables[table, row.WIDE]
        same = True
        for k in range(tables[table, row.KEYS]):
            same &= cells[begin + k] == regs[pool[args + k]]
        if same:
            return found
        found = table_next[tables[table, row.AFTER_ROWS] + found]
    return -1


@lean
def next_row(tables: Ints, cells: Ints, table_next: Ints, table: int, found: int) -> int:
    """The next row with the same keys."""
    begin = tables[table, row.CELLS] + found * tables[table, row.WIDE]
    other: int = table_next[tables[table, row.AFTER_ROWS] + found]
    while other >= 0:
        there = tables[table, row.CELLS] + other * tables[table, row.WIDE]
        same = True
        for k in range(tables[table, row.KEYS]):
            same &= cells[begin + k] == cells[there + k]
        if same:
            return other
        other = table_next[tables[table, row.AFTER_ROWS] + other]
    return -1


@lean
def lasts(before_from: Ints, start: Ints, end: Ints, pair: int, t: int) -> bool:
    """Does a pair that was settled before hold at a time?"""
    first: int = before_from[pair]
    low, high = first, int(before_from[pair + 1])
    while low < high:  # the last span that starts by t
        middle = (low + high) // 2
        if start[middle] <= t:
            low = middle + 1
        else:
            high = middle
    return low > first and bool(t < end[low - 1])


@lean
def allowed(
    domain_from: Ints, domains: Ints, tables: Ints, cells: Ints, table_heads: Ints,
    table_next: Ints, regs: Ints, pool: Ints, node: int, args: int, value: int,
) -> bool:  # fmt: skip
    """Is a pair in its domain? Values that no grounding speaks of are not restricted."""
    spoken = False
    for k in range(domain_from[node], domain_from[node + 1]):
        register = domains[k, 0]
        if register < 0 or regs[register] == value:
            spoken = True
            if first_row(
                tables, cells, table_heads, table_next, regs, pool, domains[k, 1], args
            ) >= 0:  # fmt: skip
                return True
    return not spoken


@lean
def is_postponable(
    post_from: Ints, post: Ints, inst: Ints, regs: Ints, node: int, one: int, arity: int,
    value: int,
) -> bool:  # fmt: skip
    """Is there a p(F=V) for the pair?"""
    for k in range(post_from[node], post_from[node + 1]):
        fits = post[k, arity] < 0 or regs[post[k, arity]] == value
        for i in range(arity):
            fits &= post[k, i] < 0 or regs[post[k, i]] == inst[one, row.ARGS + i]
        if fits:
            return True
    return False


# --- delayed effects -----------------------------------------------------------------------------


@lean
def judge(
    attempts: Ints, pairs: Ints, due: Ints, acts: Ints, effects: Ints, n_effects: int,
    moment: int, come: Ints,
) -> bool:  # fmt: skip
    """Which of the effects that are due act, if that can be said.

    An effect may initiate, at this moment, what postpones another one: rounds from "nothing acts"
    until nothing changes.
    """
    for e in range(n_effects):
        acts[effects[e, row.DUE_PLACE]] = 0
    for _ in range(MAX_ROUNDS):
        come[row.ROUNDS] += 1
        for e in range(n_effects):
            begins = effects[e, row.KIND] == do.INITIATE and effects[e, row.FROM] >= 0
            if begins and acts[effects[e, row.DUE_PLACE]]:
                pairs[effects[e, row.FROM], row.ROUND_OF] = come[row.ROUNDS]
        settled = True
        for e in range(n_effects):
            k = effects[e, row.DUE_PLACE]
            pair = attempts[due[k], row.PAIR]
            again = (
                pairs[pair, row.MOMENT_OF] == moment
                or pairs[pair, row.ROUND_OF] == come[row.ROUNDS]
            )
            act = 0 if again and pairs[pair, row.POSTPONABLE] else 1
            settled &= act == acts[k]
            acts[k] = act
        if settled:
            return True
    return False


@lean
def note_breaks(
    inst: Ints, touched: Ints, n_touched: int, said: Ints, n_said: int, pairs: Ints,
    pair_slots: Ints, t: int,
) -> None:  # fmt: skip
    """Remember which values are broken: all, all but one, or one that is ended by its name."""
    for k in range(n_touched):
        one = touched[k]
        new = inst[one, row.NEW]
        if new == row.SEVERAL or inst[one, row.SIGNS] & row.ALL_ENDED:
            inst[one, row.SPARED], inst[one, row.OTHERS] = row.NONE, t
        elif new != row.NONE:
            if inst[one, row.SPARED] != new:
                inst[one, row.SPARED], inst[one, row.ALL] = new, inst[one, row.OTHERS]
            inst[one, row.OTHERS] = t
    for k in range(n_said):
        if said[k, row.KIND] == do.TERMINATE:
            pair, _ = find_pair(pairs, pair_slots, said[k, row.OF], said[k, row.WHAT])
            if pair >= 0:
                pairs[pair, row.TERMINATED] = t
        elif said[k, row.KIND] == do.INITIATE and said[k, row.FROM] >= 0:
            pairs[said[k, row.FROM], row.INITIATED] = t


# --- values --------------------------------------------------------------------------------------


@lean
def gather(
    inst: Ints, said: Ints, first: int, last: int, moment: int, touched: Ints, n: int
) -> int:
    """Put what is said of each instance together; initiations first, for ends refer to them."""
    for k in range(first, last):
        one, kind = said[k, row.OF], said[k, row.KIND]
        if inst[one, row.MOMENT] != moment:
            inst[one, row.MOMENT], inst[one, row.NEW], inst[one, row.SIGNS] = moment, row.NONE, 0
            touched[n] = one
            n += 1
        if kind in (do.INITIATE, do.GHOST):
            new, value = inst[one, row.NEW], said[k, row.WHAT]
            inst[one, row.NEW] = value if new in (row.NONE, value) else row.SEVERAL
            if kind == do.INITIATE:
                inst[one, row.SIGNS] |= row.MAY_HOLD
        elif kind == do.TERMINATE_ALL:
            inst[one, row.SIGNS] |= row.ALL_ENDED
    for k in range(first, last):
        if said[k, row.KIND] == do.TERMINATE:
            one = said[k, row.OF]
            new = inst[one, row.NEW]
            if said[k, row.WHAT] == (inst[one, row.HELD] if new == row.NONE else new):
                inst[one, row.SIGNS] |= row.IS_ENDED
    return n


@lean
def settle(inst: Ints, touched: Ints, first: int, last: int, moment: int) -> None:
    """The values after the moment: a break wins over an initiation."""
    for k in range(first, last):
        one = touched[k]
        held, new, signs = inst[one, row.HELD], inst[one, row.NEW], inst[one, row.SIGNS]
        if signs & (row.IS_ENDED | row.ALL_ENDED) or new == row.SEVERAL:
            after = row.NONE
        elif new in (row.NONE, held):
            after = held
        else:
            after = new if signs & row.MAY_HOLD else row.NONE
        inst[one, row.AFTER], inst[one, row.SETTLED] = after, moment


@lean
def move(inst: Ints, touched: Ints, n_touched: int, spans: Ints, n: int, t: int) -> int:
    """Values begin and end to hold after the moment; the number of spans that have ended."""
    for k in range(n_touched):
        one = touched[k]
        held, after = inst[one, row.HELD], inst[one, row.AFTER]
        if held != after:
            if held != row.NONE:
                spans[n, 0], spans[n, 1] = one, held
                spans[n, 2], spans[n, 3] = inst[one, row.START], t + 1
                n += 1
            inst[one, row.HELD], inst[one, row.START] = after, t + 1
    return n


@lean
def list_changes(
    inst: Ints, touched: Ints, first: int, last: int, read: Mask, items: Ints, heads: Ints, n: int
) -> int:
    """Let later layers see what starts and ends; the number of items in all lists."""
    for k in range(first, last):
        one = touched[k]
        held, after = inst[one, row.HELD], inst[one, row.AFTER]
        if held == after:
            continue
        base = inst[one, row.NODE] * do.LISTS
        if held != row.NONE and read[base + do.ENDED_LIST]:
            n = put(items, heads, base + do.ENDED_LIST, one, held, n)
        if after != row.NONE and read[base + do.STARTED_LIST]:
            n = put(items, heads, base + do.STARTED_LIST, one, after, n)
    return n


@lean
def put(items: Ints, heads: Ints, which: int, one: int, value: int, n: int) -> int:
    """One more item in a list; there is room for it."""
    items[n, row.ITEM], items[n, row.ITEM_VALUE] = one, value
    items[n, row.AFTER_IT] = heads[which]
    heads[which] = n
    return n + 1


@lean
def tell(points: Ints, kind: int, one: int, value: int, t: int, n: int) -> int:
    """One more point of the answer; there is room for it."""
    points[n, 0], points[n, 1], points[n, 2], points[n, 3] = kind, one, value, t
    return n + 1


@lean
def list_said(
    said: Ints, first: int, last: int, read: Mask, told: Mask, points: Ints, items: Ints,
    heads: Ints, t: int, come: Ints,
) -> None:  # fmt: skip
    """Let later layers, and those who ask for the answer, see initiations and terminations."""
    for k in range(first, last):
        one, value, kind = said[k, row.OF], said[k, row.WHAT], said[k, row.KIND]
        which = said[k, row.ABOUT] * do.LISTS
        which += do.INITIATED_LIST if kind == do.INITIATE else do.ENDED_LIST
        if kind != do.GHOST and told[which]:
            come[row.M_POINTS] = tell(points, kind, one, value, t, come[row.M_POINTS])
        if kind == do.INITIATE and read[which]:
            come[row.M_ITEMS] = put(items, heads, which, one, value, come[row.M_ITEMS])
