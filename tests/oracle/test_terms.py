"""Unification of terms, as the reference engine has it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.story import term

from horai.lang.core.terms import (
    Compound,
    Constant,
    Float,
    Int,
    ListTerm,
    Str,
    Term,
    Var,
    is_ground,
)
from horai.oracle.ec.terms import covers, ground, resolve, unify

terms: st.SearchStrategy[Term] = st.recursive(
    st.one_of(
        st.sampled_from([Constant("a"), Constant("b"), Int(1), Int(2), Float(1.0), Str("a")]),
        st.sampled_from([Var("X"), Var("Y"), Var("Z")]),
    ),
    lambda inner: st.one_of(
        st.builds(lambda args: Compound("f", tuple(args)), st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda items: ListTerm(tuple(items)), st.lists(inner, max_size=2)),
        st.builds(lambda item, tail: ListTerm((item,), tail), inner, st.just(Var("Z"))),
    ),
    max_leaves=6,
)


@given(terms, terms)
def test_unified_terms_are_equal(left: Term, right: Term) -> None:
    env = unify(left, right, {})
    if env is not None:
        assert resolve(left, env) == resolve(right, env)


@given(terms, terms)
def test_unification_does_not_care_for_sides(left: Term, right: Term) -> None:
    assert (unify(left, right, {}) is None) == (unify(right, left, {}) is None)


@given(terms)
def test_a_term_unifies_with_its_instances(pattern: Term) -> None:
    instance = resolve(pattern, {"X": Constant("a"), "Y": Int(2), "Z": ListTerm(())})
    env = unify(pattern, instance, {})
    assert env is not None
    assert ground(pattern, env) and is_ground(instance)
    assert resolve(pattern, env) == instance


@pytest.mark.parametrize(
    ("left", "right", "fits"),
    [
        ("f(X,b)", "f(a,Y)", True),
        ("f(X,X)", "f(a,b)", False),
        ("1", "1.0", False),
        ("a", '"a"', False),
        ("[H|R]", "[a,b,c]", True),
        ("[H|R]", "[]", False),
        ("[A,B]", "[a]", False),
        ("[A|R]", "[B]", True),
        ("f(a)", "g(a)", False),
        ("f(a)", "f(a,b)", False),
        ("close(C,M)", "close(john,mary)", True),
        ("X", "f(X)", False),  # no finite term is part of itself
        ("f(X,Y)", "f(Y,g(X))", False),
    ],
)
def test_unification(left: str, right: str, fits: bool) -> None:
    assert (unify(term(left), term(right), {}) is not None) == fits


def test_what_a_termination_ends() -> None:
    assert covers(None, Constant("a"))
    assert covers(Constant("a"), Constant("a")) and not covers(Constant("a"), Constant("b"))
    assert covers(term("level(_)"), term("level(3)")) and not covers(
        term("level(_)"), Constant("a")
    )
