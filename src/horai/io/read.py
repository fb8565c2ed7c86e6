"""The way in: files, standard input or objects in memory become a narrative."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

from .arrowfiles import read_table
from .csvfiles import read_csv
from .formats import COMPRESSED, FORMATS, Format, first_line, format_of, text_format
from .frames import table_of
from .harvest import Harvest
from .items import Narrative
from .jsonfiles import read_json_array, read_json_lines, read_object_rows
from .letters import InputError
from .narratives import read_narrative
from .rows import Item, RowReader
from .schema import InputSchema
from .times import Clock, Unit
from .topics import SCHEME, Rows, read_topic

PathLike = str | os.PathLike[str]
PEEK_BYTES = 1 << 16


class Options(NamedTuple):
    """What the caller of `read` said."""

    schema: InputSchema
    clock: Clock
    type_name: str | None
    strict: bool

    def start(self, file: str) -> tuple[RowReader, Harvest]:
        return RowReader(self.schema, self.clock, file), Harvest(file, self.strict)


def read(
    paths: PathLike | Iterable[PathLike],
    schema: InputSchema,
    *,
    format: Format | None = None,
    unit: Unit | None = None,
    time_in: Unit | None = None,
    type_name: str | None = None,
    strict: bool = False,
) -> Narrative:
    """Read one or many files; `-` is standard input, and `kafka://HOST:PORT/TOPIC` a topic.

    `format` overrides what the file names say. `unit` is the length of a time-point and lets ISO
    times in; `time_in` is the unit of integer epoch times. `type_name` is the type of all rows of
    files with named columns but no column for the type. Bad rows become dead letters, or with
    `strict` the first one raises InputError. A file that cannot be read raises InputError.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    options = Options(schema, Clock(unit, time_in), type_name, strict)
    one = isinstance(paths, str | os.PathLike)
    files = [os.fspath(p) for p in ([cast(PathLike, paths)] if one else cast(Any, paths))]
    return joined([read_file(file, format, options) for file in files])


def read_object(
    source: object,
    schema: InputSchema,
    *,
    unit: Unit | None = None,
    time_in: Unit | None = None,
    type_name: str | None = None,
    strict: bool = False,
    name: str = "<memory>",
) -> Narrative:
    """Read what is in memory: an Arrow table, a data frame, dicts, items or narrative lines.

    A `str` is the text of a narrative. Dicts look like the objects of JSON lines. Columns of tables
    and data frames are named like those of CSV files. `name` stands for the file.
    """
    options = Options(schema, Clock(unit, time_in), type_name, strict)
    reader, harvest = options.start(name)
    if isinstance(source, str | bytes):
        read_narrative(io.BytesIO(_as_bytes(source)), reader, harvest)
    elif (table := table_of(source, name)) is not None:
        with explained(name):
            read_table(table, reader, harvest, type_name)
    elif isinstance(source, Iterable) and not isinstance(source, Mapping):
        rows = list(source)
        if rows and all(isinstance(row, Item) for row in rows):
            return Narrative.from_items(rows)
        if rows and all(isinstance(row, str) for row in rows):
            text = "\n".join(row.rstrip("\r\n") for row in rows)
            read_narrative(io.BytesIO(_as_bytes(text)), reader, harvest)
        else:
            read_object_rows(rows, reader, harvest, type_name)
    else:
        hint = "give an Arrow table, a data frame, a list of dicts or a list of narrative lines"
        raise InputError(name, f"{type(source).__name__} cannot be read", hint=hint)
    return joined([harvest])


def _as_bytes(text: str | bytes) -> bytes:
    # Half a surrogate pair is no character; passed on, its row becomes a dead letter.
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def joined(harvests: Sequence[Harvest]) -> Narrative:
    """What was read from several files as one narrative."""
    blocks = [block for harvest in harvests for block in harvest.sorted_blocks()]
    return Narrative.from_blocks(blocks, [x for harvest in harvests for x in harvest.letters])


def read_file(file: str, format: Format | None, options: Options) -> Harvest:
    """What one file yields."""
    if file.startswith(SCHEME):
        rows = Rows(options.schema, options.clock, format, options.type_name, options.strict)
        return read_topic(file, rows)
    label = "<stdin>" if file == "-" else file
    reader, harvest = options.start(label)
    expected = format or ("narrative" if file == "-" else format_of(file))
    with explained(label), opened(file) as stream:
        if expected in ("parquet", "arrow"):
            load = read_parquet if expected == "parquet" else read_ipc
            read_table(load(pa.BufferReader(stream.read())), reader, harvest, options.type_name)
            return harvest
        head = stream.peek(PEEK_BYTES)
        if format is None and expected != "jsonl" and file != "-":
            expected = text_format(head, expected, label, options.type_name)
        if expected == "narrative":
            read_narrative(stream, reader, harvest)
        elif expected == "csv":
            read_csv(stream, reader, harvest, options.type_name)
        elif first_line(head, label).startswith("["):
            read_json_array(stream.read(), reader, harvest, options.type_name)
        else:
            read_json_lines(stream, reader, harvest, options.type_name)
    return harvest


def read_parquet(source: pa.NativeFile) -> pa.Table:
    import pyarrow.parquet as pq  # brings the file systems of all clouds along

    return pq.ParquetFile(source).read()


def read_ipc(source: pa.NativeFile) -> pa.Table:
    """An Arrow file, or a stream of Arrow batches."""
    try:
        return pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source).read_all()


@contextmanager
def opened(file: str) -> Iterator[io.BufferedReader[Any]]:
    if file == "-":
        # Standard input may be any stream, so it gets a buffer that can look ahead.
        stream = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
        try:
            yield stream
        finally:
            stream.detach()
        return
    path = Path(file)
    if path.is_dir():
        hint = f"name the files in it, for example {file}/*.csv"
        raise InputError(file, "this is a directory", hint=hint)
    # Opened by Python and not by Arrow, which cannot read named pipes.
    with path.open("rb") as plain:
        if path.suffix.lower() not in COMPRESSED:
            yield plain
            return
        with pa.CompressedInputStream(plain, str(pa.Codec.detect(file.lower()).name)) as raw:
            yield io.BufferedReader(raw)


@contextmanager
def explained(file: str) -> Iterator[None]:
    """Turn the errors of operating system and Arrow into one that says what to do."""
    try:
        yield
    except FileNotFoundError as error:
        hint = "check the spelling and the directory you are in"
        raise InputError(file, "there is no such file", hint=hint) from error
    except PermissionError as error:
        raise InputError(file, "no permission to read this file") from error
    except (OSError, pa.ArrowException) as error:
        hint = "is the file complete, and of the format its name says?"
        raise InputError(file, f"it cannot be read: {error}", hint=hint) from error
