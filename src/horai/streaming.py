"""Streams on Spark: items in as they come, changes out, state in between."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.ahead import ahead_of
from horai.errors import UsageError
from horai.io.letters import DeadLetter
from horai.parameters import amount, length
from horai.raw import check_format
from horai.spark.checkpoint import open_checkpoint
from horai.spark.cluster import SparkGrid
from horai.spark.connect import NoSpark, check_parts, connect
from horai.spark.holding import Held
from horai.spark.listening import Progress
from horai.spark.refusals import Refused
from horai.spark.sinks import About
from horai.spark_jobs import job_of
from horai.sparked import explained, master_of
from horai.stream_places import NOW, check_apart, folder_of, seconds_of, sinks_of, source_from
from horai.stream_reports import StepReport
from horai.stream_running import Streaming
from horai.streams import StreamJob, Timing, enter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from horai.rules import Rules


def start(
    rules: Rules,
    source: object,
    *,
    sink: object,
    checkpoint: str | os.PathLike[str],
    trigger: str = "1s",
    delay: int = 0,
    max_ahead: int | None = None,
    session: SparkSession | None = None,
    master: str | None = None,
    buckets: int | None = None,
    files_per_step: int | None = None,
    from_savepoint: str | Path | None = None,
    on_step: Callable[[StepReport, Sequence[DeadLetter]], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> Streaming:
    """Start a stream; all that is wrong with what was asked for is said before."""
    job = job_of(rules, None, **settings | {"answers": "changelog"})
    timing = Timing(job.settings, length(delay, "delay", 0))
    stream = StreamJob(job, timing, ahead_of(max_ahead, job.clock))
    with _refused():
        sinks = sinks_of(sink)
        most = None if files_per_step is None else amount(files_per_step, "files-per-step")
        taken = source_from(source, job.format, most)
        check_format(job.feed, taken.format)
        taken.check()
    if trigger != NOW:
        seconds_of(trigger)
    folder = folder_of(checkpoint)
    check_apart(taken, sinks, folder)
    saved = None if from_savepoint is None else Path(from_savepoint)
    wanted = None if buckets is None else amount(buckets, "buckets")
    with explained():
        parts = [part for one in (taken, *sinks) for part in getattr(one, "parts", ())]
        spark = session or getattr(source, "sparkSession", None)
        spark = spark or connect(master_of(master), None, parts)
        check_parts(spark, parts)
        number = wanted or max(2, SparkGrid(spark).parallel)  # each costs something in every step
        found = enter(folder, stream, number, wanted, saved, getattr(taken, "name", None))
        with _refused():
            held = Held(folder)
        try:
            found = open_checkpoint(folder)  # another may have gone on until now
            with _refused():
                for one in sinks:
                    one.open(About(found.identity.id, found.last.number, spark))
            running = Streaming(stream, taken, sinks, found, held, spark, on_step, on_progress)
            running.start(trigger)
        except BaseException:
            held.release()
            raise
    return running


@contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except Refused as error:
        raise UsageError(error.problem, error.hint) from error
    except NoSpark as error:
        raise UsageError(error.problem, error.hint) from error
