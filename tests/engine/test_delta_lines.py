"""Simple fluents of which points come late and go again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting
from tests.engine.ways import apart
from tests.weights import examples

from horai.engine.columns import column_of
from horai.engine.deltas import lines
from horai.engine.deltas.lines import FluentLines, Moved
from horai.engine.deltas.store import FluentStore
from horai.engine.heads import EVERY, Said
from horai.engine.simple import held_nothing
from horai.engine.symbols import Symbols
from horai.engine.world import no_fluent
from horai.lang.core.terms import Constant, Int, Term, make
from horai.oracle.ec.session import OracleItem


class Known:
    """The lines of a fluent, and the store that they fill."""

    def __init__(self) -> None:
        self.symbols = Symbols()
        self.lines = FluentLines(1, 1, self.symbols)
        self.store = FluentStore(no_fluent(2), self.symbols)
        self.lines.begin(held_nothing(1), self.store)

    def change(self, *moves: tuple[str, int, Term | None, bool]) -> list[tuple[int, int]]:
        """Points of entities come: with a value it is initiated, without one all are ended."""
        parts = []
        for who, time, value, comes in moves:
            code = EVERY if value is None else self.symbols.code(value)
            args = (column_of([Constant(who)], self.symbols),)
            said = Said(args, np.array([time]), np.array([code]))
            parts.append(Moved(said, value is not None, comes))
        found = self.lines.change(parts, self.store)
        return list(zip(found.new.start.tolist(), found.new.end.tolist(), strict=True))


def test_entities_that_have_nothing_left_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "ENOUGH", 50)
    known = Known()
    most = 0
    for number in range(400):
        who, time = f"v{number}", 10 * number
        known.change((who, time, Int(number), True), (who, time + 3, None, True))
        known.lines.settle(time - 50)
        known.lines.pack()
        most = max(most, known.lines.used)
    assert most < 300  # points, of some eight hundred
    # What came last is still there.
    assert known.change(("v399", 3992, None, True)) == [(3991, 3993)]


def test_what_holds_when_the_past_is_forgotten_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "ENOUGH", 0)
    known = Known()
    known.change(("a", 5, Constant("on"), True))
    for number in range(40):
        known.change((f"b{number}", 6 + number, Constant("on"), True))
    known.lines.settle(30)
    known.lines.pack()
    known.change(*((f"c{number}", 60, Constant("on"), True) for number in range(40)))
    known.lines.settle(50)
    known.lines.pack()
    assert known.change(("a", 70, None, True)) == [(6, 71)]


# --- one fluent of many values, and all that can come late ---------------------------------------

RULES = """
    initiatedAt(f(X)=V,T) :- happensAt(set(X,V),T).
    initiatedAt(f(X)=a,T) :- happensAt(again(X),T), holdsAt(g(X)=true,T).
    terminatedAt(f(X)=a,T) :- happensAt(drop(X),T).
    terminatedAt(f(X)=_,T) :- happensAt(clear(X),T).
    initiatedAt(g(X)=true,T) :- happensAt(again(X),T).
    terminatedAt(g(X)=true,T) :- happensAt(clear(X),T).
    initiatedAt(whole=V,T) :- happensAt(set(_,V),T).
    terminatedAt(whole=_,T) :- happensAt(clear(_),T).
"""
X, Y = Constant("x"), Constant("y")
HAPPENINGS: list[Term] = [
    *(make("set", who, Constant(value)) for who in (X, Y) for value in "abc"),
    *(make(name, who) for name in ("again", "drop", "clear") for who in (X, Y)),
]


@st.composite
def items(draw: st.DrawFn) -> list[OracleItem]:
    """Events close together, most of them late, many taken back."""
    found: list[OracleItem] = []
    for _ in range(draw(st.integers(1, 25))):
        event, time = draw(st.sampled_from(HAPPENINGS)), draw(st.integers(1, 20))
        arrival = time + draw(st.integers(0, 12))
        found.append(OracleItem(event, None, time, time, arrival))
        if draw(st.integers(0, 4)) == 4:
            later = arrival + draw(st.integers(0, 6))
            found.append(OracleItem(event, None, time, time, later, retract=True))
    return found


def settled_alike(told: list[OracleItem], window: int | None, step: int, tick: int) -> None:
    """Brought up to date it is as if settled as a whole."""
    found = apart(RULES, told, Setting(range(step, 40, step), window, tick))
    assert found is None, found


CUTS = (st.sampled_from([None, 5, 14, 30]), st.sampled_from([1, 2, 5, 9]), st.sampled_from([1, 3]))


@examples("heavy")
@given(items(), *CUTS)
def test_inertia_by_change(
    told: list[OracleItem], window: int | None, step: int, tick: int
) -> None:
    settled_alike(told, window, step, tick)
