"""Streams on Spark: micro-batches in, changes out to sinks, state in between.

A source opens a streaming data frame and says how items are in its rows: files by their paths,
lines of text in the column `value`, messages in that column with their partition and offset, or
columns named as in a CSV file.
"""

from __future__ import annotations

import os
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from horai.errors import RunFailed, UsageError
from horai.io.letters import DeadLetter, InputError
from horai.io.schema import Format
from horai.io.sources.files import FolderSource
from horai.io.sources.kafka import KafkaSource
from horai.io.sources.protocol import Source
from horai.io.sources.registry import FORMS as SOURCE_FORMS
from horai.io.sources.registry import KINDS, source_named
from horai.lang.core.diagnostics import Diagnostic
from horai.runtime.checkpoint import Checkpoint, CheckpointLock, Manifest, open_checkpoint
from horai.runtime.jobs import SparkJob, check_format
from horai.runtime.records import ANSWERS
from horai.runtime.refusals import Refused, unknown
from horai.runtime.rounds import sender
from horai.runtime.sinks.protocol import About, Changes, Sink, here, there
from horai.runtime.sinks.registry import FORMS as SINK_FORMS
from horai.runtime.sinks.registry import sink_of
from horai.runtime.spark.batch import check, explained, master_of
from horai.runtime.spark.connect import check_parts, connect
from horai.runtime.spark.frames import ItemIntake, PositionIntake
from horai.runtime.spark.shuffle import FolderGrid, Shuffled, SparkGrid
from horai.runtime.streams import (
    StepReport,
    Steps,
    StreamJob,
    StreamStep,
    open_or_create_checkpoint,
    sending,
)
from horai.settings import LANGUAGES, RunSettings, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from horai.rules import Rules


# --- where items come from, and where changes go ------------------------------------------------


class FrameSource(Source):
    """A streaming data frame that is there already."""

    layout = "columns"
    format = None
    name = "a data frame"

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame

    def check(self) -> None:
        """It has to be one that streams."""
        if not self.frame.isStreaming:
            hint = "use spark.readStream, or rules.spark for a data frame that is complete"
            raise Refused("the data frame does not stream", hint)

    def open(self, spark: SparkSession) -> DataFrame:
        """The data frame."""
        return self.frame


def source_of(text: str, format: Format | None = None, most: int | None = None) -> Source:
    """The source that people name: `KIND:PLACE`, or a folder."""
    kind, colon, place = text.partition(":")
    if not colon or "/" in kind or Path(text).is_dir():
        return FolderSource(text, format, most)
    with refused():
        found = source_named(text, format, most)
    if found is not None:
        return found
    if kind not in FolderSource.formats:
        raise unknown("source", text, {*FolderSource.formats, *KINDS}, SOURCE_FORMS)
    if not place:
        raise Refused(f"the source {text!r} names no place", f"use {SOURCE_FORMS}")
    return FolderSource(text, format, most)


@contextmanager
def refused() -> Iterator[None]:
    """What cannot be read is refused, in the same words."""
    try:
        yield
    except InputError as error:
        problem = error.reason if error.file in error.reason else f"{error.file}: {error.reason}"
        raise Refused(problem, error.hint or f"use {SOURCE_FORMS}") from error


NOW = "available-now"
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(given: object) -> float:
    """A time that people name.

    >>> seconds_of("5s"), seconds_of("500ms"), seconds_of("2m")
    (5.0, 0.5, 120.0)
    """
    found = _SPAN.fullmatch(text(given, "a time", "for example 5s").strip())
    if found is None:
        raise UsageError(f"{given!r} is no length of time", f"use 500ms, 5s, 2m or {NOW}")
    return float(found[1]) * _SECONDS[found[2]]


def sinks_of(given: object) -> list[Sink]:
    """The sinks that were asked for, one or several."""
    listed: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    if not listed:
        raise UsageError("no sink given", f"name where answers go: {SINK_FORMS}")
    for place in listed:
        if not isinstance(place, str) and not hasattr(place, "write"):
            problem = f"{type(place).__name__} is no sink of a stream"
            raise UsageError(
                problem, f"use {SINK_FORMS}, or an object like horai.runtime.sinks.protocol.Sink"
            )
    return [sink_of(place) if isinstance(place, str) else place for place in listed]


def source_from(given: object, format: Any, most: int | None) -> Source:
    """The source that was asked for: a name, a streaming data frame, or one of somebody else."""
    if getattr(given, "isStreaming", True) is False:  # Spark raises when asked for writeStream
        hint = "make it with spark.readStream, or run rules over it with rules.spark"
        raise UsageError("this data frame is no stream: all its rows are there", hint)
    if hasattr(given, "writeStream"):
        return FrameSource(given)  # type: ignore[arg-type]
    if isinstance(given, str):
        return source_of(given, format, most)
    if hasattr(given, "open") and hasattr(given, "layout"):
        return given  # type: ignore[return-value]
    problem = f"{type(given).__name__} is no source of a stream"
    raise UsageError(problem, "give a folder, the name of a source or a streaming data frame")


def check_apart(source: Source, sinks: list[Sink], checkpoint: Path) -> None:
    """Nobody may write where another reads or writes: each takes what is there for its own."""
    own = [("the source", _place(source)), ("the checkpoint", str(checkpoint.resolve()))]
    seen: dict[str, str] = {}
    for what, place in [*own, *(("a sink", _place(sink)) for sink in sinks)]:
        if place in seen:
            problem = f"{place} is named twice: as {seen[place]} and as {what}"
            raise UsageError(problem, "choose a place of its own for each")
        if place is not None:
            seen[place] = what


def _place(given: object) -> str | None:
    """Where a source reads or a sink writes, if it can be told."""
    topic, folder = (getattr(given, name, None) for name in ("topic", "folder"))
    if topic is not None:
        return str(topic.url)
    return None if folder is None else str(Path(folder).resolve())


def folder_of(given: object) -> Path:
    """The folder of a checkpoint."""
    if not isinstance(given, str | os.PathLike) or not os.fspath(given):
        raise UsageError("a stream needs a checkpoint", "name a folder where it keeps its state")
    place = str(given).removeprefix("file://")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", place):
        hint = "state is kept in plain files: name a folder that all workers see, such as an NFS"
        raise UsageError(f"the checkpoint {given} is no folder", hint)
    return Path(place)


def incoming(
    grid: FolderGrid,
    frame: DataFrame,
    source: Source,
    job: SparkJob,
    steps: Steps[Shuffled],
    limit: int | None = None,
) -> Shuffled:
    """The rows of a micro-batch: items, or positions if that is what the stream reads.

    Rows that name a time after the limit are not used.
    """
    strict, format = job.settings.strict, source.format
    intake: ItemIntake | PositionIntake
    if steps.front is not None:
        intake = PositionIntake(steps.front, strict, format, True, limit)
    else:
        send = sender(steps.task)
        send = send if limit is None else sending(send, limit)
        intake = ItemIntake(send, job.options._replace(format=format), True)
    match source.layout:
        case "columns":
            return grid.frame(*intake.columns(frame))
        case "lines":
            return grid.frame(*intake.lines(frame))
        case "messages":
            assert isinstance(source, KafkaSource)
            return grid.frame(*intake.messages(frame, source.topic))
        case "files":
            files = sorted(_path(row["path"]) for row in frame.collect())
            return grid.read(*intake.files(files, grid.parallel))


def _path(uri: str) -> str:
    """The path of a file as Spark names it: with a scheme, and nothing in it is quoted."""
    return re.sub(r"^file:/+", "/", uri)


# --- what Spark tells of a stream --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """A micro-batch as Spark saw it; `seconds` are those of its phases.

    `triggerExecution` is all of it, `addBatch` what was done with the rows: the step itself.
    """

    batch: int
    rows: int
    seconds: dict[str, float] = field(default_factory=dict)


def listen(spark: SparkSession, query: str, tell: Callable[[Progress], None]) -> Callable[[], None]:
    """Be told of every micro-batch of a query; what comes back ends it."""
    from pyspark.sql.streaming.listener import StreamingQueryListener

    class Listener(StreamingQueryListener):
        """Takes in progress, and leaves the rest."""

        def onQueryStarted(self, event: Any) -> None:
            """Nothing has happened yet."""

        def onQueryProgress(self, event: Any) -> None:
            """A micro-batch is over."""
            progress = event.progress
            if str(progress.id) == query:
                seconds = {name: ms / 1000 for name, ms in progress.durationMs.items()}
                tell(Progress(progress.batchId, progress.numInputRows, seconds))

        def onQueryIdle(self, event: Any) -> None:
            """Nothing has come."""

        def onQueryTerminated(self, event: Any) -> None:
            """It is over."""

    listener = Listener()
    spark.streams.addListener(listener)
    return lambda: spark.streams.removeListener(listener)


# --- a stream that runs ------------------------------------------------------------------------

LOOK = 0.2  # seconds between two looks at a stream that runs


OnStep = Callable[[StepReport, Sequence[DeadLetter], Sequence[Diagnostic]], None]
"""Hears of a step, of the rows that it did not use, and of conditions without a value in it."""


class Streaming:
    """A stream that runs; `wait` until it is over, or `stop` it.

    It goes on from its checkpoint when it is started again.
    """

    def __init__(
        self,
        job: StreamJob,
        source: Source,
        sinks: Sequence[Sink],
        found: Checkpoint,
        held: CheckpointLock,
        spark: SparkSession,
        on_step: OnStep | None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.job, self.source, self.sinks = job, source, sinks
        self.checkpoint, self.held, self.spark = found, held, spark
        found.clear()
        self.steps: Steps[Shuffled] = job.steps(FolderGrid(spark, found.exchange / "0"), found)
        # Workers of Spark write to some sinks; others get rows here.
        self.steps.brings_answers = not all(getattr(s, "is_written_there", False) for s in sinks)
        self.on_step, self.on_progress = on_step, on_progress
        self._unheard: Callable[[], None] | None = None
        self.ends_when_read = False
        self._last_items, self._has_looked = time.monotonic(), False
        self._query: StreamingQuery | None = None
        self._problem: BaseException | None = None
        self._step = threading.Lock()  # held while a step is done
        self._asked_to_stop = self._stopped = self._closed = False

    @property
    def known(self) -> Manifest:
        """The manifest of the last step that has happened."""
        return self.checkpoint.last

    @property
    def is_running(self) -> bool:
        """Does Spark still look for items?"""
        return self._query is not None and bool(self._query.isActive)

    def start(self, trigger: str) -> None:
        """Begin to take items."""
        frame = self.source.open(self.spark)
        writer = frame.writeStream.option("checkpointLocation", str(self.checkpoint.spark))
        # A session takes no two queries of one name.
        name = f"horai {self.checkpoint.folder.resolve().name} {self.checkpoint.identity.id[:8]}"
        writer = writer.queryName(name).foreachBatch(self._take)
        if trigger == NOW:
            self.ends_when_read = True
            writer = writer.trigger(availableNow=True)
        else:
            writer = writer.trigger(
                processingTime=f"{int(1000 * seconds_of(trigger))} milliseconds"
            )
        self._query = writer.start()
        if self.on_progress is not None:
            self._unheard = listen(self.spark, str(self._query.id), self.on_progress)

    def wait(self, until_idle: float | None = None) -> None:
        """Wait until all is read, the stream has ended or, if asked, nothing comes any more."""
        try:
            with explained():
                self._wait(until_idle)
        finally:
            self._close()

    def _wait(self, until_idle: float | None) -> None:
        assert self._query is not None
        try:
            while not self._query.awaitTermination(LOOK):  # type: ignore[arg-type]
                if self.known.ended or (until_idle is not None and self._idle() > until_idle):
                    self._end_query()
                    break
                if self._asked_to_stop:
                    self._end_query()
                    return
        except Exception:
            if self._problem is None:
                raise
        if self._problem is not None:
            raise _told(self._problem) from self._problem
        if self.ends_when_read or until_idle is not None:
            self._finish()

    def _idle(self) -> float:
        """For how many seconds Spark has looked for items and found none."""
        assert self._query is not None
        self._has_looked = self._has_looked or self._query.lastProgress is not None
        if not self._has_looked or self._step.locked() or self._query.status["isDataAvailable"]:
            self._last_items = time.monotonic()
        return time.monotonic() - self._last_items

    def ask_to_stop(self) -> None:
        """Let whoever waits stop the stream; this may be called at any moment, by signals too."""
        self._asked_to_stop = True

    def stop(self) -> None:
        """Stop after the step that runs; it goes on from there when it is started again."""
        self._end_query()
        self._close()

    def _end_query(self) -> None:
        assert self._query is not None
        with self._step:
            self._stopped = True
        self._query.stop()

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._unheard is not None:
            self._unheard()
        try:
            for sink in self.sinks:
                sink.close()
        finally:
            self.checkpoint.clear_way()
            self.held.release()

    def _take(self, frame: DataFrame, batch: int) -> None:
        """A micro-batch, in a thread of Spark."""
        with self._step:
            if self._stopped:
                raise RuntimeError("the stream is stopped")  # so that Spark gives it again
            try:
                if not self.steps.has_happened(batch):
                    with self._moving(frame.sparkSession) as grid:
                        began = time.monotonic()
                        job, limit = self.job, self.job.limit()
                        rows = incoming(grid, frame, self.source, job, self.steps, limit)
                        self._do(self.steps.take(batch, rows), began)
            except BaseException as problem:
                self._problem = problem
                raise

    def _finish(self) -> None:
        began = time.monotonic()
        with self._moving(self.spark):
            step = self.steps.finish()
            try:
                if step is not None:
                    self._do(step, began)
            except (Refused, OSError) as problem:
                raise _told(problem) from problem

    @contextmanager
    def _moving(self, spark: SparkSession) -> Iterator[FolderGrid]:
        """The exchange of a step."""
        grid = FolderGrid(spark, self.checkpoint.exchange / uuid.uuid4().hex)
        self.steps.grid = grid
        try:
            yield grid
        finally:
            grid.close()

    def _do(self, step: StreamStep[Shuffled], began: float) -> None:
        check(step.outcome)
        changes = self._changes(step)
        for sink in self.sinks:
            sink.write(changes)
        self.steps.commit(step)
        if step.came:
            self._last_items = time.monotonic()
        if self.on_step is not None:
            report = StepReport(
                step.number,
                step.manifest.batch,
                len(step.queries),
                step.manifest.query,
                changes.rows,
                len(step.outcome.letters),
                step.state_bytes,
                len(step.manifest.items),
                round(time.monotonic() - began, 3),
                round(step.outcome.engine_seconds, 3),
                step.manifest.totals,
            )
            found = self.job.without_value(step.outcome)
            self.on_step(report, step.outcome.letters, found)

    def _changes(self, step: StreamStep[Shuffled]) -> Changes:
        grid = self.steps.grid
        assert isinstance(grid, FolderGrid)
        where = step.of([ANSWERS])

        @cache
        def table() -> pa.Table:
            if self.steps.brings_answers:
                return here(step.answers)
            return here(r for some in where for r in grid.collect(some, [ANSWERS]))

        rows = sum(step.outcome.found.values())
        return Changes(
            step.number, step.queries, rows, table, lambda: there(grid.there(where, [ANSWERS]))
        )


def _told(problem: BaseException) -> BaseException:
    if isinstance(problem, Refused):
        return RunFailed(f"{problem.problem}; {problem.hint}")
    if isinstance(problem, OSError):  # a disk that is full, a folder that is gone
        place = f"{problem.filename}: " if problem.filename else ""
        said = f"{place}{problem.strerror or problem}"
        return RunFailed(f"{said}; what was not done comes again when the stream goes on")
    return problem


def start(
    rules: Rules,
    source: object,
    *,
    sink: object,
    checkpoint: str | os.PathLike[str],
    session: SparkSession | None = None,
    on_step: OnStep | None = None,
    on_progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> Streaming:
    """Start a stream; all that is wrong with what was asked for is said before."""
    if rules.language != "ec":
        hint = "`horai run --live` follows Kafka, sockets and standard input in one process"
        problem = f"{LANGUAGES[rules.language]} do not run as a stream of Spark"
        raise UsageError(problem, hint)
    asked = replace(RunSettings.of("ec", "stream", settings), answers="changelog")
    stream = StreamJob.of(rules, None, asked)
    sinks = sinks_of(sink)
    taken = source_from(source, asked.input_format, asked.files_per_step)
    check_format(stream.feed, taken.format)
    with refused():
        taken.check()
    if asked.trigger != NOW:
        seconds_of(asked.trigger)
    folder = folder_of(checkpoint)
    check_apart(taken, sinks, folder)
    saved, wanted = asked.from_savepoint, asked.buckets
    with explained():
        parts = [part for one in (taken, *sinks) for part in getattr(one, "parts", ())]
        spark = session or getattr(source, "sparkSession", None)
        spark = spark or connect(master_of(asked.master), None, parts)
        check_parts(spark, parts)
        number = wanted or max(2, SparkGrid(spark).parallel)  # each costs something in every step
        found = open_or_create_checkpoint(
            folder, stream, number, wanted, saved, getattr(taken, "name", None)
        )
        held = CheckpointLock(folder)
        try:
            found = open_checkpoint(folder)  # another may have gone on until now
            for one in sinks:
                one.open(About(found.identity.id, found.last.number, spark))
            running = Streaming(stream, taken, sinks, found, held, spark, on_step, on_progress)
            running.start(asked.trigger)
        except BaseException:
            held.release()
            raise
    return running
