"""Ctrl-C is heard of within long steps of compiled tables."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import horai

PATHS = "path(X, Z) :- edge(X, Z) [inf].\npath(X, Z) :- path(X, Y), edge(Y, Z) [inf]."
THREE = "low(X) :- edge(X, _) [9], edge(Y, _) [9], edge(Z, _) [9], X + Y + Z < 0."


class Heard(BaseException):
    """What the handler of the signal raises."""


@contextmanager
def soon() -> Iterator[None]:
    """A signal comes after half a second."""

    def hear(*_: object) -> None:
        raise Heard

    before = signal.signal(signal.SIGALRM, hear)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_step_is_interrupted_and_the_session_goes_on() -> None:
    session = horai.loads(THREE, language="lars").session(start=0, engine="plan")
    session.feed([f"edge|1|1|{x}|{x}" for x in range(600)])
    with pytest.raises(Heard), soon():
        session.advance(1)
    assert session.advance(20, ["edge|20|20|-1|-2"]).texts() == ["low(-1)"]


def test_a_whole_run_is_interrupted() -> None:
    rules = horai.loads(PATHS, language="lars")
    rows = [f"edge|{time}|{time}|{time}|{time + 1}" for time in range(4_000)]
    with pytest.raises(Heard), soon():
        rules.run(rows, engine="plan", answers="final")
