"""Ctrl-C for runs without an end: it ends them between two lines, never in the middle of one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


class Interrupts:
    """While somebody works an interrupt waits for him; the second one does not."""

    def __init__(self) -> None:
        self._asked = self._waits = False

    def while_waiting(self, wait: Callable[[], T]) -> T:
        """Wait for something; here an interrupt, also one from before, is raised."""
        self._waits = True
        try:
            if self._asked:
                raise KeyboardInterrupt
            return wait()
        finally:
            self._waits = False

    def hear(self, number: int, frame: FrameType | None) -> None:
        """An interrupt has come."""
        if self._asked or self._waits:
            raise KeyboardInterrupt
        self._asked = True


@contextmanager
def patient() -> Iterator[Interrupts]:
    """Takes interrupts, unless they are somebody else's."""
    found = Interrupts()
    is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_ours or threading.current_thread() is not threading.main_thread():
        yield found
        return
    signal.signal(signal.SIGINT, found.hear)
    try:
        yield found
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
