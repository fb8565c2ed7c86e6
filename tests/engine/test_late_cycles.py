"""Components that depend on themselves, where items come late or are taken back."""

from __future__ import annotations

import pytest
from hypothesis import given, reject
from tests.engine.comparing import Setting, agree, at, if_there_are_instructions, over
from tests.strategies.waiting import LateRun, late_runs
from tests.weights import examples

import horai

TOGGLE = """
    initiatedAt(on(X)=true,T) :- happensAt(e1(X),T), \\+ holdsAt(on(X)=true,T).
    initiatedAt(on(X)=false,T) :- happensAt(e1(X),T), holdsAt(on(X)=true,T).
"""
LATCH = """
    initiatedAt(on(X)=true,T) :- happensAt(e1(X),T), \\+ holdsAt(on(X)=true,T).
    terminatedAt(on(X)=true,T) :- happensAt(e2(X),T), holdsAt(on(X)=true,T).
"""
COUNTER = """
    initiatedAt(n(X)=1,T) :- happensAt(e1(X),T), \\+ holdsAt(n(X)=_,T).
    initiatedAt(n(X)=N,T) :- happensAt(o(X),T), holdsAt(n(X)=M,T), N is M + 1.
    happensAt(o(X),T) :- happensAt(e1(X),T), holdsAt(n(X)=M,T), M < 5.
    ft(n(X)=_,20).
"""
BUSY = [at(f"{event}({who})", time) for who in "xyz" for time in range(1, 39, 2)
        for event in (["e1", "e2"][time % 4 // 2],)]  # fmt: skip


def test_a_late_event_makes_a_whole_past_anew() -> None:
    items = [*BUSY, at("e1(x)", 2, arrival=33), at("e1(y)", 21, arrival=37)]
    for text in (TOGGLE, LATCH, COUNTER):
        for window in (15, 35, None):
            agree(text, items, Setting(range(5, 60, 5), window))


def test_taken_back_events_do_too() -> None:
    gone = at("e1(x)", 3, arrival=31, retract=True)
    for text in (TOGGLE, LATCH, COUNTER):
        agree(text, [*BUSY, gone], Setting(range(5, 60, 5), 40))


DELAYED = """
    initiatedAt(f(X)=a,T) :- happensAt(e1(X),T), \\+ holdsAt(f(X)=b,T).
    terminatedAt(f(X)=_,T) :- happensAt(e2(X),T), holdsAt(m(X)=true,T).
    initiatedAt(m(X)=true,T) :- happensAt(start(f(X)=b),T).
    fi(f(X)=a,f(X)=b,12).
    fi(f(X)=b,m(X)=false,9) :- holdsAt(m(X)=V,T), V = true.
    ft(m(X)=true,15) :- \\+ holdsAt(i1(X)=true,T).
    collectIntervals(i1(_)=true).
"""


def test_attempts_are_made_and_cancelled_by_what_is_late() -> None:
    items = [at("e1(x)", 4), at("e1(y)", 17), at("e1(x)", 40), at("e2(x)", 12, arrival=26)]
    items += [over("i1(x)=true", 15, 30, arrival=33), at("e1(y)", 9, arrival=41)]
    items += [at("e2(y)", 30), at("e2(x)", 44), at("e1(x)", 33, arrival=52)]
    for window in (20, 50, None):
        agree(DELAYED, items, Setting(range(4, 90, 4), window))


LINKED = """
    initiatedAt(f(X)=true,T) :- happensAt(e1(X),T), linked(X,Y), \\+ holdsAt(f(Y)=true,T).
    terminatedAt(f(X)=true,T) :- happensAt(e2(X),T), holdsAt(f(_)=true,T).
    linked(x,y). linked(y,z). linked(z,x).
"""


def test_entities_that_ask_about_each_other_are_one() -> None:
    items = [*BUSY, at("e2(x)", 4, arrival=33), at("e1(z)", 22, arrival=37)]
    for window in (15, 35, None):
        agree(LINKED, items, Setting(range(5, 60, 5), window))


def test_what_one_of_them_held_before_is_not_held_as_well() -> None:
    text = COUNTER.replace("M < 5", "M < 5, \\+ holdsAt(n(q)=1,T)")
    items = [at("e1(x)", 12), at("e1(y)", 13), at("e1(x)", 25), at("e1(y)", 33)]
    agree(text, [*items, at("e1(x)", 15, arrival=39)], Setting([10, 20, 30, 40, 50], 100))


TOLD_BY_OTHERS = """
    happensAt(o(X,early),T) :- happensAt(e2(X),T).
    happensAt(o(X,late),T) :- happensAt(e1(X),T), holdsAt(n(X)=_,T).
    initiatedAt(n(X)=1,T) :- happensAt(o(X,_),T), \\+ holdsAt(n(X)=_,T).
    initiatedAt(n(X)=N,T) :- happensAt(o(X,_),T), holdsAt(n(X)=M,T), N is M + 1.
"""


def test_events_that_others_tell_of_count() -> None:
    items = [*BUSY, at("e2(x)", 2, arrival=33), at("e1(y)", 22, arrival=37)]
    items.append(at("e2(y)", 3, arrival=36, retract=True))
    for window in (15, 40, None):
        agree(TOLD_BY_OTHERS, items, Setting(range(5, 60, 5), window))


def test_decimals_among_the_values_of_a_counter_count() -> None:
    text = """
        initiatedAt(n(X)=1,T) :- happensAt(e1(X),T), \\+ holdsAt(n(X)=_,T).
        initiatedAt(n(X)=N,T) :- happensAt(e4(X,D),T), holdsAt(n(X)=M,T), N is M + D.
    """
    items = [*BUSY, at("e4(x,2)", 12), at("e4(x,0.5)", 23), at("e4(x,1)", 26, arrival=33)]
    agree(text, items, Setting(range(5, 60, 5), 40))


# --- rules that ask others about other times -----------------------------------------------------


SINGING = """
    initiatedAt(m(X)=V,T) :- happensAt(put(X,V),T).
    initiatedAt(m(X)=3,T) :- happensAt(sing(X),T), holdsAt(c(X)=_,T).
    initiatedAt(j(X)=true,T) :- happensAt(put(X,_),T).
"""
ASKING = {
    "back": "initiatedAt(c(X)=V,T) :- happensAt(start(m(X)=V),T),"
    " happensAt(tune(X,_),U), U < T, T < U+50.",
    "back from a deadline": "ft(m(X)=_,15) :- holdsAt(j(X)=_,T), U is T-5, happensAt(tune(X,_),U).",
    "ahead of a deadline": "ft(m(X)=_,3) :- holdsAt(j(X)=_,T), U is T+25, happensAt(tune(X,_),U).",
    "at any time": "ft(m(X)=_,30) :- often(X). often(X) :- happensAt(tune(X,_),_).",
}


@pytest.mark.parametrize("asking", ASKING)
def test_what_others_say_late_counts_at_all_times_that_are_asked(asking: str) -> None:
    put = [at("put(x,1)", 15), at("put(x,2)", 16), at("sing(x)", 49)]
    for tune in (at("tune(x,1)", 10, arrival=44), at("tune(x,1)", 41)):
        for window in (None, 45):
            agree(SINGING + ASKING[asking], [*put, tune], Setting(range(6, 70, 6), window))


@examples("heavy")
@given(late_runs())
def test_random_rules_that_ask_others_about_other_times(run: LateRun) -> None:
    try:
        horai.loads(run.text)
    except horai.RulesError:
        reject()  # it is not said which time is that of the initiation
    with if_there_are_instructions():
        agree(run.text, run.items, Setting(run.queries, run.window))


CYCLE = """\
initiatedAt(on(X)=true, T) :- happensAt(press(X), T), \\+ (holdsAt(on(Y)=true, T), Y \\= X).
terminatedAt(on(X)=true, T) :- happensAt(press(Y), T), holdsAt(on(X)=true, T), X \\= Y.
"""


def test_a_cycle_joins_what_it_has_just_found() -> None:
    rules, rows = horai.loads(CYCLE), [f"press|{t}|{t}|x{t * t % 7}" for t in range(1, 40)]
    wanted = rules.run(rows, engine="reference").rows()
    assert rules.run(rows, engine="compiled").rows() == wanted
