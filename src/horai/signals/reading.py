"""The reader of positions: CSV, JSON lines, Parquet, Arrow, tables, data frames and messages."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.arrow import table_of
from horai.io.items.blocks import Format
from horai.io.items.csv import DELIMITERS
from horai.io.items.read import explained, format_of, opened, read_ipc, read_parquet
from horai.io.items.text import (
    blank_lines,
    chunks,
    decode,
    odd_lines,
    scan_fields,
    split,
    split_fields,
)
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.terms import BLANKS
from horai.signals.columns import Layout, from_columns, plain, typed
from horai.signals.positions import POSITIONS, Positions, joined, letters_of

Line = tuple[int, bytes]
Row = tuple[int, bytes, dict[str, Any]]
# What a value is not that is true, a list or an object.
UNFIT = {"entity": ("bad-term", "no name"), "time": ("bad-time", "not a time")}


def json_file(stream: BinaryIO, layout: Layout, file: str) -> Iterator[Positions]:
    """The positions of a file, some megabytes at a time; empty lines are none."""
    for chunk in chunks(stream, file):
        lines = enumerate(map(bytes.strip, chunk.data.split(b"\n")), chunk.first_line)
        yield json_positions(((line, raw) for line, raw in lines if raw), layout, file)


def json_positions(lines: Iterable[Line], layout: Layout, file: str) -> Positions:
    """The positions that numbered lines tell; a line that tells none is a letter."""
    groups: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    letters: list[DeadLetter] = []
    for line, raw in lines:
        try:
            given = _object(raw)
            groups.setdefault(_shape(given), []).append((line, raw, given))
        except BadRow as bad:
            letters.append(DeadLetter(file, line, _shown(raw), bad.reason, bad.code))
    parts = [part for rows in groups.values() for part in _alike(rows, layout, file)]
    return joined([*parts, Positions(joined([]).table, letters_of(letters))])


def _object(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        raise BadRow("null", "the message has no value")
    try:
        given = json.loads(decode(raw))
    except (ValueError, RecursionError) as error:
        raise BadRow("json", f"not JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadRow("json", "not a JSON object")
    return given


def _shape(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Rows of the same shape have columns of the same types: text, numbers, or nothing."""
    return tuple((key, _kind(value)) for key, value in given.items())


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if number else "text" if isinstance(value, str) else "other"


def _alike(rows: Sequence[Row], layout: Layout, file: str) -> Iterator[Positions]:
    """Rows of one shape, as columns."""
    shape = _shape(rows[0][2])
    try:
        places = layout.places([name for name, _ in shape], file)
    except InputError as error:
        yield _refused(rows, file, "missing-column", error.reason)
        return
    for part, place in places.items():
        name, kind = shape[place]
        if kind == "other":
            code, what = UNFIT.get(part, ("bad-number", "no number"))
            for row in rows:
                reason = f"{part} is {what}: {json.dumps(row[2][name])[:60]}"
                yield _refused([row], file, code, reason)
            return
    numbers = np.array([line for line, _, _ in rows], np.int64)
    names = {part: shape[place][0] for part, place in places.items()}
    broken = [row for row in rows if isinstance(row[2][names["entity"]], float)]
    if 0 < len(broken) < len(rows):  # in one column with these, 5 would be 5.0
        yield from _alike(broken, layout, file)
        rows = [row for row in rows if not isinstance(row[2][names["entity"]], float)]
        yield from _alike(rows, layout, file)
        return
    try:
        cells = {
            part: plain(pa.array([given[name] for _, _, given in rows]))
            for part, name in names.items()
        }
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError) as error:
        if len(rows) > 1:
            for row in rows:
                yield from _alike([row], layout, file)
        elif isinstance(error, UnicodeEncodeError):
            yield _refused(rows, file, "encoding", "half a surrogate pair is no character")
        else:
            yield _refused(rows, file, "bad-number", "a number is beyond 64 bits")
        return
    yield typed(cells, numbers, layout, file, text_of=lambda row: _shown(rows[row][1]))


def _refused(rows: Sequence[Row], file: str, code: str, reason: str) -> Positions:
    letters = [DeadLetter(file, line, _shown(raw), reason, code) for line, raw, _ in rows]
    return Positions(joined([]).table, letters_of(letters))


def _shown(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


PathLike = str | os.PathLike[str]
# Text from files is marked by this type: there a number is a number without further signs.
TEXT = pa.large_string()


def read_positions(
    paths: PathLike | Iterable[PathLike],
    layout: Layout | None = None,
    format: Format | None = None,
) -> Positions:
    """Read one or many files of positions; `-` is standard input, CSV unless a format is given.

    Without a format the name of a file tells it.

    Rows that cannot be used become letters. A file that cannot be read raises InputError.
    """
    one = isinstance(paths, str | os.PathLike)
    files = [os.fspath(p) for p in ([cast(PathLike, paths)] if one else cast(Any, paths))]
    return joined([part for file in files for part in _file(file, layout or Layout(), format)])


def positions_of(source: object, layout: Layout | None = None, name: str = "<memory>") -> Positions:
    """Positions of an Arrow table or a data frame; its rows are counted from 1."""
    table = table_of(source, name)
    if table is None:
        hint = "give an Arrow table or a data frame"
        raise InputError(name, f"{type(source).__name__} cannot be read", hint=hint)
    return from_table(table, layout or Layout(), name)


def from_table(table: pa.Table, layout: Layout, file: str, before: int = 0) -> Positions:
    """Positions of a table that comes after so many rows."""
    lines = np.arange(before + 1, before + 1 + table.num_rows)

    def text_of(row: int) -> str:
        values = [table.column(i)[row].as_py() for i in range(table.num_columns)]
        return ",".join("" if value is None else str(value) for value in values)

    cells = [column.combine_chunks() for column in table.columns]
    return from_columns(cells, table.column_names, lines, layout, file, text_of)


def _file(file: str, layout: Layout, format: Format | None) -> Iterator[Positions]:
    label = "<stdin>" if file == "-" else file
    kind = format or ("csv" if file == "-" else format_of(file))
    with explained(label), opened(file) as stream:
        if kind in ("parquet", "arrow"):
            load = read_parquet if kind == "parquet" else read_ipc
            yield from_table(load(pa.BufferReader(stream.read())), layout, label)
        elif kind == "jsonl":
            yield from json_file(cast(BinaryIO, stream), layout, label)
        else:
            yield from _csv(cast(BinaryIO, stream), layout, label)


def _csv(stream: BinaryIO, layout: Layout, file: str) -> Iterator[Positions]:
    """Positions of a CSV file, some megabytes at a time."""
    header: tuple[str, list[str], dict[str, int]] | None = None
    for chunk in chunks(stream, file):
        skip = 0
        if header is None:
            data = chunk.data.lstrip(b" \t\r\n")
            if not data:
                continue
            skip = chunk.data[: len(chunk.data) - len(data)].count(b"\n") + 1
            header = _header(data.split(b"\n", 1)[0].rstrip(b"\r"), layout, file)
        delimiter, names, places = header
        fields = split(chunk.data, delimiter)
        wanted = ~blank_lines(fields)
        wanted[:skip] = False
        plain = wanted & (fields.count == len(names)) & ~odd_lines(fields)
        rows = np.flatnonzero(plain)
        cells = {part: _cells(fields.column(rows, place)) for part, place in places.items()}

        def text_of(row: int, fields=fields, rows=rows) -> str:  # type: ignore[no-untyped-def]
            return str(fields.line(rows[row]).decode("utf-8", "replace"))

        yield typed(cells, chunk.first_line + rows, layout, file, text_of)
        odd = np.flatnonzero(wanted & ~plain)
        if len(odd):
            raw = [fields.line(row) for row in odd.tolist()]
            yield _odd(raw, chunk.first_line + odd, header, layout, file)
    if header is None:
        raise InputError(file, "the file is empty", hint="begin with a line that names columns")


def _header(line: bytes, layout: Layout, file: str) -> tuple[str, list[str], dict[str, int]]:
    try:
        text = decode(line)
        delimiter = max(DELIMITERS, key=text.count)
        names = split_fields(text, delimiter)
    except BadRow as bad:
        raise InputError(file, f"the header cannot be read: {bad.reason}", line=1) from bad
    return delimiter, names, layout.places(names, file)


def _cells(column: pa.Array) -> pa.Array:
    trimmed = pc.utf8_trim(column, characters=BLANKS)
    return pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed).cast(TEXT)


def _odd(
    raw: list[bytes],
    lines: np.ndarray[tuple[int], np.dtype[np.int64]],
    header: tuple[str, list[str], dict[str, int]],
    layout: Layout,
    file: str,
) -> Positions:
    """Lines with quotes, or with too few or too many fields, one by one."""
    delimiter, names, places = header
    good: list[list[str | None]] = []
    kept: list[int] = []
    letters: list[DeadLetter] = []
    for number, line in enumerate(raw):
        try:
            text = decode(line)
            if not text.strip(BLANKS):
                continue
            fields = [field for field, _ in scan_fields(text, delimiter)]
            if len(fields) != len(names):
                reason = f"{len(fields)} fields given, the header has {len(names)}"
                raise BadRow("field-count", reason)
            good.append([field or None for field in fields])
            kept.append(number)
        except BadRow as bad:
            shown = line.decode("utf-8", "replace")
            letters.append(DeadLetter(file, int(lines[number]), shown, bad.reason, bad.code))
    cells = {part: pa.array([row[i] for row in good], TEXT) for part, i in places.items()}
    found = typed(cells, lines[kept], layout, file, lambda row: raw[kept[row]].decode())
    return Positions(found.table, pa.concat_tables([found.letters, letters_of(letters)]))


def no_positions() -> Positions:
    """None at all."""
    return Positions(POSITIONS.empty_table(), letters_of([]))
