"""The sources of a stream on Spark, as people name them, and the rows of its micro-batches.

A source opens a streaming data frame and says how items are in its rows: files by their paths,
lines of text in the column `value`, messages in that column with their partition and offset, or
columns named as in a CSV file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from horai.errors import UsageError
from horai.io.items.tables import Format
from horai.io.letters import InputError
from horai.io.secrets import kafka_spark
from horai.io.sources.endpoints import is_endpoint
from horai.io.sources.kafka import Topic, look, topic_of
from horai.runtime.batch import sender
from horai.runtime.jars import Part
from horai.runtime.jobs import SparkJob
from horai.runtime.refusals import Refused, unknown
from horai.runtime.sinks.protocol import Sink
from horai.runtime.sinks.registry import FORMS as SINK_FORMS
from horai.runtime.sinks.registry import sink_of
from horai.runtime.spark.frames import ItemIntake, PositionIntake
from horai.runtime.spark.shuffle import FolderGrid, Shuffled
from horai.runtime.streams import Steps, sending
from horai.settings import text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Layout = Literal["files", "lines", "messages", "columns"]


class Source:
    """A place that items come from. Any object with these members will do.

    `layout` is how items are in the rows of the data frame, `format` that of files or lines, None
    if they tell themselves. `name` is the source in words: a checkpoint knows how far this was
    read, and nothing else. `parts` are those that a session of Spark has to be started with.
    """

    layout: Layout
    format: Format | None
    name: str
    parts: tuple[Part, ...] = ()

    def check(self) -> None:
        """Raise `Refused` if it cannot be opened, as far as can be said without Spark."""

    def open(self, spark: SparkSession) -> DataFrame:
        """The streaming data frame."""
        raise NotImplementedError


_FILES = "path string, modificationTime timestamp, length long, content binary"


@dataclass(frozen=True, slots=True)
class FilesSource(Source):
    """A folder into which files are dropped, each one whole and never touched again.

    Workers read them as `horai run` does: rows keep file and line. Names that begin with `.` or
    `_` are left alone, so that a file can be written beside its place and then be named.
    """

    folder: str
    format: Format | None = None
    most: int | None = None  # files in a micro-batch
    layout = "files"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The folder, whatever the format of files in it."""
        return f"the folder {Path(self.folder).resolve()}"

    def check(self) -> None:
        """The folder has to be there."""
        if not Path(self.folder).is_dir():
            hint = "make the folder first; files may be dropped into it at any time"
            raise Refused(f"there is no folder {self.folder}", hint)

    def open(self, spark: SparkSession) -> DataFrame:
        """The paths of files, as they appear."""
        reader = spark.readStream.format("binaryFile").schema(_FILES)
        # Otherwise Spark passes over files that are older than others by a week, without a word.
        reader = reader.option("maxFileAge", "36500d")
        if self.most is not None:
            reader = reader.option("maxFilesPerTrigger", self.most)
        # Nobody asks for the content here, so that Spark does not read it.
        return reader.load(str(Path(self.folder).resolve())).select("path")


@dataclass(frozen=True, slots=True)
class ServerSource(Source):
    """Lines from a server, for trying: what was sent before a failure is lost with it.

    Whether somebody listens shows when Spark asks.
    """

    host: str
    port: int
    format: Format | None = None
    layout = "lines"
    name = "a server"  # nothing is kept of it, so that it does not matter which

    def open(self, spark: SparkSession) -> DataFrame:
        """The lines, as they come."""
        reader = spark.readStream.format("socket")
        return reader.option("host", self.host).option("port", self.port).load()


@dataclass(frozen=True, slots=True)
class FrameSource(Source):
    """A streaming data frame that is there already."""

    frame: DataFrame
    layout = "columns"
    format: Format | None = None
    name = "a data frame"

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
    kind, _, place = text.partition(":")
    if Path(text).is_dir():
        kind, place = "files", text
    make = KINDS.get(kind)
    try:
        if make is None and is_endpoint(text):
            hint = "`horai run --live` follows it in one process; Spark connects to tcp:HOST:PORT"
            raise Refused(f"Spark does not read from {text}", hint)
    except InputError as error:
        raise Refused(f"{error.file}: {error.reason}", error.hint or f"use {FORMS}") from None
    if make is None and (not place or "/" in kind):
        make, place = _files(None), text  # a folder that is not there
    if make is None:
        raise unknown("source", text, KINDS, FORMS)
    if not place:
        raise Refused(f"the source {text!r} names no place", f"use {FORMS}")
    return make(place, format, most)


FORMS = "FOLDER, files:FOLDER, csv:FOLDER, json:FOLDER, parquet:FOLDER, rows:FOLDER, "
FORMS += "kafka://HOST:PORT/TOPIC or tcp:HOST:PORT"


def _files(known: Format | None) -> Callable[[str, Format | None, int | None], Source]:
    return lambda place, format, most: FilesSource(place, known or format, most)


def _server(place: str, format: Format | None, most: int | None) -> Source:
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise Refused(f"{place!r} is no address of a server", "use tcp:HOST:PORT")
    return ServerSource(host, int(port), lines_format(format))


def _kafka(place: str, format: Format | None, most: int | None) -> Source:
    """The source that people name `kafka://HOST:PORT/TOPIC`."""
    try:
        return KafkaSource(topic_of(f"kafka:{place}"), lines_format(format), most)
    except InputError as error:
        raise Refused(f"{error.file}: {error.reason}", error.hint) from None


def lines_format(format: Format | None) -> Format | None:
    """Lines without a file around them are narrative rows or JSON."""
    if format in (None, "narrative", "jsonl"):
        return format
    raise Refused(f"lines cannot be {format}", "use the format narrative or jsonl")


KINDS: dict[str, Callable[[str, Format | None, int | None], Source]] = {
    "files": _files(None),
    "csv": _files("csv"),
    "json": _files("jsonl"),
    "parquet": _files("parquet"),
    "rows": _files("narrative"),
    "kafka": _kafka,
    "tcp": _server,
}


@dataclass(frozen=True, slots=True)
class KafkaSource(Source):
    """All messages of a topic that are committed, from the oldest on.

    Spark keeps in the checkpoint how far it has read, and reads the same messages again if a step
    is done again. `most` is how many messages there are in a micro-batch, at most.
    """

    topic: Topic
    format: Format | None = None
    most: int | None = None
    layout = "messages"
    parts = ("kafka",)

    @property
    def name(self) -> str:  # type: ignore[override]
        """The topic; servers may move."""
        return f"the topic {self.topic.name} of Kafka"

    def check(self) -> None:
        """The topic has to be there."""
        try:
            look(self.topic)
        except InputError as error:
            raise Refused(f"{error.file}: {error.reason}", error.hint) from error

    def open(self, spark: SparkSession) -> DataFrame:
        """Messages with the partition and offset that they have."""
        settings = {
            "kafka.bootstrap.servers": self.topic.servers,
            "subscribe": self.topic.name,
            "startingOffsets": "earliest",
            "kafka.isolation.level": "read_committed",
            **kafka_spark(),
        }
        if self.most is not None:
            settings["maxOffsetsPerTrigger"] = str(self.most)
        return spark.readStream.format("kafka").options(**settings).load()


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
        intake = PositionIntake(steps.front.task, strict, format, True, limit)
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
