"""Joins of rows that have times with fluents that hold at these times.

Two fluents may share nothing but the time: `holdsAt(at(A)=P,T), holdsAt(at(B)=P2,T)`. Joined by
their arguments first, each row would meet every pair that ever held. Sorted by what they share and
by time, only those are made that hold together: one of them begins while the other holds.
"""

from __future__ import annotations

import numpy as np

from horai.engine.columns import bits, codes_of
from horai.engine.frames import Frame
from horai.engine.hashing import build, dense, first
from horai.engine.ranges import between
from horai.engine.relations import Match, Pattern, Relation, flat, pattern_of
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.lang.core.terms import Term
from horai.temporal.sorting import offsets_of, order
from horai.temporal.spans import Ints, Spans

FEW = 1 << 16  # candidates that are sooner made and looked at than avoided
OFTEN = 8  # pairs that share what a row asks for, likewise


def is_crowded(frame: Frame, fluent: Fluent, terms: tuple[Term, ...], symbols: Symbols) -> bool:
    """Would rows meet many pairs, were they joined by arguments alone?"""
    if frame.rows * fluent.pairs.rows <= FEW:
        return False
    table, terms, _ = flat(fluent.pairs, terms, symbols)
    keys = [key for key, _ in _keys(table, pattern_of(frame, terms, symbols), symbols)]
    numbers, _ = dense(keys, table.rows)
    return bool(len(numbers)) and int(np.bincount(numbers).max()) > OFTEN


def overlap_join(
    frame: Frame, when: Spans, fluent: Fluent, terms: tuple[Term, ...], symbols: Symbols
) -> tuple[Match, Spans]:
    """The rows of a frame, each with its times, beside the pairs that hold at some of them.

    Also the times they have in common, keyed by the rows of the match.
    """
    table, terms, origin = flat(fluent.pairs, terms, symbols)
    pattern = pattern_of(frame, terms, symbols)
    asked, entity = _shared(frame, table, pattern, symbols)
    spans = fluent.spans if origin is None else fluent.lists(origin)
    one, other = _overlapping(when, asked[when.key], spans, entity[spans.key])
    for a, b in pattern.twice:
        here = spans.key[other]
        same = np.equal(*(codes_of(table.columns[c], symbols)[here] for c in (a, b)))
        one, other = one[same], other[same]
    left, right = when.key[one], spans.key[other]
    start = np.maximum(when.start[one], spans.start[other])
    end = np.minimum(when.end[one], spans.end[other])
    sorting = np.lexsort((start, right, left))
    left, right = left[sorting], right[sorting]
    new = np.ones(len(left), np.bool_)
    new[1:] = (left[1:] != left[:-1]) | (right[1:] != right[:-1])
    common = Spans(np.cumsum(new) - 1, start[sorting], end[sorting])
    return Match(frame, table, left[new], right[new], origin, pattern.news), common


def _keys(table: Relation, pattern: Pattern, symbols: Symbols) -> list[tuple[Ints, Ints]]:
    """What columns of a table must equal, both as integers that can be compared."""
    found: list[tuple[Ints, Ints]] = []
    for position, column in pattern.keys:
        coded = column.kind != table.columns[position].kind
        wanted = codes_of(column, symbols) if coded else bits(column)
        found.append((table.key(position, coded, symbols), wanted))
    return found


def _shared(frame: Frame, table: Relation, pattern: Pattern, symbols: Symbols) -> tuple[Ints, Ints]:
    """What rows and pairs share, as a number of each; -1 for a row that has no partner."""
    keys = _keys(table, pattern, symbols)
    entity, firsts = dense([key for key, _ in keys], table.rows)
    if not keys:
        return np.zeros(frame.rows, np.int64), entity
    asked = [np.broadcast_to(wanted, frame.rows) for _, wanted in keys]
    return first(asked, build([key[firsts] for key, _ in keys])), entity


def _overlapping(one: Spans, keys: Ints, other: Spans, other_keys: Ints) -> tuple[Ints, Ints]:
    """The places of spans with the same key that have a time in common, each pair once."""
    # The second begins within the first; or the first begins within the second, after its start.
    first_left, first_right = _beginning(keys, one.start, one.end - 1, other_keys, other.start)
    then_right, then_left = _beginning(other_keys, other.start + 1, other.end - 1, keys, one.start)
    return np.concatenate((first_left, then_left)), np.concatenate((first_right, then_right))


def _beginning(
    keys: Ints, low: Ints, high: Ints, other_keys: Ints, start: Ints
) -> tuple[Ints, Ints]:
    """Places on the left, and on the right of what has the same key and begins between."""
    known = np.flatnonzero(other_keys >= 0)
    many = int(max(keys.max(initial=-1), other_keys.max(initial=-1))) + 1
    sorting = known[order(other_keys[known], start[known])]
    offsets = offsets_of(other_keys[known], many)
    left, right = between(keys, low, high, offsets, start[sorting])
    return left, sorting[right]
