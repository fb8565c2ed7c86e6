"""Fluents that share only the time are joined by it: memory grows with what holds together."""

from __future__ import annotations

import tracemalloc
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, differences
from tests.strategies.changing_streams import ChangingRun, changing_runs
from tests.strategies.runs import Run
from tests.strategies.wild_parts import PREDICATES
from tests.strategies.wild_streams import wild_runs
from tests.weights import examples

import horai
from horai.engine import overlaps

INPUT = "points(at(_,_)=true). buildFromPoints(at(_,_)=true).\n"
FAR = "A @< B, abs(P-Q) < 3"
SHAPES = {
    "formula": f"""holdsAt(near(A,B)=true,T) :-
        holdsAt(at(A,P)=true,T), holdsAt(at(B,Q)=true,T), {FAR}.""",
    "formula with a negation": f"""holdsAt(alone(A)=true,T) :-
        holdsAt(at(A,P)=true,T), \\+ (holdsAt(at(B,Q)=true,T), {FAR}).""",
    "three fluents": f"""holdsAt(near(A,B,C)=true,T) :- holdsAt(at(A,P)=true,T),
        holdsAt(at(B,Q)=true,T), {FAR}, holdsAt(at(C,R)=true,T), B @< C, abs(Q-R) < 3.""",
    "at an event": f"""initiatedAt(near(A,B)=true,T) :-
        happensAt(seen(A),T), holdsAt(at(A,P)=true,T), holdsAt(at(B,Q)=true,T), {FAR}.""",
    "negated at an event": f"""happensAt(alone(A),T) :- happensAt(seen(A),T),
        holdsAt(at(A,P)=true,T), \\+ (holdsAt(at(B,Q)=true,T), {FAR}).""",
    "at every point": f"""happensAt(near(A,B),T) :-
        holdsAt(at(A,P)=true,T), holdsAt(at(B,Q)=true,T), {FAR}.""",
    "counted": """happensAt(many(A,N),T) :-
        happensAt(seen(A),T), aggregate_all(count, holdsAt(at(B,Q)=true,T), N).""",
}


def _peak(rules: horai.Rules, size: int) -> int:
    """The most bytes that arrays took at a time during a run over so many points."""
    lines = []
    for number in range(size):
        time, who = 1 + number // 5, number % 5
        place = (number * 7919) % 1000 + number / 100_000  # never the same place twice
        lines += [f"at|{time}|{time}|true|v{who}|{place}", f"seen|{time}|{time}|v{who}"]
    end = size // 5 + 2
    settings: dict[str, Any] = {"start": 0, "end": end, "answers": "final", "engine": "columnar"}
    rules.run(lines, **settings)  # compiles
    tracemalloc.start()
    try:
        rules.run(lines, **settings)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("shape", SHAPES)
def test_memory_does_not_grow_with_the_square_of_the_stream(shape: str) -> None:
    rules = horai.loads(INPUT + SHAPES[shape])
    small, large = (_peak(rules, size) for size in (800, 2400))
    assert large < 4.5 * small  # nine times as many could meet, three times as many do


# --- the same answers -----------------------------------------------------------------------------


def _agree(described_text: str, run: ChangingRun | Run) -> None:
    cut = run.cut
    start = getattr(cut, "start", 0)
    setting = Setting(cut.queries, cut.window, run.described.tick, start, predicates=PREDICATES)
    with patch.object(overlaps, "FEW", 0), patch.object(overlaps, "OFTEN", 0):
        found = differences(described_text, run.items, setting)
    assert found is None, found


@examples("heavy")
@given(st.one_of(wild_runs(lateness=20), changing_runs(told=False)))
def test_joins_by_time_give_the_answers_of_the_reference(run: ChangingRun | Run) -> None:
    """Whatever is joined, however little of it there is."""
    _agree(run.described.text, run)


CYCLE = """\
initiatedAt(on(X)=true, T) :- happensAt(press(X), T), \\+ (holdsAt(on(Y)=true, T), Y \\= X).
terminatedAt(on(X)=true, T) :- happensAt(press(Y), T), holdsAt(on(X)=true, T), X \\= Y.
"""


def test_a_cycle_joins_what_it_has_just_found() -> None:
    rules, rows = horai.loads(CYCLE), [f"press|{t}|{t}|x{t * t % 7}" for t in range(1, 40)]
    wanted = rules.run(rows, engine="reference").rows()
    with patch.object(overlaps, "FEW", 0), patch.object(overlaps, "OFTEN", 0):
        assert rules.run(rows, engine="columnar").rows() == wanted
