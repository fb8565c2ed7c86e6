"""Reads CSV with a header: named columns, cut by `,`, `;`, tab or `|`."""

from __future__ import annotations

import json
from functools import partial
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.rows import (
    Columns,
    Header,
    Item,
    RowReader,
    is_header,
    read_record,
    read_value,
)
from horai.io.items.sheets import Cells, Sheet, by_columns, read_sheet
from horai.io.items.tables import Harvest
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


class Dialect(NamedTuple):
    """How the rows of a file are cut and what stands where."""

    delimiter: str
    names: list[str]
    header: Header


def read_csv(stream: BinaryIO, harvest: Harvest) -> None:
    """Read CSV into `harvest`. The first line that is not blank names the columns."""
    dialect: Dialect | None = None
    for chunk in chunks(stream, harvest.file):
        header = -1
        if dialect is None:
            header = _first_line(chunk.data)
            if header < 0:
                continue
            line = chunk.data.split(b"\n", header + 1)[header]
            try:
                dialect = _dialect(line.rstrip(b"\r"), harvest)
            except InputError as wrong:
                raise wrong.at(chunk.first_line + header) from wrong
        _read_chunk(chunk, header + 1, dialect, harvest)
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


def _dialect(line: bytes, harvest: Harvest) -> Dialect:
    reader = harvest.reader
    try:
        text = decode(line)
        delimiter = guess_delimiter(text, reader.type_name, reader.schema)
        delimiter = delimiter or max(DELIMITERS, key=text.count)
        names = split_fields(text, delimiter)
    except BadRow as bad:
        raise InputError(reader.file, f"the header cannot be read: {bad.reason}") from bad
    return Dialect(delimiter, names, harvest.header(names))


def _read_chunk(chunk: Chunk, skip: int, dialect: Dialect, harvest: Harvest) -> None:
    fields, header = split(chunk.data, dialect.delimiter), dialect.header
    wanted = ~blank_lines(fields)
    wanted[:skip] = False
    if not header.columns.has("args"):
        regular = wanted & (fields.count == len(dialect.names)) & ~odd_lines(fields)
        lines = np.flatnonzero(regular)
        types = partial(_column, fields, lines)
        for rows, columns in by_columns(header, len(lines), types):
            here = lines[rows]
            left = read_sheet(_sheet(fields, here, chunk, columns), harvest)
            wanted[here] = False
            wanted[here[left]] = True
    for index in np.flatnonzero(wanted).tolist():
        raw, line = fields.line(index), chunk.first_line + index
        harvest.row(line, raw, partial(_read_line, raw, line, dialect, harvest.reader))


def _sheet(fields: Fields, lines: Rows, chunk: Chunk, columns: Columns) -> Sheet:
    parts = {part: _column(fields, lines, place) for part, place in columns.parts.items()}
    value = parts.pop("value", None)
    args = [Cells(_column(fields, lines, place), "text") for place in columns.args]
    return Sheet(
        lines + chunk.first_line, parts, None if value is None else Cells(value, "text"), args
    )


def _column(fields: Fields, lines: Rows, place: int) -> pa.Array:
    """A column without surrounding blanks, null where nothing is left."""
    texts = pc.utf8_trim(fields.column(lines, place), characters=BLANKS)
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _read_line(raw: bytes, line: int, dialect: Dialect, reader: RowReader) -> Item | None:
    text = decode(raw)
    if not text.strip(BLANKS):
        return None
    names, header = dialect.names, dialect.header
    fields = scan_fields(text, dialect.delimiter)
    # Quotes around nothing mean an empty atom, nothing at all means an empty cell.
    cells = [text if text or quoted else None for text, quoted in fields]
    if any(cell is not None for cell in cells[len(names) :]):
        raise BadRow("field-count", f"{len(cells)} fields given, the header has {len(names)}")
    cells += [None] * (len(names) - len(cells))
    columns = header.columns
    if header.by_type:
        columns = header.columns_of(cells[columns.parts["type"]])
    parts: dict[str, object] = {part: cells[place] for part, place in columns.parts.items()}
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
