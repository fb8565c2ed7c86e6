"""Statically determined fluents: interval operations, durations, Allen relations, formulas."""

from __future__ import annotations

import pytest
from tests.oracle.story import outputs, run

from horai.oracle.ec.intervals import INF

INPUTS = "collectIntervals(i(_)=true).\ncollectIntervals(j(_)=true).\n"
BOTH = "holdsFor(i(X)=true,I1), holdsFor(j(X)=true,I2)"
ITEMS = "i(x)=true 5-20; i(x)=true 26-28; j(x)=true 1-4; j(x)=true 18-22"


def h(body: str, items: str = ITEMS, extra: str = "", until: int = 40) -> list[tuple[int, float]]:
    """The intervals of h(x)=true."""
    found = run(f"{INPUTS}holdsFor(h(X)=true,I) :- {body}.\n{extra}", items, until)
    assert set(found) <= {"h(x)=true"}
    return found.get("h(x)=true", [])


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("union_all([I1,I2],I)", [(1, 4), (5, 22), (26, 28)]),
        ("intersect_all([I1,I2],I)", [(18, 20)]),
        ("relative_complement_all(I1,[I2],I)", [(5, 18), (26, 28)]),
        ("relative_complement_all(I2,[I1],I)", [(1, 4), (20, 22)]),
        ("complement_all([I1,I2],I)", [(4, 5), (22, 26), (28, INF)]),
        ("union_all([],I)", []),
        ("complement_all([],I)", [(1, INF)]),
        ("union_all([I1,[(30,35)]],I)", [(5, 20), (26, 28), (30, 35)]),
    ],
)
def test_interval_operations(operation: str, expected: list[tuple[int, float]]) -> None:
    assert h(f"{BOTH}, {operation}") == expected


def test_operations_build_on_each_other() -> None:
    body = (
        f"{BOTH}, union_all([I1,I2],U), intersect_all([I1,I2],B), relative_complement_all(U,[B],I)"
    )
    assert h(body) == [(1, 4), (5, 18), (20, 22), (26, 28)]


def test_a_list_without_intervals_is_empty_and_never_fails() -> None:
    assert h(f"{BOTH}, union_all([I1,I2],I)", "i(x)=true 5-9") == [(5, 9)]
    assert h(f"{BOTH}, intersect_all([I1,I2],I)", "i(x)=true 5-9") == []


def test_several_rules_give_their_union() -> None:
    rules = (
        INPUTS
        + """
    holdsFor(h(X)=true,I) :- holdsFor(i(X)=true,I).
    holdsFor(h(X)=true,I) :- holdsFor(j(X)=true,I).
    """
    )
    assert run(rules, ITEMS, 40) == {"h(x)=true": [(1, 4), (5, 22), (26, 28)]}


def test_overlapping_and_adjacent_input_is_merged() -> None:
    assert h("holdsFor(i(X)=true,I)", "i(x)=true 5-8; i(x)=true 8-12; i(x)=true 10-11") == [(5, 12)]


def test_input_of_several_values_may_overlap() -> None:
    # Input is taken as it comes; only simple fluents exclude values.
    rules = """
    collectIntervals(i(_)=a). collectIntervals(i(_)=b).
    holdsFor(h(X)=V,I) :- holdsFor(i(X)=V,I).
    """
    assert run(rules, "i(x)=a 5-9; i(x)=b 7-12") == {"h(x)=a": [(5, 9)], "h(x)=b": [(7, 12)]}


def test_intervals_may_reach_beyond_the_query_time() -> None:
    assert h("holdsFor(i(X)=true,I)", "i(x)=true 5-50", until=10) == [(5, 50)]
    body = "holdsFor(i(X)=true,I1), complement_all([I1],I)"
    assert h(body, "i(x)=true 5-50", until=10) == [(1, 5), (50, INF)]


def test_complements_begin_after_the_start_of_the_run() -> None:
    rules = INPUTS + "holdsFor(h(X)=true,I) :- holdsFor(i(X)=true,I1), complement_all([I1],I).\n"
    assert run(rules, "i(x)=true 105-110", 130, start=100) == {
        "h(x)=true": [(101, 105), (110, INF)]
    }
    # A value that holds from the start leaves nothing before.
    rules = """
    initially(f=true).
    terminatedAt(f=true,T) :- happensAt(b,T).
    holdsFor(h=true,I) :- holdsFor(f=true,I1), complement_all([I1],I).
    """
    assert run(rules, "b 4") == {"f=true": [(0, 5)], "h=true": [(5, INF)]}


def test_entities_come_from_what_is_known_listed_or_grounded() -> None:
    body = "holdsFor(i(X)=true,I1), complement_all([I1],I)"
    known = f"{INPUTS}holdsFor(h(X)=true,I) :- {body}.\n"
    assert set(run(known, ITEMS)) == {"h(x)=true"}
    listed = f"{INPUTS}holdsFor(h(X)=true,I) :- {body}, thing(X).\nthing(x). thing(y).\n"
    assert set(run(listed, ITEMS)) == {"h(x)=true", "h(y)=true"}
    grounded = known + "grounding(h(X)=true) :- thing(X).\nthing(y).\n"
    assert set(run(grounded, ITEMS)) == {"h(y)=true"}
    assert run(known, "") == {}


def test_conditions_choose_entities_whatever_their_order() -> None:
    rules = f"{INPUTS}near(x,y).\n"
    body = "holdsFor(i(X)=true,I1), near(X,Y), holdsFor(j(Y)=true,I2), intersect_all([I1,I2],I)"
    items = "i(x)=true 5-10; j(y)=true 8-12; i(y)=true 1-20; j(x)=true 1-20"
    assert run(f"{rules}holdsFor(h(X,Y)=true,I) :- {body}.\n", items) == {"h(x,y)=true": [(8, 10)]}


def test_a_choice_between_entities() -> None:
    rules = (
        INPUTS
        + """
    holdsFor(h(X)=true,I) :- (X = x ; X = z), holdsFor(i(X)=true,I1), complement_all([I1],I).
    """
    )
    assert run(rules, "i(x)=true 5-9; i(y)=true 2-3") == {
        "h(x)=true": [(1, 5), (9, INF)],
        "h(z)=true": [(1, INF)],
    }


# --- durations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("intDurGreater", [(5, 20), (30, INF)]),
        ("intDurGreaterEq", [(1, 4), (5, 20), (30, INF)]),
        ("durGreaterEq", [(1, 4), (5, 20), (30, INF)]),
        ("intDurLess", [(26, 28)]),
        ("durLessEq", [(1, 4), (26, 28)]),
    ],
)
def test_durations(name: str, expected: list[tuple[int, float]]) -> None:
    # Lengths 3, 15 and 2; the open one counts up to the query time 40: 10.
    items = "i(x)=true 1-4; i(x)=true 5-20; i(x)=true 26-28; i(x)=true 30-inf"
    assert h(f"holdsFor(i(X)=true,I1), {name}(I1,3,I)", items) == expected


def test_the_whole_interval_counts_however_windows_cut_it() -> None:
    rules = """
    initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
    terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
    holdsFor(h(X)=true,I) :- holdsFor(f(X)=true,I1), intDurGreater(I1,6,I).
    """
    answers = outputs(rules, "a(x) 3; b(x) 14", until=20, window=5, step=5)
    # (4,..) is 1 long at 5 and 6 long at 10; at 15 it has become (4,15), 11 long.
    assert [answer.get("h(x)=true", []) for answer in answers] == [[], [], [(4, 15)], []]


# --- Allen relations -----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["{0}(I1,I2,{1},I)", "allen({0},I1,I2,{1},I)"])
@pytest.mark.parametrize(
    ("relation", "mode", "expected"),
    [
        ("before", "source", [(5, 20)]),  # before (26,30) only, not before (18,22)
        ("overlaps", "lhs", [(5, 20)]),
        ("overlaps", "rhs", [(18, 22)]),
        ("overlaps", "intersection", [(18, 20)]),
        ("starts", "target", [(26, 30)]),
        ("meets", "source", []),
    ],
)
def test_allen_relations(
    form: str, relation: str, mode: str, expected: list[tuple[int, float]]
) -> None:
    items = "i(x)=true 5-20; i(x)=true 26-28; j(x)=true 18-22; j(x)=true 26-30"
    assert h(f"{BOTH}, {form.format(relation, mode)}", items) == expected


def test_allen_relations_are_exact_across_windows() -> None:
    rules = INPUTS + f"holdsFor(h(X)=true,I) :- {BOTH}, before(I1,I2,source,I).\n"
    items = "i(x)=true 2-4; j(x)=true 16-19"
    at_10, at_20 = outputs(rules, items, until=20, window=10, step=10)
    assert at_10 == {}
    # The source ended long before the window (10,20]: it is found, but has no point in it.
    assert at_20 == {}
    target = rules.replace("source", "target")
    assert outputs(target, items, until=20, window=10, step=10)[1] == {"h(x)=true": [(16, 19)]}


def test_allen_memory_is_a_setting() -> None:
    rules = INPUTS + f"holdsFor(h(X)=true,I) :- {BOTH}, before(I1,I2,target,I).\n"
    items = "i(x)=true 2-4; j(x)=true 16-19"
    assert run(rules, items, allen_memory=13) == {"h(x)=true": [(16, 19)]}  # 16 - 3
    assert run(rules, items, allen_memory=12) == {}


# --- mixed values --------------------------------------------------------------------------------


def test_simple_and_statically_determined_values_of_one_fluent() -> None:
    rules = """
    initially(punctuality(V)=punctual) :- vehicle(V).
    terminatedAt(punctuality(V)=punctual,T) :- happensAt(late(V),T).
    initiatedAt(punctuality(V)=punctual,T) :- happensAt(ontime(V),T).
    holdsFor(punctuality(V)=non_punctual,I) :-
        holdsFor(punctuality(V)=punctual,I1), complement_all([I1],I), vehicle(V).
    vehicle(b1).
    """
    assert run(rules, "late(b1) 4; ontime(b1) 9") == {
        "punctuality(b1)=punctual": [(0, 5), (10, INF)],
        "punctuality(b1)=non_punctual": [(5, 10)],
    }


def test_a_simple_value_does_not_end_a_statically_determined_one() -> None:
    rules = """
    collectIntervals(i(_)=true).
    holdsFor(f(X)=seen,I) :- holdsFor(i(X)=true,I).
    initiatedAt(f(X)=marked,T) :- happensAt(mark(X),T).
    """
    assert run(rules, "i(x)=true 3-inf; mark(x) 8; i(y)=true 4-9; mark(y) 2") == {
        "f(x)=seen": [(3, INF)],
        "f(x)=marked": [(9, INF)],
        "f(y)=seen": [(4, 9)],
        "f(y)=marked": [(3, INF)],
    }


# --- levels --------------------------------------------------------------------------------------


def test_fluents_of_all_kinds_build_on_each_other() -> None:
    rules = """
    initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
    terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
    holdsFor(h(X)=true,I) :- holdsFor(f(X)=true,I1), intDurGreater(I1,3,I).
    initiatedAt(g(X)=true,T) :- happensAt(start(h(X)=true),T).
    holdsAt(m(X)=true,T) :- holdsAt(g(X)=true,T), \\+ holdsAt(h(X)=true,T).
    happensAt(done(X),T) :- happensAt(start(m(X)=true),T).
    """
    # f is (3,9) and (12,14); only the first is longer than 3.  g from 3 on, m after h ends.
    assert run(rules, "a(x) 2; b(x) 8; a(x) 11; b(x) 13") == {
        "f(x)=true": [(3, 9), (12, 14)],
        "h(x)=true": [(3, 9)],
        "g(x)=true": [(3, INF)],
        "m(x)=true": [(9, INF)],
    }
