"""Python predicates on columns against the reference engine row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.tables import Table, tables
from tests.engine.test_matching import answers
from tests.weights import examples

import horai
from horai.engine.columns import column_of, constant, floats, ints, terms_of
from horai.engine.python_predicates import call_python
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Term, Var, variables
from horai.lang.core.values import parameter_count, to_python, to_term
from horai.lang.ec.errors import PredicateFailed
from horai.oracle.ec.terms import Env, resolve, unify


def alike(a: object, b: object) -> bool:
    return type(a) is type(b)


def pair(a: object, b: object) -> object:
    return [a, b] if isinstance(a, int | str) else None


def shown(a: object) -> str:
    return str(type(a).__name__)


def constant_answer() -> bool:
    return True


def expected(function: Any, args: tuple[Term, ...], table: Table) -> list[tuple[int, Env]]:
    """As in the reference engine."""
    free = [name for name in variables(Compound("_", args)) if name not in table.columns]
    wanted: list[tuple[int, Env]] = []
    for row, env in enumerate(table.envs):
        values = [to_python(resolve(arg, env)) for arg in args]
        tests = parameter_count(function) == len(values)
        result = function(*values) if tests else function(*values[:-1])
        found = env if tests and result else None
        if not tests and result is not None:
            found = unify(args[-1], to_term(result), env)
        if found is not None:
            wanted.append((row, {name: resolve(Var(name), found) for name in free}))
    return wanted


X, Y, Z, V, W = (Var(name) for name in "XYZVW")
CALLS: list[tuple[Any, tuple[Term, ...]]] = [
    (alike, (X, Y)),
    (alike, (X, Compound("f", (Y,)))),
    (pair, (X, Y, V)),
    (pair, (X, Y, Z)),
    (pair, (X, Int(1), ListTerm((V, W)))),
    (pair, (X, Y, ListTerm((Y, W)))),
    (shown, (X, V)),
    (shown, (X, Constant("int"))),
    (constant_answer, (V,)),
]


@given(st.sampled_from(CALLS), tables())
@examples("light")
def test_answers_are_those_of_the_reference(
    asked: tuple[Any, tuple[Term, ...]], table: Table
) -> None:
    function, args = asked
    found = call_python("p", function, args, table.columns, table.rows, table.symbols)
    assert answers(found, table) == expected(function, args, table)


def test_a_function_is_asked_once_for_each_distinct_row() -> None:
    asked: list[object] = []

    def seen(x: object) -> bool:
        asked.append(x)
        return x == 2

    columns = {"X": ints(np.array([1, 2, 1, 2]))}
    found = call_python("seen", seen, (X,), columns, 4, Symbols())
    assert found.rows.tolist() == [1, 3]
    assert asked == [1, 2]


@pytest.mark.parametrize("at_once", [False, True])
def test_errors_name_the_predicate(at_once: bool) -> None:
    def broken(x: object) -> bool:
        raise KeyError("no")

    function = horai.vectorised(broken) if at_once else broken
    with pytest.raises(PredicateFailed) as caught:
        call_python("broken", function, (X,), {"X": ints(np.array([1]))}, 1, Symbols())
    assert str(caught.value) == "the Python predicate broken failed: 'no'"


def test_what_is_no_term_is_an_error() -> None:
    def strange(x: object) -> object:
        return {1}

    with pytest.raises(PredicateFailed, match=r"returned \{1\}, which is no term"):
        call_python("strange", strange, (X, Y), {"X": ints(np.array([1]))}, 1, Symbols())


# --- whole columns at once -----------------------------------------------------------------------


@horai.vectorised
def far(x: Any, y: Any) -> Any:
    return np.hypot(x, y) > 100


@horai.vectorised
def half(x: Any) -> Any:
    return np.where(x > 0, x / 2, np.nan)


@horai.vectorised
def named(x: Any) -> Any:
    return [None if name == "b" else f"{name}!" for name in x]


def test_a_vectorised_test_gets_arrays_and_returns_a_mask() -> None:
    columns = {"X": floats(np.array([3.0, 90.0])), "Y": ints(np.array([4, 80]))}
    assert call_python("far", far, (X, Y), columns, 2, Symbols()).rows.tolist() == [1]


def test_a_vectorised_function_returns_values_and_none_where_there_is_nan() -> None:
    found = call_python("half", half, (X, V), {"X": ints(np.array([3, -1]))}, 2, Symbols())
    assert found.rows.tolist() == [0]
    assert found.new["V"].data.tolist() == [1.5]


def test_atoms_come_as_strings_and_none_is_no_answer() -> None:
    symbols = Symbols()
    columns = {"X": column_of([Constant("a"), Constant("b")], symbols)}
    found = call_python("named", named, (X, V), columns, 2, symbols)
    assert found.rows.tolist() == [0]
    assert terms_of(found.new["V"], symbols) == [Constant("a!")]


@pytest.mark.parametrize(
    ("answer", "term"),
    [(np.array([True]), Constant("true")), (np.array([7]), Int(7)), (np.array([0.5]), Float(0.5))],
)
def test_arrays_of_each_kind_become_terms(answer: Any, term: Term) -> None:
    symbols = Symbols()
    function = horai.vectorised(lambda x: answer)
    found = call_python("f", function, (X, V), {"X": ints(np.array([1]))}, 1, symbols)
    assert terms_of(found.new["V"], symbols) == [term]
    assert to_term(function(1)) == term  # one row at a time, as the reference engine asks


def test_too_few_answers_are_an_error() -> None:
    function = horai.vectorised(lambda x: x[:1])
    with pytest.raises(PredicateFailed, match="1 answers for 2 rows"):
        call_python("f", function, (X,), {"X": ints(np.array([1, 2]))}, 2, Symbols())


def test_without_rows_nothing_is_asked() -> None:
    function = horai.vectorised(lambda x: 1 / 0)
    columns = {"X": constant(Int(1), 0, Symbols())}
    assert call_python("f", function, (X, V), columns, 0, Symbols()).rows.tolist() == []


def test_a_vectorised_function_can_be_called_with_plain_values() -> None:
    assert far(3, 4) is False
    assert far(90.0, 80) is True
    assert half(-1) is None
    assert named("a") == "a!"


def test_both_engines_can_run_vectorised_predicates() -> None:
    rules = horai.loads(
        "initiatedAt(away(V)=true, T) :- happensAt(position(V, X, Y), T), far(X, Y).",
        predicates=[far],
    )
    result = rules.run(["position|1|1|v1|3|4", "position|2|2|v2|90|80"])
    assert [row.args for row in result.rows()] == [("v2",)]
