"""Bodies: every order of conditions, negation, disjunction, if-then-else, aggregates."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.oracle.story import events, run
from tests.weights import examples

FACTS = """
age(ann,17). age(bob,18). age(cyd,40).
knows(ann,bob). knows(bob,cyd). knows(cyd,bob).
"""


def said(body: str, items: str = "go 5", extra: str = "") -> list[str]:
    """The output events `out(..)` of a rule, with their times."""
    rules = f"happensAt(out(X),T) :- {body}.\n{FACTS}{extra}"
    return [f"{e}@{t}" for e, ts in sorted(events(rules, items).items()) for t in ts]


# --- the order of conditions ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["happensAt(go,T)", "age(X,N)", "N >= 18", "\\+ X = cyd"], ["out(bob)@5"]),
        (["happensAt(go,T)", "knows(X,Y)", "age(Y,N)", "M is N*2", "M > 50"], ["out(bob)@5"]),
        (["happensAt(go,T)", "X = f(Y,Z)", "Y = a", "member(Z,[b])"], ["out(f(a,b))@5"]),
        (["T0 is T-2", "happensAt(go,T)", "happensAt(a(X),T0)"], ["out(u)@5"]),
        (["T-T0 < 3", "happensAt(a(X),T0)", "T0 < T", "happensAt(go,T)"], ["out(u)@5", "out(v)@5"]),
        (["\\+ knows(Y,X)", "age(X,_)", "happensAt(go,T)"], ["out(ann)@5"]),
        (["length(L,X)", "findall(Y,knows(_,Y),L)", "happensAt(go,T)"], ["out(3)@5"]),
        (["(X = Y ; X = none)", "happensAt(go,T)", "age(Y,17)"], ["out(ann)@5", "out(none)@5"]),
        (["double(N,X)", "age(ann,N)", "happensAt(go,T)"], ["out(34)@5"]),
    ],
)
def test_conditions_stand_in_any_order(conditions: list[str], expected: list[str]) -> None:
    for order in itertools.permutations(conditions):
        found = said(", ".join(order), "go 5; a(u) 3; a(v) 4", "double(A,B) :- B is A*2.\n")
        assert found == expected, order


# --- negation ------------------------------------------------------------------------------------


def test_variables_that_occur_only_in_a_negation_are_anything() -> None:
    # ann is known by nobody; somebody else (Y) may be known to anybody.
    assert said("happensAt(go,T), age(X,_), \\+ knows(_,X)") == ["out(ann)@5"]
    assert said("happensAt(go,T), age(X,_), \\+ (knows(X,Y), age(Y,40))") == [
        "out(ann)@5",
        "out(cyd)@5",
    ]


def test_a_variable_of_two_negations_is_two_variables() -> None:
    # Nobody of 17 is known to bob and nobody of 99 exists: each negation has a Y of its own.
    assert said("happensAt(go,T), X = bob, \\+ (knows(X,Y), age(Y,17)), \\+ age(Y,99)") == [
        "out(bob)@5"
    ]


def test_a_shared_variable_is_no_existential_one() -> None:
    assert said("happensAt(go,T), age(X,_), knows(X,Y), \\+ age(Y,40)") == [
        "out(ann)@5",
        "out(cyd)@5",
    ]


def test_branches_of_a_disjunction_have_variables_of_their_own() -> None:
    # In the first branch Y occurs in the negation only; the second binds it for itself.
    body = "happensAt(go,T), age(X,_), ( \\+ knows(Y,X) ; knows(X,Y), age(Y,40) )"
    assert said(body) == ["out(ann)@5", "out(bob)@5"]


def test_double_negation_tests_without_binding() -> None:
    assert said("happensAt(go,T), age(X,_), \\+ \\+ knows(X,_)") == [
        "out(ann)@5",
        "out(bob)@5",
        "out(cyd)@5",
    ]


def test_not_is_negation_too() -> None:
    assert said("happensAt(go,T), age(X,_), not knows(_,X)") == ["out(ann)@5"]


def test_forall() -> None:
    assert said("happensAt(go,T), age(X,_), forall(knows(X,Y), age(Y,40))") == ["out(bob)@5"]


# --- disjunction and if-then-else ----------------------------------------------------------------


def test_disjunction_respects_parentheses() -> None:
    body = "happensAt(go,T), (X = a, fail ; X = b ; X = c)"
    assert said(body) == ["out(b)@5", "out(c)@5"]


def test_if_then_else() -> None:
    body = "happensAt(go,T), age(P,N), (N >= 18 -> X = grown(P) ; X = young(P))"
    assert said(body) == ["out(grown(bob))@5", "out(grown(cyd))@5", "out(young(ann))@5"]


def test_without_else_a_false_condition_fails() -> None:
    assert said("happensAt(go,T), age(X,N), (N >= 18 -> true)") == ["out(bob)@5", "out(cyd)@5"]


def test_the_condition_may_bind_and_all_its_solutions_count() -> None:
    # There is no first solution when order has no meaning.
    body = "happensAt(go,T), (knows(bob,Y) -> X = Y ; X = none)"
    assert said(body) == ["out(cyd)@5"]
    assert said("happensAt(go,T), (knows(_,Y) -> X = Y ; X = none)") == ["out(bob)@5", "out(cyd)@5"]
    assert said("happensAt(go,T), (knows(zoe,Y) -> X = Y ; X = none)") == ["out(none)@5"]


# --- comparison ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "true"),
    [
        ("1 =:= 1.0", True),
        ("1 == 1.0", False),
        ("1 \\== 1.0", True),
        ("a \\= b", True),
        ("f(a) \\= f(_)", False),
        ("f(a) \\= g(_)", True),
        ("a @< b", True),
        ("b @>= f(a)", False),
        ("2 < inf", True),
        ("inf =:= inf", True),
        ("a < 3", False),
        ("\\+ a < 3", True),  # what has no value is not satisfied
        ("3 =\\= 4", True),
    ],
)
def test_comparison(test: str, true: bool) -> None:
    assert bool(said(f"happensAt(go,T), X = yes, {test}")) == true


# --- aggregates ----------------------------------------------------------------------------------

SEEN = "go 9; a(u,1) 2; a(u,2) 3; a(v,2) 3; a(u,2) 6"


@pytest.mark.parametrize(
    ("aggregate", "value"),
    [
        ("findall(N,happensAt(a(_,N),_),X)", "[1,2,2,2]"),  # sorted, one for every solution
        ("findall(N,happensAt(a(_,N),6),X)", "[2]"),
        ("findall(N,happensAt(a(w,N),_),X)", "[]"),
        ("aggregate_all(count,happensAt(a(_,_),_),X)", "4"),
        ("aggregate_all(count,happensAt(a(u,_),_),X)", "3"),
        ("aggregate_all(count,happensAt(a(w,_),_),X)", "0"),
        ("aggregate_all(sum(N),happensAt(a(_,N),_),X)", "7"),
        ("aggregate_all(sum(N),happensAt(a(w,N),_),X)", "0"),
        ("aggregate_all(max(T0),happensAt(a(_,_),T0),X)", "6"),
        ("aggregate_all(min(N*10),happensAt(a(_,N),_),X)", "10"),
        ("aggregate_all(bag(N),happensAt(a(_,N),_),X)", "[1,2,2,2]"),
        ("aggregate_all(set(N),happensAt(a(_,N),_),X)", "[1,2]"),
        ("findall(T0,(happensAt(a(_,_),T0), T0 < T, T-T0 < 7),X)", "[3,3,6]"),
    ],
)
def test_aggregates(aggregate: str, value: str) -> None:
    assert said(f"happensAt(go,T), {aggregate}", SEEN) == [f"out({value})@9"]


@pytest.mark.parametrize("kind", ["max", "min"])
def test_nothing_is_largest_among_nothing(kind: str) -> None:
    assert said(f"happensAt(go,T), aggregate_all({kind}(N),happensAt(a(w,N),_),X)", SEEN) == []


def test_an_aggregate_speaks_of_the_values_bound_outside() -> None:
    body = (
        "happensAt(go,T), happensAt(a(W,_),_), aggregate_all(count,happensAt(a(W,_),_),N), X = W/N"
    )
    assert said(body, SEEN) == ["out(/(u,3))@9", "out(/(v,1))@9"]


def test_lists_of_findall_feed_list_predicates() -> None:
    body = (
        "happensAt(go,T), findall(N,happensAt(a(_,N),_),L), length(L,C), sum_list(L,S), "
        "max_list(L,M), min_list(L,K), X = f(C,S,M,K)"
    )
    assert said(body, SEEN) == ["out(f(4,7,2,1))@9"]


def test_aggregates_over_values_that_hold() -> None:
    rules = """
    initiatedAt(on(X)=true,T) :- happensAt(up(X),T).
    happensAt(out(N),T) :- happensAt(go,T), aggregate_all(count,holdsAt(on(_)=true,T),N).
    """
    assert events(rules, "up(a) 1; up(b) 3; go 3; go 4") == {"out(1)": [3], "out(2)": [4]}


@examples("light")
@given(st.permutations(SEEN.split("; ")))
def test_aggregates_do_not_depend_on_arrival(pieces: list[str]) -> None:
    body = "happensAt(go,T), findall(N-W,happensAt(a(W,N),_),X)"
    assert said(body, "; ".join(pieces)) == ["out([-(1,u),-(2,u),-(2,u),-(2,v)])@9"]


# --- several time variables ----------------------------------------------------------------------


def test_joins_over_time() -> None:
    rules = """
    initiatedAt(pair(X)=true,T) :- happensAt(b(X),T), happensAt(a(X),T0), T0 < T, T-T0 < 4.
    """
    # b at 6 is three after a at 3; b at 12 is too late; b at 3 is not after it.
    assert run(rules, "a(x) 3; b(x) 3; b(x) 12") == {}
    assert run(rules, "a(x) 3; b(x) 6") == {"pair(x)=true": [(7, float("inf"))]}


def test_a_time_that_is_computed() -> None:
    rules = "initiatedAt(late(X)=true,T) :- happensAt(a(X),T0), T is T0+4.\n"
    assert run(rules, "a(x) 3; a(y) 29") == {"late(x)=true": [(8, float("inf"))]}  # 33 is after 30


def test_a_time_between_two_others() -> None:
    # Every point of (3,7) is an initiation; the break at 5 ends it, 6 starts it again.
    rules = """
    initiatedAt(f=true,T) :- happensAt(a,T1), happensAt(b,T2), T1 < T, T < T2.
    terminatedAt(f=true,T) :- happensAt(c,T).
    """
    assert run(rules, "a 3; b 7; c 5") == {"f=true": [(5, 6), (7, float("inf"))]}


def test_fixed_times() -> None:
    rules = """
    initiatedAt(f=true,4) :- happensAt(a,2).
    terminatedAt(f=true,T) :- happensAt(a,T), T > 8.
    """
    assert run(rules, "a 2; a 9") == {"f=true": [(5, 10)]}


def test_the_query_time() -> None:
    rules = "happensAt(out(Q),T) :- happensAt(a,T), queryTime(Q).\n"
    assert events(rules, "a 2", until=20) == {"out(20)": [2]}
