"""Answers as Arrow tables, in which arguments and values are Prolog source text."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .answers import AnswerBlock, AnswerTable
from .lines import iso_texts, spelled, texts_of
from .spelling import columns_of, times_of
from .termcolumns import META, TermColumn
from .terms import to_source
from .times import Unit

_SOURCE = {META: b"term"}
_TYPES = {
    "args": pa.list_(pa.string()),
    **{name: pa.int64() for name in ("start", "end", "time", "query")},
}


def arrow_table(table: AnswerTable, iso: Unit | None) -> pa.Table:
    """The table of answers; `args` and `value` are marked as source text."""
    fields = [
        pa.field(
            name,
            _TYPES.get(name, pa.string()),
            metadata=_SOURCE if name in ("args", "value") else {},
        )
        for name in columns_of(table, iso)
    ]
    schema = pa.schema(fields)
    blocks = [_arrow_block(block, schema, iso) for block in table.blocks]
    whole = pa.concat_tables(blocks) if blocks else schema.empty_table()
    if table.order is not None:
        whole = whole.take(pa.array(table.order))
    return whole.combine_chunks()


def _arrow_block(block: AnswerBlock, schema: pa.Schema, iso: Unit | None) -> pa.Table:
    rows = len(block)
    columns: dict[str, pa.Array] = {
        "kind": pa.repeat(pa.scalar(block.kind, pa.string()), rows),
        "name": pa.repeat(pa.scalar(block.name, pa.string()), rows),
        "args": _lists([_sources(column) for column in block.args], rows),
        **times_of(block),
    }
    if block.value is not None:
        columns["value"] = _sources(block.value)
    if iso is not None:
        for name, points in times_of(block).items():
            columns[f"{name}_iso"] = texts_of(iso_texts(points, iso))
    if block.query is not None:
        columns["query"] = block.query
    if block.op is not None:
        columns["op"] = texts_of(block.op)
    arrays = [columns.get(field.name, pa.nulls(rows, field.type)) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _sources(column: TermColumn) -> pa.Array:
    return texts_of(spelled(column, to_source))


def _lists(columns: list[pa.Array], rows: int) -> pa.ListArray:
    """The lists of the values that stand side by side."""
    arity = len(columns)
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * arity)
    if not columns:
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))
    places = np.arange(rows * arity).reshape(arity, rows).T.ravel()
    return pa.ListArray.from_arrays(offsets, pa.concat_arrays(columns).take(pa.array(places)))
