"""Runs that once were answered otherwise by change than from scratch, each as small as it gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

from tests.engine.comparing import Lines, Setting, batches_of, seen, tables_of
from tests.engine.ways import apart, session_of

from horai.engine.deltas import costs
from horai.engine.session import Incremental
from horai.lang.core.reader import read_term
from horai.lang.ec.errors import EngineError
from horai.oracle.ec.session import OracleItem


def at(event: str, time: int, arrival: int | None = None, retract: bool = False) -> OracleItem:
    """An event, which arrives at once unless said otherwise."""
    return OracleItem(
        read_term(event), None, time, time, time if arrival is None else arrival, retract=retract
    )


def over(pair: str, start: int, end: int, arrival: int | None = None) -> OracleItem:
    """An input fluent over an interval."""
    fluent, value = (read_term(part) for part in pair.split("="))
    return OracleItem(fluent, value, start, end, start if arrival is None else arrival)


def agree(
    text: str, items: Sequence[OracleItem], queries: Sequence[int], window: int | None
) -> None:
    """The same answers by change and from scratch."""
    found = apart(text, items, Setting(queries, window))
    assert found is None, found


# --- the start of a run --------------------------------------------------------------------------


def test_what_holds_from_the_start_on_may_come_to_last_long_enough() -> None:
    text = """
        initially(s(X)=true) :- thing(X).
        terminatedAt(s(X)=true,T) :- happensAt(e1(X),T).
        holdsFor(h(X)=true,I) :- holdsFor(s(X)=true,I1), holdsFor(i1(X)=true,I2),
            union_all([I1,I2],I3), intDurGreater(I3,1,I).
        collectIntervals(i1(_)=true). thing(x).
    """
    agree(text, [], [1, 2, 3, 4], 3)


# --- runs that go on after trouble ---------------------------------------------------------------


def picky(number: int) -> int:
    """Cannot bear a three."""
    if number == 3:
        raise ValueError("a three")
    return number + 1


def _told(way: Incremental, text: str, items: list[OracleItem], setting: Setting) -> list[Lines]:
    running = session_of(text, setting, way)
    told: list[Lines] = []
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        try:
            answer = running.advance(query, tables_of(batch))
        except EngineError as error:
            told.append([str(error)])
        else:
            told += seen(answer).values()
    return told


def test_a_query_that_was_refused_leaves_nothing_half_done() -> None:
    text = """
        initiatedAt(f(X)=true,T) :- happensAt(e1(X),T).
        initiatedAt(g(X)=N,T) :- happensAt(e4(X,M),T), holdsAt(f(X)=true,T), picky(M,N).
        initiatedAt(h(X)=true,T) :- happensAt(e1(X),T), \\+ holdsAt(g(X)=_,T).
    """
    three = at("e4(x,3)", 7)
    items = [at("e1(x)", 2), at("e4(x,1)", 4), three, at("e1(x)", 8), at("e1(y)", 13)]
    items.append(replace(three, arrival=12, retract=True))
    setting = Setting([5, 10, 15, 20], 30, predicates={"picky": picky})
    scratch, by_change = (_told(way, text, items, setting) for way in ("never", "always"))
    assert "three" in scratch[4][0]
    assert by_change == scratch


# --- one way after the other ---------------------------------------------------------------------


def test_what_became_final_is_not_gone_when_the_way_changes_without_an_archive() -> None:
    """Steps with many items do not pay; by then the others have brought the memory up to date."""
    text = "initiatedAt(f(X)=true,T) :- happensAt(e1(X),T), \\+ happensAt(e2(X),T)."
    few = [at("e1(x)", 2), at("e2(x)", 3), at("e1(y)", 14)]
    items = [*few, *(at(f"e2(w{number})", 29) for number in range(9))]
    with patch.object(costs, "COST_OF_COMPONENT", -3):
        setting = Setting(range(2, 41, 2), 12)
        found = apart(text, items, setting, "auto", archive=False)
    assert found is None, found


# --- items of what rules define ------------------------------------------------------------------


def test_items_of_a_derived_event_still_count_after_a_restore() -> None:
    text = """
        happensAt(o(X),T) :- happensAt(e1(X),T).
        initiatedAt(f(X)=true,T) :- happensAt(o(X),T).
    """
    items = [at("e1(x)", 2), at("o(y)", 3), at("e1(z)", 7)]
    setting = Setting([5, 10, 15], 30)
    found = apart(text, items, setting, restored=lambda query: "always" if query == 10 else None)
    assert found is None, found


# --- rows of interval lists that become known late -----------------------------------------------


def test_what_lasted_before_a_row_was_known_counts_for_its_duration() -> None:
    text = """
        initiatedAt(a(X)=true, T) :- happensAt(s(X), T).
        terminatedAt(a(X)=true, T) :- happensAt(e(X), T).
        initiatedAt(b(X,Y)=true, T) :- happensAt(bs(X,Y), T).
        terminatedAt(b(X,Y)=true, T) :- happensAt(be(X,Y), T).
        holdsFor(c(X,Y)=true, I) :- holdsFor(a(X)=true, I1), intDurGreater(I1, 10, I2),
            holdsFor(b(X,Y)=true, I3), intersect_all([I2,I3], I).
    """
    items = [at("s(x)", 2), at("e(x)", 30), at("bs(x,y)", 22), at("be(x,y)", 26)]
    agree(text, items, [5, 10, 15, 20, 25, 30, 35], 20)
    agree(text, items, [5, 10, 15, 20, 25, 30, 35], None)
