"""Standard input, files that may grow, and folders into which files are dropped."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from horai.io.letters import InputError
from horai.io.schema import Format
from horai.io.sources.protocol import AT_ONCE, LineCutter, Source, Taker, read_all

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROWING = 0.1
"""Seconds until somebody who was at the end of a file looks again."""


class StandardInput:
    """Standard input without the lock of its buffer, on which Python would abort at its end.

    Whoever waits for a line that never comes would hold that lock.
    """

    def __init__(self) -> None:
        buffer: Any = sys.stdin.buffer
        raw = getattr(buffer, "raw", None)  # what tests put in its place has none
        self._read: Callable[[int], bytes] = buffer.read1 if raw is None else raw.read

    def read1(self, size: int = -1, /) -> bytes:
        """What is there."""
        return self._read(size)

    def close(self) -> None:
        """Leave it open: it belongs to the process."""


class FileSource(Source):
    """A file, or standard input, line by line. Readers of formats read files at once."""

    form = "FILE or -"

    def __init__(self, url: str) -> None:
        self.url = url

    def follow(self, taker: Taker) -> Callable[[], None]:
        """Read it to its end; a file that is growing goes on after the lines taken before."""
        name = self.url
        if name == "-":
            return lambda: read_all("<stdin>", StandardInput(), taker)
        file = Path(name).open("rb")  # noqa: SIM115
        if not (taker.growing and Path(name).is_file()):
            return lambda: read_all(name, file, taker)
        taken = taker.offsets.get(name, 0)
        lines = sum(1 for _ in zip(range(taken), file, strict=False))
        if lines < taken:
            file.close()
            hint = "name the file that was read before, or begin anew without the saved state"
            raise InputError(name, f"it has {lines} lines, and {taken} were read before", hint=hint)
        return lambda: self._watch(file, LineCutter(name, taken), taker)

    def _watch(self, file: BinaryIO, cutter: LineCutter, taker: Taker) -> None:
        """Read a file, and what is added to it, until somebody closes."""
        with file:
            while not taker.closed.is_set():
                if data := file.read(AT_ONCE):
                    taker.put(cutter.take(data))
                elif file.tell() > os.fstat(file.fileno()).st_size:
                    hint = "add lines to its end; begin anew to read another file"
                    raise InputError(self.url, "it became shorter while it was read", hint=hint)
                else:
                    taker.closed.wait(GROWING)


_FILES = "path string, modificationTime timestamp, length long, content binary"


class FolderSource(Source):
    """A folder into which files are dropped, each one whole and never touched again.

    Workers of Spark read them as `horai run` does: rows keep file and line. Names that begin with
    `.` or `_` are left alone, so that a file can be written beside its place and then be named.
    """

    form = "FOLDER, files:FOLDER, csv:FOLDER, json:FOLDER, parquet:FOLDER, rows:FOLDER"
    formats: ClassVar[dict[str, Format | None]] = {
        "files": None,
        "csv": "csv",
        "json": "jsonl",
        "parquet": "parquet",
        "rows": "narrative",
    }
    """What names of folders begin with, and which format files in it have then."""
    layout = "files"

    def __init__(self, url: str, format: Format | None = None, most: int | None = None) -> None:
        kind, _, place = url.partition(":")
        self.url = url
        self.folder = place if kind in self.formats and not Path(url).is_dir() else url
        self.format = format if self.folder == url else self.formats[kind] or format
        self.most = most  # files in a micro-batch
        self.name = f"the folder {Path(self.folder).resolve()}"  # whatever the format of files

    def check(self) -> None:
        """The folder has to be there."""
        if not Path(self.folder).is_dir():
            hint = "make the folder first; files may be dropped into it at any time"
            raise InputError(self.url, f"there is no folder {self.folder}", hint=hint)

    def open(self, spark: SparkSession) -> DataFrame:
        """The paths of files, as they appear."""
        reader = spark.readStream.format("binaryFile").schema(_FILES)
        # Otherwise Spark passes over files that are older than others by a week, without a word.
        reader = reader.option("maxFileAge", "36500d")
        if self.most is not None:
            reader = reader.option("maxFilesPerTrigger", self.most)
        # Nobody asks for the content here, so that Spark does not read it.
        return reader.load(str(Path(self.folder).resolve())).select("path")
