"""Runs that case files cannot tell: items about actions and other terms, Python predicates.

Each was once wrong in an engine, found by chance and cut down.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.engine.comparing import Lines, Setting, batches_of, differences, read, seen, tables_of

from horai.engine.session import Session
from horai.lang.terms import Atom, make
from horai.oracle import Item


def final(text: str, items: Sequence[Item], setting: Setting) -> Lines:
    """The last answer, once the reference engine has agreed with all of them."""
    found = differences(text, items, setting)
    assert found is None, found
    session = Session(read(text), **setting.options())
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
    item = Item(make("act", make("close", Atom("gate"))), None, 12, 12, 12)
    lines = final(text, [item], Setting([10, 20, 30, 40], window=10))
    assert lines == ["act(close(gate)) at 12", "door(gate)=shut (13,inf)"]
