"""Reads JSON lines: one object per line. Objects in memory are read the same way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import BinaryIO, NamedTuple

from .alike import MANY, block_of_alike, shape
from .chunks import chunks
from .harvest import Harvest
from .letters import BadRow, InputError
from .linetext import decode
from .records import read_object_row
from .rows import Item, RowReader

# So many rows are looked at together. One bad row slows down only its piece.
PIECE = 4096
DECODER = json.JSONDecoder()


class Row(NamedTuple):
    """A row: its number, its text or the object it was given as, and what it says."""

    line: int
    raw: object
    given: object


def read_json_lines(
    stream: BinaryIO, reader: RowReader, harvest: Harvest, type_name: str | None = None
) -> None:
    """Read a stream of JSON objects, one on each line, into `harvest`."""
    for chunk in chunks(stream, reader.file):
        lines = enumerate(map(bytes.strip, chunk.data.split(b"\n")), chunk.first_line)
        rows = (Row(line, raw, _parse(raw)) for line, raw in lines if raw)
        _read_rows(rows, reader, harvest, type_name)


def _parse(raw: bytes) -> object:
    """What the line says, or the BadRow that says why it is no JSON."""
    try:
        text = decode(raw)
        given, end = DECODER.raw_decode(text)
        return given if end == len(text) else json.loads(text)
    except (ValueError, RecursionError) as error:
        return BadRow("json", f"not JSON: {error}")
    except BadRow as bad:
        return bad


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
    objects: Sequence[object], reader: RowReader, harvest: Harvest, type_name: str | None = None
) -> None:
    """Read a list of objects that are in memory already; rows are counted from 1."""
    rows = (Row(line, given, given) for line, given in enumerate(objects, 1))
    _read_rows(rows, reader, harvest, type_name)


def _read_rows(
    rows: Iterator[Row], reader: RowReader, harvest: Harvest, type_name: str | None
) -> None:
    while piece := list(islice(rows, PIECE)):
        groups: dict[object, list[Row]] = {}
        for row in piece:
            groups.setdefault(shape(row.given), []).append(row)
        slow: list[Row] = []
        for alike in groups.values():
            block = None
            if len(alike) >= MANY:
                given = [row.given for row in alike]
                block = block_of_alike(given, [row.line for row in alike], reader, type_name)
            if block is None:
                slow += alike
            else:
                harvest.add(block)
        for row in sorted(slow, key=lambda row: row.line):
            harvest.row(row.line, row.raw, partial(_read_row, row, reader, type_name))
        harvest.settle()


def _read_row(row: Row, reader: RowReader, type_name: str | None) -> Item:
    if isinstance(row.given, BadRow):
        raise row.given
    return read_object_row(row.given, row.line, reader, type_name)
