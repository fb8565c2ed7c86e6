"""A run of a LARS program as people ask for it, with everything checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from horai import io
from horai.errors import UsageError
from horai.io.read import Options
from horai.lang.lars.predicates import inputs
from horai.lang.lars.syntax import Program
from horai.lars_result import LarsAnswer, Shown
from horai.lars_session import Session
from horai.lars_signals import AnySignals
from horai.lars_wanted import Wanted
from horai.schedule import MOST_QUERIES

if TYPE_CHECKING:
    from horai.feeding import Progress
    from horai.lars_program import LarsProgram

Extent = tuple[int, int]


class Told(NamedTuple):
    """An answer, and the query time at which it was given; later ones revise earlier ones."""

    arrived: int
    answer: LarsAnswer


@dataclass(frozen=True)
class Job:
    """What a run is asked for; `points` is the program with windows in time points."""

    program: LarsProgram
    points: Program
    wanted: Wanted
    shown: Shown
    step: int
    start: int | None
    end: int | None
    lateness: int | None
    clock: str | None
    times: io.Clock
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

    def session(self, start: int, engine: str) -> Session:
        """A session that begins at a time."""
        return Session(
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
    session: Session,
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
