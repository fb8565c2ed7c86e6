"""Random plain programs and streams: the solver finds what the definitions say, all of it."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.asp.comparing import Signals, by_asp, contents, plain, reference
from tests.asp.programs import END, MIXED, NUMBERS, Kind, programs, streams
from tests.weights import examples

from horai.asp.engine import AspSession
from horai.asp.tms import TmsSession
from horai.lang.lars.printer import show_program
from horai.lang.lars.syntax import Program
from horai.plan.lars.fragments import NotServed

KINDS = {"mixed": Kind(values=MIXED), "numbers": Kind(values=NUMBERS)}


def check(program: Program, given_signals: Signals) -> None:
    """Whether grounding is kept or not, all answer streams are found at all times."""
    try:
        found = {way: by_asp(program, given_signals, range(END + 2), way) for way in WAYS}
    except NotServed as refused:
        assume("background predicate" not in refused.reason)
        assume("`not` before" not in refused.reason)
        raise
    shown = [(time, plain(atom)) for time, atom in given_signals]
    for time in range(END + 2):
        expected = reference(program, given_signals, time)
        for way in WAYS:
            assert found[way][time] == expected, (way, time, show_program(program), shown)


WAYS = ("fresh", "kept", "auto")


@examples("normal")
@given(programs(KINDS["mixed"]), streams(KINDS["mixed"], with_derived=True))
def test_solver_and_definitions_agree(program: Program, signals: Signals) -> None:
    check(program, signals)


@examples("normal")
@given(programs(KINDS["numbers"]), streams(KINDS["numbers"]))
def test_solver_and_definitions_agree_on_numbers(program: Program, signals: Signals) -> None:
    check(program, signals)


def check_late(program: Program, signals: Signals, delays: list[int]) -> None:
    """Signals that arrive late count from then on, as if they had been there before."""
    # The place among the signals of a time point is that in the input, not that of the arrival.
    arrivals = [
        (time + delay, (time, atom, place))
        for place, ((time, atom), delay) in enumerate(zip(signals, delays, strict=False))
    ]
    sessions: list[AspSession | TmsSession] = []
    try:
        sessions.append(AspSession(program))
        sessions.append(TmsSession(program))
    except NotServed:
        assume(sessions)
    for query in range(END + 3):
        known = [(time, atom) for arrival, (time, atom, _) in arrivals if arrival <= query]
        known.sort(key=lambda signal: signal[0])
        expected = reference(program, known, query)
        for session in sessions:
            try:
                found = session.advance(query, [s for arrival, s in arrivals if arrival == query])
            except NotServed as refused:
                assert "depends on itself" in refused.reason
                continue
            got = contents(found, known)
            shown = [(arrival, time, plain(atom)) for arrival, (time, atom, _) in arrivals]
            assert got <= expected, (type(session), query, show_program(program), shown)
            assert bool(got) == bool(expected)


NORMAL = Kind(is_normal=True)
delays = st.lists(st.integers(0, 3), min_size=6, max_size=6)


@examples("normal")
@given(programs(NORMAL), streams(NORMAL), delays)
def test_late_signals(program: Program, signals: Signals, delays: list[int]) -> None:
    check_late(program, signals, delays)


def check_jumps(program: Program, signals: Signals, times: set[int], start: int) -> None:
    """Questions may be far from each other, and the stream may start at any time."""
    sessions: list[AspSession | TmsSession] = []
    try:
        sessions.append(AspSession(program, start=start))
        sessions.append(AspSession(program, start=start, grounding="kept"))
        sessions.append(TmsSession(program, start=start))
    except NotServed:
        assume(sessions)
    waiting = list(signals)
    for query in sorted(start + time for time in times):
        new = [signal for signal in waiting if signal[0] <= query]
        waiting = [signal for signal in waiting if signal[0] > query]
        expected = reference(program, signals, query, start)
        for session in sessions:
            try:
                got = contents(session.advance(query, new), signals)
            except NotServed as refused:
                assert "depends on itself" in refused.reason
                continue
            shown = [(time, plain(atom)) for time, atom in signals]
            assert got <= expected, (type(session), query, start, show_program(program), shown)
            assert bool(got) == bool(expected)


@examples("normal")
@given(
    programs(NORMAL),
    streams(NORMAL, end=9, with_derived=True),
    st.sets(st.integers(0, 11), min_size=1, max_size=4),
    st.integers(0, 2),
)
def test_questions_far_from_each_other(
    program: Program, signals: Signals, times: set[int], start: int
) -> None:
    check_jumps(program, signals, times, start)


@pytest.mark.slow
@examples("normal")
@given(programs(NORMAL), streams(NORMAL, with_derived=True), delays)
def test_late_signals_for_long(program: Program, signals: Signals, delays: list[int]) -> None:
    check_late(program, signals, delays)


@pytest.mark.slow
@examples("normal")
@given(programs(KINDS["numbers"]), streams(KINDS["numbers"], with_derived=True))
def test_solver_and_definitions_agree_on_numbers_for_long(
    program: Program, signals: Signals
) -> None:
    check(program, signals)
