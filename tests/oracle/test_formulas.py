"""Statically determined fluents as Boolean formulas: rules with a holdsAt head."""

from __future__ import annotations

import pytest
from tests.oracle.story import run

from horai.oracle.ec.intervals import INF

INPUTS = "collectIntervals(i(_)=true).\ncollectIntervals(j(_)=true).\n"
ITEMS = "i(x)=true 5-20; i(x)=true 26-28; j(x)=true 1-4; j(x)=true 18-22"


def m(body: str, items: str = ITEMS, extra: str = "") -> list[tuple[int, float]]:
    """The intervals of m(x)=true, defined by a formula."""
    rules = f"{INPUTS}holdsAt(m(X)=true,T) :- {body}.\n{extra}"
    return run(rules, items, 40).get("m(x)=true", [])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("holdsAt(i(X)=true,T)", [(5, 20), (26, 28)]),
        ("holdsAt(i(X)=true,T), holdsAt(j(X)=true,T)", [(18, 20)]),
        ("(holdsAt(i(X)=true,T) ; holdsAt(j(X)=true,T))", [(1, 4), (5, 22), (26, 28)]),
        ("holdsAt(i(X)=true,T), \\+ holdsAt(j(X)=true,T)", [(5, 18), (26, 28)]),
        ("\\+ holdsAt(i(X)=true,T)", [(1, 5), (20, 26), (28, INF)]),
        (
            "\\+ (holdsAt(i(X)=true,T) ; holdsAt(j(X)=true,T)), \\+ holdsAt(j(X)=true,T)",
            [(4, 5), (22, 26), (28, INF)],
        ),
        ("\\+ \\+ holdsAt(i(X)=true,T)", [(5, 20), (26, 28)]),
    ],
)
def test_formulas(body: str, expected: list[tuple[int, float]]) -> None:
    assert m(body) == expected


def test_absence_begins_after_the_start_of_the_run() -> None:
    rules = """
    initially(f(X)=true) :- thing(X).
    terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
    holdsAt(same(X)=true,T) :- holdsAt(f(X)=true,T).
    holdsAt(calm(X)=true,T) :- holdsAt(f(X)=true,T), \\+ holdsAt(g(X)=true,T).
    holdsAt(free(X)=true,T) :- holdsAt(f(X)=true,T), \\+ bad(X).
    holdsAt(alone(X)=true,T) :- thing(X), (holdsAt(g(X)=true,T) -> fail ; holdsAt(f(X)=true,T)).
    initiatedAt(g(X)=true,T) :- happensAt(c(X),T).
    thing(x). bad(y).
    """
    # At 0 nothing is said to be absent of fluents; that x is not bad has no time at all.
    assert run(rules, "b(x) 6; c(x) 3") == {
        "f(x)=true": [(0, 7)],
        "g(x)=true": [(4, INF)],
        "same(x)=true": [(0, 7)],
        "calm(x)=true": [(1, 4)],
        "alone(x)=true": [(1, 4)],
        "free(x)=true": [(0, 7)],
    }


def test_formulas_over_other_entities() -> None:
    rules = f"{INPUTS}holdsAt(m=true,T) :- holdsAt(i(X)=true,T), holdsAt(j(Y)=true,T), X \\= Y.\n"
    assert run(rules, "i(x)=true 5-10; j(x)=true 1-20; j(y)=true 8-12") == {"m=true": [(8, 10)]}
    some = f"{INPUTS}holdsAt(m=true,T) :- holdsAt(i(X)=true,T), \\+ holdsAt(j(X)=true,T).\n"
    assert run(some, "i(x)=true 5-10; i(y)=true 7-12; j(x)=true 6-20") == {
        "m=true": [(5, 6), (7, 12)]
    }


def test_entities_that_only_a_condition_lists() -> None:
    body = "thing(X), \\+ holdsAt(i(X)=true,T)"
    rules = f"{INPUTS}holdsAt(m(X)=true,T) :- {body}.\nthing(x). thing(y).\n"
    assert run(rules, "i(x)=true 5-10") == {
        "m(x)=true": [(1, 5), (10, INF)],
        "m(y)=true": [(1, INF)],
    }


def test_formulas_through_helper_predicates() -> None:
    extra = "either(X,T) :- holdsAt(i(X)=true,T).\neither(X,T) :- holdsAt(j(X)=true,T).\n"
    assert m("either(X,T)", extra=extra) == [(1, 4), (5, 22), (26, 28)]


def test_formulas_with_values() -> None:
    rules = """
    collectIntervals(i(_)=a). collectIntervals(i(_)=b).
    holdsAt(m(X)=V,T) :- holdsAt(i(X)=V,T), V \\= b.
    """
    assert run(rules, "i(x)=a 5-9; i(x)=b 7-12") == {"m(x)=a": [(5, 9)]}
