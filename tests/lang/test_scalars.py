"""What arithmetic, the order of terms and built-in predicates come to, one value at a time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.story import show, term

from horai.lang.core.arithmetic import NoValue, evaluate, number_term, order_key, total
from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    ListTerm,
    Str,
    Term,
    Var,
    parameter_count,
    to_python,
    to_term,
)
from horai.lang.ec.syntax import Call
from horai.oracle.ec.solver import built_in
from horai.oracle.ec.terms import resolve

# --- arithmetic ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2+3*4", 14),
        ("7-10", -3),
        ("6/3", 2),
        ("7/2", 3.5),
        ("7//2", 3),
        ("-7//2", -3),
        ("-7 mod 3", 2),
        ("7 mod -3", -2),
        ("-7 rem 3", -1),
        ("2**3", 8),
        ("2^10", 1024),
        ("2** -1", 0.5),
        ("min(2,3)", 2),
        ("max(2,2.0)", 2),
        ("min(2,2.0)", 2),
        ("abs(-4)", 4),
        ("sign(-2)", -1),
        ("floor(2.7)", 2),
        ("ceiling(2.1)", 3),
        ("round(2.5)", 3),
        ("round(-2.5)", -3),
        ("round(0.49999999999999994)", 0),
        ("truncate(-2.7)", -2),
        ("sqrt(9)", 3.0),
        ("inf", math.inf),
        ("-inf", -math.inf),
    ],
)
def test_arithmetic(text: str, value: float) -> None:
    found = evaluate(term(text), {})
    assert found == value
    assert isinstance(found, int) == isinstance(value, int)


@pytest.mark.parametrize(
    "text",
    ["a+1", "1/0", "1 mod 0", "X+1", "sqrt(-1)", "2.5//1", "7.0 mod 2", "floor(inf)", "f(1)"],
)
def test_expressions_without_a_value(text: str) -> None:
    with pytest.raises(NoValue):
        evaluate(term(text), {})


def test_a_huge_power_is_refused_rather_than_computed() -> None:
    with pytest.raises(NoValue):
        evaluate(term("2**1000000000"), {})


@given(st.permutations([0.1, 0.2, 0.3, 1e16, -1e16, 3.0]))
def test_sums_do_not_depend_on_order(numbers: list[float]) -> None:
    assert total(numbers) == total(sorted(numbers))


def test_infinity_is_an_atom_again() -> None:
    assert number_term(math.inf) == Constant("inf")
    assert number_term(3) == Int(3)
    assert number_term(0.5) == Float(0.5)


def test_the_standard_order_of_terms() -> None:
    ordered = ["X", "1.0", "1", "2", "a", "b", '"a"', "f(a)", "g(a)", "f(a,b)"]
    assert [show(t) for t in sorted(map(term, reversed(ordered)), key=order_key)] == ordered


# --- built-in predicates -------------------------------------------------------------------------


def ask(call: str) -> list[str]:
    """The values of X in all solutions."""
    goal = term(call)
    assert isinstance(goal, Compound)
    found = built_in(Call(goal.name, goal.args, goal), {})
    return [show(resolve(Var("X"), env)) for env in found]


@pytest.mark.parametrize(
    ("call", "values"),
    [
        ("member(X,[a,b,a])", ["a", "b", "a"]),
        ("between(2,4,X)", ["2", "3", "4"]),
        ("between(3,2,X)", []),
        ("length([a,b],X)", ["2"]),
        ("sum_list([1,2,3],X)", ["6"]),
        ("sum_list([],X)", ["0"]),
        ("max_list([1,3,2],X)", ["3"]),
        ("min_list([],X)", []),
        ("nth0(1,[a,b],X)", ["b"]),
        ("nth1(X,[a,b,a],a)", ["1", "3"]),
        ("append([a],[b],X)", ["[a,b]"]),
        ("sort([b,a,b],X)", ["[a,b]"]),
        ("msort([b,a,b],X)", ["[a,b,b]"]),
        ("reverse([a,b],X)", ["[b,a]"]),
        ("last([a,b],X)", ["b"]),
        ("list_to_set([b,a,b],X)", ["[b,a]"]),
        ("atom_length(abc,X)", ["3"]),
    ],
)
def test_builtins(call: str, values: list[str]) -> None:
    assert ask(call) == values


@pytest.mark.parametrize(
    ("call", "true"),
    [
        ("atom(a)", True),
        ("atom(1)", False),
        ("number(1.5)", True),
        ("integer(1.5)", False),
        ("float(1.5)", True),
        ("atomic(a)", True),
        ("atomic(f(a))", False),
        ("compound(f(a))", True),
        ("is_list([a])", True),
        ("is_list(a)", False),
        ("between(1,inf,7)", True),
        ("memberchk(c,[a,b])", False),
    ],
)
def test_tests(call: str, true: bool) -> None:
    assert bool(ask(call)) == true


# --- Python values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (Constant("a b"), "a b"),
        (Int(3), 3),
        (Float(0.5), 0.5),
        (ListTerm((Int(1), ListTerm((Constant("a"),)))), [1, ["a"]]),
        (Compound("f", (Int(1),)), Compound("f", (Int(1),))),
    ],
)
def test_terms_and_python_values(written: Term, value: object) -> None:
    assert to_python(written) == value
    assert to_term(value) == written


def test_python_values_that_come_back_as_others() -> None:
    assert to_python(Str("a")) == "a" and to_term("a") == Constant("a")
    assert to_term(True) == Constant("true") and to_term((1,)) == ListTerm((Int(1),))
    with pytest.raises(TypeError, match="which is no term"):
        to_term(None)


def test_parameters_of_a_python_predicate() -> None:
    assert parameter_count(lambda x, y: x < y) == 2
