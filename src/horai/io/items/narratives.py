"""Reads narratives: lines `Type|Arrival|Time|...`, a whole chunk of columns at a time.

Lines are sorted by the kind of row their type and number of fields make them, and each kind is read
column by column. Lines that fit nowhere, or whose times cannot be read, go to the row reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

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

Codes = np.ndarray[Any, np.dtype[np.int32]]
Ops = np.ndarray[Any, np.dtype[np.int8]]


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
    reader, schema = harvest.reader, harvest.reader.schema
    lines = np.flatnonzero(wanted & ~odd_lines(fields))
    encoded = fields.column(lines, 0).dictionary_encode()
    codes = np.asarray(encoded.indices)
    types = [split_op(text.strip(BLANKS)) for text in encoded.dictionary.to_pylist()]
    names, ops = [name for _, name in types], np.array([op for op, _ in types], np.int8)[codes]
    for key, chosen in _groups(names, codes, fields.count[lines], schema):
        table, used = _read_group(key, lines[chosen], ops[chosen], fields, chunk, reader)
        harvest.add(table)
        wanted[used] = False
    # Lines of types that nobody reads are not looked at one by one: a stream may be full of them.
    unknown = np.array([not schema.lookup(name) for name in names], np.bool_)[codes]
    strangers = np.flatnonzero(unknown & (fields.count[lines] > 1))
    stranger_names = dict(zip(lines[strangers].tolist(), codes[strangers].tolist(), strict=True))
    for index in np.flatnonzero(wanted).tolist():
        raw, line = fields.line(index), chunk.first_line + index
        if index in stranger_names:
            harvest.refuse(line, raw, *schema.why_unknown(names[stranger_names[index]]))
        else:
            harvest.row(line, raw, partial(reader.narrative, raw, line))


def _groups(
    names: list[str], codes: Codes, counts: Rows, schema: InputSchema
) -> Iterator[tuple[TableKey, Rows]]:
    """Lines by kind of row, of line i `names[codes[i]]`; those of no certain kind are left out."""
    kinds = _kinds_of_row(schema)
    width = 1 + max((key.fields for key in kinds.values()), default=0)
    # One row per name, so that looking up (name, number of fields) is one array access.
    places = {name: row for row, name in enumerate(dict.fromkeys(name for name, _ in kinds))}
    table = np.full((len(places) + 1, width + 1), -1, dtype=np.int32)
    for number, key in enumerate(kinds.values()):
        table[places[key.name], key.fields] = number
    row_of = np.array([places.get(name, len(places)) for name in names], dtype=np.int64)
    number_of = table[row_of[codes], np.minimum(counts, width)]
    for number, key in enumerate(kinds.values()):
        chosen = np.flatnonzero(number_of == number)
        if len(chosen):
            yield key, chosen


def _kinds_of_row(schema: InputSchema) -> dict[tuple[str, int], TableKey]:
    """The kind of row for a name and a number of fields, where there is only one."""
    found: dict[tuple[str, int], list[TableKey]] = {}
    for key in schema.every_key:
        found.setdefault((key.name, key.fields), []).append(key)
    return {place: keys[0] for place, keys in found.items() if len(keys) == 1}


def _read_group(
    key: TableKey, lines: Rows, op: Ops, fields: Fields, chunk: Chunk, reader: RowReader
) -> tuple[ItemTable, Rows]:
    """The table of good lines of a kind, and which lines these are."""
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
        pa.array(op[rows]),
        arrival.take(chosen),
        start.take(chosen),
        None if end is None else end.take(chosen),
        value,
        [from_text(fields.column(used, place + i)) for i in range(key.arity)],
    )
    return table, used
