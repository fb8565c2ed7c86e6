"""Reads CSV with a header: named columns, cut by `,`, `;`, tab or `|`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.blocks import Harvest
from horai.io.items.rows import (
    Columns,
    Item,
    RowReader,
    columns_for,
    is_header,
    read_record,
    read_value,
)
from horai.io.items.sheets import Cells, Sheet, read_sheet
from horai.io.items.text import (
    Chunk,
    Fields,
    Rows,
    blank_lines,
    chunks,
    decode,
    odd_lines,
    scan_fields,
    split,
    split_fields,
)
from horai.io.letters import BadRow, InputError
from horai.io.schema import InputSchema
from horai.io.terms import BLANKS, Term, read_field

DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Dialect:
    """How the rows of a file are cut and what stands where."""

    delimiter: str
    names: list[str]
    columns: Columns
    type_name: str | None
    by_type: dict[str, Columns]


def read_csv(
    stream: BinaryIO, reader: RowReader, harvest: Harvest, type_name: str | None = None
) -> None:
    """Read CSV into `harvest`. The first line that is not blank names the columns."""
    dialect: Dialect | None = None
    for chunk in chunks(stream, reader.file):
        header = -1
        if dialect is None:
            header = _first_line(chunk.data)
            if header < 0:
                continue
            line = chunk.data.split(b"\n", header + 1)[header]
            dialect = _dialect(line.rstrip(b"\r"), reader, type_name)
        _read_chunk(chunk, header + 1, dialect, reader, harvest)
        harvest.settle()


def _first_line(data: bytes) -> int:
    """The number of the first line that is not blank, -1 if there is none."""
    start = len(data) - len(data.lstrip(b" \t\r\n"))
    return -1 if start == len(data) else data.count(b"\n", 0, start)


def guess_delimiter(
    line: str, type_name: str | None, schema: InputSchema | None = None
) -> str | None:
    """The delimiter that makes a line a header, if any does."""
    for delimiter in DELIMITERS:
        try:
            names = split_fields(line, delimiter)
        except BadRow:
            continue
        if is_header(names, type_name, schema):
            return delimiter
    return None


def _dialect(line: bytes, reader: RowReader, type_name: str | None) -> Dialect:
    file, schema = reader.file, reader.schema
    try:
        text = decode(line)
        delimiter = guess_delimiter(text, type_name, schema) or max(DELIMITERS, key=text.count)
        names = split_fields(text, delimiter)
    except BadRow as bad:
        raise InputError(file, f"the header cannot be read: {bad.reason}") from bad
    columns, by_type, type_name = columns_for(names, schema, file, type_name)
    return Dialect(delimiter, names, columns, type_name, by_type)


def _read_chunk(
    chunk: Chunk, skip: int, dialect: Dialect, reader: RowReader, harvest: Harvest
) -> None:
    fields = split(chunk.data, dialect.delimiter)
    wanted = ~blank_lines(fields)
    wanted[:skip] = False
    if not dialect.columns.has("args"):
        regular = wanted & (fields.count == len(dialect.names)) & ~odd_lines(fields)
        for lines, columns in _by_columns(fields, np.flatnonzero(regular), dialect):
            sheet = _sheet(fields, lines, chunk, dialect, columns)
            left = read_sheet(sheet, reader, harvest)
            wanted[lines] = False
            wanted[lines[left]] = True
    for index in np.flatnonzero(wanted).tolist():
        raw, line = fields.line(index), chunk.first_line + index
        harvest.row(line, raw, partial(_read_line, raw, line, dialect, reader))


def _by_columns(fields: Fields, lines: Rows, dialect: Dialect) -> Iterator[tuple[Rows, Columns]]:
    """The rows of each type that has columns of its own, and all others."""
    if dialect.by_type:
        types = _column(fields, lines, dialect.columns.parts["type"])
        for type_, columns in dialect.by_type.items():
            mask = pc.equal(types, type_).fill_null(False).to_numpy(zero_copy_only=False)
            yield lines[mask], columns
            lines, types = lines[~mask], types.filter(pa.array(~mask))
    yield lines, dialect.columns


def _sheet(fields: Fields, lines: Rows, chunk: Chunk, dialect: Dialect, columns: Columns) -> Sheet:
    parts = {part: _column(fields, lines, place) for part, place in columns.parts.items()}
    value = parts.pop("value", None)
    return Sheet(
        lines + chunk.first_line,
        parts,
        None if value is None else Cells(value, "text"),
        [Cells(_column(fields, lines, place), "text") for place in columns.args],
        None,
        dialect.type_name,
    )


def _column(fields: Fields, lines: Rows, place: int) -> pa.Array:
    """A column without surrounding blanks, null where nothing is left."""
    texts = pc.utf8_trim(fields.column(lines, place), characters=BLANKS)
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _read_line(raw: bytes, line: int, dialect: Dialect, reader: RowReader) -> Item | None:
    text = decode(raw)
    if not text.strip(BLANKS):
        return None
    fields = scan_fields(text, dialect.delimiter)
    # Quotes around nothing mean an empty atom, nothing at all means an empty cell.
    cells = [text if text or quoted else None for text, quoted in fields]
    if any(cell is not None for cell in cells[len(dialect.names) :]):
        reason = f"{len(cells)} fields given, the header has {len(dialect.names)}"
        raise BadRow("field-count", reason)
    cells += [None] * (len(dialect.names) - len(cells))
    columns = dialect.columns
    if dialect.by_type:
        columns = dialect.by_type.get(cells[columns.parts["type"]] or "", columns)
    places = columns.parts.items()
    parts: dict[str, object] = {part: cells[place] for part, place in places}
    if dialect.type_name is not None:
        parts.setdefault("type", dialect.type_name)
    value = parts.get("value")
    if isinstance(value, str):
        parts["value"] = read_field(value)
    args = _listed_args(parts.get("args")) if "args" in parts else _args(cells, columns)
    return read_record(parts, args, line, reader)


def _args(cells: list[str | None], columns: Columns) -> list[Term | None]:
    args = [cells[place] for place in columns.args]
    while args and args[-1] is None:
        args.pop()
    return [None if arg is None else read_field(arg) for arg in args]


def _listed_args(given: object) -> list[Term | None]:
    """Arguments written as a JSON list in one cell, as Horai's own CSV has them."""
    try:
        listed = json.loads(str(given)) if given is not None else []
    except (ValueError, RecursionError) as error:
        raise BadRow("json", f"args is not a JSON list: {error}") from error
    if not isinstance(listed, list):
        raise BadRow("json", 'args is not a JSON list such as ["chris","work"]')
    return [read_value(arg) for arg in listed]
