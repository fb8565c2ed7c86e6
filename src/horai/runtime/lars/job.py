"""A run of a LARS program as people ask for it, with everything checked.

How long a time point of a LARS program is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from horai import io, settings
from horai.errors import UsageError
from horai.io.items.read import Options
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import inputs
from horai.lang.lars.syntax import Program
from horai.runtime.lars.engines import AnswerMode
from horai.runtime.lars.result import LarsAnswer, ShownAtoms
from horai.runtime.lars.session import ProgramSession
from horai.runtime.lars.signals import AnySignals
from horai.settings import MOST_QUERIES

if TYPE_CHECKING:
    from horai.lars import LarsProgram
    from horai.session import Progress


Extent = tuple[int, int]


class Told(NamedTuple):
    """An answer, and the query time at which it was given; later ones revise earlier ones."""

    arrived: int
    answer: LarsAnswer


@dataclass(frozen=True)
class LarsJob:
    """What a run is asked for; `points` is the program with windows in time points."""

    program: LarsProgram
    points: Program
    wanted: AnswerMode
    shown: ShownAtoms
    step: int
    start: int | None
    end: int | None
    lateness: int | None
    clock: str | None
    times: io.TimeScale
    strict: bool
    format: io.Format | None

    @property
    def schema(self) -> AnySignals:
        """The signals that are expected, and all others."""
        return AnySignals.known(inputs(self.program.program))

    @property
    def options(self) -> Options:
        """How rows are read."""
        return Options(self.schema, self.times, None, self.strict)

    def queries(self, extent: Extent | None) -> range:
        """The query times, once it is known what the input covers."""
        first, last = extent or (0, 0)
        start = first if self.start is None else self.start
        end = last if self.end is None else self.end
        if end < start:
            hint = "a run covers the time points from start up to and including end"
            raise UsageError(f"the end of the run, {end}, is before its start, {start}", hint)
        if (end - start) // self.step > MOST_QUERIES:
            hint = "choose a longer step, or a start near the first signal"
            problem = f"from {start} to {end} there are more than {MOST_QUERIES:,} query times"
            raise UsageError(problem, hint)
        return range(start, end + 1, self.step)

    def session(self, start: int, engine: str) -> ProgramSession:
        """A session that begins at a time."""
        return ProgramSession(
            self.program,
            self.points,
            start=start,
            step=self.step,
            engine=engine,
            wanted=self.wanted,
            shown=self.shown,
            lateness=self.lateness,
            clock=self.clock,
            times=self.times,
            strict=self.strict,
            together=self.lateness is None,
        )


def told(
    session: ProgramSession,
    narrative: io.Narrative,
    files: Sequence[str],
    queries: range,
    progress: Progress | None = None,
) -> Iterator[Told]:
    """All that a session says over a stream, in order: revised answers, then the new one."""
    if session.lateness is None:
        for answer in session.over(narrative, files, queries, progress):
            yield Told(answer.query, answer)
        return
    session.take_in(narrative, files)
    for done, query in enumerate(queries, 1):
        step = session.take([query])
        yield from (Told(query, answer) for answer in (*step.revised, *step.answers))
        if progress is not None:
            progress(done, len(queries))


DEFAULT_CLOCK = "1s"


def clock_for(clock: str | None, unit: str | None) -> Clock:
    """The clock, which must be one unit long where times of the input have a unit."""
    if unit is None:
        return clock_of(clock or DEFAULT_CLOCK)
    found = clock_of(clock or f"1{unit}")
    if found != clock_of(f"1{unit}"):
        hint = f"with unit={unit} time points are 1 {unit} long; leave out the clock"
        raise UsageError(f"the clock {found} does not fit times in {unit}", hint)
    return found


def clock_of(text: str) -> Clock:
    """The length of a time point that a text says, or a kind error."""
    hint = "for example 500ms, 1s, 5min"
    try:
        return Clock.parse(settings.text(text, "clock", hint))
    except UsageError:
        raise
    except ValueError as wrong:
        raise UsageError(str(wrong), hint) from None
