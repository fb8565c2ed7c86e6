"""Runs of LARS programs that go on: line by line, with the clock, from a saved state.

Ctrl-C and SIGTERM for runs without an end: both end them between two lines, never in one.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from queue import Empty
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from horai.cli import console
from horai.errors import UsageError
from horai.io.items.tables import extent
from horai.io.sources.protocol import InputLine
from horai.io.sources.registry import Incoming, has_messages, offset_after
from horai.lang.lars.clock import MILLISECONDS
from horai.lang.lars.predicates import inputs
from horai.rules import taken_up
from horai.runtime.checkpoint import write_whole
from horai.runtime.inputs import clock_for, files_of, read_input
from horai.runtime.lars.admission import in_order, numbered
from horai.runtime.lars.flow import AnswerTiming, Flow
from horai.runtime.lars.signals import AnySignals, LineReader
from horai.runtime.metrics import LATEST
from horai.settings import RunSettings

if TYPE_CHECKING:
    from horai.cli.output import Target
    from horai.result import Result
    from horai.rules import Rules
    from horai.session import Session


T = TypeVar("T")
_PLAIN: dict[signal.Signals, Any] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
}
"""Signals that ask for the end, and who takes them where nobody else does."""


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
    ours = [number for number, plain in _PLAIN.items() if signal.getsignal(number) is plain]
    if threading.current_thread() is not threading.main_thread():
        ours = []
    for number in ours:
        signal.signal(number, found.hear)
    try:
        yield found
    finally:
        for number in ours:
            signal.signal(number, _PLAIN[number])


def run_live(
    program: Rules, names: Sequence[str], settings: RunSettings, target: Target
) -> tuple[Result, int]:
    """Run a program as its signals come: what became of it, and how often it was asked."""
    driver = _Driver(program, settings, target)
    if settings.live or settings.real_time:
        if not names:
            raise UsageError("no input given", "name where signals come from: --input -")
        driver.live(names)
    else:
        driver.read(names)
    return driver.finish()


class _Driver:
    """One run; its session begins when it is known where."""

    def __init__(self, program: Rules, given: RunSettings, target: Target) -> None:
        self.program, self.given, self.target = program, given, target
        self.settings = given.of_session()
        self.clock = clock_for(given.clock, given.unit)
        self.timing = AnswerTiming.parse(given.output_every or "time", self.clock)
        if self.timing.number > 1 and self.timing.by == "time":
            if "step" in self.settings:
                raise UsageError("--step and --output-every both say how often", "leave out one")
            self.settings["step"] = self.timing.number
        self.start, self.end = given.start, given.end
        schema = AnySignals.known(inputs(program.program))
        self.reader = LineReader(schema, given.scale, strict=given.strict)
        self.flow: Flow | None = None
        self.offsets: dict[str, int] = {}
        self._restore()

    # --- from where it goes on -------------------------------------------------------------------

    def _restore(self) -> None:
        state = self.given.state
        if state is None or not state.exists():
            return
        asked = replace(self.given, step=self.settings.get("step", self.given.step))
        session = taken_up(self.program, state, asked, self.settings)
        self.offsets = dict(session.offsets)
        self.flow = self._flow(session)

    def _begin(self, first: int) -> Flow:
        """The flow, which begins at a time if it has not begun yet."""
        if self.flow is None:
            start = first if self.start is None else self.start
            self.flow = self._flow(self.program.session(start=start, **self.settings))
        return self.flow

    def _flow(self, session: Session) -> Flow:
        if self.end is not None and self.end < session.next:
            hint = f"the next query time is {session.next}"
            raise UsageError(f"the end of the run, {self.end}, has passed", hint)
        answers = self.given.answers or "windows"
        has_end = not (self.given.live or self.given.real_time)
        keep = None if has_end else LATEST
        return Flow(session, self.timing, answers, self.target.say, self.end, keep)

    # --- where signals come from -----------------------------------------------------------------

    def read(self, names: Sequence[str]) -> None:
        """Signals of files, read at once."""
        narrative = read_input(
            list(names),
            self.reader.schema,
            self.given.scale,
            format=self.given.input_format,
            strict=self.reader.strict,
        )
        self.reader.dead_letters.extend(narrative.dead_letters)
        first, _ = extent(narrative.tables) or (0, 0)
        flow = self._begin(first)
        rows = in_order(numbered(narrative.tables, files_of(list(names))))
        flow.rows(sorted(rows, key=lambda row: row.arrival))

    def live(self, names: Sequence[str]) -> None:
        """Signals line by line, until there are no more or somebody interrupts."""
        incoming = Incoming(names, console.say, self.offsets)
        self.has_topics = any(map(has_messages, names))
        with patient() as interrupts:
            try:
                if self.given.real_time:
                    self._by_the_clock(incoming, interrupts)
                else:
                    self._by_arrival(incoming, interrupts)
            except KeyboardInterrupt:
                pass  # a run without an end is ended like that
            finally:
                incoming.close()
                self.target.flush()

    def _note_offset(self, line: InputLine) -> None:
        """Who goes on with a topic goes on after this message."""
        self.offsets[line.source] = offset_after(line)

    def _by_arrival(self, incoming: Incoming, interrupts: Interrupts) -> None:
        while (lines := interrupts.while_waiting(incoming.some)) is not None:
            watched = self.has_topics or self.end is not None
            rows = self.reader.rows(self._watched(lines) if watched else lines)
            if self.flow is None and (first := next(rows, None)) is not None:
                self._begin(min(first.arrival, first.start))
                rows = chain((first,), rows)
            if self.flow is not None:
                self.flow.rows(rows)
                if self.flow.is_over:
                    return
            self.target.flush()

    def _watched(self, lines: Iterable[InputLine]) -> Iterator[InputLine]:
        """Lines up to the one with which the run is over; of each, how far its topic was read."""
        for line in lines:
            yield line
            # Here its rows were taken.
            if has_messages(line.source):
                self._note_offset(line)
            if self.flow is not None and self.flow.is_over:
                return

    def _by_the_clock(self, incoming: Incoming, interrupts: Interrupts) -> None:
        flow = self._begin(0)
        first, began = flow.now, time.monotonic()
        seconds = self.clock.amount * MILLISECONDS[self.clock.unit] / 1000
        while not flow.is_over:
            now = first + int((time.monotonic() - began) / seconds)
            flow.pass_to(now)
            left = began + (now + 1 - first) * seconds - time.monotonic()
            line = interrupts.while_waiting(partial(_next, incoming, left))
            if line is None:
                return
            if isinstance(line, InputLine):
                flow.rows(self.reader.rows([line], max(now, flow.now)))
                if has_messages(line.source):
                    self._note_offset(line)
            self.target.flush()

    # --- the end ---------------------------------------------------------------------------------

    def finish(self) -> tuple[Result, int]:
        """The last answers, the letters, and the state for those who go on."""
        flow = self._begin(0)
        flow.close()
        session = flow.session
        session.dead_letters.extend(self.reader.dead_letters)
        self.reader.dead_letters.clear()
        if self.given.state is not None:
            session.offsets = self.offsets
            write_whole(self.given.state, session.save())
        elif self.end is not None:
            return session.finish(self.end), flow.asked
        return session.result(), flow.asked


def _next(incoming: Incoming, seconds: float) -> InputLine | bool | None:
    """The next line; True if none has come in time, None if there are no more."""
    try:
        return incoming.next(max(0.0, seconds))
    except Empty:
        return True
