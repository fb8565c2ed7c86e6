"""The way in: files, standard input or objects in memory become a narrative.

A file has the format that the caller says, that of its name, or that of its first line. Large files
are read in pieces, by several processes.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, cast, get_args

import pyarrow as pa

from horai.io.items.arrow import read_table, table_of
from horai.io.items.csv import guess_delimiter, read_csv
from horai.io.items.json import read_json_array, read_json_lines, read_object_rows
from horai.io.items.narratives import read_narrative
from horai.io.items.rows import Item, RowReader, find_columns
from horai.io.items.tables import Harvest, Narrative
from horai.io.items.text import split_fields, without_mark
from horai.io.letters import InputError
from horai.io.schema import Format, InputSchema, TypeColumns
from horai.io.sources.registry import source_named
from horai.io.times import TimeScale, Unit

FORMATS: tuple[Format, ...] = get_args(Format)

SUFFIXES: dict[str, Format] = {
    ".txt": "narrative",
    ".narrative": "narrative",
    ".psv": "narrative",
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")


def format_of(file: str) -> Format:
    """The format a file name stands for.

    >>> format_of("stream.csv.gz"), format_of("rows.feather")
    ('csv', 'arrow')
    """
    path = PurePath(file)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    found = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if found is None:
        known = " ".join(SUFFIXES)
        hint = f"name the format ({', '.join(FORMATS)}), or use one of {known}, also with .gz"
        raise InputError(file, "the file name does not tell its format", hint=hint)
    return found


def text_format(
    head: bytes,
    expected: Format,
    file: str,
    type_name: str | None,
    schema: InputSchema | None = None,
) -> Format:
    """Narrative or CSV? A header that names type and time makes CSV, a `|` a narrative.

    `expected` is what the file name says; files of the original system are narratives in `.csv`.
    """
    line = first_line(head, file)
    delimiter = guess_delimiter(line, type_name, schema)
    if delimiter == "|" and _in_narrative_order(split_fields(line, "|")):
        return "narrative"
    if delimiter is not None:
        return "csv"
    if expected == "narrative" or "|" in line or not line:
        return "narrative"
    hint = "start with a line such as type,time,a0,a1 or write rows as Type|Arrival|Time|Arg1"
    raise InputError(file, "no header names the columns, and there is no '|'", hint=hint)


def first_line(head: bytes, file: str) -> str:
    """The first line of a file that is not blank, without surrounding blanks."""
    rest = without_mark(head, file).lstrip(b" \t\r\n")
    return rest.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip()


def _in_narrative_order(names: list[str]) -> bool:
    """True for `type|arrival|time...`: rows need not be as long as such a header."""
    parts = find_columns(names).parts
    return [parts.get("type"), parts.get("arrival")] == [0, 1] and 2 in (
        parts.get("time"),
        parts.get("start"),
    )


PathLike = str | os.PathLike[str]
PEEK_BYTES = 1 << 16


def read(
    paths: PathLike | Iterable[PathLike],
    schema: InputSchema,
    *,
    format: Format | None = None,
    unit: Unit | None = None,
    time_in: Unit | None = None,
    type_name: str | None = None,
    columns: Mapping[str, Iterable[str]] | None = None,
    strict: bool = False,
) -> Narrative:
    """Read one or many files; `-` is standard input, and `kafka://HOST:PORT/TOPIC` a topic.

    `format` overrides what the file names say. `unit` is the length of a time-point and lets ISO
    times in; `time_in` is the unit of integer epoch times. `type_name` is the type of all rows of
    files with named columns but no column for the type. `columns` says for types which columns are
    their arguments: {"speed": ["vessel", "knots"]}, with `time:when` for a time in a column when;
    if only one type is named, rows need not name it. Bad rows become dead letters, or with
    `strict` the first one raises InputError. A file that cannot be read raises InputError.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    schema = _with(schema, columns)
    options = RowReader(schema, TimeScale(unit, time_in), "", type_name, strict, format)
    one = isinstance(paths, str | os.PathLike)
    files = [os.fspath(p) for p in ([cast(PathLike, paths)] if one else cast(Any, paths))]
    harvests = [read_file(file, options) for file in files]
    return replace(joined(harvests), empty=tuple(h.file for h in harvests if h.is_empty))


def read_object(
    source: object,
    schema: InputSchema,
    *,
    unit: Unit | None = None,
    time_in: Unit | None = None,
    type_name: str | None = None,
    columns: Mapping[str, Iterable[str]] | None = None,
    strict: bool = False,
    name: str = "<memory>",
) -> Narrative:
    """Read what is in memory: an Arrow table, a data frame, dicts, items or narrative lines.

    A `str` is the text of a narrative. Dicts look like the objects of JSON lines. Columns of tables
    and data frames are named like those of CSV files. `name` stands for the file; `columns` is that
    of `read`.
    """
    clock = TimeScale(unit, time_in)
    harvest = Harvest(RowReader(_with(schema, columns), clock, name, type_name, strict))
    if isinstance(source, str | bytes):
        read_narrative(io.BytesIO(_as_bytes(source)), harvest)
    elif (table := table_of(source, name)) is not None:
        with explained(name):
            read_table(table, harvest)
    elif isinstance(source, Iterable) and not isinstance(source, Mapping):
        rows = list(source)
        if rows and all(isinstance(row, Item) for row in rows):
            return Narrative.from_items(rows)
        if rows and all(isinstance(row, str) for row in rows):
            text = "\n".join(row.rstrip("\r\n") for row in rows)
            read_narrative(io.BytesIO(_as_bytes(text)), harvest)
        else:
            read_object_rows(rows, harvest)
    else:
        hint = "give an Arrow table, a data frame, a list of dicts or a list of narrative lines"
        raise InputError(name, f"{type(source).__name__} cannot be read", hint=hint)
    return joined([harvest])


def _with(schema: InputSchema, columns: Mapping[str, Iterable[str]] | None) -> InputSchema:
    if not columns:
        return schema
    return replace(schema, columns={type_: TypeColumns.of(some) for type_, some in columns.items()})


def _as_bytes(text: str | bytes) -> bytes:
    # Half a surrogate pair is no character; passed on, its row becomes a dead letter.
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def joined(harvests: Sequence[Harvest]) -> Narrative:
    """Several harvests as one narrative."""
    tables = [table for harvest in harvests for table in harvest.sorted_tables()]
    return Narrative.of(tables, [x for harvest in harvests for x in harvest.letters])


READERS: dict[Format, Callable[[BinaryIO, Harvest], None]] = {
    "narrative": read_narrative,
    "csv": read_csv,
    "jsonl": read_json_lines,
}
"""Who reads text, line by line."""


def read_file(file: str, options: RowReader) -> Harvest:
    """The harvest of one file."""
    source = source_named(file)
    if source is not None:
        return source.read(options)
    label = "<stdin>" if file == "-" else file
    harvest, format = Harvest(options._replace(file=label)), options.format
    expected = format or ("narrative" if file == "-" else format_of(file))
    with explained(label), opened(file) as stream:
        if expected in LOADERS:
            read_table(LOADERS[expected](pa.BufferReader(stream.read())), harvest)
            return harvest
        head = stream.peek(PEEK_BYTES)
        if format is None and expected != "jsonl" and file != "-":
            expected = text_format(head, expected, label, options.type_name, options.schema)
        if expected == "jsonl" and first_line(head, label).startswith("["):
            read_json_array(stream.read(), harvest)
        else:
            READERS[expected](stream, harvest)
    return harvest


def read_parquet(source: pa.NativeFile) -> pa.Table:
    import pyarrow.parquet as pq  # brings the file systems of all clouds along

    return pq.ParquetFile(source).read()


def read_ipc(source: pa.NativeFile) -> pa.Table:
    """An Arrow file, or a stream of Arrow batches."""
    try:
        table = pa.ipc.open_file(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        table = pa.ipc.open_stream(source).read_all()
    table.validate(full=True)  # Arrow itself would read wherever a forged offset points
    return table


LOADERS: dict[Format, Callable[[pa.NativeFile], pa.Table]] = {
    "parquet": read_parquet,
    "arrow": read_ipc,
}
"""Who reads tables."""


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


PIECE_BYTES = 1 << 25
PIECE_ROWS = 1 << 20
_BLOCK = 1 << 22


class Piece(NamedTuple):
    """Part of a file: bytes of text from `first` to `last`, or row groups of Parquet.

    `head` is the header line of a CSV file, for pieces that do not begin with it; `before` is the
    number of lines or rows before the piece. A file that is not cut has no format here.
    """

    file: str
    format: Format | None
    first: int = 0
    last: int = 0
    head: bytes = b""
    before: int = 0


def pieces_of(file: str, format: Format | None, size: int = PIECE_BYTES) -> list[Piece]:
    """A file in pieces of about some number of bytes."""
    whole = [Piece(file, None)]
    path = Path(file)
    if file == "-" or path.suffix.lower() in COMPRESSED or not path.is_file():
        return whole
    found = format or format_of(file)
    if found == "parquet":
        with explained(file):
            return list(_row_groups(file)) or whole
    if found == "arrow":
        return whole
    with path.open("rb") as stream:
        head = stream.read(PEEK_BYTES)
    if format is None and found != "jsonl":
        found = text_format(head, found, file, None)
    if found == "jsonl" and first_line(head, file).startswith("["):
        return whole
    return list(_texts(file, found, size))


def _texts(file: str, format: Format, size: int) -> Iterator[Piece]:
    """Pieces of text, cut after a line."""
    first = before = lines = position = 0
    head = b""
    with Path(file).open("rb") as stream:
        if format == "csv":
            head = _header(stream)
        while block := stream.read(_BLOCK):
            ends = block.rfind(b"\n") + 1
            if position + ends - first >= size and ends:
                lines += block.count(b"\n", 0, ends)
                yield Piece(file, format, first, position + ends, head if first else b"", before)
                first, before = position + ends, lines
                lines += block.count(b"\n", ends)
            else:
                lines += block.count(b"\n")
            position += len(block)
    if position > first or not first:
        yield Piece(file, format, first, position, head if first else b"", before)


def _header(stream: io.BufferedReader) -> bytes:
    """The first line that is not blank; the stream is put back to its start."""
    head = next((line for line in stream if line.strip(b" \t\r\n\xef\xbb\xbf")), b"")
    stream.seek(0)
    return head.removeprefix(b"\xef\xbb\xbf")


def _row_groups(file: str) -> Iterator[Piece]:
    import pyarrow.parquet as pq

    rows = before = first = 0
    with pq.ParquetFile(file) as parquet:
        groups = parquet.metadata.num_row_groups
        for group in range(groups):
            rows += parquet.metadata.row_group(group).num_rows
            if rows >= PIECE_ROWS or group == groups - 1:
                yield Piece(file, "parquet", first, group + 1, b"", before)
                first, before, rows = group + 1, before + rows, 0


def read_piece(piece: Piece, options: RowReader) -> Narrative:
    """The items of a piece. The format of `options` is for files that are not cut."""
    if piece.format is None:
        return joined([read_file(piece.file, options)])
    shift = piece.before - (1 if piece.head else 0)
    try:
        return shifted(_read(piece, options), shift)
    except InputError as error:
        raise error.at(None if error.line is None else error.line + shift) from None


def _read(piece: Piece, options: RowReader) -> Narrative:
    harvest = Harvest(options._replace(file=piece.file))
    with explained(piece.file):
        if piece.format == "parquet":
            read_table(_groups(piece), harvest)
            return joined([harvest])
        with Path(piece.file).open("rb") as file:
            file.seek(piece.first)
            text = piece.head + file.read(piece.last - piece.first)
        READERS[piece.format or "narrative"](io.BytesIO(text), harvest)
    return joined([harvest])


def read_lines(text: bytes, options: RowReader, name: str) -> Narrative:
    """The items of lines that are no file: narrative rows or, if they look like it, JSON."""
    harvest = Harvest(options._replace(file=name))
    read = read_json_lines if options.is_json(text) else read_narrative
    read(io.BytesIO(text), harvest)
    return joined([harvest])


def _groups(piece: Piece) -> pa.Table:
    import pyarrow.parquet as pq

    with pq.ParquetFile(piece.file) as parquet:
        return parquet.read_row_groups(list(range(piece.first, piece.last)))


def shifted(narrative: Narrative, lines: int) -> Narrative:
    """A narrative whose rows have so many lines before them."""
    if not lines:
        return narrative
    letters = [letter._replace(line=letter.line + lines) for letter in narrative.dead_letters]
    tables = (
        one.with_lines(one.table.column("line").to_numpy() + lines) for one in narrative.tables
    )
    return Narrative(tuple(tables), letters)
