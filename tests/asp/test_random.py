"""Random plain programs and streams: the solver finds what the definitions say, all of it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings
from tests.asp.comparing import Signals, by_asp, plain, reference
from tests.asp.programs import END, MIXED, NUMBERS, Kind, programs, streams

from horai.asp.plain import Refused
from horai.lang.lars.printer import show_program
from horai.lang.lars.syntax import Program

KINDS = {"mixed": Kind(values=MIXED), "numbers": Kind(values=NUMBERS)}
unhurried = settings(deadline=None, suppress_health_check=list(HealthCheck))


def check(program: Program, given_signals: Signals) -> None:
    """Whether grounding is kept or not, all answer streams are found at all times."""
    try:
        found = {way: by_asp(program, given_signals, range(END + 2), way) for way in WAYS}
    except Refused as refused:
        assume("background predicate" not in refused.reason)
        assume("`not` before" not in refused.reason)
        raise
    shown = [(time, plain(atom)) for time, atom in given_signals]
    for time in range(END + 2):
        expected = reference(program, given_signals, time)
        for way in WAYS:
            assert found[way][time] == expected, (way, time, show_program(program), shown)


WAYS = ("fresh", "kept", "auto")


@settings(unhurried, max_examples=60)
@given(programs(KINDS["mixed"]), streams(KINDS["mixed"], with_derived=True))
def test_solver_and_definitions_agree(program: Program, signals: Signals) -> None:
    check(program, signals)


@settings(unhurried, max_examples=60)
@given(programs(KINDS["numbers"]), streams(KINDS["numbers"]))
def test_solver_and_definitions_agree_on_numbers(program: Program, signals: Signals) -> None:
    check(program, signals)


@pytest.mark.slow
@settings(unhurried, max_examples=1500)
@given(programs(KINDS["mixed"]), streams(KINDS["mixed"], with_derived=True))
def test_solver_and_definitions_agree_for_long(program: Program, signals: Signals) -> None:
    check(program, signals)


@pytest.mark.slow
@settings(unhurried, max_examples=1500)
@given(programs(KINDS["numbers"]), streams(KINDS["numbers"], with_derived=True))
def test_solver_and_definitions_agree_on_numbers_for_long(
    program: Program, signals: Signals
) -> None:
    check(program, signals)
