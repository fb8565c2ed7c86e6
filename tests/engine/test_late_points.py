"""Simple fluents of many values, of which points come late and go again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, agree
from tests.weights import examples

from horai.lang.core.terms import Constant, Term, make
from horai.oracle.ec.session import OracleItem

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


CUTS = (st.sampled_from([None, 5, 14, 30]), st.sampled_from([1, 2, 5, 9]), st.sampled_from([1, 3]))


@examples("heavy")
@given(items(), *CUTS)
def test_answers_are_those_of_the_reference(
    told: list[OracleItem], window: int | None, step: int, tick: int
) -> None:
    agree(RULES, told, Setting(range(step, 40, step), window, tick))
