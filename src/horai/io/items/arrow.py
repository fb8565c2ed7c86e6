"""The reader of Parquet, Arrow IPC (Feather) and tables in memory, of whatever library."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.rows import Columns, Item, RowReader, read_record, read_value
from horai.io.items.sheets import Cells, Sheet, by_columns, read_sheet
from horai.io.items.tables import Harvest
from horai.io.items.text import Rows
from horai.io.letters import BadRow, InputError
from horai.io.terms import META, Term, from_source, to_source

if TYPE_CHECKING:
    import pandas as pd


BATCH_ROWS = 1 << 18
TIMES = ("arrival", "time", "start", "end")


def read_table(table: pa.Table, harvest: Harvest) -> None:
    """Read the rows of a table into `harvest`; rows are counted from 1."""
    origin = [i for i, f in enumerate(table.schema) if (f.metadata or {}).get(b"horai.role")]
    header, file = harvest.header(table.column_names, origin), harvest.file
    first = 1
    for batch in table.to_batches(max_chunksize=BATCH_ROWS):
        words = partial(_words_of, batch, file)
        for rows, columns in by_columns(header, batch.num_rows, words):
            part = batch if len(rows) == batch.num_rows else batch.take(pa.array(rows))
            sheet = _sheet(part, columns, rows + first, file)
            _read_left(sheet, read_sheet(sheet, harvest), harvest)
        harvest.settle()
        first += batch.num_rows


def _words_of(batch: pa.RecordBatch, file: str, place: int) -> pa.Array:
    return _words(batch.column(place), batch.schema.field(place).name, file)


def _sheet(batch: pa.RecordBatch, columns: Columns, lines: Rows, file: str) -> Sheet:
    def column(place: int) -> tuple[pa.Array, str, bool]:
        field = batch.schema.field(place)
        return batch.column(place), field.name, (field.metadata or {}).get(META) == b"term"

    parts: dict[str, pa.Array] = {}
    for part in columns.parts.keys() - {"value", "args"}:
        array, name, _ = column(columns.parts[part])
        parts[part] = _time_array(array) if part in TIMES else _words(array, name, file)
    value = _cells(*column(columns.parts["value"]), file) if columns.has("value") else None
    lists = _list_cells(*column(columns.parts["args"]), file) if columns.has("args") else None
    args = [_cells(*column(place), file) for place in columns.args]
    return Sheet(lines, parts, value, args, lists)


def _cells(array: pa.Array, name: str, is_source: bool, file: str) -> Cells:
    return Cells(_plain(array, name, file), "source" if is_source else "atom")


def _list_cells(array: pa.Array, name: str, is_source: bool, file: str) -> Cells:
    types = pa.types
    kind = array.type
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        raise _unusable(file, name, kind, "make it a list column, or use columns a0, a1, ...")
    # Rebuilt from its values, so that every sort of list becomes the plain one.
    inner = _plain(array.flatten(), name, file)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(array), 0))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(offsets), inner)
    return Cells(lists, "source" if is_source else "atom")


def _plain(array: pa.Array, name: str, file: str) -> pa.Array:
    """A column of terms as integers, floats or strings."""
    array = _decoded(array)
    kind = array.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return array
    if pa.types.is_decimal(kind):
        return array.cast(pa.int64() if kind.scale == 0 else pa.float64())
    return _words(array, name, file)


def _words(array: pa.Array, name: str, file: str) -> pa.Array:
    try:
        return _decoded(array).cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        hint = "use text (UTF-8), numbers, booleans or time stamps"
        raise _unusable(file, name, array.type, hint) from error


def _time_array(array: pa.Array) -> pa.Array:
    array = _decoded(array)
    return array.cast(pa.string()) if pa.types.is_decimal(array.type) else array


def _decoded(array: pa.Array) -> pa.Array:
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _unusable(file: str, name: str, kind: pa.DataType, hint: str) -> InputError:
    return InputError(file, f"column {name!r} of type {kind} cannot be used", hint=hint)


def _read_left(sheet: Sheet, left: Rows, harvest: Harvest) -> None:
    """Rows that are not plainly good, one by one."""
    rows = pa.array(left)
    parts = {part: _python(array.take(rows)) for part, array in sheet.parts.items()}
    if sheet.value is not None:
        parts["value"] = sheet.value.array.take(rows).to_pylist()
    if sheet.arg_list is not None:
        args = sheet.arg_list.array.take(rows).to_pylist()
    else:
        columns = [cells.array.take(rows).to_pylist() for cells in sheet.args]
        args = [[column[i] for column in columns] for i in range(len(left))]
    for i, line in enumerate(sheet.lines[left].tolist()):
        row = {part: column[i] for part, column in parts.items()}
        read = partial(_read_row, row, args[i], sheet, line, harvest.reader)
        harvest.row(line, {**row, "args": args[i]}, read)


def _python(array: pa.Array) -> list[object]:
    """Python values; time stamps as text, because nanoseconds have no Python type."""
    if pa.types.is_temporal(array.type):
        array = array.cast(pa.string())
    values: list[object] = array.to_pylist()
    return [None if value != value else value for value in values]


def _read_row(
    row: dict[str, object], args: list[object], sheet: Sheet, line: int, reader: RowReader
) -> Item:
    parts = dict(row)
    if sheet.value is not None:
        parts["value"] = _term(row["value"], sheet.value)
    if sheet.arg_list is not None:
        terms = [_term(arg, sheet.arg_list) for arg in args]
    else:
        terms = [_term(arg, cells) for arg, cells in zip(args, sheet.args, strict=True)]
        while terms and terms[-1] is None:
            terms.pop()
    return read_record(parts, terms, line, reader)


def _term(given: object, cells: Cells) -> Term | None:
    if isinstance(given, str) and cells.strings == "source":
        return from_source(given)
    return read_value(given)


def table_of(source: object, name: str) -> pa.Table | None:
    """The Arrow table of a table or data frame; None when it is neither."""
    if isinstance(source, pa.Table):
        return source
    if isinstance(source, pa.RecordBatch):
        return pa.Table.from_batches([source])
    # Who holds a data frame has imported pandas; nobody else should wait for it.
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(source, pandas.DataFrame):
        return _from_pandas(source, name)
    # Polars, DuckDB and others hand over their tables by Arrow's own protocol.
    return pa.table(source) if hasattr(source, "__arrow_c_stream__") else None


def _from_pandas(frame: pd.DataFrame, name: str) -> pa.Table:
    columns = [_column(frame.iloc[:, i], name) for i in range(frame.shape[1])]
    fields = [
        pa.field(str(label), array.type, metadata=metadata)
        for label, (array, metadata) in zip(frame.columns, columns, strict=True)
    ]
    return pa.Table.from_arrays([array for array, _ in columns], schema=pa.schema(fields))


def _column(series: pd.Series, name: str) -> tuple[pa.Array, dict[bytes, bytes]]:
    """A column; one that mixes numbers and text becomes source text, marked as such."""
    try:
        array = pa.Array.from_pandas(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return _mixed_column(series, name), {META: b"term"}
    return (array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array), {}


def _mixed_column(series: pd.Series, name: str) -> pa.Array:
    try:
        cells = zip(series, series.isna(), strict=True)
        terms = [None if empty else read_value(given) for given, empty in cells]
    except BadRow as bad:
        reason = f"column {series.name!r} cannot be used: {bad.reason}"
        raise InputError(name, reason, hint="use text, numbers or booleans") from bad
    return pa.array([None if term is None else to_source(term) for term in terms], pa.string())
