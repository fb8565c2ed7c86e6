"""Ticks longer than 1: effects come at the next time-point, items may lie between two of them."""

from __future__ import annotations

import pytest
from tests.oracle.story import events, outputs, run

from horai.oracle.ec.intervals import INF

ONE = """
initiatedAt(f=true,T) :- happensAt(a,T).
terminatedAt(f=true,T) :- happensAt(b,T).
"""


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("a 5; b 15", [(10, 20)]),  # on the grid
        ("a 6; b 14", [(10, 15)]),  # the point after 6 is 10, after 14 it is 15
        ("a 6; b 8", []),  # both before the next point: never seen
        ("b 6; a 8", [(10, INF)]),
        ("a 1; b 6; a 8", [(5, INF)]),  # broken and initiated again before the next point
        ("a 1; a 6; b 8", [(5, 10)]),
        ("a 7; b 7", []),
        ("a 29", [(30, INF)]),
        ("a 30", [(35, INF)]),
    ],
)
def test_effects_come_at_the_next_time_point(items: str, expected: list[tuple[int, float]]) -> None:
    assert run(ONE, items, tick=5) == ({"f=true": expected} if expected else {})


def test_two_values_between_two_time_points() -> None:
    rules = "initiatedAt(loc=V,T) :- happensAt(go(V),T).\n"
    # The later one wins; at the very same moment they cancel.
    assert run(rules, "go(x) 6; go(y) 8", tick=5) == {"loc=y": [(10, INF)]}
    assert run(rules, "go(x) 6; go(y) 6", tick=5) == {}


def test_a_value_is_seen_throughout_its_interval() -> None:
    rules = ONE + "happensAt(seen,T) :- happensAt(c,T), holdsAt(f=true,T).\n"
    assert events(rules, "a 6; b 14; c 9; c 10; c 12; c 14; c 15", tick=5) == {"seen": [10, 12, 14]}


def test_rules_without_an_event_are_tried_at_time_points_only() -> None:
    rules = ONE + "happensAt(tick,T) :- holdsAt(f=true,T).\n"
    # Also when something else happens at 12: that moment is none of this rule's.
    assert events(rules, "a 6; b 23; c 12", tick=5) == {"tick": [10, 15, 20]}
    rules = ONE + "happensAt(tick,T) :- (holdsAt(f=true,T) ; happensAt(c,T)), T < 20.\n"
    assert events(rules, "a 6; b 23; c 12; c 13", tick=5) == {"tick": [10, 12, 13, 15]}


def test_moments_that_are_computed() -> None:
    rules = (
        ONE
        + """
    happensAt(echo,T) :- happensAt(a,T0), T is T0+3.
    happensAt(bell,T) :- schedule(T), holdsAt(f=true,T).
    schedule(12). schedule(15). schedule(26).
    """
    )
    assert events(rules, "a 6; a 7; b 23", tick=5) == {"echo": [9, 10], "bell": [12, 15]}


def test_moments_of_points_and_helpers() -> None:
    rules = (
        ONE
        + """
    happensAt(noted,T) :- initiatedAt(f=true,T).
    happensAt(heard(T),T) :- nearby(T), T < 9.
    nearby(T) :- happensAt(a,T).
    """
    )
    assert events(rules, "a 6; a 12", tick=5) == {"noted": [6, 12], "heard(6)": [6]}


def test_points_of_the_past_are_those_of_the_grid() -> None:
    rules = (
        ONE
        + """
    happensAt(count(N),T) :- happensAt(c,T), aggregate_all(count,(holdsAt(f=true,T0),T0=<T),N).
    """
    )
    assert events(rules, "a 6; c 21", tick=5) == {"count(3)": [21]}  # 10, 15 and 20


def test_starts_and_ends_are_the_points_before() -> None:
    rules = """
    collectIntervals(i=true).
    happensAt(s,T) :- happensAt(start(i=true),T).
    happensAt(e,T) :- happensAt(end(i=true),T).
    happensAt(si,T) :- happensAt(startI(i=true),T).
    happensAt(ei,T) :- happensAt(endI(i=true),T).
    """
    assert events(rules, "i=true 10-20", tick=5) == {"s": [5], "e": [15], "si": [10], "ei": [20]}
    # Off the grid: the point before 12 is 10, the one before 18 is 15.
    assert events(rules, "i=true 12-18", tick=5) == {"s": [10], "e": [15], "si": [12], "ei": [18]}


def test_starts_of_simple_fluents_follow_from_their_intervals() -> None:
    rules = (
        ONE
        + """
    happensAt(s,T) :- happensAt(start(f=true),T).
    happensAt(e,T) :- happensAt(end(f=true),T).
    """
    )
    # (10,15): the point before 10 is 5, before 15 it is 10. What is over at once never starts.
    assert events(rules, "a 6; b 14; a 21; b 22", tick=5) == {"s": [5], "e": [10]}


def test_cycles_settle_time_point_by_time_point() -> None:
    rules = """
    initiatedAt(on=true,T) :- happensAt(press,T), \\+ holdsAt(on=true,T).
    terminatedAt(on=true,T) :- happensAt(press,T), holdsAt(on=true,T).
    """
    # At 6 and 8 it does not hold yet: two initiations. From 10 on it does.
    assert run(rules, "press 6; press 8; press 13", tick=5) == {"on=true": [(10, 15)]}


def test_deadlines_between_time_points() -> None:
    rules = ONE + "fi(f=true,f=false,4).\n"
    # Due at 10: on from 10, off from 15. Due at 7, inside the cell that sets it: on is never seen.
    assert run(rules, "a 6", tick=5) == {"f=true": [(10, 15)], "f=false": [(15, INF)]}
    assert run(rules, "a 5", tick=5) == {"f=false": [(10, INF)]}
    # Broken at 8, before 10; with b at 11 the deadline has passed.
    assert run(rules, "a 6; b 8", tick=5) == {}
    assert run(rules, "a 6; b 11", tick=5) == {"f=true": [(10, 15)], "f=false": [(15, INF)]}


def test_chains_of_deadlines_inside_one_cell() -> None:
    rules = "initiatedAt(f=a,T) :- happensAt(go,T).\nfi(f=a,f=b,2).\nfi(f=b,f=c,1).\n"
    # a at 5, b at 7, c at 8: the next point, 10, sees c.
    assert run(rules, "go 5", tick=5) == {"f=c": [(10, INF)]}
    assert run(rules, "go 7", tick=5) == {"f=b": [(10, 15)], "f=c": [(15, INF)]}  # b at 9, c at 10


def test_a_deadline_inside_a_cell_may_take_back_what_sets_another() -> None:
    rules = """
    initiatedAt(f=on,T) :- happensAt(a,T), \\+ holdsAt(g=on,T).
    initiatedAt(g=on,T) :- happensAt(b,T), \\+ initiatedAt(f=off,T).
    fi(f=on,f=off,2).
    fi(g=on,g=off,1).
    """
    # f is off at 8, so nothing initiates g at 8, and g=off is not due at 9.
    assert run(rules, "a 6; b 8", tick=5) == {"f=off": [(10, INF)]}
    assert run(rules, "a 6; b 7", tick=5) == {"f=off": [(10, INF)], "g=off": [(10, INF)]}


def test_complements_and_initial_values_on_a_grid() -> None:
    rules = (
        ONE
        + """
    initially(f=true).
    holdsFor(h=true,I) :- holdsFor(f=true,I1), complement_all([I1],I).
    """
    )
    assert run(rules, "b 7", tick=5) == {"f=true": [(0, 10)], "h=true": [(10, INF)]}


def test_windows_on_a_grid() -> None:
    # The interval (10,15) has the one point 10. At 18 the window of 8 begins after 10.
    at_9, at_18, at_27 = outputs(ONE, "a 6; b 14", until=27, step=9, window=8, tick=5)
    assert at_9 == {"f=true": [(10, INF)]}
    assert at_18 == {} and at_27 == {}
    _, at_18, _ = outputs(ONE, "a 6; b 14", until=27, step=9, window=9, tick=5)
    assert at_18 == {"f=true": [(10, 15)]}


def test_windows_show_intervals_that_lie_between_two_time_points() -> None:
    rules = "collectIntervals(i=true).\nholdsFor(h=true,I) :- holdsFor(i=true,I).\n"
    # [11,14) contains no point of the grid; it is there from its start on, so at 18 with 8 it is.
    for window, shown in ((7, []), (8, [(11, 14)])):
        *_, last = outputs(rules, "i=true 11-14", until=18, step=6, window=window, tick=5)
        assert last.get("h=true", []) == shown


def test_input_points_last_until_the_next_time_point() -> None:
    rules = "buildFromPoints(p=v).\nholdsFor(h=true,I) :- holdsFor(p=v,I).\n"
    # The reader turns the point 12 into [12,15), 15 into [15,20): they touch.
    assert run(rules, "p=v 12-15; p=v 15-20", tick=5) == {"h=true": [(12, 20)]}
