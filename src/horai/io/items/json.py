"""The reader of JSON lines and of objects in memory; many objects of one shape are read at once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.blocks import Block, Harvest, one_file
from horai.io.items.rows import OPS, Item, RowReader, arranged, keys_of_parts, read_object_row
from horai.io.items.text import chunks, decode
from horai.io.letters import BadRow, InputError
from horai.io.terms import TermColumn, from_terms
from horai.io.times import TimeColumn, TimeScale, proper_intervals, read_times

# Fewer rows are not worth the trouble.
MANY = 16
TIME_TYPES = {int: pa.int64(), str: pa.string()}

Column = Sequence[Any]


class Unlike(Exception):
    """The rows differ in something that matters."""


def shape(given: object) -> object:
    """Equal for objects that may be read alike."""
    if type(given) is not dict:
        return None
    name = given.get("type", given.get("name"))
    return (name, *given) if type(name) is str else tuple(given)


def block_of_alike(
    given: Sequence[Any], lines: Sequence[int], reader: RowReader, type_name: str | None
) -> Block | None:
    """The block of rows of one shape, or None if they must be read one by one."""
    try:
        first = read_object_row(given[0], lines[0], reader, type_name)
        keys = keys_of_parts(given[0])
        parts = {part: [row[key] for row in given] for part, key in keys.items()}
        return _block(first, parts, lines, reader)
    # Arrow says ValueError or OverflowError of numbers and letters it cannot hold.
    except (BadRow, Unlike, ValueError, OverflowError):
        return None


def _block(
    first: Item, parts: Mapping[str, Column], lines: Sequence[int], reader: RowReader
) -> Block:
    empty: Column = [None] * len(lines)
    for part in ("type", "kind"):
        _require(all(given == parts[part][0] for given in parts.get(part, [])))
    time, begin = parts.get("time", empty), parts.get("start", empty)
    # The first row has only one of the two, so all others must do without the same one.
    used, unused = (time, begin) if begin[0] is None else (begin, time)
    _require(_is_empty(unused))
    start = _times(used, reader.clock).points
    arrival = _times(parts.get("arrival", empty), reader.clock, gaps=True).points
    return Block(
        first.key,
        one_file(reader.file, len(lines)),
        pa.array(lines, pa.int64()),
        _ops(parts.get("op", empty)),
        pc.coalesce(arrival, start),
        start,
        _ends(first, parts.get("end", empty), used is begin, start, reader.clock),
        _value(first, parts.get("value", empty)),
        _args(parts.get("args", [()] * len(lines)), len(first.args)),
    )


def _require(condition: bool) -> None:
    if not condition:
        raise Unlike


def _is_empty(column: Column) -> bool:
    return all(given is None for given in column)


def _times(
    column: Column, clock: TimeScale, *, gaps: bool = False, ends: bool = False
) -> TimeColumn:
    """The times of a column of integers, or of texts; with gaps only where they are allowed."""
    types = set(map(type, column)) - ({type(None)} if gaps else set())
    _require(len(types) <= 1 and types <= TIME_TYPES.keys())
    type_ = TIME_TYPES[types.pop()] if types else pa.int64()
    times = read_times(pa.array(column, type_), clock, ends=ends)
    _require(pc.all(times.readable).as_py())
    return times


def _ends(
    first: Item, column: Column, gaps: bool, start: pa.Array, clock: TimeScale
) -> pa.Array | None:
    """Ends of intervals. Without a start, a row without an end would be a point."""
    if first.form == "points":
        _require(_is_empty(column))
        return None
    times = _times(column, clock, gaps=gaps, ends=True)
    _require(pc.all(proper_intervals(start, times)).as_py())
    return times.points


def _ops(column: Column) -> pa.Array:
    _require(set(map(type, column)) <= {str, type(None)})
    known = {word: 1 if word is None else OPS.get(word.strip().lower()) for word in set(column)}
    _require(None not in known.values())
    return pa.array([known[word] for word in column], pa.int8())


def _value(first: Item, column: Column) -> TermColumn | None:
    if first.kind == "fluent":
        return _terms(column)
    _require(_is_empty(column))
    return None


def _args(column: Column, arity: int) -> tuple[TermColumn, ...]:
    _require(all(type(args) in (list, tuple) and len(args) == arity for args in column))
    return tuple(_terms(terms) for terms in zip(*column, strict=True))


def _terms(column: Column) -> TermColumn:
    types = set(map(type, column))
    _require(types <= {str, int, float, bool})
    if bool in types:
        words = {True: "true", False: "false"}
        column = [words[given] if type(given) is bool else given for given in column]
    if float in types:
        _require(all(type(given) is not float or math.isfinite(given) for given in column))
    return from_terms(column)


# So many rows are looked at together. One bad row slows down only its piece.
PIECE = 4096
DECODER = json.JSONDecoder()


class JsonRow(NamedTuple):
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
        rows = (JsonRow(line, raw, _parse(raw)) for line, raw in lines if raw)
        _read_rows(rows, reader, harvest, type_name)


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
    rows = (JsonRow(line, given, given) for line, given in enumerate(objects, 1))
    _read_rows(rows, reader, harvest, type_name)


def _read_rows(
    rows: Iterator[JsonRow], reader: RowReader, harvest: Harvest, type_name: str | None
) -> None:
    if reader.schema.columns:
        chosen = reader.schema.columns
        rows = (row._replace(given=arranged(row.given, chosen, type_name)) for row in rows)
    while piece := list(islice(rows, PIECE)):
        groups: dict[object, list[JsonRow]] = {}
        for row in piece:
            groups.setdefault(shape(row.given), []).append(row)
        slow: list[JsonRow] = []
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


def _read_row(row: JsonRow, reader: RowReader, type_name: str | None) -> Item:
    if isinstance(row.given, BadRow):
        raise row.given
    return read_object_row(row.given, row.line, reader, type_name)
