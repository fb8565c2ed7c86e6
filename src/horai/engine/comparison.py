"""Comparison of numbers and of terms, column against column."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from horai.engine import numbers
from horai.engine.arithmetic import computed, tell
from horai.engine.columns import Column, codes_of
from horai.engine.hashing import dense
from horai.engine.matching import build, equal, unifiable
from horai.engine.symbols import Symbols
from horai.lang.core.arithmetic import COMPARISONS
from horai.lang.core.order import ORDER, order_key
from horai.lang.core.terms import Compound, Term
from horai.temporal.spans import Ints, Mask

Columns = Mapping[str, Column]


def compare(
    op: str, left: Term, right: Term, columns: Columns, rows: int, symbols: Symbols
) -> Mask:
    """In which rows does the comparison hold?"""
    if op in COMPARISONS:
        return _numbers(op, left, right, columns, rows, symbols)
    if op == "\\=":
        return ~unifiable(left, right, columns, rows, symbols)
    ours, theirs = (build(side, columns, rows, symbols) for side in (left, right))
    match op:
        case "==":
            return equal(ours, theirs, symbols)
        case "\\==":
            return ~equal(ours, theirs, symbols)
        case _:
            return _ordered(op, ours, theirs, symbols)


def _numbers(
    op: str, left: Term, right: Term, columns: Columns, rows: int, symbols: Symbols
) -> Mask:
    ours, theirs = (computed(side, columns, rows, symbols) for side in (left, right))
    valid = ours.valid & theirs.valid
    tell(Compound(op, (left, right)), columns, valid, symbols)
    return valid & numbers.compare(op, ours, theirs)


def _ordered(op: str, left: Column, right: Column, symbols: Symbols) -> Mask:
    ask = ORDER[op]
    if left.kind == right.kind and left.kind != "term":
        return np.asarray(ask(left.data, right.data))
    ranked = ranks(np.concatenate([codes_of(left, symbols), codes_of(right, symbols)]), symbols)
    return np.asarray(ask(ranked[: len(left)], ranked[len(left) :]))


def ranks(codes: Ints, symbols: Symbols) -> Ints:
    """Integers that are in the order of the terms; terms that are equal in it get the same."""
    if (codes & 1).all():  # integers, whose codes are in order
        return codes
    of_row, first = dense([codes], len(codes))
    keys = [order_key(symbols.term(code)) for code in codes[first].tolist()]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    place = np.zeros(len(keys), np.int64)
    for before, after in pairwise(order):
        place[after] = place[before] + (keys[before] != keys[after])
    return place[of_row]
