"""Changes of operations on lists are the differences of what the operations give."""

from __future__ import annotations

from functools import reduce
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.temporal.columns import LATE, Held, Row, column, held, maximal, relation, rows_of
from tests.temporal.paper import (
    equation_15,
    equation_18,
    equation_19,
    equation_22,
    equation_23,
    equation_26,
    known,
)

from horai.temporal import deltas
from horai.temporal.changes import Change, applied, difference, normalised
from horai.temporal.deltas import Operand
from horai.temporal.revise import OPERATIONS, from_scratch, revised
from horai.temporal.spans import INF

KEYS = list(range(-2, 4))
Pair = tuple[list[Row], list[Row]]  # a list before and now


@st.composite
def revisions(draw: st.DrawFn) -> Pair:
    """A list and the same one with a few spans taken away and added; some end never."""
    row = st.tuples(st.sampled_from(KEYS), st.integers(-8, 16), st.integers(1, 9))
    rows = st.lists(row.map(lambda r: (r[0], r[1], INF if r[2] == 9 else r[1] + r[2])), max_size=10)
    old, gone, new = draw(rows), draw(rows), draw(rows)
    return old, maximal((held(old) - held(gone)) | held(new))


pairs = st.lists(revisions(), min_size=1, max_size=4)


def operand(pair: Pair, with_new: bool) -> Operand:
    old, new = relation(pair[0]), relation(pair[1])
    return Operand(old, difference(old, new), new if with_new else None)


def points_of(operation: str, lists: list[Held]) -> Held:
    if operation == "union_all":
        return set().union(*lists)
    if operation == "intersect_all":
        return set.intersection(*lists)
    return lists[0].difference(*lists[1:])


def change_by(operation: str, operands: list[Operand]) -> Change:
    if operation == "relative_complement_all":
        return deltas.relative_complement_all(operands[0], operands[1:])
    change: Change = getattr(deltas, operation)(operands)
    return change


@pytest.mark.parametrize("operation", OPERATIONS)
@given(pairs, st.booleans())
def test_changes_are_normalised_and_lead_to_the_new_list(
    operation: str, given_pairs: list[Pair], with_new: bool
) -> None:
    old = points_of(operation, [held(before) for before, _ in given_pairs])
    new = points_of(operation, [held(now) for _, now in given_pairs])
    operands = [operand(pair, with_new) for pair in given_pairs]
    change = change_by(operation, operands)
    assert rows_of(change.gone) == maximal(old - new)
    assert rows_of(change.new) == maximal(new - old)
    result = relation(maximal(old))
    assert rows_of(applied(result, change)) == maximal(new)
    for way in ("changes", "scratch"):
        with patch("horai.temporal.revise.cheaper", return_value=way):
            found, same = revised(operation, result, operands)
        assert rows_of(found) == maximal(new)
        assert [rows_of(part) for part in same] == [rows_of(part) for part in change]


@given(pairs, st.sets(st.sampled_from(KEYS)), st.integers(-9, 20))
def test_the_complement_changes_the_other_way(
    given_pairs: list[Pair], keys: set[int], first: int
) -> None:
    whole = {(k, t) for k in keys for t in range(first, LATE)}
    old = whole - points_of("union_all", [held(before) for before, _ in given_pairs])
    new = whole - points_of("union_all", [held(now) for _, now in given_pairs])
    operands = [operand(pair, True) for pair in given_pairs]
    change = deltas.complement_all(column(sorted(keys)), operands, first)
    assert rows_of(change.gone) == maximal(old - new)
    assert rows_of(change.new) == maximal(new - old)


@given(revisions(), revisions())
def test_the_equations_as_printed_give_the_new_lists(one: Pair, two: Pair) -> None:
    a, b = operand(one, True), operand(two, True)
    was = known(a.old, b.old)
    new_a, new_b = held(one[1]), held(two[1])
    assert rows_of(equation_15(was, a.change, b.change)[-1]) == maximal(new_a | new_b)
    assert rows_of(equation_19(was, a.change, b.change)[-1]) == maximal(new_a & new_b)
    assert rows_of(equation_23(was, a.change, b.change)[-1]) == maximal(new_a - new_b)


@given(revisions(), revisions())
def test_the_cheap_equations_do_without_deletions(one: Pair, two: Pair) -> None:
    points_a, points_b = (held(p[0]) | held(p[1]) for p in (one, two))
    a, b = (operand((p[0], p[0] + p[1]), True) for p in (one, two))
    was = known(a.old, b.old)
    assert a.new is not None and b.new is not None
    union = equation_18(was, a.change, b.change)
    both = equation_22(was, a.change, b.change, a.new, b.new)
    rest = equation_26(was, a.change, b.change, b.new)
    assert rows_of(union) == maximal(points_a | points_b)
    assert rows_of(both) == maximal(points_a & points_b)
    assert rows_of(rest) == maximal(points_a - points_b)


def test_the_equations_need_normalised_changes() -> None:
    """If B is said to lose what only A had, equation 15 takes it away from the union."""
    a, b, gone = relation([(0, 0, 4)]), relation([(0, 2, 6)]), relation([(0, 0, 6)])
    same, nothing = difference(a, a), relation([])
    loose = equation_15(known(a, b), same, Change(gone, nothing))
    assert rows_of(loose[-1]) == [(0, 2, 4)]
    right = equation_15(known(a, b), same, normalised(b, gone, nothing))
    assert rows_of(right[-1]) == [(0, 0, 4)]


def test_what_did_not_change_changes_nothing() -> None:
    some = relation([(0, 1, 5), (1, 2, INF)])
    same = Operand(some, difference(some, some))
    for operation in OPERATIONS:
        assert len(change_by(operation, [same, same])) == 0
    assert len(deltas.complement_all(column([0]), [same], 0)) == 0
    assert len(deltas.union_all([])) == 0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_long_lists_say_the_same(operation: str) -> None:
    dice = np.random.default_rng(3)
    operands = [_long(dice, late) for late in (10, 0, 500)]
    old = from_scratch(operation, [Operand(o.old, o.change, o.old) for o in operands])
    new = from_scratch(operation, operands)
    exact = difference(old, new)
    change = change_by(operation, operands)
    assert rows_of(revised(operation, old, operands)[0]) == rows_of(new)
    for found, expected in zip(change, exact, strict=True):
        assert rows_of(found) == rows_of(expected)
    assert rows_of(applied(old, change)) == rows_of(new)


def _long(dice: np.random.Generator, late: int) -> Operand:
    """6,000 spans of 100 keys, and so many spans of changes."""
    old = relation(_random_rows(dice, 6_000))
    moved = relation(_random_rows(dice, late)) if late else relation([])
    change = normalised(old, moved, relation(_random_rows(dice, late)))
    return Operand(old, change, applied(old, change))


def _random_rows(dice: np.random.Generator, rows: int) -> list[Row]:
    key, start = dice.integers(0, 100, rows), dice.integers(0, 12_000, rows)
    end = start + dice.integers(1, 60, rows)
    return list(zip(key.tolist(), start.tolist(), end.tolist(), strict=True))


def test_lists_are_folded_in_the_order_given() -> None:
    rows: list[list[Row]] = [[(0, 0, 9)], [(0, 1, 3)], [(0, 5, 7)]]
    operands = [operand((row, row), True) for row in rows]
    left = reduce(lambda a, b: a - b, (held(row) for row in rows))
    assert rows_of(from_scratch("relative_complement_all", operands)) == maximal(left)
