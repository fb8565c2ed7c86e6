"""The reader of JSON lines and of objects in memory; many objects of one shape are read at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from horai.io.items.rows import (
    Item,
    RowReader,
    arranged,
    keys_of_parts,
    listed_args,
    read_object_row,
    read_value,
)
from horai.io.items.sheets import Cells, Sheet, read_sheet
from horai.io.items.tables import Harvest
from horai.io.items.text import chunks, decode
from horai.io.letters import BadRow, InputError
from horai.io.terms import to_source

# Fewer rows are not worth the trouble.
MANY = 32
# So many rows are looked at together. One bad row slows down only its piece.
PIECE = 4096
DECODER = json.JSONDecoder()
TEXTS = ("type", "kind", "op")
WORDS = {True: "true", False: "false"}


class JsonRow(NamedTuple):
    """A row: its number, its text or the object it was given as, and what it says."""

    line: int
    raw: object
    given: Any


def read_json_lines(stream: BinaryIO, harvest: Harvest) -> None:
    """Read a stream of JSON objects, one on each line, into `harvest`."""
    for chunk in chunks(stream, harvest.file):
        lines = enumerate(map(bytes.strip, chunk.data.split(b"\n")), chunk.first_line)
        _read_rows((JsonRow(line, raw, _parse(raw)) for line, raw in lines if raw), harvest)


def _parse(raw: bytes) -> object:
    """The object of a line, or the BadRow that says why it is no JSON."""
    try:
        text = decode(raw)
        given, end = DECODER.raw_decode(text)
        return given if end == len(text) else json.loads(text)
    except (ValueError, RecursionError) as error:
        return BadRow("json", f"not JSON: {error}")
    except BadRow as bad:
        return bad


def read_object_line(raw: bytes, line: int, reader: RowReader) -> Item:
    """The item of a line that is a JSON object. Raises BadRow."""
    return _read_row(JsonRow(line, raw, _parse(raw.strip())), reader)


def read_json_array(data: bytes, harvest: Harvest) -> None:
    """Read a JSON file that is one array of objects; rows are counted from 1."""
    try:
        rows = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        hint = "write one object per line (JSON lines), or one array of objects"
        raise InputError(harvest.file, f"not JSON: {error}", hint=hint) from error
    read_object_rows(rows, harvest)


def read_object_rows(objects: Sequence[object], harvest: Harvest) -> None:
    """Read a list of objects that are in memory already; rows are counted from 1."""
    _read_rows((JsonRow(line, given, given) for line, given in enumerate(objects, 1)), harvest)


def _read_rows(rows: Iterator[JsonRow], harvest: Harvest) -> None:
    reader = harvest.reader
    if reader.schema.columns:
        chosen, name = reader.schema.columns, reader.type_name
        rows = (row._replace(given=arranged(row.given, chosen, name)) for row in rows)
    while piece := list(islice(rows, PIECE)):
        groups: dict[object, list[JsonRow]] = {}
        for row in piece:
            groups.setdefault(_shape(row.given), []).append(row)
        slow: list[JsonRow] = []
        for shape, alike in groups.items():
            sheet = sheet_of(alike) if shape is not None and len(alike) >= MANY else None
            if sheet is None:
                slow += alike
            else:
                slow += [alike[place] for place in read_sheet(sheet, harvest).tolist()]
        for row in sorted(slow):
            harvest.row(row.line, row.raw, partial(_read_row, row, reader))
        harvest.settle()


def _read_row(row: JsonRow, reader: RowReader) -> Item:
    if isinstance(row.given, BadRow):
        raise row.given
    return read_object_row(row.given, row.line, reader)


# --- many objects of one shape -------------------------------------------------------------------


def _shape(given: object) -> object:
    """Equal for objects that may be read together: they have the same keys, and one name."""
    if type(given) is not dict:
        return None
    name = given.get("type", given.get("name"))
    return (name, *given) if type(name) is str else tuple(given)


class Unlike(Exception):
    """Columns that hold values of different types, or what no column of Arrow can hold."""


def sheet_of(rows: Sequence[JsonRow]) -> Sheet | None:
    """The sheet of objects with the same keys, or None if they must be read one by one."""
    try:
        keys = keys_of_parts(rows[0].given)
        value, listed = keys.pop("value", None), keys.pop("args", None)
        args = [row.given[listed] if listed else listed_args(row.given) for row in rows]
        if {*map(type, args)} - {list, tuple} or len({*map(len, args)}) > 1:
            return None
        return Sheet(
            np.array([row.line for row in rows], np.int64),
            {part: _plain([row.given[key] for row in rows], part) for part, key in keys.items()},
            None if value is None else _cells([row.given[value] for row in rows]),
            [_cells(column) for column in zip(*args, strict=True)],
        )
    # Arrow says ValueError or OverflowError of letters and numbers it cannot hold.
    except (BadRow, Unlike, ValueError, OverflowError):
        return None


def _plain(column: Sequence[Any], part: str) -> pa.Array:
    """A column of texts, or of whole numbers where times stand."""
    types = {*map(type, column)} - {type(None)}
    if types <= {str}:
        return pa.array(column, pa.string())
    if part in TEXTS or types != {int}:
        raise Unlike
    return pa.array(column, pa.int64())


def _cells(column: Sequence[Any]) -> Cells:
    """A column of terms; as source text where they are of several kinds."""
    types = {*map(type, column)}
    if not types <= {str, int, float, bool}:
        raise Unlike
    if bool in types:
        column = [WORDS[given] if type(given) is bool else given for given in column]
        types = types - {bool} | {str}
    if len(types) == 1 and (types != {int} or max(map(abs, column)) < 2**63):
        return Cells(pa.array(column), "atom")
    return Cells(pa.array([_source(given) for given in column], pa.string()), "source")


def _source(given: str | int | float) -> str:
    term = read_value(given)
    assert term is not None
    return to_source(term)
