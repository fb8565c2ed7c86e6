"""Starts and ends of intervals as events."""

from __future__ import annotations

import pytest
from tests.oracle.story import events, run

from horai.oracle.ec.intervals import INF

ALL = "".join(
    f"happensAt({edge.lower()}_{edge[-1].lower()}(X),T) :- happensAt({edge}(i(X)=true),T).\n"
    for edge in ("start", "end", "startI", "endI")
)
INPUT = "collectIntervals(i(_)=true).\n"


def edges(items: str, until: int = 30) -> dict[str, list[int]]:
    """Times of start, end, startI and endI of the input fluent of x."""
    named = {"start_t(x)": "s", "end_d(x)": "e", "starti_i(x)": "S", "endi_i(x)": "E"}
    return {named[event]: times for event, times in events(INPUT + ALL, items, until).items()}


def test_starts_and_ends_of_an_interval() -> None:
    # [5,15): the point before its first one, its last point; with I the numbers themselves.
    assert edges("i(x)=true 5-15") == {"s": [4], "e": [14], "S": [5], "E": [15]}


def test_only_maximal_intervals_have_edges() -> None:
    assert edges("i(x)=true 5-8; i(x)=true 8-12; i(x)=true 10-14; i(x)=true 20-22") == {
        "s": [4, 19],
        "e": [13, 21],
        "S": [5, 20],
        "E": [14, 22],
    }


def test_edges_after_the_query_time_have_not_happened_yet() -> None:
    assert edges("i(x)=true 5-15", until=10) == {"s": [4], "S": [5]}
    assert edges("i(x)=true 5-15", until=14) == {"s": [4], "e": [14], "S": [5]}
    assert edges("i(x)=true 5-inf") == {"s": [4], "S": [5]}


def test_edges_at_or_before_the_start_are_outside_the_run() -> None:
    # [1,4) would start at 0; of [-3,6) only the part from 1 on counts.
    assert edges("i(x)=true 1-4") == {"e": [3], "S": [1], "E": [4]}
    assert edges("i(x)=true -3-6") == {"e": [5], "S": [1], "E": [6]}
    assert edges("i(x)=true 2-4")["s"] == [1]


def test_initial_values_do_not_start() -> None:
    rules = """
    initially(f=true).
    terminatedAt(f=true,T) :- happensAt(b,T).
    happensAt(begun,T) :- happensAt(start(f=true),T).
    happensAt(over,T) :- happensAt(end(f=true),T).
    """
    assert events(rules, "b 4") == {"over": [4]}


SIMPLE = """
initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
initiatedAt(f(X)=false,T) :- happensAt(c(X),T).
"""


@pytest.mark.parametrize(
    ("edge", "items", "times"),
    [
        ("start(f(x)=true)", "a(x) 5; a(x) 7; b(x) 15", [5]),  # initiating again is no start
        ("end(f(x)=true)", "a(x) 5; b(x) 9; b(x) 12", [9]),  # breaking again is no end
        ("end(f(x)=true)", "a(x) 5; c(x) 9", [9]),  # another value ends it
        ("start(f(x)=true)", "a(x) 5; b(x) 5", []),
        ("end(f(x)=true)", "a(x) 3; a(x) 5; b(x) 5", [5]),
        ("start(f(_)=_)", "a(x) 5; c(x) 7; a(y) 7", [5, 7]),
        ("startI(f(x)=true)", "a(x) 5; b(x) 9", [6]),
        ("endI(f(x)=true)", "a(x) 5; b(x) 9", [10]),
    ],
)
def test_edges_of_simple_fluents(edge: str, items: str, times: list[int]) -> None:
    rules = SIMPLE + f"happensAt(out,T) :- happensAt({edge},T).\n"
    assert events(rules, items).get("out", []) == times


def test_edges_of_statically_determined_fluents() -> None:
    rules = (
        INPUT
        + """
    holdsFor(h(X)=true,I) :- holdsFor(i(X)=true,I1), complement_all([I1],I), thing(X).
    happensAt(calm(X),T) :- happensAt(start(h(X)=true),T).
    happensAt(over(X),T) :- happensAt(end(h(X)=true),T).
    thing(x).
    """
    )
    # h is [1,5) and [15,inf): the first one starts at 0, outside the run.
    assert events(rules, "i(x)=true 5-15") == {"calm(x)": [14], "over(x)": [4]}


def test_an_and_gate_of_starts_and_ends() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(a,T).
    terminatedAt(f=true,T) :- happensAt(b,T).
    initiatedAt(g=true,T) :- happensAt(c,T).
    terminatedAt(g=true,T) :- happensAt(d,T).
    initiatedAt(h=true,T) :- happensAt(start(f=true),T), happensAt(start(g=true),T).
    initiatedAt(h=true,T) :-
        happensAt(start(f=true),T), holdsAt(g=true,T), \\+ happensAt(end(g=true),T).
    initiatedAt(h=true,T) :-
        happensAt(start(g=true),T), holdsAt(f=true,T), \\+ happensAt(end(f=true),T).
    terminatedAt(h=true,T) :- happensAt(end(f=true),T).
    terminatedAt(h=true,T) :- happensAt(end(g=true),T).
    """
    # f is (4,12) and (15,21); g is (7,11) and (15,20).
    items = "a 3; c 6; d 10; b 11; a 14; c 14; d 19; b 20"
    assert run(rules, items)["h=true"] == [(7, 11), (15, 20)]


def test_a_point_value_starts_before_and_ends_in_its_point() -> None:
    rules = """
    buildFromPoints(p(_)=v).
    happensAt(s,T) :- happensAt(start(p(x)=v),T).
    happensAt(e,T) :- happensAt(end(p(x)=v),T).
    initiatedAt(seen=true,T) :- happensAt(end(p(x)=v),T).
    """
    # Points 5 and 6 make [5,7).
    assert events(rules, "p(x)=v 5-6; p(x)=v 6-7") == {"s": [4], "e": [6]}
    assert run(rules, "p(x)=v 5-6; p(x)=v 6-7") == {"seen=true": [(7, INF)]}
