"""LARS programs on Spark: a run that gives a `LarsResult`, or data frames of Spark."""

from __future__ import annotations

from contextlib import closing
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from horai.errors import UsageError
from horai.io import DeadLetter
from horai.lars_job import Job
from horai.lars_result import FORMS, LarsResult
from horai.lars_sparking import execute_job, letters_of, run_job
from horai.plan.lars.parts import parts_of
from horai.spark import frames
from horai.spark.batch import Send
from horai.spark.connect import connect
from horai.spark.framing import columns
from horai.spark.grid import Cluster
from horai.spark.lars import Ran
from horai.spark.moving import grid_of
from horai.spark.records import ANSWERS
from horai.spark_results import check
from horai.sparked import buckets_of, explained, master_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MORE = {"windows": (), "final": (), "changelog": ("op",)}


class LarsSparkAnswers:
    """What a run on Spark found, left where it was found.

    The data frames stay in the cluster's storage until `unpersist` is called.
    """

    def __init__(self, job: Job, grid: Cluster[Any], ran: Ran[Any], form: str) -> None:
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


def run(job: Job, input: object, *, master: str | None, buckets: int | None) -> LarsResult:
    """Run on Spark, and bring the answers here."""
    with explained():
        grid = grid_of(connect(master_of(master)))
        with closing(grid):
            return run_job(grid, job, input, buckets_of(buckets, grid))


def frames_of(
    job: Job,
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
