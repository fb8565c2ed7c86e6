"""Tables in memory, from whatever library, as Arrow tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa

from .letters import BadRow, InputError
from .records import read_value
from .termcolumns import META
from .terms import to_source

if TYPE_CHECKING:
    import pandas as pd


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
