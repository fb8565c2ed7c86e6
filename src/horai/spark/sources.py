"""Where the items of a stream come from.

A source opens a streaming data frame and says how items are in its rows: files by their paths,
lines of text in the column `value`, messages in that column with their partition and offset, or
columns named as in a CSV file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from horai.io.formats import Format
from horai.spark.jars import Part
from horai.spark.refusals import Refused, unknown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Layout = Literal["files", "lines", "messages", "columns"]


class Source(Protocol):
    """A place that items come from."""

    @property
    def layout(self) -> Layout:
        """How items are in the rows of the data frame."""

    @property
    def format(self) -> Format | None:
        """The format of files or lines; None if they tell themselves."""

    @property
    def name(self) -> str:
        """What it is, in words: a checkpoint knows how far this was read, and nothing else."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """What a session of Spark has to be started with."""

    def check(self) -> None:
        """Raise `Refused` if it cannot be opened, as far as can be said without Spark."""

    def open(self, spark: SparkSession) -> DataFrame:
        """The streaming data frame."""


_FILES = "path string, modificationTime timestamp, length long, content binary"


@dataclass(frozen=True, slots=True)
class FilesSource:
    """A folder into which files are dropped, each one whole and never touched again.

    Workers read them as `horai run` does: rows keep file and line. Names that begin with `.` or
    `_` are left alone, so that a file can be written beside its place and then be named.
    """

    folder: str
    format: Format | None = None
    most: int | None = None  # files in a micro-batch
    layout: Layout = "files"
    parts: tuple[Part, ...] = ()

    @property
    def name(self) -> str:
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
class SocketSource:
    """Lines from a server, for trying: what was sent before a failure is lost with it."""

    host: str
    port: int
    format: Format | None = None
    layout: Layout = "lines"
    parts: tuple[Part, ...] = ()
    name: str = "a socket"  # nothing is kept of it, so that it does not matter which

    def check(self) -> None:
        """Whether somebody listens shows when Spark asks."""

    def open(self, spark: SparkSession) -> DataFrame:
        """The lines, as they come."""
        reader = spark.readStream.format("socket")
        return reader.option("host", self.host).option("port", self.port).load()


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A streaming data frame that is there already."""

    frame: DataFrame
    layout: Layout = "columns"
    format: Format | None = None
    parts: tuple[Part, ...] = ()
    name: str = "a data frame"

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
    if make is None and (not place or "/" in kind):
        make, place = _files(None), text  # a folder that is not there
    if make is None:
        raise unknown("source", text, KINDS, FORMS)
    if not place:
        raise Refused(f"the source {text!r} names no place", f"use {FORMS}")
    return make(place, format, most)


FORMS = "FOLDER, files:FOLDER, csv:FOLDER, json:FOLDER, parquet:FOLDER, rows:FOLDER, "
FORMS += "kafka://HOST:PORT/TOPIC or socket:HOST:PORT"


def _files(known: Format | None) -> Callable[[str, Format | None, int | None], Source]:
    return lambda place, format, most: FilesSource(place, known or format, most)


def _socket(place: str, format: Format | None, most: int | None) -> Source:
    host, _, port = place.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise Refused(f"{place!r} is no address of a server", "use socket:HOST:PORT")
    return SocketSource(host, int(port), lines_format(format))


def _kafka(place: str, format: Format | None, most: int | None) -> Source:
    from horai.spark.source_kafka import kafka_source

    return kafka_source(place, format, most)


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
    "socket": _socket,
}
