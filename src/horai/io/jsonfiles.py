"""Reads JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import BinaryIO

from .chunks import chunks
from .harvest import Harvest
from .letters import BadRow, InputError
from .linetext import decode
from .records import read_object_row
from .rows import Item, RowReader


def read_json_lines(
    stream: BinaryIO, reader: RowReader, harvest: Harvest, type_name: str | None = None
) -> None:
    """Read a stream of JSON objects, one on each line, into `harvest`."""
    for chunk in chunks(stream, reader.file):
        for number, raw in enumerate(chunk.data.split(b"\n"), chunk.first_line):
            stripped = raw.strip()
            if stripped:
                text = stripped.decode("utf-8", "backslashreplace")
                harvest.row(number, text, partial(_read_line, stripped, number, reader, type_name))
        harvest.settle()


def _read_line(raw: bytes, line: int, reader: RowReader, type_name: str | None) -> Item:
    text = decode(raw)
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRow("json", f"not JSON: {error}") from error
    return read_object_row(given, line, reader, type_name)


def read_json_array(
    data: bytes, reader: RowReader, harvest: Harvest, type_name: str | None = None
) -> None:
    """Read a JSON file that is one array of objects; rows are counted from 1."""
    try:
        rows = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        hint = "write one object per line (JSON lines), or one array of objects"
        raise InputError(reader.file, f"not JSON: {error}", hint=hint) from error
    read_object_rows(rows, reader, harvest, type_name)


def read_object_rows(
    rows: Sequence[object], reader: RowReader, harvest: Harvest, type_name: str | None = None
) -> None:
    """Read a list of objects that are in memory already; rows are counted from 1."""
    for number, given in enumerate(rows, 1):
        read = partial(read_object_row, given, number, reader, type_name)
        harvest.row(number, as_text(given), read)
    harvest.settle()


def as_text(given: object) -> str:
    """A row in memory as the text of its dead letter."""
    try:
        return json.dumps(given, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(given)
