"""What sinks get, and what a sink is: the changelog of a step as rows, inserts and retracts; and a
place for them that is told before the first step for whom it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from horai.io.terms import META, TermColumn, distinct, to_source
from horai.runtime.records import ANSWERS, BlobLabel, Record, from_batch, spark_types, unpacked
from horai.runtime.spark.connect import Part

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = pa.schema(
    [
        ("kind", pa.string()),
        ("name", pa.string()),
        ("args", pa.list_(pa.string())),
        ("value", pa.string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("time", pa.int64()),
        ("query", pa.int64()),
        ("op", pa.string()),
    ]
)
TYPES = spark_types(ROWS)


@dataclass(frozen=True)
class Changes:
    """The changes of a step. `number` grows from step to step, and stays if one is done again.

    Each row is a maximal interval (`kind` fluent: value, start, end, which is null while it is
    open) or an event (time). `op` is `+` for what is new at the query time `query`, and `-` for
    what was said before and no longer holds. Arguments and values are source text.
    """

    number: int
    queries: list[int]
    rows: int
    unordered: Callable[[], pa.Table]  # all rows here, as they came
    frame: Callable[[], DataFrame]  # all rows as a data frame of Spark, where they are

    def table(self) -> pa.Table:
        """All rows here, in an order that does not depend on buckets."""
        return self._ordered

    @cached_property
    def _ordered(self) -> pa.Table:
        return ordered(self.unordered())


def here(records: Iterable[Record]) -> pa.Table:
    """The rows of records."""
    tables = [_rows(record) for record in records if _is_change(record)]
    return pa.concat_tables([ROWS.empty_table(), *tables])


def ordered(table: pa.Table) -> pa.Table:
    """Rows by query time; what is taken back comes before what is new."""
    table = table.combine_chunks()
    keys = [("query", "ascending"), ("op", "descending"), ("kind", "ascending")]
    keys += [("name", "ascending"), ("@args", "ascending"), ("value", "ascending")]
    keys += [("start", "ascending"), ("end", "ascending"), ("time", "ascending")]
    joined = pa.compute.binary_join(table.column("args"), "\x1f")
    order = pa.compute.sort_indices(table.append_column("@args", joined), sort_keys=keys)
    return table.take(order)


def there(answers: DataFrame) -> DataFrame:
    """The rows of records that Spark has."""
    return rows_of(answers, lambda r: [_rows(r)] if _is_change(r) else [], TYPES)


def rows_of(
    records: DataFrame, read: Callable[[Record], Iterable[pa.Table]], types: str
) -> DataFrame:
    """What is read from records that Spark has, as a data frame."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for record in from_batch(batch):
                for table in read(record):
                    yield from table.to_batches()

    return records.mapInArrow(rows, types)


def as_dicts(table: pa.Table) -> list[dict[str, Any]]:
    """Rows as plain values, each with the fields that it has."""
    rows: list[dict[str, Any]] = table.to_pylist()
    return [
        {
            name: value
            for name, value in row.items()
            if value is not None or (name == "end" and row["kind"] == "fluent")
        }
        for row in rows
    ]


def _is_change(record: Record) -> bool:
    return record.round == ANSWERS and BlobLabel.load(record.label).what == "changelog"


def _rows(record: Record) -> pa.Table:
    label = BlobLabel.load(record.label)
    columns = answer_columns(label, unpacked(record.blob), "changelog")
    size = len(columns["name"])
    columns["kind"] = pa.repeat(label.kind, size)
    nothing = {field.name: pa.nulls(size, field.type) for field in ROWS}
    table = pa.table({field.name: (nothing | columns)[field.name] for field in ROWS})
    return table.cast(ROWS)


def answer_columns(label: BlobLabel, table: pa.Table, form: str) -> dict[str, pa.Array]:
    """The rows of a form of answer as columns."""
    size = table.num_rows
    columns = {"name": pa.repeat(label.name, size)}
    columns["args"] = _lists([_texts(table, f"a{i}") for i in range(label.arity)], size)
    if label.kind == "fluent":
        columns["value"] = _texts(table, "value")
        columns["start"] = table.column("start").combine_chunks()
        columns["end"] = table.column("end").combine_chunks()
    else:
        columns["time"] = table.column("start").combine_chunks()
    if form != "final":
        columns["query"] = table.column("arrival").combine_chunks()
    if form == "changelog":
        signs = table.column("op").to_numpy() > 0
        columns["op"] = pa.array(["-", "+"]).take(pa.array(signs.astype(np.int8)))
    return columns


def _texts(table: pa.Table, name: str) -> pa.Array:
    """A column of terms as source text."""
    kind = table.schema.field(name).metadata[META].decode()
    indices, terms = distinct(TermColumn(kind, table.column(name).combine_chunks()))
    return pa.array([to_source(term) for term in terms], pa.string()).take(indices)


def _lists(columns: list[pa.Array], size: int) -> pa.ListArray:
    """Columns side by side, as lists."""
    width = len(columns)
    offsets = pa.array(np.arange(size + 1, dtype=np.int32) * width)
    if not width:
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))
    places = np.arange(size * width).reshape(width, size).T.ravel()
    return pa.ListArray.from_arrays(offsets, pa.concat_arrays(columns).take(pa.array(places)))


@dataclass(frozen=True, slots=True)
class About:
    """The stream whose answers a sink gets. Its `id` is that of the checkpoint.

    `last` is the number of the last step that has happened, 0 for a stream that begins. Without
    `spark` the stream runs in one process, and changes have no data frames.
    """

    id: str
    last: int
    spark: SparkSession | None = None


class Sink:
    """A place for answers. Any object with these methods will do.

    One that asks only for data frames of changes says `is_written_there = True`: then rows are not
    brought to the driver. `parts` are those that a session of Spark has to be started with.
    """

    parts: tuple[Part, ...] = ()
    is_written_there = False

    def open(self, about: About) -> None:
        """Make ready, or raise `Refused`: it is better said before the first item."""

    def write(self, changes: Changes) -> None:
        """Take the changes of a step; raise whatever went wrong, and the step has not happened."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing more will come."""
