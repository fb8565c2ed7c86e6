"""Runs on Spark over whole inputs: the same answers in buckets, as a `Result` or as data frames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

from horai import io
from horai.errors import RunError, RunFailed, UsageError
from horai.io import DeadLetter, Kind
from horai.lang.core.diagnostics import Diagnostic
from horai.result import Result
from horai.runtime.inputs import is_files
from horai.runtime.jobs import SparkJob, metrics_of
from horai.runtime.lars.buckets import ProgramJob, letters_in, not_counted
from horai.runtime.metrics import Metrics
from horai.runtime.records import ANSWERS, Exchanger
from horai.runtime.rounds import Outcome, Rounds, Send
from horai.runtime.spark import frames
from horai.runtime.spark.connect import connect
from horai.runtime.spark.shuffle import Cluster, grid_of
from horai.runtime.tracks import derive_all, front_of
from horai.settings import RunSettings, amount, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from horai.rules import Rules

H = TypeVar("H")


def check(outcome: Outcome) -> None:
    """Raise what ended a run, as one process would have."""
    if outcome.unreadable is not None:
        raise outcome.unreadable
    if outcome.problem is not None:
        query, text = outcome.problem
        raise RunError(f"{text} (at query time {query})")


def load(job: SparkJob | ProgramJob, buckets: int, on: Rounds[H], send: Send) -> set[int]:
    """The input of a job on its way to buckets: files are read by workers."""
    given: Any = job.input
    format, strict = job.settings.input_format, job.settings.strict
    front = None if job.feed is None else front_of(job.feed, buckets, send)
    intake: frames.ItemIntake | frames.PositionIntake
    if front is None:
        intake = frames.ItemIntake(send, job.options)
    else:
        intake = frames.PositionIntake(front, strict, format)
    files = files_of(given)
    if hasattr(given, "mapInArrow"):
        cluster: Any = on.grid
        rows = cluster.frame(*intake.columns(given))
    elif files is None:
        rows = on.grid.scatter(intake.here(given))
    else:
        rows = on.grid.read(*intake.files(files))
    return on.listen(rows).rounds if front is None else derive_all(on, rows, front)


def run_job(grid: Exchanger[H], job: SparkJob | ProgramJob, buckets: int) -> Result:
    """Run a job, and bring its answers here."""
    ran = job.run(grid, buckets, partial(load, job, buckets))
    try:
        check(ran.outcome)
        found = [r for some in ran.of([ANSWERS]) for r in grid.collect(some, [ANSWERS])]
        return job.result(ran.outcome, found)
    finally:
        ran.forget()


def files_of(given: object) -> list[str] | None:
    """The files that an input names; None for what is in memory, or only here."""
    if isinstance(given, io.Narrative) or not is_files(given):
        return None
    files = [str(path) for path in (given if isinstance(given, list | tuple) else [given])]
    return None if "-" in files else files


MASTER = "local[*]"
BUCKETS_PER_TASK = 2  # more than one, so that a heavy bucket keeps others waiting for less


class SparkAnswers:
    """What a run on Spark found, left where it was found.

    Event descriptions have `spans` and `events`, LARS programs `atoms` and `unanswered`. The data
    frames stay in the cluster's storage until `unpersist` is called.
    """

    def __init__(
        self,
        settings: RunSettings,
        grid: Cluster[Any],
        ran: Rounds[Any],
        warnings: list[Diagnostic],
    ) -> None:
        self.settings = settings
        self.warnings = warnings
        """What is to be said of the input, as of `Result.warnings`."""
        self._grid, self._ran, self._outcome = grid, ran, ran.outcome

    @cached_property
    def spans(self) -> DataFrame:
        """Maximal intervals: name, args and value as source text, start, end (null while open)."""
        return self._rows("fluent")

    @cached_property
    def events(self) -> DataFrame:
        """Output events: name, args, time."""
        return self._rows("event")

    @cached_property
    def rows(self) -> DataFrame:
        """Intervals and events in one frame: kind, name, args, value, start, end, time."""
        from pyspark.sql import functions as f

        spans = self.spans.withColumn("kind", f.lit("fluent"))
        events = self.events.withColumn("kind", f.lit("event"))
        both = spans.unionByName(events, allowMissingColumns=True)
        first = ["kind", "name", "args", "value", "start", "end", "time"]
        return both.select(*first, *(name for name in both.columns if name not in first))

    @cached_property
    def atoms(self) -> DataFrame:
        """What holds at query times: query, name and args as source text.

        A changelog has the column `op`; where answers are revised it also has `arrived`, the query
        time at which that was known. Where several answers are asked for, `model` is the number of
        one.
        """
        settings = self.settings
        columns = ["query", *(["model"] if settings.models not in ("one", 1) else [])]
        columns += ["name", "args", *(["op"] if self._is_changelog else [])]
        if self._is_changelog and settings.allowed_lateness is not None:
            columns.append("arrived")
        return self._lines("atom").select(*columns)

    @cached_property
    def unanswered(self) -> DataFrame:
        """The query times without an answer, and in a changelog `op` and `arrived`."""
        more = ["op", "arrived"] if self._is_changelog else []
        return self._lines("none").select("query", *more)

    @property
    def _is_changelog(self) -> bool:
        return self.settings.answers == "changelog"

    def count(self, kind: Kind) -> int:
        """How many intervals (`fluent`) or events the run found."""
        return self._outcome.found.get(kind, 0)

    @property
    def letters(self) -> list[DeadLetter]:
        """Rows that were not used, one by one."""
        return letters_in(self._outcome)

    @cached_property
    def dead_letters(self) -> DataFrame:
        """Rows that were not used: file, line, text, reason, code."""
        return frames.letters(self._grid.spark, self.letters)

    @cached_property
    def metrics(self) -> Metrics:
        """How late items were and what became of them, at each query time and in all."""
        if self.settings.is_lars:
            not_counted()
        return metrics_of(self._outcome)

    @property
    def engine_seconds(self) -> float:
        """How long the engine was at work in all buckets together; the rest is Spark's."""
        return self._outcome.engine_seconds

    def write_parquet(self, path: str | PurePath) -> None:
        """Write folders of rows, parted by name, and by day if there is a unit.

        They are `spans` and `events`, or `atoms`.
        """
        unit = self.settings.scale.unit
        with explained():
            if self.settings.is_lars:
                frames.write_by_day(self.atoms, f"{path}/atoms", "query", unit)
                return
            frames.write_by_day(self.spans, f"{path}/spans", "start", unit)
            frames.write_by_day(self.events, f"{path}/events", "time", unit)

    def unpersist(self) -> None:
        """Free what the cluster keeps of the run."""
        self._ran.forget()
        self._grid.close()

    def _rows(self, kind: str) -> DataFrame:
        if self.settings.is_lars:
            raise UsageError("answers of a LARS program have no such rows", "ask for atoms")
        records = self._grid.there(self._ran.of([ANSWERS]), [ANSWERS])
        return frames.answers(records, self.settings.answers or "final", kind)

    def _lines(self, kind: str) -> DataFrame:
        from pyspark.sql import functions as f

        if not self.settings.is_lars:
            hint = "ask for spans and events"
            raise UsageError("answers of an event description have no atoms", hint)
        there = self._grid.there(self._ran.of([ANSWERS]), [ANSWERS])
        lines = frames.lars_lines(there)
        return lines.filter(f.col("kind") == kind)


def run(rules: Rules, input: object, settings: RunSettings) -> Result:
    """Run on Spark, and bring the answers here."""
    job = (ProgramJob if settings.is_lars else SparkJob).of(rules, input, settings)
    with explained():
        grid = grid_of(connect(master_of(settings.master)))
        with closing(grid):
            return run_job(grid, job, buckets_of(settings.buckets, grid))


def frames_of(
    rules: Rules, input: object, settings: RunSettings, *, session: SparkSession | None = None
) -> SparkAnswers:
    """Run on Spark, and leave the answers there."""
    form = settings.answers or ("windows" if settings.is_lars else "final")
    settings = replace(settings, answers=form)
    job: SparkJob | ProgramJob = SparkJob.of(rules, input, settings)
    if settings.is_lars:
        job = ProgramJob(rules, input, settings, form=form)
    if getattr(input, "isStreaming", False):
        raise UsageError("the data frame streams", "use rules.stream, or spark.read for all of it")
    with explained():
        spark = session or getattr(input, "sparkSession", None)
        grid = grid_of(spark or connect(master_of(settings.master)))
        buckets = buckets_of(settings.buckets, grid)
        ran = job.run(grid, buckets, partial(load, job, buckets))
        check(ran.outcome)
        asked = replace(settings, unit=job.clock.unit, time_in=job.clock.time_in)
        return SparkAnswers(asked, grid, ran, job.warnings(ran.outcome))


def master_of(given: str | None) -> str:
    """Where Spark runs."""
    return MASTER if given is None else text(given, "master", "for example local[*]")


def buckets_of(given: int | None, grid: Cluster[Any]) -> int:
    """In how many buckets entities are split."""
    if given is not None:
        return amount(given, "buckets")
    return max(2, BUCKETS_PER_TASK * grid.parallel)


@contextmanager
def explained() -> Iterator[None]:
    """What Spark says when something goes wrong, in a sentence."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        said = _said(error)
        if said.endswith("No module named 'horai'"):
            hint = "install it there, or name one that has it by PYSPARK_PYTHON before Spark starts"
            raise UsageError("the Python of Spark's workers has no Horai", hint) from error
        raise RunFailed(f"Spark could not finish the run: {said}") from error


def _said(error: Exception) -> str:
    """What Spark says is wrong, without what it says of itself."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = next((line for line in reversed(lines) if "Error" in line), lines[0] if lines else "")
    said = re.sub(r"^\[STREAM_FAILED\].* terminated with exception: ", "", said)
    return re.sub(r" SQLSTATE: \w+$", "", said)
