"""What a compiled machine works on: arrays, and what the columns of their rows mean."""

from __future__ import annotations

from typing import NamedTuple

from horai.temporal.spans import Ints, Mask

NONE = -4  # as the code of a value: there is none; no term has it
SEVERAL = -6  # different values are initiated at one moment

# Columns of an instance of an event or fluent. Its node; the value that holds, its start; the
# number of the last moment at which something was said of it, what is said (the value initiated,
# signs), the value after the moment and the last moment for which that is settled; the last break
# of all values but one (which, when), and the last before that of this one too. Then arguments.
NODE, HELD, START, MOMENT, NEW, SIGNS, AFTER, SETTLED, SPARED, OTHERS, ALL, ARGS = range(12)
# Signs: the new value may hold; it (without one: the value that holds) is ended; all values are.
MAY_HOLD, IS_ENDED, ALL_ENDED = 1, 2, 4
# Columns of a pair from which delayed effects start: instance and value; its last termination by
# name and last initiation; the last moment that initiates it, the last round in which an effect
# does, the last moment at which attempts were made; is it postponable? Then last acts, by effect.
INSTANCE, VALUE, TERMINATED, INITIATED, MOMENT_OF, ROUND_OF, TRIED, POSTPONABLE, ACTED = range(9)
# Columns of an attempt; then what is kept for its deadline.
EFFECT, PAIR, SINCE, DEADLINE, KEPT = range(5)
# Columns of an item in a list of the moment: an instance, a value, the next item.
ITEM, ITEM_VALUE, AFTER_IT = range(3)
# Columns of what is said at a moment: instance, value, kind, node, pair. What effects that are due
# would say has one more: the place of the attempt among those that are due.
OF, WHAT, KIND, ABOUT, FROM, DUE_PLACE = range(6)
# Columns of a table: where its cells begin, its width, the keys among its columns, where its hash
# heads begin and how many there are, where the next rows of its rows begin.
CELLS, WIDE, KEYS, HEADS, SIZE, AFTER_ROWS = range(6)

# How far the machine has come: rows of each kind, the next candidate, moments, rounds, the time;
# whether the moment was begun before, and which array was full then.
(
    N_INST, N_PAIRS, N_ATTEMPTS, N_QUEUE, N_DUE, N_SPANS, N_POINTS, NEXT, MOMENTS, ROUNDS, CLOCK,
    RETRY, FULL,
) = range(13)  # fmt: skip
# What is not to last before the whole moment is known.
M_ITEMS, M_SAID, M_TOUCHED, M_EFFECTS, M_POINTS, M_ATTEMPTS = range(13, 19)
COME = 19
# Arrays that may be full.
(
    FULL_INST, FULL_PAIRS, FULL_ATTEMPTS, FULL_QUEUE, FULL_ITEMS, FULL_SAID, FULL_DUE,
    FULL_EFFECTS, FULL_SPANS, FULL_POINTS,
) = range(10)  # fmt: skip
# Why the pass stopped.
DONE, NO_ROOM, UNSETTLED, GAVE_UP = range(4)


class Candidates(NamedTuple):
    """When rules may fire, sorted by time and layer; `place` is where what they bring along is."""

    time: Ints
    layer: Ints
    rule: Ints
    place: Ints
    cells: Ints


class Given(NamedTuple):
    """All that does not change.

    Names that end in `from` are offsets: what belongs to the k-th lies from there to the next.
    """

    code: Ints
    pool: Ints
    arity: Ints  # by node
    read: Mask  # by list of the moment: does a rule go through it?
    told: Mask  # by list: is it wanted as an answer? (of ends, terminations)
    rule_entry: Ints
    rule_width: Ints
    asked_from: Ints  # rules without a time, by layer
    asked_entry: Ints
    source_from: Ints  # the lists of which each of them needs one to be filled
    sources: Ints
    delay_from: Ints  # by node
    delay_early: Ints
    delay_late: Ints
    delay_layer: Ints
    delay_kept: Ints
    delay_place: Ints  # among those of the node
    post_from: Ints  # by node
    post: Ints
    domain_from: Ints  # by node
    domains: Ints
    tables: Ints
    cells: Ints
    table_heads: Ints
    table_next: Ints
    index_node: Ints
    index_from: Ints
    index_place: Ints
    before_from: Ints  # spans of pairs that were settled before
    before_start: Ints
    before_end: Ints


class Live(NamedTuple):
    """All that changes."""

    inst: Ints
    slots: Ints  # a hash table of instances
    pairs: Ints
    pair_slots: Ints
    attempts: Ints
    queue: Ints  # a binary heap of (time, attempt)
    items: Ints
    said: Ints
    touched: Ints
    due: Ints
    acts: Ints
    effects: Ints
    spans: Ints
    points: Ints
    index_heads: Ints  # by index and hash
    index_next: Ints  # by instance and index
    heads: Ints  # of the lists of the moment
    regs: Ints
    come: Ints
