"""Aggregates by group against the reference engine, group by group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import NUMBERS, Table, flat, tables
from tests.weights import examples

from horai.engine.aggregates import aggregate
from horai.engine.columns import column_of, floats, ints, terms_of
from horai.engine.symbols import Symbols
from horai.lang.core.arithmetic import NoValue, evaluate, largest, number_term, smallest, total
from horai.lang.core.order import sorted_bag, sorted_set
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Term, Var

ROWS = 4
KINDS = ["count", "sum", "max", "min", "bag", "set", "findall"]


def expected(kind: str, values: list[Term]) -> Term | None:
    """As in the reference engine; None where the condition fails."""
    try:
        match kind:
            case "count":
                return Int(len(values))
            case "bag" | "findall":
                return ListTerm(sorted_bag(values))
            case "set":
                return ListTerm(sorted_set(values))
            case "sum":
                return number_term(total(evaluate(value, {}) for value in values))
        pick = largest if kind == "max" else smallest
        return number_term(pick([evaluate(value, {}) for value in values])) if values else None
    except NoValue:
        return None


def check(kind: str, groups: list[int], table: Table) -> None:
    column = table.columns["X"]
    group = np.array((groups * 6)[: table.rows], np.int64)
    mask, found = aggregate(kind, group, Var("X"), table.columns, ROWS, table.symbols)
    listed = terms_of(column, table.symbols)
    wanted = [
        expected(kind, [term for term, g in zip(listed, group, strict=True) if g == row])
        for row in range(ROWS)
    ]
    assert mask.tolist() == [term is not None for term in wanted]
    assert terms_of(found, table.symbols) == [term for term in wanted if term is not None]


group_lists = st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=6)


@pytest.mark.parametrize("kind", KINDS)
@given(group_lists, tables())
@examples("normal")
def test_aggregates_of_any_terms(kind: str, groups: list[int], table: Table) -> None:
    check(kind, groups, table)


@pytest.mark.parametrize("kind", ["sum", "max", "min"])
@given(group_lists, tables([*NUMBERS, flat]))
@examples("normal")
def test_aggregates_of_numbers(kind: str, groups: list[int], table: Table) -> None:
    check(kind, groups, table)


def test_sums_of_decimals_are_rounded_once() -> None:
    symbols = Symbols()
    values = floats(np.array([1e16, 1.0, -1e16, 0.1]))
    mask, found = aggregate("sum", np.array([1, 1, 1, 0]), Var("X"), {"X": values}, 3, symbols)
    assert mask.tolist() == [True, True, True]
    assert terms_of(found, symbols) == [Float(0.1), Float(1.0), Int(0)]


def test_nothing_is_largest_among_nothing() -> None:
    columns = {"X": ints(np.array([1, 2, 3]))}
    mask, found = aggregate("max", np.array([2, 0, 2]), Var("X"), columns, 3, Symbols())
    assert mask.tolist() == [True, False, True]
    assert found.data.tolist() == [2, 3]


def test_one_solution_without_a_value_leaves_its_row_without_a_sum() -> None:
    symbols = Symbols()
    column = column_of([Int(1), Constant("a"), Int(3)], symbols)
    mask, found = aggregate("sum", np.array([0, 0, 1]), Var("X"), {"X": column}, 2, symbols)
    assert mask.tolist() == [False, True]
    assert terms_of(found, symbols) == [Int(3)]


def test_a_template_may_be_an_expression() -> None:
    symbols = Symbols()
    columns = {"X": ints(np.array([1, 2, 3]))}
    double = Compound("*", (Int(2), Var("X")))
    assert aggregate("sum", np.zeros(3, int), double, columns, 1, symbols)[1].data[0] == 12
    bag = aggregate("bag", np.zeros(3, int), double, columns, 1, symbols)[1]
    wanted = ListTerm(tuple(Compound("*", (Int(2), Int(n))) for n in (1, 2, 3)))
    assert terms_of(bag, symbols) == [wanted]


def test_solutions_are_counted_without_a_template() -> None:
    counted = aggregate("count", np.array([1, 1]), None, {}, 3, Symbols())[1]
    assert counted.data.tolist() == [0, 2, 0]
