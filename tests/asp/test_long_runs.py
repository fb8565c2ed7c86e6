"""Long runs forget signals: the answers are those of a session that gets the stream all at once."""

from __future__ import annotations

import random

import pytest
from tests.asp.comparing import Signals, program

from horai.asp.engine import AspSession
from horai.asp.solving import Asked
from horai.asp.tms import TmsSession
from horai.lang.lars.syntax import Atom
from horai.lang.terms import Int

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
    session = AspSession(program(text), asked=Asked(), grounding="fresh")
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
