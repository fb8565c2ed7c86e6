"""Runs that case files cannot tell: items about actions and other terms, Python predicates.

Each was once wrong in an engine, found by chance and cut down.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.engine.comparing import Lines, Setting, batches_of, differences, read, seen, tables_of

from horai.lang.core.terms import Constant, make
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine


def final(text: str, items: Sequence[OracleItem], setting: Setting) -> Lines:
    """The last answer, once the reference engine has agreed with all of them."""
    found = differences(text, items, setting)
    assert found is None, found
    session = CompiledEngine(read(text), **setting.options())
    lines: Lines = []
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        lines = seen(session.advance(query, tables_of(batch)))["all"]
    return lines


def test_events_about_actions_are_kept_as_long_as_rules_look_at_them() -> None:
    text = """
    initiatedAt(door(X)=shut, T) :- happensAt(act(close(X)), T).
    initiatedAt(door(X)=watched, T) :-
        happensAt(act(watch(X)), T), aggregate_all(count, happensAt(knock(X), _), N), N > 2.
    """
    item = OracleItem(make("act", make("close", Constant("gate"))), None, 12, 12, 12)
    lines = final(text, [item], Setting([10, 20, 30, 40], window=10))
    assert lines == ["act(close(gate)) at 12", "door(gate)=shut (13,inf)"]


def test_an_interval_rule_between_two_fluents_of_one_delay() -> None:
    text = """
    collectIntervals(wet(_)=true).
    initiatedAt(ground(X)=wet, T) :- happensAt(rain(X), T).
    initiatedAt(ground(X)=dry, T) :- happensAt(sun(X), T).
    holdsFor(muddy(X)=true, I) :-
        holdsFor(ground(X)=wet, I1), holdsFor(wet(X)=true, I2), union_all([I1, I2], I).
    initiatedAt(shoes(X)=dirty, T) :- happensAt(walk(X), T), holdsAt(muddy(X)=true, T).
    fi(ground(X)=dry, shoes(X)=clean, 3).
    """
    items = [OracleItem(make("rain", Constant("park")), None, 2, 2, 2)]
    lines = final(text, items, Setting([10]))
    assert lines == ["ground(park)=wet (3,inf)", "muddy(park)=true (3,inf)", "rain(park) at 2"]


def test_the_duration_of_a_list_that_is_computed_inside_a_rule() -> None:
    text = """
    initiatedAt(s=true, T) :- happensAt(s_on, T).
    terminatedAt(s=true, T) :- happensAt(s_off, T).
    initiatedAt(t=true, T) :- happensAt(t_on, T).
    terminatedAt(t=true, T) :- happensAt(t_off, T).
    holdsFor(rest=true, I) :-
        holdsFor(s=true, A), holdsFor(t=true, B),
        relative_complement_all(B, [A], D), intDurLess(D, 50, I).
    """
    times = {"t_on": 5, "s_on": 10, "s_off": 12, "t_off": 60}
    items = [OracleItem(make(name), None, t, t, t) for name, t in times.items()]
    lines = final(text, items, Setting(list(range(5, 101, 5)), window=10))
    assert "rest=true (13,61)" in lines
