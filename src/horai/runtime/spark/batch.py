"""Event descriptions on Spark: the same answers in buckets of entities, as a `Result` or as data
frames of Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from horai import io
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import EventTable, FluentTable, Part, Which
from horai.engine.arrow_items import ItemBatch, read_items
from horai.engine.symbols import Symbols
from horai.errors import RunError, RunFailed, UsageError
from horai.io import DeadLetter, Kind
from horai.io.items.read import Piece, pieces_of
from horai.io.letters import OF_ENGINES
from horai.result import Answer, Result
from horai.runtime.answers import Answers
from horai.runtime.batch import Extent, Outcome, execute, packed, reader, sender
from horai.runtime.engines import SPARK
from horai.runtime.findings import unused
from horai.runtime.grid import Cluster, Exchanger
from horai.runtime.inputs import is_files, read_input
from horai.runtime.jobs import SparkJob, job_of, task_of
from horai.runtime.metrics import Counting, Metrics
from horai.runtime.records import ANSWERS, BlobLabel, Record, unpacked
from horai.runtime.records import ANSWERS as FOUND
from horai.runtime.spark import frames
from horai.runtime.spark import frames as rawframes
from horai.runtime.spark.connect import connect
from horai.runtime.spark.frames import columns
from horai.runtime.spark.shuffle import grid_of
from horai.runtime.tasks import Clockwork, RunTask
from horai.runtime.tracks import TrackTask, batch_task, derive_all
from horai.settings import RunSettings, amount, text
from horai.signals import positions_of, read_positions
from horai.tools.codes import judged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from horai.rules import Rules


def check(outcome: Outcome) -> None:
    """Raise what ended a run, as one process would have."""
    if outcome.unreadable is not None:
        raise outcome.unreadable
    if outcome.problem is not None:
        query, text = outcome.problem
        raise RunError(f"{text} (at query time {query})")


def result_of(job: SparkJob, task: RunTask, outcome: Outcome, found: Iterable[Record]) -> Result:
    """The result of a run whose answers are here."""
    queries = [] if task.clock is None else task.clock.queries
    raw = raw_answers(queries, job.forms, list(found))

    def wanted(name: str, arity: int, is_fluent: bool) -> bool:
        return job.settings.include_input or job.rules.is_output(name, arity, is_fluent)

    answers = [Answer(one, wanted) for one in raw]
    compared = "changelog" in job.forms

    def measure() -> Metrics:
        return metrics_of(outcome, [a.revised if compared else None for a in answers])

    letters = sorted(outcome.letters, key=lambda letter: (letter.file, letter.line))
    form = job.answers or "final"
    read = metrics_of(outcome).run
    warnings = judged(unused(read.items + read.unreadable, letters), job.rules.severities)
    return Result(
        *(job.rules, answers, letters, form, job.clock.unit),
        measure=measure,
        warnings=warnings,
        engine=SPARK,
    )


def metrics_of(outcome: Outcome, revised: Sequence[int | None] | None = None) -> Metrics:
    """What became of the items; how many answers were taken back is known only to who compares."""
    counting = Counting.together(outcome.counted)
    unreadable = sum(letter.code not in OF_ENGINES for letter in outcome.letters)
    nothing = [None] * len(counting.windows)
    return counting.metrics(nothing if revised is None else revised, unreadable)


def raw_answers(
    queries: Sequence[int], forms: Sequence[Answers], found: Sequence[Record]
) -> list[EngineAnswer]:
    """Answers as an engine gives them, one for each query time."""
    symbols = Symbols()
    parts: dict[tuple[int, Which], Part] = {}
    for query in queries:
        for form in forms:
            for which in _PARTS[form]:
                if which != "all" or query == queries[-1]:
                    parts[query, which] = Part([], [])
    for record in found:
        label = BlobLabel.load(record.label)
        key = label.key
        batch = read_items(io.ItemTable(*key, unpacked(record.blob)), symbols, 1)
        for (query, which), rows in _by_part(label.what, batch).items():
            part = parts[query, which]
            if batch.value is None:
                part.events.append(rows)  # type: ignore[attr-defined]
            else:
                part.fluents.append(rows)  # type: ignore[attr-defined]
    return [
        EngineAnswer(
            query,
            symbols,
            (),
            {which: _giving(part) for (q, which), part in parts.items() if q == query},
        )
        for query in queries
    ]


_PARTS: dict[Answers, tuple[Which, ...]] = {
    "final": ("all",),
    "windows": ("window",),
    "changelog": ("gone", "new"),
}


def _giving(part: Part) -> Any:
    return lambda: part


def _by_part(form: str, batch: ItemBatch) -> dict[tuple[int, Which], FluentTable | EventTable]:
    """The rows of a table by query time, and whether they came or went."""
    found: dict[tuple[int, Which], FluentTable | EventTable] = {}
    came: Which = "all" if form == "final" else "window" if form == "windows" else "new"
    signs: tuple[tuple[int, Which], ...] = ((-1, "gone"), (1, came))
    for query in np.unique(batch.arrival).tolist():
        for op, which in signs:
            rows = np.flatnonzero((batch.arrival == query) & (batch.op == op))
            if not len(rows):
                continue
            args = tuple(column.take(rows) for column in batch.args)
            if batch.value is None:
                table: FluentTable | EventTable = EventTable(batch.name, args, batch.start[rows])
            else:
                value = batch.value.take(rows)
                table = FluentTable(batch.name, args, value, batch.start[rows], batch.end[rows])
            found[query, which] = table
    return found


H = TypeVar("H")
SLOTS = 4  # of jobs that share rounds: what there is to know about all of them goes to each slot


def load(grid: Exchanger[H], job: SparkJob, task: RunTask) -> list[H]:
    """The input of a job on its way to buckets: files are read by workers."""
    if job.feed is not None:
        front = batch_task(job.feed, task)
        return derive_all(grid, _positions(grid, job, front), front)
    pieces, send = pieces_for(job.input, job.format), sender(task)
    if pieces is None:
        narrative = read_input(
            job.input, job.rules.schema, job.clock, format=job.format, strict=job.settings.strict
        )
        return [grid.scatter(list(send(0, narrative)))]
    return [grid.read(len(pieces), reader(send, pieces, job.options))]


def _positions(grid: Exchanger[H], job: SparkJob, front: TrackTask) -> H:
    """Positions in files, or in memory, on their way to the buckets of their entities."""
    files = files_of(job.input)
    if files is None:
        given: Any = job.input
        layout, is_stdin = front.feed.layout, is_files(given)  # which only this process has
        found = (
            read_positions(given, layout, job.format) if is_stdin else positions_of(given, layout)
        )
        return grid.scatter(list(frames.send(front, frames.Take(job.settings.strict), 0, found)))
    return grid.read(
        len(files), frames.files(files, front, frames.Take(job.settings.strict), job.format, False)
    )


def run_job(grid: Exchanger[H], job: SparkJob, buckets: int) -> Result:
    """Run a job, and bring its answers here."""
    task = task_of(job, 0, buckets)
    ran = execute(grid, [task], load(grid, job, task), [job.schedule])
    try:
        check(ran.outcomes[0])
        found = [r for records in ran.of(FOUND) for r in grid.collect(records, [FOUND])]
        return result_of(job, task, ran.outcomes[0], found)
    finally:
        grid.forget(ran.all)


def run_jobs(
    grid: Exchanger[H], jobs: Sequence[SparkJob], buckets: int
) -> list[Result | Exception]:
    """Run several jobs at once over input that is read here: their results, or what went wrong."""
    tasks = [task_of(job, number, buckets) for number, job in enumerate(jobs)]
    records: list[Record] = []
    problems: dict[int, Exception] = {}
    for job, task in zip(jobs, tasks, strict=True):
        try:
            narrative = read_input(
                job.input, job.rules.schema, job.clock, strict=job.settings.strict
            )
            records += packed(task.plan.routes, task.number, 0, narrative)
        except Exception as problem:
            problems[task.number] = problem

    def scheduler(number: int) -> Any:
        def schedule(extent: Extent | None) -> Clockwork | None:
            try:
                return None if number in problems else jobs[number].schedule(extent)
            except Exception as problem:
                problems[number] = problem
                return None

        return schedule

    schedules = [scheduler(task.number) for task in tasks]
    ran = execute(grid, tasks, [grid.scatter(records)], schedules, most=SLOTS)
    by_run: dict[int, list[Record]] = {}
    for some in ran.of(FOUND):
        for record in grid.collect(some, [FOUND]):
            by_run.setdefault(record.run, []).append(record)
    grid.forget(ran.all)
    results: list[Result | Exception] = []
    for job, task, outcome in zip(jobs, tasks, ran.outcomes, strict=True):
        try:
            if task.number in problems:
                raise problems[task.number]
            check(outcome)
            results.append(result_of(job, task, outcome, by_run.get(task.number, [])))
        except Exception as problem:
            results.append(problem)
    return results


def pieces_for(given: object, format: io.Format | None) -> list[Piece] | None:
    """The files of an input in pieces that workers can read; None for what is in memory."""
    files = files_of(given)
    return None if files is None else [p for file in files for p in pieces_of(file, format)]


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
        outcome: Outcome,
        answers: list[Any],
        records: list[Any],
    ) -> None:
        self.settings = settings
        self._grid, self._outcome = grid, outcome
        self._answers, self._records = answers, records

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
        self._grid.forget(self._records)
        self._grid.close()

    def _rows(self, kind: str) -> DataFrame:
        if self.settings.is_lars:
            raise UsageError("answers of a LARS program have no such rows", "ask for atoms")
        records = self._grid.there(self._answers, [ANSWERS])
        return frames.answers(records, self.settings.answers or "final", kind)

    def _lines(self, kind: str) -> DataFrame:
        from pyspark.sql import functions as f

        if not self.settings.is_lars:
            hint = "ask for spans and events"
            raise UsageError("answers of an event description have no atoms", hint)
        lines = frames.lars_lines(self._grid.there(self._answers, [ANSWERS]))
        return lines.filter(f.col("kind") == kind)


def letters_in(outcome: Outcome) -> list[DeadLetter]:
    """Rows that were not used, in their order; several buckets may say the same of one."""
    return sorted(set(outcome.letters), key=lambda letter: (letter.file, letter.line))


def not_counted() -> Metrics:
    """Signals may be read by several buckets, none of which counts for all."""
    hint = "leave out the engine spark"
    raise UsageError("signals are counted by runs in one process only", hint)


def run(rules: Rules, input: object, settings: RunSettings) -> Result:
    """Run on Spark, and bring the answers here."""
    job = job_of(rules, input, settings)
    with explained():
        grid = grid_of(connect(master_of(settings.master)))
        with closing(grid):
            return run_job(grid, job, buckets_of(settings.buckets, grid))


def frames_of(
    rules: Rules, input: object, settings: RunSettings, *, session: SparkSession | None = None
) -> SparkAnswers:
    """Run on Spark, and leave the answers there."""
    job = job_of(rules, input, replace(settings, answers=settings.answers or "final"))
    is_frame = hasattr(input, "mapInArrow")
    if getattr(input, "isStreaming", False):
        raise UsageError("the data frame streams", "use rules.stream, or spark.read for all of it")
    with explained():
        spark = session or (input.sparkSession if is_frame else None)  # type: ignore[attr-defined]
        grid = grid_of(spark or connect(master_of(settings.master)))
        task = task_of(job, 0, buckets_of(settings.buckets, grid))
        if is_frame and job.feed is not None:
            front = batch_task(job.feed, task)
            taking = rawframes.Take(job.settings.strict)
            rows = grid.frame(*rawframes.position_columns(input, front, taking))  # type: ignore[arg-type]
            items = derive_all(grid, rows, front)
        elif is_frame:
            items = [grid.frame(*columns(input, sender(task), job.options))]  # type: ignore[arg-type]
        else:
            items = load(grid, job, task)
        ran = execute(grid, [task], items, [job.schedule])
        check(ran.outcomes[0])
        outcome, found = ran.outcomes[0], ran.of(ANSWERS)
        asked = replace(job.settings, unit=job.clock.unit, time_in=job.clock.time_in)
        return SparkAnswers(asked, grid, outcome, found, ran.all)


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
