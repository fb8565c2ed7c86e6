"""Arithmetic on columns against their definition, one value at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import NUMBERS, Table, tables, variables
from tests.weights import examples

from horai.engine.arithmetic import evaluate
from horai.engine.columns import Column, column_of, ints, terms_of
from horai.engine.operations import BINARY, UNARY
from horai.engine.symbols import Symbols
from horai.lang.core import arithmetic as reference
from horai.lang.core.terms import Compound, Constant, Float, Int, Term, Var

constants: st.SearchStrategy[Term] = st.sampled_from(
    [Int(0), Int(2), Int(-3), Int(2**62), Int(10**20), Float(0.5), Float(-0.0), Constant("inf")]
)
expressions = st.recursive(
    variables | constants,
    lambda inner: (
        st.builds(Compound, st.sampled_from(sorted(UNARY)), st.tuples(inner))
        | st.builds(Compound, st.sampled_from(sorted(BINARY)), st.tuples(inner, inner))
    ),
    max_leaves=4,
)


def expected(expression: Term, env: dict[str, Term]) -> reference.Number | None:
    try:
        return reference.evaluate(expression, env)
    except reference.NoValue:
        return None


def check(expression: Term, table: Table) -> None:
    found = evaluate(expression, table.columns, table.rows, table.symbols)
    wanted = [expected(expression, env) for env in table.envs]
    assert found.valid.tolist() == [value is not None for value in wanted]
    values = found.values(table.rows)
    for got, value in zip(values, wanted, strict=True):
        assert value is None or repr(got) == repr(value)
    terms = terms_of(found.column(table.symbols), table.symbols)
    for term, value in zip(terms, wanted, strict=True):
        assert value is None or repr(value) == "nan" or term == reference.number_term(value)


@given(expressions, tables())
@examples("light")
def test_expressions_have_the_value_of_their_definition(expression: Term, table: Table) -> None:
    check(expression, table)


@pytest.mark.parametrize("name", sorted(BINARY))
@given(tables(NUMBERS))
@examples("normal")
def test_each_operation_of_two_numbers(name: str, table: Table) -> None:
    check(Compound(name, (Var("X"), Var("Y"))), table)


@pytest.mark.parametrize("name", sorted(UNARY))
@given(tables(NUMBERS))
@examples("normal")
def test_each_operation_of_one_number(name: str, table: Table) -> None:
    check(Compound(name, (Var("X"),)), table)


def test_there_are_all_operations_of_the_language() -> None:
    assert set(UNARY) == set(reference.UNARY)
    assert set(BINARY) == set(reference.BINARY)


def numbers(expression: Term, **columns: Column) -> list[object]:
    symbols = Symbols()
    rows = len(next(iter(columns.values())))
    found = evaluate(expression, columns, rows, symbols)
    terms = terms_of(found.column(symbols), symbols)
    return [t if ok else None for t, ok in zip(terms, found.valid.tolist(), strict=True)]


def test_division_that_goes_evenly_in_some_rows_only() -> None:
    quotients = numbers(Compound("/", (Var("X"), Int(2))), X=ints(np.array([4, 5, -6])))
    assert quotients == [Int(2), Float(2.5), Int(-3)]
    assert numbers(Compound("/", (Int(1), Var("X"))), X=ints(np.array([0, 1]))) == [None, Int(1)]


def test_an_expression_without_variables_has_its_value_in_every_row() -> None:
    found = evaluate(Compound("*", (Int(2), Constant("pi"))), {}, 3, Symbols())
    assert found.values(3) == [2 * math.pi] * 3
    assert found.valid.tolist() == [True] * 3


def test_a_variable_without_a_column_has_no_value() -> None:
    assert not evaluate(Compound("+", (Var("W"), Int(1))), {}, 2, Symbols()).valid.any()


def test_numbers_beyond_64_bits_are_decimals_too() -> None:
    symbols = Symbols()
    columns = {"X": column_of([Int(2**70), Int(-(10**400)), Float(0.5)], symbols)}
    found = evaluate(Var("X"), columns, 3, symbols)
    assert found.real.tolist() == [2.0**70, -math.inf, 0.5]
