"""Spark from the public interface: a run that gives a `Result`, or data frames of Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from horai.errors import RunFailed, UsageError
from horai.io import DeadLetter, Kind
from horai.metrics import Metrics
from horai.parameters import amount, text
from horai.result import Result
from horai.spark import frames, rawframes
from horai.spark.batch import Ran, execute, sender
from horai.spark.connect import NoSpark, connect
from horai.spark.framing import columns
from horai.spark.front import batch_task, derive_all
from horai.spark.grid import Cluster
from horai.spark.moving import grid_of
from horai.spark.records import ANSWERS
from horai.spark_jobs import Job, job_of, task_of
from horai.spark_results import check, metrics_of
from horai.sparking import load, run_job

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from horai.rules import Rules

MASTER = "local[*]"
BUCKETS_PER_TASK = 2  # more than one, so that a heavy bucket keeps others waiting for less


class SparkAnswers:
    """What a run on Spark found, left where it was found.

    The data frames stay in the cluster's storage until `unpersist` is called.
    """

    def __init__(self, job: Job, grid: Cluster[Any], ran: Ran[Any]) -> None:
        self.job = job
        self._grid, self._ran = grid, ran

    @cached_property
    def spans(self) -> DataFrame:
        """Maximal intervals: name, args and value as source text, start, end (null while open)."""
        return self._answers("fluent")

    @cached_property
    def events(self) -> DataFrame:
        """Output events: name, args, time."""
        return self._answers("event")

    def count(self, kind: Kind) -> int:
        """How many intervals (`fluent`) or events the run found."""
        return self._ran.outcomes[0].found.get(kind, 0)

    @property
    def letters(self) -> list[DeadLetter]:
        """Rows that were not used, one by one."""
        return self._ran.outcomes[0].letters

    @cached_property
    def dead_letters(self) -> DataFrame:
        """Rows that were not used: file, line, text, reason, code."""
        return frames.letters(self._grid.spark, sorted(self.letters))

    @cached_property
    def metrics(self) -> Metrics:
        """How late items were and what became of them, at each query time and in all."""
        return metrics_of(self._ran.outcomes[0])

    @property
    def engine_seconds(self) -> float:
        """How long the engine was at work in all buckets together; the rest is Spark's."""
        return self._ran.outcomes[0].engine_seconds

    def write_parquet(self, path: str | PurePath) -> None:
        """Write folders `spans` and `events`, parted by name, and by day if there is a unit."""
        unit = self.job.clock.unit
        with explained():
            frames.write_by_day(self.spans, f"{path}/spans", "start", unit)
            frames.write_by_day(self.events, f"{path}/events", "time", unit)

    def unpersist(self) -> None:
        """Free what the cluster keeps of the run."""
        self._grid.forget(self._ran.all)
        self._grid.close()

    def _answers(self, kind: str) -> DataFrame:
        records = self._grid.there(self._ran.of(ANSWERS), [ANSWERS])
        return frames.answers(records, self.job.answers or "final", kind)


def run(
    rules: Rules,
    input: object,
    *,
    master: str | None = None,
    buckets: int | None = None,
    **settings: Any,
) -> Result:
    """Run on Spark, and bring the answers here."""
    job = job_of(rules, input, **settings)
    with explained():
        grid = grid_of(connect(master_of(master)))
        with closing(grid):
            return run_job(grid, job, buckets_of(buckets, grid))


def frames_of(
    rules: Rules,
    input: object,
    *,
    session: SparkSession | None = None,
    master: str | None = None,
    buckets: int | None = None,
    **settings: Any,
) -> SparkAnswers:
    """Run on Spark, and leave the answers there."""
    job = job_of(rules, input, **({"answers": "final"} | settings))
    is_frame = hasattr(input, "mapInArrow")
    if getattr(input, "isStreaming", False):
        raise UsageError("the data frame streams", "use rules.stream, or spark.read for all of it")
    with explained():
        spark = session or (input.sparkSession if is_frame else None)  # type: ignore[attr-defined]
        grid = grid_of(spark or connect(master_of(master)))
        task = task_of(job, 0, buckets_of(buckets, grid))
        if is_frame and job.feed is not None:
            front = batch_task(job.feed, task)
            rows = grid.frame(*rawframes.columns(input, front, rawframes.Take(job.strict)))  # type: ignore[arg-type]
            items = derive_all(grid, rows, front)
        elif is_frame:
            items = [grid.frame(*columns(input, sender(task), job.options))]  # type: ignore[arg-type]
        else:
            items = load(grid, job, task)
        ran = execute(grid, [task], items, [job.schedule])
        check(ran.outcomes[0])
        return SparkAnswers(job, grid, ran)


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
    except NoSpark as error:
        raise UsageError(error.problem, error.hint) from error
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
