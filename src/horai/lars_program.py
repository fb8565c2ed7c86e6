"""LARS programs that can be read: checked, run over a stream, or fed step by step."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from horai import parameters
from horai.engines import SPARK
from horai.errors import UsageError
from horai.feeding import Progress
from horai.inputs import checked_clock, checked_format, extent, read_input, time_point
from horai.lang.diagnostics import Diagnostic, RulesError, sort_key
from horai.lang.lars.anyone import with_rules_for_any
from horai.lang.lars.clock import Clock
from horai.lang.lars.points import in_points
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Program
from horai.lang.report import has_errors
from horai.lars_clock import DEFAULT_CLOCK, clock_for, clock_of
from horai.lars_engines import AUTO, Chosen, chosen
from horai.lars_job import Job, told
from horai.lars_result import LarsResult, Shown, in_course
from horai.lars_session import Session
from horai.lars_signals import files_of
from horai.lars_wanted import Wanted
from horai.plan.lars import Classification, check, classify

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from horai.lars_outline import LarsOutline
    from horai.lars_sparked import LarsSparkAnswers


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
            from horai.lars_sparked import run

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
        from horai.lars_sparked import frames_of

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
    ) -> Job:
        """A run with these parameters of `run`, all of them checked."""
        times = checked_clock(unit, time_in)
        return Job(
            self,
            self.in_points(clock, unit),
            Wanted.parse(models, reasoning, least_change),
            Shown.parse(filter, derived(self.program)),
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
    ) -> Session:
        """A run that is fed and asked step by step; parameters are those of `run`.

        >>> from horai import lars
        >>> session = lars.loads("busy(X) :- job(X) [2 s].").session(lateness=5)
        >>> session.advance(1, ["job|1|1|ada"]).answer.texts()
        ['busy(ada)']
        >>> [(row["op"], row["query"]) for row in session.advance(2, ["-job|2|1|ada"]).changes]
        [('-', 1)]
        """
        return Session(
            self,
            self.in_points(clock, unit),
            start=parameters.point(start, "start"),
            step=parameters.length(step, "step", 1),
            engine=engine,
            wanted=Wanted.parse(models, reasoning, least_change),
            shown=Shown.parse(filter, derived(self.program)),
            lateness=lateness,
            clock=clock,
            times=checked_clock(unit, time_in),
            strict=strict,
        )

    def engine(self, clock: str = DEFAULT_CLOCK, *, together: bool = True) -> Chosen:
        """The engine that `auto` takes, and the reasons against those before it.

        `together` is a run over a whole stream; without it, sessions, live runs and those with a
        lateness are meant, which ask for one query time after the other.
        """
        return chosen(_checked(self.program, clock_of(clock)), together=together)

    def outline(self, clock: str | None = None, unit: str | None = None) -> LarsOutline:
        """How the program is worked out, for `horai plan`; raises `RulesError`."""
        from horai.lars_outline import outline_of

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
