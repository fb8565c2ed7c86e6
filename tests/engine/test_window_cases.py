"""Runs over windows that once were answered otherwise, each as small as it gets."""

from __future__ import annotations

import pytest
from tests.engine.comparing import (
    Setting,
    agree,
    at,
    batches_of,
    over,
    read,
    seen,
    tables_of,
)
from tests.engine.ways import apart

from horai.lang.ec.errors import EngineError
from horai.runtime.compiled import CompiledEngine

# --- the start of a run --------------------------------------------------------------------------


def test_what_holds_from_the_start_on_may_come_to_last_long_enough() -> None:
    text = """
        initially(s(X)=true) :- thing(X).
        terminatedAt(s(X)=true,T) :- happensAt(e1(X),T).
        holdsFor(h(X)=true,I) :- holdsFor(s(X)=true,I1), holdsFor(i1(X)=true,I2),
            union_all([I1,I2],I3), intDurGreater(I3,1,I).
        collectIntervals(i1(_)=true). thing(x).
    """
    agree(text, [], Setting([1, 2, 3, 4], 3))


# --- runs that go on after trouble ---------------------------------------------------------------


def picky(number: int) -> int:
    """Cannot bear a three."""
    if number == 3:
        raise ValueError("a three")
    return number + 1


PICKY = """
    initiatedAt(f(X)=true,T) :- happensAt(e1(X),T).
    initiatedAt(g(X)=N,T) :- happensAt(e4(X,M),T), holdsAt(f(X)=true,T), picky(M,N).
    initiatedAt(h(X)=true,T) :- happensAt(e1(X),T), \\+ holdsAt(g(X)=_,T).
"""


def test_a_session_that_gave_up_says_so_again() -> None:
    three = at("e4(x,3)", 7)
    items = [at("e1(x)", 2), at("e4(x,1)", 4), three, at("e1(x)", 8), at("e1(y)", 13)]
    setting = Setting([5, 10, 15, 20], 30, predicates={"picky": picky})
    session = CompiledEngine(read(PICKY), **setting.options())
    told: list[str] = []
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        try:
            seen(session.advance(query, tables_of(batch)))
            told.append("")
        except EngineError as error:
            told.append(str(error))
    assert told[0] == "" and "the Python predicate picky failed: a three" in told[1]
    assert told[2:] == [told[1]] * 2


# --- without an archive --------------------------------------------------------------------------


def test_what_became_final_is_not_gone_without_an_archive() -> None:
    text = "initiatedAt(f(X)=true,T) :- happensAt(e1(X),T), \\+ happensAt(e2(X),T)."
    few = [at("e1(x)", 2), at("e2(x)", 3), at("e1(y)", 14)]
    items = [*few, *(at(f"e2(w{number})", 29) for number in range(9))]
    found = apart(text, items, Setting(range(2, 41, 2), 12), archive=False)
    assert found is None, found


def test_intervals_of_an_allen_relation_have_partners_that_are_long_over() -> None:
    text = """
        collectIntervals(i1(_)=true).
        initially(a(X)=true) :- who(X).
        initiatedAt(a(X)=true, T) :- happensAt(e1(X), T).
        terminatedAt(a(X)=true, T) :- happensAt(e2(X), T).
        holdsFor(b(X)=true, I) :-
            holdsFor(a(X)=true, J), holdsFor(i1(X)=true, K), before(J, K, source, I).
        who(x).
    """
    items = [over("i1(x)=true", 23, 36, arrival=16), at("e2(x)", 16, arrival=17), at("e1(x)", 42)]
    setting = Setting(range(3, 49, 3), 7)
    found = apart(text, items, setting, restored=lambda query: True, archive=False)
    assert found is None, found


# --- items of what rules define ------------------------------------------------------------------


def test_items_of_a_derived_event_still_count_after_a_restore() -> None:
    text = """
        happensAt(o(X),T) :- happensAt(e1(X),T).
        initiatedAt(f(X)=true,T) :- happensAt(o(X),T).
    """
    items = [at("e1(x)", 2), at("o(y)", 3), at("e1(z)", 7)]
    found = apart(text, items, Setting([5, 10, 15], 30), restored=lambda query: query == 10)
    assert found is None, found


# --- rows of interval lists that become known late -----------------------------------------------


@pytest.mark.parametrize("window", [20, None])
def test_what_lasted_before_a_row_was_known_counts_for_its_duration(window: int | None) -> None:
    text = """
        initiatedAt(a(X)=true, T) :- happensAt(s(X), T).
        terminatedAt(a(X)=true, T) :- happensAt(e(X), T).
        initiatedAt(b(X,Y)=true, T) :- happensAt(bs(X,Y), T).
        terminatedAt(b(X,Y)=true, T) :- happensAt(be(X,Y), T).
        holdsFor(c(X,Y)=true, I) :- holdsFor(a(X)=true, I1), intDurGreater(I1, 10, I2),
            holdsFor(b(X,Y)=true, I3), intersect_all([I2,I3], I).
    """
    items = [at("s(x)", 2), at("e(x)", 30), at("bs(x,y)", 22), at("be(x,y)", 26)]
    agree(text, items, Setting([5, 10, 15, 20, 25, 30, 35], window))


def test_who_is_known_only_now_has_a_past_that_others_made() -> None:
    text = """
        initiatedAt(g(X,Y)=false,T) :- happensAt(e2(X),T), linked(X,Y).
        initiatedAt(g(X,Y)=0,T) :- happensAt(e4(X),T), linked(X,Y).
        initially(g(X,Y)=true) :- linked(X,Y).
        holdsFor(h(X)=true,I) :-
            holdsFor(g(X,_)=false,I1), holdsFor(g(X,_)=false,I2), complement_all([I2],I4),
            intersect_all([I1,I4],I3), intDurGreaterEq(I3,1,I), thing(X).
        thing(x). linked(y,x). linked(x,z).
    """
    items = [at("e2(x)", 4), at("e4(x)", 7), at("e2(y)", 30)]
    setting = Setting(range(2, 40, 2), 3)
    agree(text, items, setting)
    for archive in (True, False):
        found = apart(text, items, setting, restored=lambda query: True, archive=archive)
        assert found is None, found
