"""LARS programs on Spark: a run that gives a `LarsResult`, or data frames of Spark.

Runs of LARS programs in buckets: the same program, input and answers as in one process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from horai.errors import RunError, UsageError
from horai.io import DeadLetter, ItemTable, Narrative
from horai.lang.lars.syntax import Atom
from horai.plan.lars.check import place_of
from horai.plan.split.lars import Parts, UnsplitProgram, parts_of
from horai.runtime.batch import Outcome, Send, reader
from horai.runtime.engines import SPARK
from horai.runtime.grid import Cluster, Exchanger
from horai.runtime.inputs import read_input
from horai.runtime.lars.buckets import BucketAnswer, LarsRun, PartTask, execute, sent, tasks_of
from horai.runtime.lars.engines import AUTO, ONE
from horai.runtime.lars.job import LarsJob, Told, told
from horai.runtime.lars.result import FORMS, LarsAnswer, LarsResult, in_course
from horai.runtime.lars.signals import files_of
from horai.runtime.lars.tables import formed, said_by, said_in, table_of
from horai.runtime.records import ANSWERS, Record, unpacked
from horai.runtime.spark import frames
from horai.runtime.spark.batch import buckets_of, check, explained, master_of, pieces_for
from horai.runtime.spark.connect import connect
from horai.runtime.spark.frames import columns
from horai.runtime.spark.shuffle import grid_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


H = TypeVar("H")
NOTHING = table_of([])


@dataclass(frozen=True)
class BucketRun:
    """Runs a session over a bucket; `form` is that of the answers, None for all that is said."""

    job: LarsJob
    files: tuple[str, ...]
    form: str | None = None

    def __call__(
        self, part: PartTask, bucket: int, tables: Sequence[ItemTable], queries: range
    ) -> BucketAnswer:
        """What a bucket has to say."""
        whole = part.tells is None and not part.is_split
        job = replace(self.job, points=part.program, wanted=self.job.wanted if whole else ONE)
        if not (tables or part.program.rules):
            return BucketAnswer(NOTHING)
        try:
            session = job.session(queries.start, AUTO)
            signals = Narrative(tuple(tables), [])
            said = list(told(session, signals, self.files, queries))
        except RunError as error:
            return BucketAnswer(NOTHING, problem=str(error))
        letters = session.arrivals.finish(queries.stop - 1)
        if not whole:
            said = _own(said, part, bucket)
        return BucketAnswer(self._table(said), letters)

    def _table(self, said: list[Told]) -> pa.Table:
        numbered, revised = self.job.wanted.is_numbered, self.job.lateness is not None
        if self.form is None:
            # What nobody says anything of is nothing, unless something was said before.
            return said_in(one for one in said if revised or one.answer.models != ((),))
        return table_of(formed(said, self.form, numbered, revised))


def _own(said: Iterable[Told], part: PartTask, bucket: int) -> list[Told]:
    """What a bucket tells of: its own atoms."""
    owned: dict[Atom, bool] = {}

    def own(atom: Atom) -> bool:
        if atom not in owned:
            owned[atom] = part.owns(bucket, atom)
        return owned[atom]

    return [
        Told(arrived, LarsAnswer(answer.query, tuple(tuple(filter(own, m)) for m in answer.models)))
        for arrived, answer in said
    ]


def run_job(grid: Exchanger[H], job: LarsJob, input: object, buckets: int) -> LarsResult:
    """Run a job, and bring its answers here."""
    parts = parts_of(job.points)
    ran = execute_job(grid, job, input, parts, buckets)
    try:
        check(ran.outcome)
        found = [r for records in ran.records for r in grid.collect(records, [ANSWERS])]
        return result_of(job, parts, ran.outcome, found)
    finally:
        grid.forget(ran.records)


def execute_job(
    grid: Exchanger[H],
    job: LarsJob,
    input: object,
    parts: Parts,
    buckets: int,
    form: str | None = None,
    items: Callable[[Send], H] | None = None,
) -> LarsRun[H]:
    """Send the signals to their buckets and ask all of them; `items` does the first, if given."""
    tasks = tasks_of(job.points, parts, buckets)
    send = partial(sent, tasks)
    signals = load(grid, job, input, send) if items is None else items(send)
    ask = BucketRun(job, tuple(files_of(input)), form)
    return execute(grid, tasks, signals, job.queries, ask)


def load(grid: Exchanger[H], job: LarsJob, input: object, send: Send) -> H:
    """The signals of a job on their way to buckets: files are read by workers."""
    pieces = pieces_for(input, job.format)
    if pieces is None:
        narrative = read_input(input, job.schema, job.times, format=job.format, strict=job.strict)
        return grid.scatter(list(send(0, narrative)))
    return grid.read(len(pieces), reader(send, pieces, job.options, job.format))


def result_of(job: LarsJob, parts: Parts, outcome: Outcome, found: Iterable[Record]) -> LarsResult:
    """The result of a run whose answers are here."""
    said = _merged(found, job.queries(outcome.extent))
    numbered = job.wanted.is_numbered
    if job.lateness is None:
        answers, revised = [answer for _, answer in said], None
    else:
        answers, revised = in_course(said, numbered)
    reasons = [told_why(part.unsplit) for part in parts.parts if part.unsplit is not None]
    return LarsResult(answers, letters_of(outcome), numbered, revised, SPARK, reasons)


def letters_of(outcome: Outcome) -> list[DeadLetter]:
    """Rows that were not used; several parts may have read a row, and say the same of it."""
    return sorted(set(outcome.letters), key=lambda letter: (letter.file, letter.line))


def told_why(unsplit: UnsplitProgram) -> str:
    """Why something is not split, in a line."""
    place = None if unsplit.rule is None else place_of(unsplit.rule)
    return f"{unsplit.reason}{f' ({place})' if place else ''}, so one bucket works it out"


def _merged(found: Iterable[Record], queries: range) -> Iterator[Told]:
    """What all buckets together said: revised answers, then the new one, query by query."""
    news: dict[int, dict[int, dict[tuple[int, int], LarsAnswer]]] = {}
    for record in found:
        source = (record.run, record.bucket)
        for arrived, answer in said_by(unpacked(record.blob)):
            news.setdefault(arrived, {}).setdefault(answer.query, {})[source] = answer
    parts: dict[int, dict[tuple[int, int], LarsAnswer]] = {}
    known: dict[int, LarsAnswer] = {}
    for arrived in queries:
        for query in sorted({*news.get(arrived, {}), arrived}):
            mine = parts.setdefault(query, {})
            mine.update(news.get(arrived, {}).get(query, {}))
            answer = LarsAnswer.together(query, list(mine.values()))
            if query == arrived or answer != known[query]:
                yield Told(arrived, answer)
            known[query] = answer


_MORE = {"windows": (), "final": (), "changelog": ("op",)}


class LarsSparkAnswers:
    """What a run on Spark found, left where it was found.

    The data frames stay in the cluster's storage until `unpersist` is called.
    """

    def __init__(self, job: LarsJob, grid: Cluster[Any], ran: LarsRun[Any], form: str) -> None:
        self.job, self.form = job, form
        self._grid, self._ran = grid, ran

    @cached_property
    def atoms(self) -> DataFrame:
        """What holds: query, name and args as source text.

        A changelog has the column `op`; where answers are revised it also has `arrived`, the query
        time at which that was known. Where several answers are asked for, `model` is the number of
        one.
        """
        columns = ["query", *(["model"] if self.job.wanted.is_numbered else []), "name", "args"]
        columns += _MORE[self.form]
        if self.form == "changelog" and self.job.lateness is not None:
            columns.append("arrived")
        return self._lines("atom").select(*columns)

    @cached_property
    def unanswered(self) -> DataFrame:
        """The query times without an answer, and in a changelog `op` and `arrived`."""
        more = ["op", "arrived"] if self.form == "changelog" else []
        return self._lines("none").select("query", *more)

    @property
    def letters(self) -> list[DeadLetter]:
        """Rows that were not used, one by one."""
        return letters_of(self._ran.outcome)

    @cached_property
    def dead_letters(self) -> DataFrame:
        """Rows that were not used: file, line, text, reason, code."""
        return frames.letters(self._grid.spark, self.letters)

    @property
    def engine_seconds(self) -> float:
        """How long engines were at work in all buckets together; the rest is Spark's."""
        return self._ran.outcome.engine_seconds

    def write_parquet(self, path: str | PurePath) -> None:
        """Write a folder `atoms`, parted by name, and by day if there is a unit."""
        frames.write_by_day(self.atoms, f"{path}/atoms", "query", self.job.times.unit)

    def unpersist(self) -> None:
        """Free what the cluster keeps of the run."""
        self._grid.forget(self._ran.records)
        self._grid.close()

    def _lines(self, kind: str) -> DataFrame:
        from pyspark.sql import functions as f

        lines = frames.lars_lines(self._grid.there(self._ran.records, [ANSWERS]))
        return lines.filter(f.col("kind") == kind)


def run(job: LarsJob, input: object, *, master: str | None, buckets: int | None) -> LarsResult:
    """Run on Spark, and bring the answers here."""
    with explained():
        grid = grid_of(connect(master_of(master)))
        with closing(grid):
            return run_job(grid, job, input, buckets_of(buckets, grid))


def frames_of(
    job: LarsJob,
    input: object,
    form: str,
    *,
    session: SparkSession | None,
    master: str | None,
    buckets: int | None,
) -> LarsSparkAnswers:
    """Run on Spark, and leave the answers there."""
    if form not in FORMS:
        raise UsageError(f"answers cannot be {form!r}", f"it is one of {', '.join(FORMS)}")
    if form == "changelog" and job.wanted.is_numbered and job.lateness is None:
        raise UsageError("changes are those of one model", "leave out models, or add lateness")
    with explained():
        is_frame = hasattr(input, "mapInArrow")
        spark = session or (input.sparkSession if is_frame else None)  # type: ignore[attr-defined]
        grid = grid_of(spark or connect(master_of(master)))

        def rows(send: Send) -> Any:
            return grid.frame(*columns(input, send, job.options))  # type: ignore[arg-type]

        parts, number = parts_of(job.points), buckets_of(buckets, grid)
        given = () if is_frame else input
        items = rows if is_frame else None
        ran = execute_job(grid, job, given, parts, number, form, items)
        check(ran.outcome)
        return LarsSparkAnswers(job, grid, ran, form)
