"""LARS programs: loaded, checked, and ready to run over a stream.

>>> from horai import lars
>>> program = lars.loads("busy(X) :- job(X) [2 s].")
>>> result = program.run(["job|1|1|ada"], start=0, end=4)
>>> [(answer.query, answer.texts()) for answer in result.answers]
[(0, []), (1, ['busy(ada)']), (2, ['busy(ada)']), (3, ['busy(ada)']), (4, [])]


LARS programs that can be read: checked, run over a stream, or fed step by step.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai import settings as parameters
from horai.errors import UsageError
from horai.io.items.tables import extent
from horai.lang.core.diagnostics import Diagnostic, RulesError, has_errors, sort_key
from horai.lang.core.reader import clean
from horai.lang.core.source import SourceText
from horai.lang.lars.clock import Clock
from horai.lang.lars.predicates import derived, with_rules_for_any
from horai.lang.lars.reader import read_files, read_sources
from horai.lang.lars.syntax import Program
from horai.lang.lars.walk import in_points
from horai.plan.lars.check import check
from horai.plan.lars.fragments import Classification, classify
from horai.runtime.engines import SPARK
from horai.runtime.inputs import checked_clock, checked_format, read_input, time_point
from horai.runtime.lars.engines import AUTO, AnswerMode, EngineChoice, chosen
from horai.runtime.lars.job import DEFAULT_CLOCK, LarsJob, clock_for, clock_of, told
from horai.runtime.lars.result import LarsAnswer, LarsResult, ShownAtoms, in_course
from horai.runtime.lars.session import LANGUAGE, LarsStep, ProgramSession
from horai.runtime.lars.signals import files_of
from horai.runtime.saving import demand_language, from_bytes, whole
from horai.session import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from horai.runtime.lars.outline import LarsOutline
    from horai.runtime.spark.lars import LarsSparkAnswers


class LarsProgram:
    """A LARS program that can be read; `check` says what is wrong with it for a clock."""

    def __init__(self, program: Program) -> None:
        self.program = program

    @property
    def classification(self) -> Classification:
        """Which fragment the program is in, and what it uses."""
        return classify(self.program)

    def check(self, clock: str = DEFAULT_CLOCK) -> list[Diagnostic]:
        """All that is wrong or doubtful when a time point is as long as the clock says."""
        return check(self.program, clock_of(clock))

    def run(
        self,
        input: object = (),
        *,
        clock: str | None = None,
        start: int | str | None = None,
        end: int | str | None = None,
        step: int = 1,
        engine: str = AUTO,
        models: str | int = "one",
        reasoning: str = "models",
        least_change: bool = False,
        filter: str | Iterable[str] = "inferences",
        lateness: int | None = None,
        unit: str | None = None,
        time_in: str | None = None,
        input_format: str | None = None,
        strict: bool = False,
        progress: Progress | None = None,
        master: str | None = None,
        buckets: int | None = None,
    ) -> LarsResult:
        """Evaluate the program at `start`, `start + step`, ... up to and including `end`.

        `input` is what `horai.Rules.run` takes; without `start` and `end` the run covers it. A
        time point is as long as `clock` says, `1s` if nothing is said. At each query time the
        signals count that have arrived by then. `models` is `one`, `all` or a number; `reasoning`
        is `models`, `brave` (what holds in some answer) or `cautious` (in all of them); with
        `least_change` each answer is as near to the one before as can be. `filter` says what is
        shown: `inferences` (what rules derive), `none` (everything that holds), or names of
        predicates. With a `lateness`, answers are revised when signals come late, but no more
        than so many time points. The engine `spark` takes a `master` and a number of `buckets`.
        """
        job = self.job(
            clock=clock,
            start=start,
            end=end,
            step=step,
            models=models,
            reasoning=reasoning,
            least_change=least_change,
            filter=filter,
            lateness=lateness,
            unit=unit,
            time_in=time_in,
            input_format=input_format,
            strict=strict,
        )
        if engine == SPARK:
            from horai.runtime.spark.lars import run

            return run(job, input, master=master, buckets=buckets)
        if master is not None or buckets is not None:
            name = "master" if master is not None else "buckets"
            raise UsageError(f"{name} is about Spark", "add engine spark")
        narrative = read_input(input, job.schema, job.times, format=job.format, strict=strict)
        queries = job.queries(extent(narrative.tables))
        session = job.session(queries.start, engine)
        said = told(session, narrative, files_of(input), queries, progress)
        if lateness is None:
            answers, revised = [answer for _, answer in said], None
        else:
            answers, revised = in_course(said, job.wanted.is_numbered)
        letters = session.arrivals.finish(queries.stop - 1)
        ran = (session.engine, session.reasons)
        result = LarsResult(answers, letters, job.wanted.is_numbered, revised, *ran)
        result.over = (narrative, queries)
        return result

    def spark(
        self,
        input: object,
        *,
        session: SparkSession | None = None,
        master: str | None = None,
        buckets: int | None = None,
        answers: str = "windows",
        **settings: Any,
    ) -> LarsSparkAnswers:
        """Run on Spark and leave the answers there, as data frames: atoms, dead letters.

        `input` is a data frame of Spark, or whatever `run` takes; `settings` are those of `run`,
        and `answers` is one of the forms that a result has. The session is that of the data frame,
        the active one, or a new one with `master`.
        """
        from horai.runtime.spark.lars import frames_of

        job = self.job(**settings)
        return frames_of(job, input, answers, session=session, master=master, buckets=buckets)

    def job(
        self,
        *,
        clock: str | None = None,
        start: int | str | None = None,
        end: int | str | None = None,
        step: int = 1,
        models: str | int = "one",
        reasoning: str = "models",
        least_change: bool = False,
        filter: str | Iterable[str] = "inferences",
        lateness: int | None = None,
        unit: str | None = None,
        time_in: str | None = None,
        input_format: str | None = None,
        strict: bool = False,
    ) -> LarsJob:
        """A run with these parameters of `run`, all of them checked."""
        times = checked_clock(unit, time_in)
        return LarsJob(
            self,
            self.in_points(clock, unit),
            AnswerMode.parse(models, reasoning, least_change),
            ShownAtoms.parse(filter, derived(self.program)),
            parameters.length(step, "step", 1),
            time_point(start, times.unit, "start"),
            time_point(end, times.unit, "end"),
            None if lateness is None else parameters.length(lateness, "lateness", 0),
            clock,
            times,
            strict,
            checked_format(input_format),
        )

    def in_points(self, clock: str | None = None, unit: str | None = None) -> Program:
        """The program with its windows in time points; raises `RulesError`."""
        return _checked(self.program, clock_for(clock, unit))

    def session(
        self,
        *,
        clock: str | None = None,
        start: int = 0,
        step: int = 1,
        engine: str = AUTO,
        models: str | int = "one",
        reasoning: str = "models",
        least_change: bool = False,
        filter: str | Iterable[str] = "inferences",
        lateness: int | None = None,
        unit: str | None = None,
        time_in: str | None = None,
        strict: bool = False,
    ) -> ProgramSession:
        """A run that is fed and asked step by step; parameters are those of `run`.

        >>> from horai import lars
        >>> session = lars.loads("busy(X) :- job(X) [2 s].").session(lateness=5)
        >>> session.advance(1, ["job|1|1|ada"]).answer.texts()
        ['busy(ada)']
        >>> [(row["op"], row["query"]) for row in session.advance(2, ["-job|2|1|ada"]).changes]
        [('-', 1)]
        """
        return ProgramSession(
            self,
            self.in_points(clock, unit),
            start=parameters.point(start, "start"),
            step=parameters.length(step, "step", 1),
            engine=engine,
            wanted=AnswerMode.parse(models, reasoning, least_change),
            shown=ShownAtoms.parse(filter, derived(self.program)),
            lateness=lateness,
            clock=clock,
            times=checked_clock(unit, time_in),
            strict=strict,
        )

    def engine(self, clock: str = DEFAULT_CLOCK, *, together: bool = True) -> EngineChoice:
        """The engine that `auto` takes, and the reasons against those before it.

        `together` is a run over a whole stream; without it, sessions, live runs and those with a
        lateness are meant, which ask for one query time after the other.
        """
        return chosen(_checked(self.program, clock_of(clock)), together=together)

    def outline(self, clock: str | None = None, unit: str | None = None) -> LarsOutline:
        """How the program is worked out, for `horai plan`; raises `RulesError`."""
        from horai.runtime.lars.outline import outline_of

        points = self.in_points(clock, unit)
        return outline_of(points, in_points(self.program, clock_for(clock, unit)))

    def __repr__(self) -> str:
        names = sorted(f"{name}/{arity}" for name, arity in derived(self.program))
        return f"<LarsProgram for {', '.join(names) or 'nothing'}>"


def _checked(program: Program, clock: Clock) -> Program:
    findings = sorted(check(program, clock), key=sort_key)
    if has_errors(findings):
        raise RulesError(findings)
    return in_points(with_rules_for_any(program), clock)


PathLike = str | os.PathLike[str]


def load(
    paths: PathLike | Iterable[PathLike], background: PathLike | Iterable[PathLike] = ()
) -> LarsProgram:
    """Read a program from files; `background` are files of facts. Raises `RulesError`."""
    files = [*_paths(paths), *_paths(background)]
    if not files:
        raise UsageError("no rules given", "name at least one file of rules")
    return readable(*read_files(files))


def loads(text: str, background: str = "") -> LarsProgram:
    """Read a program from text. Raises `RulesError`.

    >>> loads("h :- b [2 s].")
    <LarsProgram for h/0>
    """
    hint = "to read files, use horai.lars.load"
    given = [("<rules>", text), ("<background>", background)]
    sources = [
        SourceText(name, clean(parameters.text(content, name, hint)))
        for name, content in given
        if content or name == "<rules>"
    ]
    return readable(*read_sources(sources))


def load_session(saved: bytes) -> ProgramSession:
    """The session that `Session.save` saved, with its program, ready to go on."""
    found = from_bytes(saved)
    demand_language(found, LANGUAGE)
    settings = {name: value for name, value in found.settings.items() if name != "language"}
    with whole():
        program = readable(*read_sources([SourceText(name, text) for name, text in found.sources]))
        session = program.session(**settings)
        session.restore(found)
        return session


def readable(program: Program, findings: list[Diagnostic]) -> LarsProgram:
    """A program that could be read, or `RulesError` with all that is wrong."""
    if has_errors(findings):
        # What the checks find in the rules that could be read is worth knowing, too.
        raise RulesError([*findings, *check(program, Clock.parse(DEFAULT_CLOCK))])
    return LarsProgram(program)


def _paths(given: PathLike | Iterable[PathLike]) -> list[Path]:
    return [Path(given)] if isinstance(given, str | os.PathLike) else [Path(p) for p in given]


__all__ = [
    "LarsAnswer",
    "LarsProgram",
    "LarsResult",
    "LarsStep",
    "ProgramSession",
    "load",
    "load_session",
    "loads",
]
