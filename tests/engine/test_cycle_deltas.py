"""Components that depend on themselves, by change: who is settled anew, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given
from tests.engine.comparing import Setting, batches_of, tables_of
from tests.engine.test_incremental_cases import agree, at, over
from tests.engine.ways import apart, session_of
from tests.strategies.waiting import LateRun, late_runs
from tests.weights import examples

from horai.engine.clockstate import ClockState, Pending
from horai.engine.components import Components
from horai.engine.deltas import snapshots
from horai.engine.deltas.cycle_keys import Keys, find_keys
from horai.engine.deltas.parts import Cycles
from horai.engine.deltas.settling import ClockSettler, Course, MachineSettler, Part
from horai.engine.deltas.snapshots import Snapshot, Snapshots
from horai.oracle.ec.session import OracleItem
from horai.plan.pipeline import compile_program
from horai.rules import loads

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


@contextmanager
def parts_settled() -> Iterator[list[Part]]:
    """The parts that are settled meanwhile, with their candidates."""
    seen: list[Part] = []
    plain = [ClockSettler.settle, MachineSettler.settle]

    def watched(settle: object) -> object:
        def settled(self: object, components: Components, part: Part) -> Course:
            seen.append(part)
            return settle(self, components, part)  # type: ignore[operator,no-any-return]

        return settled

    one = patch.object(ClockSettler, "settle", watched(plain[0]))
    other = patch.object(MachineSettler, "settle", watched(plain[1]))
    with one, other:
        yield seen


def settled_by(
    text: str, items: Sequence[OracleItem], queries: Sequence[int], window: int
) -> list[Part]:
    """What is settled at the last query, after it was seen that the answers are right."""
    setting = Setting(queries, window)
    assert apart(text, items, setting) is None
    session = session_of(text, setting, "always")
    assert any(isinstance(part, Cycles) for part in session.live.parts)
    batches = list(zip(queries, batches_of(items, queries), strict=True))
    for query, batch in batches[:-1]:
        session.advance(query, tables_of(batch))
    with parts_settled() as seen:
        session.advance(batches[-1][0], tables_of(batches[-1][1]))
    return seen


def candidates(part: Part) -> int:
    return sum(len(time) for time, _ in part.rows)


QUERIES = [10, 20, 30, 40]
BUSY = [at(f"{event}({who})", time) for who in "xyz" for time in range(1, 39, 2)
        for event in (["e1", "e2"][time % 4 // 2],)]  # fmt: skip


@pytest.mark.parametrize("text", [TOGGLE, LATCH, COUNTER])
def test_only_new_candidates_are_looked_at_if_nothing_is_late(text: str) -> None:
    seen = settled_by(text, BUSY, QUERIES, 100)
    assert [(part.low, part.high) for part in seen] == [(30, 40)]
    # Those of the last step, for each rule that may use them.
    assert candidates(seen[0]) <= 3 * 3 * 5


def test_nobody_but_those_who_are_touched_is_settled_anew() -> None:
    late = at("e1(y)", 14, arrival=39)
    seen = settled_by(LATCH, [*BUSY[:1], late, at("e1(z)", 12)], QUERIES, 100)
    assert [candidates(part) for part in seen if part.low < 14 <= part.high] == [1]


def test_who_is_as_before_is_left_alone_after_that() -> None:
    """The latch is open already, so that one more event changes nothing later on."""
    items = [at("e1(x)", 12), at("e1(y)", 3), at("e1(x)", 15, arrival=39), at("e2(x)", 35)]
    seen = settled_by(LATCH, items, QUERIES, 100)
    assert [part.low for part in seen] == [10, 30]


def test_who_is_not_goes_on_to_the_end() -> None:
    items = [at("e1(x)", 12), at("e1(x)", 25), at("e1(x)", 15, arrival=39)]
    seen = settled_by(TOGGLE, items, QUERIES, 100)
    assert [part.low for part in seen] == [10, 20, 30]


# --- answers -------------------------------------------------------------------------------------


def test_a_late_event_makes_a_whole_past_anew() -> None:
    items = [*BUSY, at("e1(x)", 2, arrival=33), at("e1(y)", 21, arrival=37)]
    for text in (TOGGLE, LATCH, COUNTER):
        for window in (15, 35, None):
            agree(text, items, range(5, 60, 5), window)


def test_taken_back_events_do_too() -> None:
    gone = at("e1(x)", 3, arrival=31, retract=True)
    for text in (TOGGLE, LATCH, COUNTER):
        agree(text, [*BUSY, gone], range(5, 60, 5), 40)


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
        agree(DELAYED, items, range(4, 90, 4), window)


LINKED = """
    initiatedAt(f(X)=true,T) :- happensAt(e1(X),T), linked(X,Y), \\+ holdsAt(f(Y)=true,T).
    terminatedAt(f(X)=true,T) :- happensAt(e2(X),T), holdsAt(f(_)=true,T).
    linked(x,y). linked(y,z). linked(z,x).
"""


def test_entities_that_ask_about_each_other_are_one() -> None:
    items = [*BUSY, at("e2(x)", 4, arrival=33), at("e1(z)", 22, arrival=37)]
    assert _keys(LINKED).width == 0
    for window in (15, 35, None):
        agree(LINKED, items, range(5, 60, 5), window)


def test_what_one_of_them_held_before_is_not_held_as_well() -> None:
    text = COUNTER.replace("M < 5", "M < 5, \\+ holdsAt(n(q)=1,T)")
    assert _keys(text).width == 0
    items = [at("e1(x)", 12), at("e1(y)", 13), at("e1(x)", 25), at("e1(y)", 33)]
    agree(text, [*items, at("e1(x)", 15, arrival=39)], [10, 20, 30, 40, 50], 100)


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
        agree(TOLD_BY_OTHERS, items, range(5, 60, 5), window)


def test_what_is_not_for_a_machine_is_worked_out_as_a_whole_from_then_on() -> None:
    text = """
        initiatedAt(n(X)=1,T) :- happensAt(e1(X),T), \\+ holdsAt(n(X)=_,T).
        initiatedAt(n(X)=N,T) :- happensAt(e4(X,D),T), holdsAt(n(X)=M,T), N is M + D.
    """
    items = [*BUSY, at("e4(x,2)", 12), at("e4(x,0.5)", 23), at("e4(x,1)", 26, arrival=33)]
    setting = Setting(range(5, 60, 5), 40)
    assert apart(text, items, setting) is None
    session = session_of(text, setting, "always")
    assert [type(part) for part in session.live.parts] == [Cycles]
    for query, batch in zip(setting.queries, batches_of(items, setting.queries), strict=True):
        session.advance(query, tables_of(batch))
    assert session.live.refused == {0}
    assert session.live.parts == [None]


def test_snapshots_that_are_thinned_out() -> None:
    items = [*BUSY, at("e1(x)", 2, arrival=33), at("e1(y)", 21, arrival=37)]
    with patch.object(snapshots, "MOST", 3):
        for text in (TOGGLE, DELAYED):
            agree(text, items, range(2, 70, 2), 40)


# --- entities ------------------------------------------------------------------------------------


def _keys(text: str) -> Keys:
    program = compile_program(loads(text).description)
    stratum = next(one for one in program.strata if one.component.cyclic)
    return find_keys(stratum, program)


PAIR = """
    initiatedAt(g(X,Y)=true,T) :- happensAt(w(X,Y),T), \\+ holdsAt(h(Y,X)=true,T).
    initiatedAt(h(Y,X)=true,T) :- happensAt(w(Y,X),T), holdsAt(g(X,Y)=true,T).
"""
KEYS = [
    (TOGGLE, {"on": (0,)}),
    (COUNTER, {"n": (0,), "o": (0,)}),
    (DELAYED, {"f": (0,), "m": (0,)}),
    (LINKED, {"f": ()}),
    (PAIR, {"g": (0, 1), "h": (1, 0)}),
    # Who it is about is known only when the rule is asked.
    (PAIR.replace("w(Y,X)", "e1(Y)"), {"g": (1,), "h": (0,)}),
    ("initiatedAt(f=true,T) :- happensAt(e0,T), \\+ holdsAt(f=true,T).", {"f": ()}),
]


@pytest.mark.parametrize(("text", "expected"), KEYS)
def test_keys(text: str, expected: dict[str, tuple[int, ...]]) -> None:
    found = _keys(text).places
    assert {name: places for (_, (name, _)), places in found.items()} == expected


def test_snapshots_know_whose_attempts_are_open() -> None:
    keys = Keys({("fluent", ("f", 2)): (1,)})
    pending = [Pending(1, (("f", 2), (10, 20)), 5, 3), Pending(1, (("f", 2), (11, 21)), 5, 3)]
    found = Snapshots(keys)
    found.begin(0, ClockState(pending))
    assert found.last.clocks.keys() == {(20,), (21,)}
    assert found.last.state({(21,), (22,)}).pending == pending[1:]
    assert found.before(7) is found.last


def test_snapshots_tell_who_has_changed() -> None:
    pending = Pending(1, (("f", 1), (10,)), 5, 3)
    check = Snapshot(4, {(10,): ClockState([pending]), (11,): ClockState([pending])})
    assert check.replace({(10,), (12,)}, {(10,): ClockState([pending])}) == set()
    assert check.replace({(10,), (11,)}, {(10,): ClockState([pending])}) == {(11,)}
    assert check.clocks.keys() == {(10,)}


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
            agree(SINGING + ASKING[asking], [*put, tune], range(6, 70, 6), window)


@examples("heavy")
@given(late_runs())
def test_random_rules_that_ask_others_about_other_times(run: LateRun) -> None:
    agree(*run)
