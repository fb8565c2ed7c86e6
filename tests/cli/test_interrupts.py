"""Interrupts end a run where it waits."""

from __future__ import annotations

import signal

import pytest

from horai.cli.interrupts import Interrupts, patient


def test_an_interrupt_waits_until_work_is_done() -> None:
    interrupts = Interrupts()
    interrupts.hear(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        interrupts.while_waiting(lambda: pytest.fail("nobody waits any more"))


def test_who_waits_is_interrupted_at_once() -> None:
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt):
        interrupts.while_waiting(lambda: interrupts.hear(signal.SIGINT, None))
    assert interrupts.while_waiting(lambda: 3) == 3


def test_the_second_interrupt_does_not_wait() -> None:
    interrupts = Interrupts()
    interrupts.hear(signal.SIGINT, None)
    with pytest.raises(KeyboardInterrupt):
        interrupts.hear(signal.SIGINT, None)


def test_interrupts_of_others_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)

    def theirs(*_: object) -> None: ...

    try:
        signal.signal(signal.SIGINT, theirs)
        with patient():
            assert signal.getsignal(signal.SIGINT) is theirs
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with patient():
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
