"""LARS programs on Spark: the same answers in buckets, as a `Result` or as data frames of Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from horai.errors import RunError, UsageError
from horai.io import InputSchema, ItemTable
from horai.io.items.blocks import Options
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Atom, Program
from horai.plan.lars.check import place_of
from horai.plan.split.lars import Parts, UnsplitProgram, parts_of
from horai.result import Answer, Result
from horai.runtime.batch import Extent, Outcome, Send, reader
from horai.runtime.engines import AUTO, SPARK
from horai.runtime.grid import Exchanger
from horai.runtime.inputs import files_of, letters_of, read_input
from horai.runtime.lars.answers import PointAnswer, PointAnswers, Said, ShownAtoms
from horai.runtime.lars.buckets import BucketAnswer, LarsRun, PartTask, execute, sent, tasks_of
from horai.runtime.lars.engines import ONE, AnswerMode
from horai.runtime.lars.log import numbered
from horai.runtime.lars.session import ProgramEngine, program_queries
from horai.runtime.lars.tables import said_by, said_in, source_text, table_of
from horai.runtime.records import ANSWERS, Record, unpacked
from horai.runtime.spark.batch import (
    SparkAnswers,
    buckets_of,
    check,
    explained,
    letters_in,
    master_of,
    not_counted,
    pieces_for,
)
from horai.runtime.spark.connect import connect
from horai.runtime.spark.frames import columns
from horai.runtime.spark.shuffle import grid_of
from horai.settings import RunSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from horai.rules import Rules

H = TypeVar("H")
NOTHING = table_of([])


@dataclass(frozen=True)
class ProgramTask:
    """A run of a program as workers need it; `points` has windows in time points."""

    points: Program
    schema: InputSchema
    settings: RunSettings
    shown: ShownAtoms

    @property
    def wanted(self) -> AnswerMode:
        """Which answers are asked for."""
        return AnswerMode.of(self.settings)

    @property
    def revisable(self) -> bool:
        """May late signals change answers?"""
        return self.settings.allowed_lateness is not None

    @property
    def options(self) -> Options:
        """How rows are read."""
        asked = self.settings
        return Options(self.schema, asked.scale, strict=asked.strict, format=asked.input_format)

    def queries(self, extent: Extent | None) -> range:
        """The query times, once it is known what the input covers."""
        return program_queries(self.settings, extent)


def task_of(rules: Rules, settings: RunSettings) -> ProgramTask:
    """A run of rules with these settings."""
    points = rules.in_points(settings.clock, settings.unit)
    shown = ShownAtoms.of_filter(settings.filter, derived(rules.program))
    return ProgramTask(points, rules.schema, settings, shown)


@dataclass(frozen=True)
class BucketRun:
    """Runs an engine over a bucket; `form` is that of the answers, None for all that is said."""

    task: ProgramTask
    files: tuple[str, ...]
    form: str | None = None

    def __call__(
        self, part: PartTask, bucket: int, tables: Sequence[ItemTable], queries: range
    ) -> BucketAnswer:
        """What a bucket has to say."""
        whole = part.tells is None and not part.is_split
        if not (tables or part.program.rules):
            return BucketAnswer(NOTHING)
        settings = self.task.settings
        try:
            engine = ProgramEngine(
                part.program,
                start=queries.start,
                step=queries.step,
                engine=AUTO,
                wanted=self.task.wanted if whole else ONE,
                shown=self.task.shown,
                lateness=settings.allowed_lateness,
                together=not self.task.revisable,
            )
            found = engine.over(numbered(tables, self.files), queries)
        except RunError as error:
            return BucketAnswer(NOTHING, problem=str(error))
        letters = letters_of([*found.dropped, *engine.left(queries.stop - 1)])
        if not whole:
            found.said = _own(found.said, part, bucket)
        if self.form is None:
            return BucketAnswer(said_in(found), letters)
        return BucketAnswer(table_of(found.rows(self.form, source_text)), letters)


def _own(said: Iterable[Said], part: PartTask, bucket: int) -> list[Said]:
    """What a bucket tells of: its own atoms."""
    owned: dict[Atom, bool] = {}

    def own(atom: Atom) -> bool:
        if atom not in owned:
            owned[atom] = part.owns(bucket, atom)
        return owned[atom]

    def mine(answer: PointAnswer) -> PointAnswer:
        return PointAnswer(answer.query, tuple(tuple(filter(own, m)) for m in answer.models))

    return [
        one._replace(
            answer=mine(one.answer),
            before=None if one.before is None else mine(one.before),
            came=None,
            gone=None,
        )
        for one in said
    ]


def run_job(
    grid: Exchanger[H], rules: Rules, settings: RunSettings, input: object, buckets: int
) -> Result:
    """Run rules, and bring their answers here."""
    task = task_of(rules, settings)
    parts = parts_of(task.points)
    ran = execute_job(grid, task, input, parts, buckets)
    try:
        check(ran.outcome)
        found = [r for records in ran.records for r in grid.collect(records, [ANSWERS])]
        return result_of(rules, task, parts, ran.outcome, found)
    finally:
        grid.forget(ran.records)


def execute_job(
    grid: Exchanger[H],
    task: ProgramTask,
    input: object,
    parts: Parts,
    buckets: int,
    form: str | None = None,
    items: Callable[[Send], H] | None = None,
) -> LarsRun[H]:
    """Send the signals to their buckets and ask all of them; `items` does the first, if given."""
    tasks = tasks_of(task.points, parts, buckets)
    send = partial(sent, tasks)
    signals = load(grid, task, input, send) if items is None else items(send)
    ask = BucketRun(task, tuple(files_of(input)), form)
    return execute(grid, tasks, signals, task.queries, ask)


def load(grid: Exchanger[H], task: ProgramTask, input: object, send: Send) -> H:
    """The signals of a run on their way to buckets: files are read by workers."""
    asked = task.settings
    pieces = pieces_for(input, asked.input_format)
    if pieces is None:
        form, strict = asked.input_format, asked.strict
        narrative = read_input(input, task.schema, asked.scale, format=form, strict=strict)
        return grid.scatter(list(send(0, narrative)))
    return grid.read(len(pieces), reader(send, pieces, task.options))


def result_of(
    rules: Rules, task: ProgramTask, parts: Parts, outcome: Outcome, found: Iterable[Record]
) -> Result:
    """The result of a run whose answers are here."""
    queries = task.queries(outcome.extent)
    raw = PointAnswers(
        list(_merged(found, queries, task.revisable)), task.wanted.is_numbered, task.revisable
    )
    reasons = [told_why(part.unsplit) for part in parts.parts if part.unsplit is not None]
    return Result(
        rules,
        [Answer(raw)],
        letters_in(outcome),
        task.settings.answers or "windows",
        task.settings.unit,
        engine=SPARK,
        reasons=reasons,
        measure=not_counted,
    )


def told_why(unsplit: UnsplitProgram) -> str:
    """Why something is not split, in a line."""
    place = None if unsplit.rule is None else place_of(unsplit.rule)
    return f"{unsplit.reason}{f' ({place})' if place else ''}, so one bucket works it out"


def _merged(found: Iterable[Record], queries: range, revisable: bool) -> Iterator[Said]:
    """What all buckets together said: revised answers, then the new one, query by query."""
    news: dict[int, dict[int, dict[tuple[int, int], PointAnswer]]] = {}
    for record in found:
        source = (record.run, record.bucket)
        for arrived, answer, *_ in said_by(unpacked(record.blob)):
            news.setdefault(arrived, {}).setdefault(answer.query, {})[source] = answer
    parts: dict[int, dict[tuple[int, int], PointAnswer]] = {}
    known: dict[int, PointAnswer] = {}
    last: PointAnswer | None = None
    for arrived in queries:
        for query in sorted({*news.get(arrived, {}), arrived}):
            mine = parts.setdefault(query, {})
            mine.update(news.get(arrived, {}).get(query, {}))
            answer = PointAnswer.together(query, list(mine.values()))
            if query == arrived or answer != known[query]:
                before = known.get(query) if revisable else last
                yield Said(arrived, answer, before, is_new=query == arrived)
            known[query] = answer
            last = answer


def run(rules: Rules, input: object, settings: RunSettings) -> Result:
    """Run on Spark, and bring the answers here."""
    with explained():
        grid = grid_of(connect(master_of(settings.master)))
        with closing(grid):
            return run_job(grid, rules, settings, input, buckets_of(settings.buckets, grid))


def frames_of(
    rules: Rules, input: object, settings: RunSettings, *, session: SparkSession | None = None
) -> SparkAnswers:
    """Run on Spark, and leave the answers there."""
    task, form = task_of(rules, settings), settings.answers or "windows"
    if form == "changelog" and task.wanted.is_numbered and not task.revisable:
        hint = "leave out models, or add an allowed lateness"
        raise UsageError("changes are those of one model", hint)
    with explained():
        is_frame = hasattr(input, "mapInArrow")
        spark = session or (input.sparkSession if is_frame else None)  # type: ignore[attr-defined]
        grid = grid_of(spark or connect(master_of(settings.master)))

        def rows(send: Send) -> Any:
            return grid.frame(*columns(input, send, task.options))  # type: ignore[arg-type]

        parts, number = parts_of(task.points), buckets_of(settings.buckets, grid)
        given = () if is_frame else input
        ran = execute_job(grid, task, given, parts, number, form, rows if is_frame else None)
        check(ran.outcome)
        asked = replace(settings, answers=form)
        return SparkAnswers(asked, grid, ran.outcome, ran.records, ran.records)
