"""Simple fluents: inertia, mutual exclusion, initial values, forms of heads."""

from __future__ import annotations

import pytest
from tests.oracle.story import Held, run

from horai.oracle.ec.intervals import INF

ONE = """
initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
"""


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("a(x) 5; b(x) 9", [(6, 10)]),
        ("a(x) 5; a(x) 7; b(x) 9; b(x) 12", [(6, 10)]),  # inside and outside say nothing
        ("a(x) 5", [(6, INF)]),
        ("b(x) 5; a(x) 9", [(10, INF)]),
        ("a(x) 5; b(x) 5", []),  # at once, when it does not hold: no start
        ("a(x) 3; a(x) 5; b(x) 5", [(4, 6)]),  # at once, when it holds: an end
        ("a(x) 3; b(x) 5; a(x) 5; a(x) 6", [(4, 6), (7, INF)]),
        ("a(x) 5; b(x) 6", [(6, 7)]),
        ("a(x) 5; b(x) 9; a(x) 10", [(6, 10), (11, INF)]),  # not adjacent: 10 is free
        ("a(x) 5; b(x) 9; a(x) 9", [(6, 10)]),
        ("b(x) 5", []),
        ("a(x) 30", [(31, INF)]),  # at the query time itself
    ],
)
def test_inertia(items: str, expected: list[tuple[int, float]]) -> None:
    assert run(ONE, items) == ({"f(x)=true": expected} if expected else {})


MANY = "initiatedAt(loc(X)=V,T) :- happensAt(go(X,V),T).\n"


def test_a_new_value_ends_the_old_one() -> None:
    assert run(MANY, "go(x,home) 2; go(x,work) 5; go(y,work) 4") == {
        "loc(x)=home": [(3, 6)],
        "loc(x)=work": [(6, INF)],
        "loc(y)=work": [(5, INF)],
    }


def test_two_values_at_once_cancel_each_other_and_end_the_old_one() -> None:
    items = "go(x,home) 2; go(x,work) 5; go(x,pub) 5; go(x,home) 9"
    assert run(MANY, items) == {"loc(x)=home": [(3, 6), (10, INF)]}
    # Also when the old value is one of the two.
    assert run(MANY, "go(x,home) 2; go(x,home) 5; go(x,pub) 5") == {"loc(x)=home": [(3, 6)]}


def test_values_need_no_rule_and_no_grounding_to_exclude_each_other() -> None:
    rules = MANY + "grounding(loc(X)=home) :- person(X).\nperson(x).\n"
    assert run(rules, "go(x,home) 2; go(x,moon) 5") == {
        "loc(x)=home": [(3, 6)],
        "loc(x)=moon": [(6, INF)],  # no grounding speaks of it: it is free
    }


def test_computed_values_exclude_each_other() -> None:
    rules = "initiatedAt(level(X)=N,T) :- happensAt(reads(X,M),T), N is M//10.\n"
    assert run(rules, "reads(x,7) 1; reads(x,12) 3; reads(x,15) 5; reads(x,31) 8") == {
        "level(x)=0": [(2, 4)],
        "level(x)=1": [(4, 9)],  # 15//10 is 1 again: nothing changes
        "level(x)=3": [(9, INF)],
    }


def test_terminating_true_says_nothing_of_false() -> None:
    rules = ONE + "initiatedAt(f(X)=false,T) :- happensAt(c(X),T).\n"
    assert run(rules, "a(x) 2; b(x) 5") == {"f(x)=true": [(3, 6)]}
    assert run(rules, "a(x) 2; c(x) 5; b(x) 8") == {"f(x)=true": [(3, 6)], "f(x)=false": [(6, INF)]}


def test_the_value_before_the_effects_at_a_point() -> None:
    rules = ONE + "initiatedAt(g(X)=true,T) :- happensAt(c(X),T), holdsAt(f(X)=true,T).\n"
    assert "g(x)=true" not in run(rules, "a(x) 5; c(x) 5")
    assert run(rules, "a(x) 5; c(x) 6")["g(x)=true"] == [(7, INF)]
    assert run(rules, "a(x) 5; b(x) 8; c(x) 8")["g(x)=true"] == [(9, INF)]
    assert "g(x)=true" not in run(rules, "a(x) 5; b(x) 8; c(x) 9")


# --- initially -----------------------------------------------------------------------------------

PERSON = "person(x). person(y).\n"


def test_initial_values_hold_from_the_start_whatever_it_is() -> None:
    rules = ONE + PERSON + "initially(f(X)=true) :- person(X).\n"
    assert run(rules, "b(x) 4") == {"f(x)=true": [(0, 5)], "f(y)=true": [(0, INF)]}
    assert run(rules, "b(x) 104", 130, start=100) == {
        "f(x)=true": [(100, 105)],
        "f(y)=true": [(100, INF)],
    }
    assert run(rules, "b(x) -4", 10, start=-9)["f(x)=true"] == [(-9, -3)]


def test_initial_values_without_arguments() -> None:
    assert run("initially(on=true).\nterminatedAt(on=true,T) :- happensAt(off,T).\n", "off 3") == {
        "on=true": [(0, 4)]
    }


def test_open_variables_of_initial_values_range_over_the_grounding() -> None:
    rules = (
        PERSON
        + """
    initially(punctuality(_,_)=punctual).
    terminatedAt(punctuality(P,L)=punctual,T) :- happensAt(late(P,L),T).
    grounding(punctuality(P,L)=punctual) :- person(P), line(L).
    line(l1).
    """
    )
    assert run(rules, "late(x,l1) 7") == {
        "punctuality(x,l1)=punctual": [(0, 8)],
        "punctuality(y,l1)=punctual": [(0, INF)],
    }


def test_two_initial_values_cancel_each_other() -> None:
    assert run("initially(f=a).\ninitially(f=b).\ninitially(g=a).\n", "") == {"g=a": [(0, INF)]}


def test_a_point_at_or_before_the_start_is_outside_the_run() -> None:
    assert run(ONE, "a(x) 0; a(y) -3; a(z) 1") == {"f(z)=true": [(2, INF)]}


# --- forms of heads ------------------------------------------------------------------------------


def test_effects_of_an_event() -> None:
    rules = """
    initiates(a(X),f(X)=true,_T).
    terminates(b(X),f(X)=true,T) :- T > 5.
    """
    assert run(rules, "a(x) 2; b(x) 4; b(x) 9") == {"f(x)=true": [(3, 10)]}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("initiatedAt(f(X)=true,4,T,9)", [(5, INF)]),  # 4 =< T < 9
        ("initiatedAt(f(X)=true,5,T,9)", []),
        ("initiatedAt(f(X)=true,1,T,4)", []),
        ("initiatedAt(f(X)=true,_,T,5)", [(5, INF)]),
        ("initiatedAt(f(X)=true,T1,T,T2)", [(5, INF)]),
    ],
)
def test_heads_with_a_range(head: str, expected: list[tuple[int, float]]) -> None:
    rules = f"{head} :- happensAt(a(X),T).\n"
    assert run(rules, "a(x) 4") == ({"f(x)=true": expected} if expected else {})


def test_a_termination_with_an_open_value_ends_every_value() -> None:
    rules = MANY + "terminatedAt(loc(X)=_Anywhere,T) :- happensAt(vanish(X),T).\n"
    assert run(rules, "go(x,home) 2; vanish(x) 5; go(y,moon) 3; vanish(y) 9") == {
        "loc(x)=home": [(3, 6)],
        "loc(y)=moon": [(4, 10)],
    }


def test_a_termination_of_all_values_of_a_form() -> None:
    rules = """
    initiatedAt(state(X)=V,T) :- happensAt(set(X,V),T).
    terminatedAt(state(X)=level(_),T) :- happensAt(reset(X),T).
    """
    items = "set(x,level(3)) 2; reset(x) 5; set(y,idle) 2; reset(y) 5"
    assert run(rules, items) == {"state(x)=level(3)": [(3, 6)], "state(y)=idle": [(3, INF)]}


def test_a_termination_whose_value_a_condition_asks_for() -> None:
    # Every value of the grounding that is not protected ends, and no other.
    rules = (
        MANY
        + """
    terminatedAt(loc(X)=V,T) :- happensAt(sweep(X),T), \\+ safe(V).
    grounding(loc(X)=V) :- person(X), place(V).
    safe(home). place(home). place(pub).
    """
        + PERSON
    )
    items = "go(x,home) 2; go(y,pub) 2; sweep(x) 5; sweep(y) 5"
    assert run(rules, items) == {"loc(x)=home": [(3, INF)], "loc(y)=pub": [(3, 6)]}


def test_compound_terms_as_arguments() -> None:
    rules = """
    initiatedAt(per(close(C,M))=true,T) :- happensAt(allow(C,M),T).
    terminatedAt(per(close(C,_))=true,T) :- happensAt(stop(C),T), holdsAt(per(close(C,_))=true,T).
    """
    # The second rule leaves the second argument of the head open: nothing binds it but a grounding.
    rules += "grounding(per(close(C,M))=true) :- chair(C), motion(M).\nchair(c). motion(m).\n"
    assert run(rules, "allow(c,m) 3; stop(c) 8") == {"per(close(c,m))=true": [(4, 9)]}


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("up 5; down 9", {"on=true": [(6, 10)]}),
        ("up 5; up 6", {"on=true": [(6, INF)]}),
    ],
)
def test_nothing_needs_arguments(items: str, expected: Held) -> None:
    rules = """
    initiatedAt(on=true,T) :- happensAt(up,T).
    terminatedAt(on=true,T) :- happensAt(down,T).
    """
    assert run(rules, items) == expected


# --- points in bodies ----------------------------------------------------------------------------


def test_initiations_and_terminations_can_be_asked_for_anywhere() -> None:
    rules = (
        ONE
        + """
    initiatedAt(g(X)=true,T) :- initiatedAt(f(X)=true,T).
    terminatedAt(g(X)=true,T) :- happensAt(c(X),T), terminatedAt(f(X)=true,T).
    initiatedAt(h(X)=true,T) :- happensAt(c(X),T), initiatedAt(f(X)=true,T0), T-T0 =:= 4.
    """
    )
    # A termination is one although f does not hold any more at 12; an initiation at 7 inside too.
    items = "a(x) 5; a(x) 7; b(x) 9; b(x) 12; c(x) 12; c(x) 11"
    assert run(rules, items) == {
        "f(x)=true": [(6, 10)],
        "g(x)=true": [(6, 13)],
        "h(x)=true": [(12, INF)],
    }


def test_points_with_a_range_in_bodies() -> None:
    rules = (
        ONE
        + """
    initiatedAt(g(X)=true,T) :- happensAt(c(X),T), initiatedAt(f(X)=true,6,T0,9), T0 < T.
    """
    )
    assert "g(x)=true" not in run(rules, "a(x) 5; a(x) 9; c(x) 12")
    assert run(rules, "a(x) 6; c(x) 12")["g(x)=true"] == [(13, INF)]


def test_a_termination_of_every_value_is_one_of_each() -> None:
    rules = (
        MANY
        + """
    terminatedAt(loc(X)=_,T) :- happensAt(vanish(X),T).
    initiatedAt(missed(X)=true,T) :- terminatedAt(loc(X)=home,T).
    """
    )
    assert run(rules, "go(x,home) 2; vanish(x) 5")["missed(x)=true"] == [(6, INF)]


# --- output events -------------------------------------------------------------------------------


def test_output_events_feed_other_rules() -> None:
    rules = """
    happensAt(both(X),T) :- happensAt(a(X),T), happensAt(b(X),T).
    happensAt(again(X),T) :- happensAt(both(X),T), T > 4.
    initiatedAt(f(X)=true,T) :- happensAt(again(X),T).
    """
    assert run(rules, "a(x) 3; b(x) 3; a(x) 6; b(x) 6") == {"f(x)=true": [(7, INF)]}


def test_an_event_may_come_in_and_be_derived_too() -> None:
    rules = """
    happensAt(a(X),T) :- happensAt(b(X),T).
    initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
    """
    assert run(rules, "a(x) 3; b(y) 3; a(z) 5; b(z) 5") == {
        "f(x)=true": [(4, INF)],
        "f(y)=true": [(4, INF)],
        "f(z)=true": [(6, INF)],
    }
