"""Rules that know nothing of an event but its time: who else does something then?"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, agree
from tests.weights import examples

import horai
from horai.lang.core.terms import Constant, Int, Term, make
from horai.oracle.ec.session import OracleItem

RULES = """
    happensAt(near(A,B),T) :- happensAt(pos(A,X),T), happensAt(pos(B,Y),T), A \\= B, abs(X-Y) < 2.
    happensAt(alone(A),T) :- happensAt(pos(A,X),T), \\+ happensAt(near(A,_),T).
    initiatedAt(met(A)=B,T) :- happensAt(pos(A,X),T), happensAt(near(B,C),T), A \\= B, A \\= C.
    terminatedAt(met(A)=_,T) :- happensAt(alone(A),T).
    initiatedAt(busy(A)=true,T) :- happensAt(stop(A),T), happensAt(pos(B,2),T), A \\= B.
    terminatedAt(busy(A)=true,T) :- happensAt(pos(A,0),T).
    initiatedAt(last(A)=B,T) :- happensAt(stop(A),T), happensAt(pos(B,X),T2), T2 is T-2, X > 0.
"""
WHO = [Constant(name) for name in "xyz"]
HAPPENINGS: list[Term] = [
    *(make("pos", one, Int(place)) for one in WHO for place in range(4)),
    *(make("stop", one) for one in WHO),
]


@st.composite
def items(draw: st.DrawFn) -> list[OracleItem]:
    """Events at few times, many of them late, some taken back."""
    found: list[OracleItem] = []
    for _ in range(draw(st.integers(1, 25))):
        event, time = draw(st.sampled_from(HAPPENINGS)), draw(st.integers(1, 12))
        arrival = time + draw(st.integers(0, 10))
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
    agree(RULES, told, Setting(range(step, 30, step), window, tick))


def test_who_asks_by_the_time_hears_of_that_time_only() -> None:
    rules = horai.loads(
        "happensAt(near(A,B),T) :- happensAt(pos(A,X),T), happensAt(pos(B,Y),T), A \\= B, X = Y."
    )
    session = rules.session(window=1000, start=0, answers="changelog")
    session.advance(300, [f"pos|{time}|{time}|e{time}|1" for time in range(1, 300)])
    late = session.advance(310, ["pos|301|7|e8|1"])
    assert {row.args for row in late.changes} == {("e7", "e8"), ("e8", "e7")}
    engine: Any = session.core
    counts = engine._machine.counts()
    assert counts["links"] <= 300  # and not one for each pair
    assert counts["evaluations"] < 1500
