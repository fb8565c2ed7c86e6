"""Reads narratives: lines `Type|Arrival|Time|...`, a whole chunk of columns at a time.

Lines are sorted by the kind of row their type and number of fields make them, and each kind is read
column by column. Lines that fit nowhere, or whose times cannot be read, go to the row reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.rows import RowReader, is_narrative_header, split_op
from horai.io.items.tables import Harvest, ItemTable
from horai.io.items.text import (
    Chunk,
    Fields,
    Mask,
    Rows,
    blank_lines,
    chunks,
    odd_lines,
    split,
    split_fields,
)
from horai.io.schema import InputSchema, TableKey
from horai.io.terms import BLANKS, from_text
from horai.io.times import proper_intervals, read_times


class LineTypes(NamedTuple):
    """The types of some lines: operation and name of line i are `found[codes[i]]`."""

    lines: Rows
    codes: np.ndarray[Any, np.dtype[np.int32]]
    found: list[tuple[int, str]]


class Group(NamedTuple):
    """Lines of a chunk that are rows of the same kind."""

    key: TableKey
    lines: Rows
    op: np.ndarray[Any, np.dtype[np.int8]]


def read_narrative(stream: BinaryIO, harvest: Harvest) -> None:
    """Read a stream of narrative lines into `harvest`."""
    may_be_header = True
    for chunk in chunks(stream, harvest.file):
        fields = split(chunk.data, "|")
        wanted = ~blank_lines(fields)
        if may_be_header and wanted.any():
            may_be_header = False
            first = int(np.argmax(wanted))
            wanted[first] = not _is_header(fields.line(first), harvest.reader.schema)
        _read_chunk(chunk, fields, wanted, harvest)
        harvest.settle()


def _is_header(line: bytes, schema: InputSchema) -> bool:
    text = line.decode("utf-8", "replace")
    return '"' not in text and is_narrative_header(split_fields(text, "|"), schema)


def _read_chunk(chunk: Chunk, fields: Fields, wanted: Mask, harvest: Harvest) -> None:
    reader = harvest.reader
    types = _types(fields, np.flatnonzero(wanted & ~odd_lines(fields)))
    for group in _groups(types, fields, reader.schema):
        table, used = _read_group(group, fields, chunk, reader)
        harvest.add(table)
        wanted[used] = False
    strangers = _strangers(types, fields, reader.schema)
    for index in np.flatnonzero(wanted).tolist():
        raw, line = fields.line(index), chunk.first_line + index
        if index in strangers:
            harvest.refuse(line, raw, *strangers[index])
        else:
            harvest.row(line, raw, partial(reader.narrative, raw, line))


def _types(fields: Fields, lines: Rows) -> LineTypes:
    encoded = fields.column(lines, 0).dictionary_encode()
    found = [split_op(text.strip(BLANKS)) for text in encoded.dictionary.to_pylist()]
    return LineTypes(lines, np.asarray(encoded.indices), found)


def _strangers(types: LineTypes, fields: Fields, schema: InputSchema) -> dict[int, tuple[str, str]]:
    """Code and reason for lines of types nobody reads: a stream may be full of them."""
    names = [name for _, name in types.found]
    unknown = np.array([not schema.lookup(name) for name in names], dtype=np.bool_)
    chosen = np.flatnonzero(unknown[types.codes] & (fields.count[types.lines] > 1))
    codes, lines = types.codes[chosen].tolist(), types.lines[chosen].tolist()
    return {line: schema.why_unknown(names[code]) for line, code in zip(lines, codes, strict=True)}


def _groups(types: LineTypes, fields: Fields, schema: InputSchema) -> Iterator[Group]:
    """Sort lines by kind of row; those whose kind is not certain are left out."""
    kinds = _kinds_of_row(schema)
    numbers = {key: number for number, key in enumerate(kinds.values())}
    width = 1 + max((key.fields for key in numbers), default=0)
    # One row per name, so that looking up (name, number of fields) is one array access.
    names = {name: row for row, name in enumerate(dict.fromkeys(key.name for key in numbers))}
    table = np.full((len(names) + 1, width + 1), -1, dtype=np.int32)
    for key, number in numbers.items():
        table[names[key.name], key.fields] = number
    row_of = np.array([names.get(name, len(names)) for _, name in types.found], dtype=np.int64)
    number_of = table[row_of[types.codes], np.minimum(fields.count[types.lines], width)]
    ops = np.array([op for op, _ in types.found], dtype=np.int8)
    for key, number in numbers.items():
        chosen = np.flatnonzero(number_of == number)
        if len(chosen):
            yield Group(key, types.lines[chosen], ops[types.codes[chosen]])


def _kinds_of_row(schema: InputSchema) -> dict[tuple[str, int], TableKey]:
    """The kind of row for a name and a number of fields, where there is only one."""
    found: dict[tuple[str, int], list[TableKey]] = {}
    for key in (key for name in schema.types for key in schema.keys(name)):
        found.setdefault((key.name, key.fields), []).append(key)
    return {place: keys[0] for place, keys in found.items() if len(keys) == 1}


def _read_group(
    group: Group, fields: Fields, chunk: Chunk, reader: RowReader
) -> tuple[ItemTable, Rows]:
    """The table of the group's good lines, and which lines these are."""
    key, lines = group.key, group.lines
    arrival = read_times(fields.column(lines, 1), reader.clock).points
    start = read_times(fields.column(lines, 2), reader.clock).points
    good = pc.and_(arrival.is_valid(), start.is_valid())
    end, place = None, 3
    if key.form == "intervals":
        times = read_times(fields.column(lines, 3), reader.clock, ends=True)
        good = pc.and_(good, proper_intervals(start, times))
        end, place = times.points, 4
    rows = np.flatnonzero(np.asarray(good))
    used, chosen = lines[rows], pa.array(rows)
    value = from_text(fields.column(used, place)) if key.kind == "fluent" else None
    place += value is not None
    table = ItemTable.of_columns(
        key,
        reader.file,
        pa.array(used + chunk.first_line),
        pa.array(group.op[rows]),
        arrival.take(chosen),
        start.take(chosen),
        None if end is None else end.take(chosen),
        value,
        [from_text(fields.column(used, place + i)) for i in range(key.arity)],
    )
    return table, used
