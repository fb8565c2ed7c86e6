"""Delayed effects beyond the paper: other fluents, conditions, delays from the background."""

from __future__ import annotations

import pytest
from tests.oracle.story import events, run

from horai.oracle.ec.intervals import INF

DOOR = """
initiatedAt(door(D)=open,T) :- happensAt(opened(D),T).
initiatedAt(door(D)=closed,T) :- happensAt(shut(D),T).
initiatedAt(alarm(D)=off,T) :- happensAt(quiet(D),T).
fi(door(D)=open,alarm(D)=on,5).
"""


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("opened(d) 3", [(9, INF)]),
        ("opened(d) 3; shut(d) 6", []),  # broken strictly in between
        ("opened(d) 3; shut(d) 8", [(9, INF)]),  # at the deadline it is too late
        ("opened(d) 3; opened(d) 5; quiet(d) 9", [(9, 10)]),  # 3 acts at 8, which settles 5 too
        ("opened(d) 3; opened(d) 5; shut(d) 6; opened(d) 7; quiet(d) 20", [(13, 21)]),
        ("opened(d) 3; opened(d) 9; quiet(d) 10", [(9, 11), (15, INF)]),  # 9 is after 8: it acts
        ("opened(d) 3; opened(d) 8; quiet(d) 10", [(9, 11), (14, INF)]),  # so does one at 8
    ],
)
def test_from_one_fluent_to_another(items: str, expected: list[tuple[int, float]]) -> None:
    assert run(DOOR, items).get("alarm(d)=on", []) == expected


def test_from_one_fluent_to_another_with_p() -> None:
    rules = DOOR + "p(door(_)=open).\n"
    # The clock restarts at 5; and at 8, which is within five of 5.
    assert run(rules, "opened(d) 3; opened(d) 5")["alarm(d)=on"] == [(11, INF)]
    assert run(rules, "opened(d) 3; opened(d) 8")["alarm(d)=on"] == [(14, INF)]


def test_the_cause_of_a_delay_may_be_in_a_cycle_with_its_effect() -> None:
    rules = """
    initiatedAt(pump=on,T) :- happensAt(low,T), \\+ holdsAt(alarm=on,T).
    initiatedAt(pump=off,T) :- happensAt(high,T).
    terminatedAt(pump=on,T) :- happensAt(start(alarm=on),T).
    terminatedAt(alarm=on,T) :- happensAt(reset,T).
    fi(pump=on,alarm=on,4).
    """
    # On at 2, the alarm is due at 6 and stops the pump. At 7 the alarm keeps it off; after the
    # reset at 9 it starts at 10, and is switched off at 12 in time.
    assert run(rules, "low 2; low 7; reset 9; low 10; high 12") == {
        "pump=on": [(3, 7), (11, 13)],
        "pump=off": [(13, INF)],
        "alarm=on": [(7, 10)],
    }


def test_other_values_break_the_cause_also_outside_its_grounding() -> None:
    rules = """
    initiatedAt(loc(X)=V,T) :- happensAt(go(X,V),T).
    grounding(loc(X)=home) :- person(X).
    grounding(loc(X)=moon) :- nobody(X).
    fi(loc(X)=home,rested(X)=true,5).
    person(x).
    """
    # moon is outside the grounding: it holds nowhere, but home is over.
    assert run(rules, "go(x,home) 2; go(x,moon) 4") == {"loc(x)=home": [(3, 5)]}
    assert run(rules, "go(x,home) 2; go(x,moon) 9")["rested(x)=true"] == [(8, INF)]


def test_a_target_outside_its_grounding_holds_nowhere_but_ends_the_cause() -> None:
    rules = """
    initiatedAt(f(X)=on,T) :- happensAt(a(X),T).
    fi(f(X)=on,f(X)=off,4).
    grounding(f(X)=off) :- nobody(X).
    """
    assert run(rules, "a(x) 2") == {"f(x)=on": [(3, 7)]}


# --- conditions ----------------------------------------------------------------------------------

BASE = """
initiatedAt(f(X)=on,T) :- happensAt(a(X),T).
initiatedAt(vip(X)=true,T) :- happensAt(promote(X),T).
terminatedAt(vip(X)=true,T) :- happensAt(demote(X),T).
"""


def test_the_delay_may_come_from_the_background() -> None:
    rules = BASE + "fi(f(X)=on,f(X)=off,R) :- patience(X,R).\npatience(x,3). patience(y,7).\n"
    assert run(rules, "a(x) 2; a(y) 2; a(z) 2") == {
        "f(x)=on": [(3, 6)],
        "f(x)=off": [(6, INF)],
        "f(y)=on": [(3, 10)],
        "f(y)=off": [(10, INF)],
        "f(z)=on": [(3, INF)],  # nothing is known of z
    }


def test_of_several_delays_from_the_background_the_shortest_acts() -> None:
    rules = BASE + "fi(f(X)=on,f(X)=off,R) :- patience(X,R).\npatience(x,7). patience(x,3).\n"
    assert run(rules, "a(x) 2") == {"f(x)=on": [(3, 6)], "f(x)=off": [(6, INF)]}


@pytest.mark.parametrize(
    ("condition", "items", "off"),
    [
        # At the time of initiation.
        ("holdsAt(vip(X)=true,T)", "promote(x) 1; a(x) 3; demote(x) 5", 7),
        ("holdsAt(vip(X)=true,T)", "a(x) 3; promote(x) 5", None),
        ("\\+ holdsAt(vip(X)=true,T)", "a(x) 3; promote(x) 5", 7),
        # At the deadline: what holds there is what is settled before it.
        ("T2 is T+4, holdsAt(vip(X)=true,T2)", "a(x) 3; promote(x) 5", 7),
        ("T2 is T+4, holdsAt(vip(X)=true,T2)", "a(x) 3; promote(x) 7", None),
        ("T2 is T+4, \\+ holdsAt(vip(X)=true,T2)", "promote(x) 1; a(x) 3; demote(x) 6", 7),
        ("T2 is T+4, \\+ holdsAt(vip(X)=true,T2)", "promote(x) 1; a(x) 3; demote(x) 7", None),
        # Both.
        ("holdsAt(vip(X)=true,T), T2 is T+4, holdsAt(vip(X)=true,T2)", "promote(x) 1; a(x) 3", 7),
    ],
)
def test_conditions_at_the_start_and_at_the_deadline(
    condition: str, items: str, off: int | None
) -> None:
    found = run(BASE + f"fi(f(X)=on,f(X)=off,4) :- {condition}.\n", items)
    assert found["f(x)=on"] == [(4, INF if off is None else off + 1)]
    assert found.get("f(x)=off", []) == ([] if off is None else [(off + 1, INF)])


def test_an_attempt_whose_condition_fails_leaves_the_next_one_its_chance() -> None:
    rules = BASE + "fi(f(X)=on,f(X)=off,4) :- T2 is T+4, holdsAt(vip(X)=true,T2).\n"
    # Due at 7, when x is no vip yet; the attempt of 6 is due at 10.
    found = run(rules, "a(x) 3; a(x) 6; promote(x) 8")
    assert found["f(x)=off"] == [(11, INF)]


def test_a_condition_on_the_fluent_itself() -> None:
    # Each round lasts 4; a counter stops the game: the paper's argumentation game.
    rules = """
    initiatedAt(turn=pro,T) :- happensAt(begin,T).
    initially(round=0).
    initiatedAt(round=N1,T) :- happensAt(end(turn=pro),T), holdsAt(round=N,T), N1 is N+1.
    fi(turn=pro,turn=opp,4).
    fi(turn=opp,turn=pro,4) :- T2 is T+4, holdsAt(round=N,T2), N < 2.
    """
    # pro 2, opp 6 (round 1), pro 10, opp 14 (round 2): at 18 the count is 2, nobody follows.
    assert run(rules, "begin 2") == {
        "turn=pro": [(3, 7), (11, 15)],
        "turn=opp": [(7, 11), (15, INF)],
        "round=0": [(0, 7)],
        "round=1": [(7, 15)],
        "round=2": [(15, INF)],
    }


def test_future_terminations_with_conditions() -> None:
    rules = BASE + "ft(f(X)=on,R) :- patience(X,R).\npatience(x,3).\n"
    assert run(rules, "a(x) 2; a(y) 2") == {"f(x)=on": [(3, 6)], "f(y)=on": [(3, INF)]}


# --- what can be seen of deadlines ---------------------------------------------------------------


def test_a_future_initiation_is_an_initiation_like_any_other() -> None:
    rules = (
        BASE
        + """
    fi(f(X)=on,f(X)=off,4).
    happensAt(off(X),T) :- initiatedAt(f(X)=off,T).
    happensAt(ended(X),T) :- happensAt(end(f(X)=on),T).
    """
    )
    assert events(rules, "a(x) 2") == {"off(x)": [6], "ended(x)": [6]}


def test_deadlines_after_the_query_time_have_not_come_yet() -> None:
    rules = BASE + "fi(f(X)=on,f(X)=off,4).\n"
    assert run(rules, "a(x) 26", 30)["f(x)=off"] == [(31, INF)]
    assert "f(x)=off" not in run(rules, "a(x) 27", 30)


def test_an_attempt_at_every_point() -> None:
    # f is initiated at every point from 1 on: with p nothing ever comes of it.
    rules = "initiatedAt(f=on,T) :- T > 0.\nfi(f=on,f=off,3).\n"
    assert run(rules + "p(f=on).\n", "", 9) == {"f=on": [(2, INF)]}
    # Without p it ends at 4 for the first time; then on and off cancel at every point where off
    # is due: on is initiated at each of them.
    assert run(rules, "", 9)["f=on"][0] == (2, 5)
