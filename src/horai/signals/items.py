"""The items derived from positions, as a table and in the forms that rules read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.answers import utf8
from horai.io.items.tables import ItemTable, Narrative
from horai.io.letters import DeadLetter, InputError
from horai.io.schema import TableKey
from horai.io.terms import META, SYMBOLS, TermColumn, from_arrow, from_source, text_cell
from horai.signals.motion import EVENTS
from horai.signals.positions import Floats, Ints, numbers, together
from horai.temporal.spans import order

ITEMS = pa.schema(
    [
        ("type", SYMBOLS),
        ("time", pa.int64()),  # of an interval its start
        ("end", pa.int64()),  # of an interval
        ("one", SYMBOLS),  # source text: who it is about
        ("two", SYMBOLS),  # an area, or somebody else
        ("speed", pa.float64()),
        ("course", pa.float64()),
        ("heading", pa.float64()),
    ]
)
ARITY = dict.fromkeys(EVENTS, 1) | {"entersArea": 2, "leavesArea": 2, "velocity": 4, "proximity": 2}
NUMBERS = ("speed", "course", "heading")
SOURCE = "<positions>"
TRUE = "true"
FORMATS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}


def items_of(
    kind: str | pa.Array,
    one: pa.Array,
    time: Ints,
    *,
    two: pa.Array | None = None,
    end: Ints | None = None,
    motion: tuple[Floats, Floats, Floats] | None = None,
) -> pa.Table:
    """Rows of one type, or of those that `kind` names."""
    many = len(time)
    columns = {
        "type": pa.repeat(kind, many) if isinstance(kind, str) else kind,
        "time": pa.array(time),
        "end": pa.nulls(many, pa.int64()) if end is None else pa.array(end),
        "one": one,
        "two": pa.nulls(many, pa.string()) if two is None else two,
    }
    for place, name in enumerate(NUMBERS):
        columns[name] = pa.nulls(many, pa.float64()) if motion is None else pa.array(motion[place])
    return pa.table(columns).cast(ITEMS)


def in_order(tables: Iterable[pa.Table]) -> pa.Table:
    """Items one after the other, always in the same order."""
    whole = together(tables, ITEMS)
    # By time, type and whom it is about: nothing happens twice to the same at the same time.
    key = np.zeros(whole.num_rows, np.int64)
    for name in ("type", "one", "two"):
        codes, many = _ranks(whole.column(name).combine_chunks())
        key = key * many + codes
    return whole.take(pa.array(order(numbers(whole, "time"), key)))


def _ranks(column: pa.DictionaryArray) -> tuple[Ints, int]:
    """The place of each word among all in alphabetical order, 0 if there is none."""
    words = np.array(column.dictionary.to_pylist(), dtype=object)
    rank = np.empty(len(words) + 1, np.int64)
    rank[np.argsort(words, kind="stable")] = np.arange(1, len(words) + 1)
    rank[-1] = 0
    codes = np.asarray(pc.fill_null(column.indices, len(words)))
    return rank[codes], len(words) + 1


def only_types(items: pa.Table, types: Iterable[str]) -> pa.Table:
    """Items of some types."""
    wanted = pa.array(sorted(types), pa.string())
    return items.filter(pc.is_in(items.column("type").cast(pa.string()), value_set=wanted))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with strings in the place of dictionaries."""
    return pa.schema(
        [(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in schema]
    )


def narrative_of(items: pa.Table, letters: Iterable[DeadLetter] = ()) -> Narrative:
    """Items as typed tables, as if they had been read from a file."""
    return Narrative.of(_tables(items), letters)


def _tables(items: pa.Table) -> Iterator[ItemTable]:
    kinds = items.column("type").cast(pa.string())
    line = np.arange(1, items.num_rows + 1)
    for kind in pc.unique(kinds).to_pylist():
        mask = pc.equal(kinds, kind)
        rows = items.filter(mask).combine_chunks()
        many, is_span = rows.num_rows, kind == "proximity"
        key = TableKey(kind, ARITY[kind], "event", "points")
        if is_span:
            key = key._replace(kind="fluent", form="intervals")
        start = rows.column("time").combine_chunks()
        end = rows.column("end").combine_chunks() if is_span else None
        args = [_source(rows, "one")]
        if kind == "velocity":
            args += [TermColumn("float", rows.column(n).combine_chunks()) for n in NUMBERS]
        elif ARITY[kind] == 2:
            args.append(_source(rows, "two"))
        yield ItemTable.of_columns(
            key,
            SOURCE,
            pa.array(line[np.asarray(mask)]),
            pa.array(np.ones(many, np.int8)),
            start if end is None else end,  # an interval is known when it is over
            start,
            end,
            from_arrow(pa.repeat(TRUE, many)) if is_span else None,
            args,
        )


def _source(rows: pa.Table, name: str) -> TermColumn:
    return from_arrow(rows.column(name).combine_chunks(), is_source=True)


def as_rows(items: pa.Table) -> pa.Table:
    """Items as one table with the columns of a stream: `type`, `time`, ..., `a0` to `a3`.

    Arguments that are no numbers are source text, and marked as such.
    """
    is_span = pc.equal(items.column("type").cast(pa.string()), "proximity")
    time, none = items.column("time"), pa.scalar(None, pa.int64())
    speeds = decimals(items.column("speed"), 2)
    text = {META: b"term"}
    columns: list[tuple[pa.Field, pa.ChunkedArray]] = [
        (pa.field("type", pa.string()), items.column("type").cast(pa.string())),
        (pa.field("arrival", pa.int64()), pc.coalesce(items.column("end"), time)),
        (pa.field("time", pa.int64()), pc.if_else(is_span, none, time)),
        (pa.field("start", pa.int64()), pc.if_else(is_span, time, none)),
        (pa.field("end", pa.int64()), items.column("end")),
        (pa.field("value", pa.string()), pc.if_else(is_span, TRUE, pa.scalar(None, pa.string()))),
        (pa.field("a0", pa.string(), metadata=text), items.column("one").cast(pa.string())),
        (
            pa.field("a1", pa.string(), metadata=text),
            pc.coalesce(items.column("two").cast(pa.string()), speeds),
        ),
        (pa.field("a2", pa.float64()), items.column("course")),
        (pa.field("a3", pa.float64()), items.column("heading")),
    ]
    return pa.Table.from_arrays(
        [column for _, column in columns], schema=pa.schema([field for field, _ in columns])
    )


def decimals(column: pa.ChunkedArray, digits: int) -> pa.ChunkedArray:
    """Numbers from 0 on with so many digits after the point, as text; null stays null.

    >>> decimals(pa.chunked_array([[7.8, 12.0, None]]), 2).to_pylist()
    ['7.80', '12.00', None]
    """
    scale = 10**digits
    whole = pc.round(pc.multiply(column, float(scale))).cast(pa.int64())
    before = pc.divide(whole, scale)
    after = pc.subtract(whole, pc.multiply(before, scale)).cast(pa.string())
    padded = pc.utf8_lpad(after, digits, "0")
    return pc.binary_join_element_wise(before.cast(pa.string()), padded, ".")


def write_items(path: str | os.PathLike[str], items: pa.Table) -> None:
    """Write items as Parquet or CSV, which `horai run` reads."""
    form = FORMATS.get(Path(path).suffix.lower())
    if form is None:
        hint = f"use {', '.join(FORMATS)}"
        raise InputError(os.fspath(path), "the file name does not tell its format", hint=hint)
    if form == "csv":
        Path(path).write_bytes(csv_of(items))
        return
    import pyarrow.parquet as pq

    pq.write_table(as_rows(items), path)


def csv_of(items: pa.Table) -> bytes:
    """Items as CSV with a header. There an atom needs no quotes of Prolog."""
    rows = as_rows(items)
    cells = {name: rows.column(name).cast(pa.string()) for name in rows.column_names}
    cells["a0"] = _csv_names(items.column("one"))
    cells["a1"] = pc.coalesce(_csv_names(items.column("two")), cells["a1"])
    for name in ("a2", "a3"):
        cells[name] = decimals(rows.column(name), 1)
    columns = [pc.fill_null(column, "") for column in cells.values()]
    lines = pc.binary_join_element_wise(*columns, ",")
    ended = pc.binary_join_element_wise(lines, "\n", "")
    return f"{','.join(cells)}\n".encode() + b"".join(utf8(chunk) for chunk in ended.chunks)


def _csv_names(column: pa.ChunkedArray) -> pa.Array:
    codes = column.combine_chunks()
    terms = map(from_source, codes.dictionary.to_pylist())
    cells = [_csv_cell(text_cell(x) if isinstance(x, str) else str(x)) for x in terms]
    return pa.array(cells, pa.string()).take(codes.indices)


def _csv_cell(text: str) -> str:
    if text and text.strip() == text and not re.search(r'[",;|\t\r\n]', text):
        return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'
