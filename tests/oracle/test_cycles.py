"""Cycles: settled in time order, because a body at T sees only what was settled before T."""

from __future__ import annotations

from tests.oracle.story import events, held, queries, run

from horai.oracle.ec.intervals import INF


def test_a_toggle() -> None:
    rules = """
    initiatedAt(light=on,T) :- happensAt(press,T), \\+ holdsAt(light=on,T).
    initiatedAt(light=off,T) :- happensAt(press,T), holdsAt(light=on,T).
    """
    assert run(rules, "press 2; press 5; press 6; press 9") == {
        "light=on": [(3, 6), (7, 10)],
        "light=off": [(6, 7), (10, INF)],
    }


def test_a_state_machine() -> None:
    rules = """
    initially(s(X)=idle) :- thing(X).
    initiatedAt(s(X)=ready,T) :- happensAt(a(X),T), holdsAt(s(X)=idle,T).
    initiatedAt(s(X)=busy,T) :- happensAt(a(X),T), holdsAt(s(X)=ready,T).
    initiatedAt(s(X)=idle,T) :- happensAt(b(X),T), holdsAt(s(X)=busy,T).
    thing(x). thing(y).
    """
    # x: b at 1 says nothing; two a make it busy; a third changes nothing; b ends it.
    # y: a and b at once, when idle: only a has an effect.
    items = "b(x) 1; a(x) 3; a(x) 4; a(x) 6; b(x) 8; a(y) 5; b(y) 5"
    assert run(rules, items) == {
        "s(x)=idle": [(0, 4), (9, INF)],
        "s(x)=ready": [(4, 5)],
        "s(x)=busy": [(5, 9)],
        "s(y)=idle": [(0, 6)],
        "s(y)=ready": [(6, INF)],
    }


def test_two_fluents_that_deny_each_other() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(a,T), \\+ holdsAt(g=true,T).
    initiatedAt(g=true,T) :- happensAt(a,T), \\+ holdsAt(f=true,T).
    terminatedAt(f=true,T) :- happensAt(b,T).
    """
    # At 3 neither holds yet, so both start. At 6 g holds: f stays off after its end at 5.
    assert run(rules, "a 3; b 5; a 6") == {"f=true": [(4, 6)], "g=true": [(4, INF)]}


def test_fluents_that_take_turns() -> None:
    rules = """
    initially(first=true).
    initiatedAt(second=true,T) :- happensAt(a,T), holdsAt(first=true,T).
    terminatedAt(first=true,T) :- happensAt(a,T), holdsAt(first=true,T).
    initiatedAt(first=true,T) :- happensAt(a,T), holdsAt(second=true,T).
    terminatedAt(second=true,T) :- happensAt(a,T), holdsAt(second=true,T).
    """
    assert run(rules, "a 3; a 5; a 8") == {
        "first=true": [(0, 4), (6, 9)],
        "second=true": [(4, 6), (9, INF)],
    }


def test_a_cycle_through_a_start() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(a,T).
    initiatedAt(g=true,T) :- happensAt(start(f=true),T).
    terminatedAt(f=true,T) :- happensAt(b,T), holdsAt(g=true,T).
    terminatedAt(g=true,T) :- happensAt(end(f=true),T).
    """
    # f and g start together at 3. b at 3 comes too early (g does not hold yet), b at 5 ends both.
    # At 8 f starts again, and g with it; initiating f at 9 is no start.
    assert run(rules, "a 3; b 3; b 5; a 8; a 9") == {
        "f=true": [(4, 6), (9, INF)],
        "g=true": [(4, 6), (9, INF)],
    }


def test_a_cycle_through_the_point_after_a_start() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(a,T).
    initiatedAt(g=true,T) :- happensAt(startI(f=true),T).
    terminatedAt(f=true,T) :- happensAt(b,T), holdsAt(g=true,T).
    terminatedAt(g=true,T) :- happensAt(endI(f=true),T).
    """
    # f from 4 on; startI at 4, so g from 5 on. b at 4 is too early, at 6 ends f (up to 6); endI
    # at 7, so g holds up to 7.
    assert run(rules, "a 3; b 4; b 6") == {"f=true": [(4, 7)], "g=true": [(5, 8)]}


def test_a_cycle_through_an_output_event() -> None:
    rules = """
    happensAt(alarm,T) :- happensAt(a,T), holdsAt(f=true,T).
    initiatedAt(f=true,T) :- happensAt(a,T), \\+ happensAt(alarm,T).
    terminatedAt(f=true,T) :- happensAt(alarm,T).
    """
    assert run(rules, "a 2; a 4; a 6") == {"f=true": [(3, 5), (7, INF)]}
    assert events(rules, "a 2; a 4; a 6") == {"alarm": [4]}


def test_output_events_that_call_each_other_happen_only_for_a_reason() -> None:
    rules = """
    happensAt(p,T) :- happensAt(q,T).
    happensAt(q,T) :- happensAt(p,T).
    happensAt(q,T) :- happensAt(a,T).
    """
    assert events(rules, "a 3; b 5") == {"q": [3], "p": [3]}


def test_initiations_that_follow_each_other_at_one_point() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(a,T).
    initiatedAt(g=true,T) :- initiatedAt(f=true,T), \\+ holdsAt(h=true,T).
    initiatedAt(h=true,T) :- initiatedAt(g=true,T).
    terminatedAt(f=true,T) :- initiatedAt(h=true,T), holdsAt(f=true,T).
    """
    # At 2: f, so g, so h. At 5: f again, g no more.
    assert run(rules, "a 2; a 5") == {
        "f=true": [(3, INF)],
        "g=true": [(3, INF)],
        "h=true": [(3, INF)],
    }


def test_a_counter_with_computed_values() -> None:
    rules = """
    initially(count(X)=0) :- thing(X).
    initiatedAt(count(X)=N1,T) :- happensAt(a(X),T), holdsAt(count(X)=N,T), N1 is N+1.
    initiatedAt(count(X)=0,T) :- happensAt(reset(X),T).
    thing(x). thing(y).
    """
    items = "a(x) 2; a(x) 3; a(x) 7; reset(x) 9; a(x) 12; a(y) 4; a(y) 6; reset(y) 6"
    assert run(rules, items) == {
        "count(x)=0": [(0, 3), (10, 13)],
        "count(x)=1": [(3, 4), (13, INF)],
        "count(x)=2": [(4, 8)],
        "count(x)=3": [(8, 10)],
        "count(y)=0": [(0, 5)],  # at 6 the values 2 and 0 are initiated: both are lost
        "count(y)=1": [(5, 7)],
    }


def test_a_fluent_that_looks_at_its_own_past() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(a,T), T0 is T-4, \\+ holdsAt(f=true,T0).
    terminatedAt(f=true,T) :- happensAt(a,T), T0 is T-4, holdsAt(f=true,T0).
    """
    # 3: f did not hold at -1. 5: nor at 1. 8: it holds at 4, so it ends. 14: not at 10.
    assert run(rules, "a 3; a 5; a 8; a 14") == {"f=true": [(4, 9), (15, INF)]}


def test_points_of_the_own_past_are_counted_up_to_now() -> None:
    rules = """
    initiatedAt(f=true,T) :-
        happensAt(a,T), aggregate_all(count,(initiatedAt(f=true,T0),T0<T),N), N < 2.
    terminatedAt(f=true,T) :- happensAt(b,T).
    happensAt(out,T) :- initiatedAt(f=true,T).
    """
    assert events(rules, "a 2; b 3; a 5; b 6; a 8") == {"out": [2, 5]}


def test_cycles_do_not_mix_entities() -> None:
    rules = """
    initiatedAt(on(X)=true,T) :- happensAt(tap(X),T), \\+ holdsAt(on(X)=true,T).
    terminatedAt(on(X)=true,T) :- happensAt(tap(X),T), holdsAt(on(X)=true,T).
    """
    assert run(rules, "tap(x) 2; tap(y) 4; tap(x) 4; tap(y) 9") == {
        "on(x)=true": [(3, 5)],
        "on(y)=true": [(5, 10)],
    }


def test_cycles_over_entities_settle_in_time_too() -> None:
    # A fire spreads to a neighbour when the wind blows: x at 1, y at 3, z at 5.
    rules = """
    initiatedAt(fire(X)=true,T) :- happensAt(lit(X),T).
    initiatedAt(fire(Y)=true,T) :- happensAt(wind,T), next(X,Y), holdsAt(fire(X)=true,T).
    next(x,y). next(y,z). next(z,x).
    """
    assert run(rules, "lit(x) 1; wind 1; wind 3; wind 5") == {
        "fire(x)=true": [(2, INF)],
        "fire(y)=true": [(4, INF)],
        "fire(z)=true": [(6, INF)],
    }


def test_a_late_event_changes_all_that_follows() -> None:
    rules = """
    initiatedAt(light=on,T) :- happensAt(press,T), \\+ holdsAt(light=on,T).
    terminatedAt(light=on,T) :- happensAt(press,T), holdsAt(light=on,T).
    """
    first, second = queries(rules, "press 2; press 5; press 3 arrives 15", until=20, step=10)
    assert held(first.spans) == {"light=on": [(3, 6)]}
    assert held(second.spans) == {"light=on": [(3, 4), (6, INF)]}
