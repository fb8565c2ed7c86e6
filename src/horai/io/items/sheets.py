"""Reads sheets: columns with names, from CSV with a header, Parquet, Arrow or a data frame.

What a row means is told by `records`; here the same is done for all rows at once. A row that is not
plainly good is left to `records`, which accepts it after all or says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.rows import OPS, Columns, Header, RowReader
from horai.io.items.tables import Harvest, ItemTable
from horai.io.items.text import Mask, Rows
from horai.io.schema import TableKey
from horai.io.terms import TermColumn, from_arrow, from_text
from horai.io.times import TimeColumn, TimeScale, proper_intervals, read_times


@dataclass(frozen=True)
class Cells:
    """A column of terms, null where a cell is empty, and what its strings are.

    `text` is read as fields of a narrative are, an `atom` is an atom whatever it looks like, and
    `source` is Prolog text.
    """

    array: pa.Array
    strings: Literal["text", "atom", "source"]

    def terms(self, rows: pa.Array) -> TermColumn:
        return self.read(self.array.take(rows))

    def read(self, array: pa.Array) -> TermColumn:
        if self.strings == "text":
            return from_text(array)
        return from_arrow(array, is_source=self.strings == "source")


@dataclass(frozen=True)
class Sheet:
    """The columns of some rows. `parts` are those that play a part; strings are plain strings.

    Arguments are columns of their own (`args`) or lists in one column (`arg_list`).
    """

    lines: Rows
    parts: dict[str, pa.Array]
    value: Cells | None = None
    args: list[Cells] = field(default_factory=list)
    arg_list: Cells | None = None

    def __len__(self) -> int:
        return len(self.lines)


def by_columns(
    header: Header, rows: int, column: Callable[[int], pa.Array]
) -> Iterator[tuple[Rows, Columns]]:
    """The rows of each type that has columns of its own, and all others."""
    left = np.arange(rows, dtype=np.int64)
    if header.by_type:
        types = column(header.columns.parts["type"])
        for type_, columns in header.by_type.items():
            mask = _mask(pc.equal(types, type_).fill_null(False))
            yield left[mask], columns
            left, types = left[~mask], types.filter(pa.array(~mask))
    yield left, header.columns


def read_sheet(sheet: Sheet, harvest: Harvest) -> Rows:
    """Read all plainly good rows into `harvest`; returns the places of all others."""
    left, reader = np.ones(len(sheet), dtype=np.bool_), harvest.reader
    facts = _Facts(sheet, reader.clock)
    for name, named in _by_name(sheet, reader):
        arities = np.unique(facts.given[named]).tolist()
        for key in reader.schema.keys(name):
            if key.arity in arities:
                rows = np.flatnonzero(named & facts.fitting(key))
                harvest.add(facts.table(key, rows, reader.file))
                left[rows] = False
    return np.flatnonzero(left)


def _by_name(sheet: Sheet, reader: RowReader) -> Iterator[tuple[str, Mask]]:
    """The names of the schema that occur, with their rows."""
    if "type" not in sheet.parts:
        if reader.type_name is not None:
            yield reader.type_name, np.ones(len(sheet), dtype=np.bool_)
        return
    names = sheet.parts["type"].dictionary_encode()
    codes = np.asarray(pc.fill_null(names.indices, -1))
    for code, name in enumerate(names.dictionary.to_pylist()):
        if name is not None and reader.schema.lookup(name):
            yield name, codes == code


def _mask(array: pa.Array) -> Mask:
    return np.asarray(array, dtype=np.bool_)


class _Facts:
    """The parts of each row that do not depend on its type."""

    def __init__(self, sheet: Sheet, clock: TimeScale) -> None:
        self.sheet = sheet
        nothing = pa.nulls(len(sheet), pa.int64())
        raw = {p: sheet.parts.get(p, nothing) for p in ("arrival", "time", "start", "end")}
        times = {p: read_times(raw[p], clock, ends=p == "end") for p in raw}
        present = {p: _mask(raw[p].is_valid()) & ~_where(pc.is_nan, raw[p], False) for p in raw}
        self.start = pc.coalesce(times["start"].points, times["time"].points)
        self.end: TimeColumn = times["end"]
        self.arrival = pc.coalesce(times["arrival"].points, self.start)
        self.op, known_op = _ops(sheet)
        self.given, whole = _given_args(sheet)
        self.has_value = np.zeros(len(sheet), dtype=np.bool_)
        if sheet.value is not None:
            self.has_value = _mask(sheet.value.array.is_valid())
            whole = whole & _where(pc.is_finite, sheet.value.array, True)
        self.has_end = present["end"]
        self.is_interval = present["start"] | present["end"]
        readable = np.logical_and.reduce([_mask(t.readable) for t in times.values()])
        clash = present["time"] & present["start"]
        self.sound = known_op & whole & readable & ~clash & _mask(self.start.is_valid())

    def fitting(self, key: TableKey) -> Mask:
        """The rows that are sound and make an item of this kind, whatever their name."""
        fits: Mask = self.sound & (self.given == key.arity)
        if "kind" in self.sheet.parts:
            fits &= _mask(pc.fill_null(pc.equal(self.sheet.parts["kind"], key.kind), True))
        if key.kind == "event":
            fits &= ~self.has_end & ~self.has_value
        elif key.form == "points":
            fits &= self.has_value & ~self.is_interval
        else:
            fits &= self.has_value & self.is_interval
            fits &= _mask(proper_intervals(self.start, self.end))
        return fits

    def table(self, key: TableKey, rows: Rows, file: str) -> ItemTable:
        chosen = pa.array(rows)
        value = self.sheet.value
        return ItemTable.of_columns(
            key,
            file,
            pa.array(self.sheet.lines[rows]),
            self.op.take(chosen),
            self.arrival.take(chosen),
            self.start.take(chosen),
            self.end.points.take(chosen) if key.form == "intervals" else None,
            value.terms(chosen) if key.kind == "fluent" and value is not None else None,
            _arg_columns(self.sheet, chosen, key.arity),
        )


def _ops(sheet: Sheet) -> tuple[pa.Array, Mask]:
    """+1 or -1 for each row, and where the operation is known."""
    given = sheet.parts.get("op")
    if given is None:
        every = np.ones(len(sheet), dtype=np.bool_)
        return pa.array(np.ones(len(sheet), dtype=np.int8)), every
    encoded = given.dictionary_encode()
    words = [OPS.get(str(word).strip().lower()) for word in encoded.dictionary.to_pylist()]
    ops = pa.array(words, pa.int8()).take(encoded.indices)
    return pc.fill_null(ops, 1), _mask(pc.or_(ops.is_valid(), given.is_null()))


def _given_args(sheet: Sheet) -> tuple[Rows, Mask]:
    """How many arguments each row has, and where none of them is empty or no number."""
    whole = np.ones(len(sheet), dtype=np.bool_)
    if sheet.arg_list is not None:
        lists = sheet.arg_list.array
        flat = lists.flatten()
        bad = ~_mask(flat.is_valid()) | ~_where(pc.is_finite, flat, True)
        whole[np.asarray(pc.list_parent_indices(lists))[bad]] = False
        return np.asarray(pc.fill_null(pc.list_value_length(lists), 0)).astype(np.int64), whole
    given = np.zeros(len(sheet), dtype=np.int64)
    filled = np.zeros(len(sheet), dtype=np.int64)
    for place, cells in enumerate(sheet.args):
        there = _mask(cells.array.is_valid())
        given[there] = place + 1
        filled += there
        whole &= _where(pc.is_finite, cells.array, True)
    return given, whole & (filled == given)


def _arg_columns(sheet: Sheet, rows: pa.Array, arity: int) -> tuple[TermColumn, ...]:
    if sheet.arg_list is None:
        return tuple(cells.terms(rows) for cells in sheet.args[:arity])
    flat = sheet.arg_list.array.take(rows).flatten()
    places = np.arange(len(rows), dtype=np.int64) * arity
    return tuple(sheet.arg_list.read(flat.take(pa.array(places + i))) for i in range(arity))


def _where(test: Callable[[pa.Array], pa.Array], array: pa.Array, others: bool) -> Mask:
    """Where a test of decimals holds; `others` for what is empty or no decimal."""
    if pa.types.is_floating(array.type):
        return _mask(pc.fill_null(test(array), others))
    return np.full(len(array), others)
