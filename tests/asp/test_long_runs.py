"""Long runs forget signals: the answers are those of a session that gets the stream all at once."""

from __future__ import annotations

import random

import pytest
from tests.asp.comparing import Signals, program

from horai.asp.engine import AspSession
from horai.asp.tms import TmsSession
from horai.lang.core.terms import Int
from horai.lang.lars.syntax import Atom
from horai.plan.lars.fragments import AnswerMode

SLIDING = """
    any(X) :- a(X) [7].        all(X) :- always a(X) [1].      both(X) :- @T a(X) [9], @T b [9].
    last(X) :- a(X) [5 #].     lasts(X) :- always a(X) [3 #].  when(T) :- @T b [4 #].
    hops(X) :- a(X) [6 hop 4]. new(X) :- a(X), not b.
    @T p(X) :- @T a(X) [3].    q(X) :- always p(X) [2].        r(X) :- p(X) [4 hop 2].
"""
COUNTED = """
    each(X) :- a(X) [2 # per a(Y)].
    ever(X) :- @T a(X), b.
    these(X) :- [only a] [3 #] some a(X).
"""


def stream(length: int) -> Signals:
    """About two signals at a time."""
    source = random.Random(length)
    found: Signals = []
    for time in range(length):
        for _ in range(source.choice((0, 1, 2, 3))):
            value = source.choice((1, 1, 2, 3))
            found.append((time, Atom("a", (Int(value),)) if source.random() < 0.8 else Atom("b")))
    return found


def at_once(text: str, given: Signals, time: int) -> frozenset[Atom]:
    """The answer of a session that has not lived through the stream."""
    session = AspSession(program(text), asked=AnswerMode(), grounding="fresh")
    return session.advance(time, [signal for signal in given if signal[0] <= time]).models[0].now


@pytest.mark.parametrize("rules", [SLIDING, COUNTED], ids=["sliding", "counted"])
@pytest.mark.parametrize("way", ["asp", "tms"])
def test_a_long_run(rules: str, way: str) -> None:
    length = 1000 if rules == SLIDING else 300
    given = stream(length)
    session: AspSession | TmsSession
    session = AspSession(program(rules)) if way == "asp" else TmsSession(program(rules))
    by_time: dict[int, Signals] = {}
    for signal in given:
        by_time.setdefault(signal[0], []).append(signal)
    for time in range(length):
        found = session.advance(time, by_time.get(time, [])).models[0].now
        if time % 97 == 0 or time > length - 8:
            assert found == at_once(rules, given, time), time
    # The windows of the second program may need signals of any age.
    assert (len(session.inputs.times) < len(given)) == (rules == SLIDING)


THINNED = """
    each(X) :- a(X) [2 # per a(Y)].
    when(X,T) :- @T a(X) [1 # per a(Y)].
    same(X) :- @T b [5], @T a(X).
"""
EARLY = THINNED + "early(X) :- a(X) [from 3 to 5]."


def test_signals_that_no_window_sees_are_forgotten_wherever_they_are() -> None:
    length = 1500
    given = stream(length)
    session = AspSession(program(THINNED))
    by_time: dict[int, Signals] = {}
    for signal in given:
        by_time.setdefault(signal[0], []).append(signal)
    for time in range(length):
        found = session.advance(time, by_time.get(time, [])).models[0].now
        if time % 97 == 0:
            assert found == at_once(THINNED, given, time), time
    assert len(given) > 2000 > 1100 > len(session.inputs.times)


def test_what_may_be_seen_is_kept() -> None:
    """Signals of a predicate that no window sees for ever go, those of the others stay."""
    session = AspSession(program(EARLY))
    given = stream(1200)
    session.advance(1200, given)
    assert session.advance(1201, []).models[0].now == at_once(EARLY, given, 1201)
    kept = {session.inputs.predicates[number] for number in session.inputs.numbers}
    assert kept == {("a", 1)}
    assert len(session.inputs.times) < len(given)
