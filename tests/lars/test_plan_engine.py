"""The plan engine says what the reference says, at every query time."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.lars.plain_programs import Sent, Story, signals, stories
from tests.lars.planned import by_plan, by_reference
from tests.lars.story import program

from horai.engine.lars.live import can_live
from horai.lars_plan import planned

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


# A signal may be taken back when it is forgotten already.
FORGOTTEN = Story("g(x).\ng(3).\np1(X) :- s(X), X != y.", (Sent("s", ("x",), 0, 0, gone=2),), 0)

# What facts or recursive rules say may come as a signal, too.
FACT = Story("g(x).\np1(X) :- g(X), s(y).", (Sent("s", ("y",), 1, 1), Sent("g", ("3",), 1, 1)), 0)
SEED = Story("g(x).\np1(X) :- g(X), p1(Y).", (Sent("p1", ("3",), 4, 4),), 0)


@settings(max_examples=60, deadline=None, suppress_health_check=QUIET)
@given(stories())
@example(FORGOTTEN)
@example(FACT)
@example(SEED)
def test_plain_programs(story: Story) -> None:
    assert by_plan(story) == by_reference(story)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@settings(max_examples=6000, deadline=None, suppress_health_check=QUIET)
@given(stories())
def test_plain_programs_at_length(story: Story) -> None:
    assert by_plan(story) == by_reference(story)


COUNTING = (
    "n(N) :- N = count { X : s(X) [3] }. busy(N) :- n(N), N > 1, r(X) [2]. :- n(3), r(y).",
    "p(X) :- s(X) [2], count { Y : r(Y) [3], Y != X } >= 1. q(N) :- N = count { Y : p(Y) }.",
    "last(X,M) :- r(X) [3 #], M = max { U : @U s(X) [4] }. calm :- not sum { Y : s(Y) [2] } > 2.",
    "m(N) :- N = count { Y, U : @U s(Y) [4] ; Y : r(Y) [1] }, not r(x). o(N) :- m(N), not m(2).",
)


@settings(max_examples=30, deadline=None, suppress_health_check=QUIET)
@given(st.sampled_from(COUNTING), signals(late=False))
def test_counting_from_tick_to_tick(text: str, sent: tuple[Sent, ...]) -> None:
    assert can_live(planned(program(text)))
    story = Story(text, sent, 0)
    assert by_plan(story) == by_reference(story)
