"""Rules about members of dynamic domains on the compiled engine, beside the reference.

Members come and go with late items and retractions, sessions forget and are restored between query
times, and what a rule says of a member goes back to the start of the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine.comparing import Setting, at, differences
from tests.weights import examples

from horai.engine.answer import Answer
from horai.engine.arrow_items import Source
from horai.lang.core.terms import Constant, Term, make
from horai.lang.ec.syntax import EventDescription
from horai.oracle.ec.session import OracleItem
from horai.runtime.compiled import CompiledEngine

DOMAIN = """
dynamicDomain(guest(_)).
collectIntervals(in(_)=true). collectIntervals(near(_,_)=true).
grounding(come(X)) :- guest(X).
grounding(near(X,Y)=true) :- guest(X), guest(Y).
likes(a,b). likes(b,c). likes(c,a). likes(c,c). age(a,3). age(b,5). age(c,5).
alone(X) :- guest(X), \\+ liked(X).
liked(X) :- guest(Y), likes(Y,X).
reach(X,Y) :- guest(X), guest(Y), likes(X,Y).
reach(X,Z) :- reach(X,Y), likes(Y,Z), guest(Z).
older(X,Than) :- guest(X), age(X,N), N > Than.
"""
RULES = {
    "a member": "holdsFor(r(X)=true,I) :- holdsFor(in(X)=true,I), guest(X).",
    "no member": "holdsFor(r(X)=true,I) :- holdsFor(in(X)=true,I), \\+ guest(X).",
    "a relation": "holdsFor(r(X)=true,I) :- holdsFor(in(X)=true,I), alone(X).",
    "nobody": """
        holdsFor(r(X)=true,I) :-
            guest(X), holdsFor(in(X)=true,I1), holdsFor(near(X,Y)=true,I2), \\+ likes(X,Y),
            relative_complement_all(I1,[I2],I).""",
    "a complement": "holdsFor(r(X)=true,I) :- guest(X), holdsFor(in(X)=true,J), "
    "complement_all([J],I).",
    "a grounding": """
        holdsFor(r(X,Y)=true,I) :- holdsFor(in(X)=true,J), complement_all([J],I).
        grounding(r(X,Y)=true) :- guest(X), guest(Y), X \\= Y.""",
    "an open grounding": """
        holdsFor(r(X,Y)=true,I) :-
            holdsFor(in(X)=true,J), holdsFor(near(X,Y)=true,K), union_all([J,K],I).
        grounding(r(X,_)=true) :- alone(X).""",
    "listed": """
        holdsFor(r(X)=true,I) :- holdsFor(in(X)=true,J), complement_all([J],I).
        grounding(in(X)=true) :- alone(X).""",
    "how many": """
        holdsFor(r(X)=true,I) :-
            holdsFor(in(X)=true,J), aggregate_all(count,guest(_),N), durGreaterEq(J,N,I).""",
    "a choice": """
        holdsFor(r(X)=true,I) :-
            holdsFor(in(X)=true,J), (guest(X) -> durGreater(J,2,I) ; durLess(J,2,I)).""",
    "a procedure": "holdsFor(r(X)=true,I) :- holdsFor(in(X)=true,I), age(Y,N), older(X,N).",
    "a formula": "holdsAt(r(X)=true,T) :- guest(X), holdsAt(in(X)=true,T), "
    "\\+ (holdsAt(near(X,Y)=true,T), alone(Y)).",
    "read": """
        holdsFor(r(X)=true,I) :- holdsFor(in(X)=true,I), guest(X).
        initiatedAt(s(X)=true,T) :- happensAt(start(r(X)=true),T), older(X,4).
        terminatedAt(s(X)=true,T) :- happensAt(end(r(Y)=true),T), likes(X,Y).
        holdsFor(t(X)=true,I) :- holdsFor(r(X)=true,J), holdsFor(s(X)=true,K), union_all([J,K],I).
        """,
    "computed values": """
        holdsFor(r(X)=N,I) :- holdsFor(in(X)=true,I), age(X,N), guest(X).
        holdsFor(r(X)=k(Y),I) :- holdsFor(near(X,Y)=true,I).
        holdsFor(r(X)=5,I) :- holdsFor(near(a,X)=true,I).
        initiatedAt(r(X)=3,T) :- happensAt(come(X),T).
        terminatedAt(r(X)=3,T) :- happensAt(end(near(_,X)=true),T).
        grounding(r(X)=5) :- alone(X).
        grounding(r(X)=k(_)) :- age(X,_).
        initiatedAt(s(X)=V,T) :- happensAt(start(r(X)=V),T).
        terminatedAt(s(X)=V,T) :- happensAt(end(r(X)=V),T), holdsAt(r(Y)=V,T), Y \\= X.
        holdsFor(t(X,V)=true,I) :-
            holdsFor(r(X)=V,J), holdsFor(r(X)=5,K), relative_complement_all(J,[K],I).
        """,
    "a recursive relation": """
        holdsFor(r(X,Y)=true,I) :- holdsFor(in(X)=true,I), reach(X,Y).
        holdsFor(s(X)=true,I) :- holdsFor(in(X)=true,J), \\+ reach(X,X), complement_all([J],I).
        initiatedAt(p(X,Y)=true,T) :- happensAt(come(X),T), reach(X,Y).
        terminatedAt(p(X,Y)=true,T) :- happensAt(start(in(Y)=true),T), age(X,_), \\+ reach(Y,X).
        grounding(s(X)=true) :- reach(_,X).
        """,
    "points": """
        initiatedAt(p(X)=true,T) :- happensAt(start(in(X)=true),T), older(b,T).
        initiatedAt(q(X)=N,T) :- happensAt(come(X),T), aggregate_all(count,alone(_),N).""",
    # Who becomes known late has points from before the window.
    "grounded values": """
        initiatedAt(p(X)=true,T) :- happensAt(start(in(X)=true),T).
        terminatedAt(p(X)=true,T) :- happensAt(start(in(Y)=true),T), likes(Y,X).
        initially(q(X)=rest) :- guest(X).
        initiatedAt(q(X)=work,T) :- happensAt(end(in(X)=true),T), holdsAt(p(X)=true,T).
        fi(q(X)=work,q(X)=rest,3).
        holdsFor(r(X)=true,I) :-
            holdsFor(p(X)=true,J), holdsFor(q(X)=rest,K), relative_complement_all(J,[K],I).
        grounding(p(X)=true) :- guest(X).
        grounding(q(X)=work) :- alone(X).
        grounding(q(X)=rest) :- guest(X).
        grounding(r(X)=true) :- guest(X).""",
}


class Restored:
    """A session that is saved and restored before every query time."""

    def __init__(self, description: EventDescription, **options: Any) -> None:
        self._made = partial(CompiledEngine, description, **options)
        self._now = self._made()

    def advance(self, until: int, tables: Iterable[Source] = ()) -> Answer:
        saved = self._now.save()
        self._now = self._made()
        self._now.restore(saved)
        return self._now.advance(until, tables)


class Forgetful(CompiledEngine):
    """A session that forgets before every query time."""

    def __init__(self, description: EventDescription, **options: Any) -> None:
        super().__init__(description, archive=False, **options)

    def advance(self, until: int, tables: Iterable[Source] = ()) -> Answer:
        self._room = 0
        return super().advance(until, tables)


ENGINES: dict[str, Any] = {
    "going on": CompiledEngine,
    "restored": Restored,
    "forgetful": Forgetful,
}
WHO = st.sampled_from("abc").map(Constant)


@st.composite
def items(draw: st.DrawFn) -> list[OracleItem]:
    """Who comes, is in, and is near whom; some of it late, some taken back."""
    found: list[OracleItem] = []
    for _ in range(draw(st.integers(2, 9))):
        start = draw(st.integers(1, 24))
        arrival = start + draw(st.sampled_from([0, 1, 7]))
        who: Term = draw(WHO)
        if draw(st.booleans()):
            found.append(OracleItem(make("come", who), None, start, start, arrival))
        else:
            entity = draw(st.sampled_from([make("in", who), make("near", who, draw(WHO))]))
            end = start + draw(st.integers(1, 8))
            found.append(OracleItem(entity, Constant("true"), start, end, arrival))
        if draw(st.integers(1, 3)) == 3:
            one = found[-1]
            back = OracleItem(one.entity, one.value, one.start, one.end, arrival + 5, retract=True)
            found.append(back)
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rules", RULES)
@examples("heavy")
@given(given=items(), window=st.sampled_from([None, 8, 16]), tick=st.sampled_from([1, 1, 3]))
def test_members_come_and_go(
    rules: str, engine: str, given: list[OracleItem], window: int | None, tick: int
) -> None:
    setting = Setting(tuple(range(6, 37, 6)), window, tick)
    found = differences(DOMAIN + RULES[rules], given, setting, ENGINES[engine])
    assert found is None, found


GROUNDED = """
dynamicDomain(guest(_)).
grounding(come(X)) :- guest(X).
grounding(s(X)=V) :- guest(X), value(V).
value(v). value(w).
likes(a,b).
"""
POINTS = {
    "an event": "initiatedAt(s(X)=v,T) :- happensAt(call(X),T).",
    "two events": """
        initiatedAt(s(X)=v,T) :- happensAt(call(X),T), happensAt(pay(_),T0), T0 < T, T-T0 < 9.
        initiatedAt(q(X)=v,T) :- happensAt(start(s(X)=v),T).""",
    "an end": """
        initiatedAt(s(X)=v,T) :- happensAt(call(X),T).
        terminatedAt(s(X)=v,T) :- happensAt(pay(X),T).
        holdsFor(r(X)=true,I) :- holdsFor(s(X)=v,J), complement_all([J],I).
        grounding(r(X)=true) :- guest(X).""",
    "a fluent": """
        initiatedAt(s(X)=v,T) :- happensAt(call(X),T), holdsAt(p(X)=true,T).
        initiatedAt(p(X)=true,T) :- happensAt(pay(X),T).""",
    "the beginning": """
        initially(s(X)=v) :- guest(X).
        terminatedAt(s(X)=v,T) :- happensAt(come(Y),T), likes(Y,X).""",
    "a delay": """
        initially(s(X)=v) :- guest(X).
        initiatedAt(s(X)=w,T) :- happensAt(call(X),T).
        fi(s(X)=w,s(X)=v,5).""",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rules", POINTS)
@pytest.mark.parametrize("window", [10, 20])
def test_who_becomes_known_late_has_values_from_before_the_window(
    rules: str, engine: str, window: int
) -> None:
    given = [
        *(at("pay(a)", 2), at("call(a)", 4), at("call(b)", 6), at("pay(b)", 12)),
        *(at("call(a)", 20), at("pay(a)", 25), at("come(b)", 40), at("call(a)", 61)),
        *(at("come(a)", 75), at("come(c)", 95), at("call(c)", 97)),
    ]
    setting = Setting(tuple(range(10, 101, 10)), window)
    found = differences(GROUNDED + POINTS[rules], given, setting, ENGINES[engine])
    assert found is None, found
