"""Answers as data frames of Spark, without bringing them together in one place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from horai.io.letters import DeadLetter
from horai.io.termcolumns import META, TermColumn, distinct
from horai.io.terms import to_source
from horai.io.times import NANOSECONDS, Unit
from horai.spark.records import Label, from_batch, unpacked

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LETTERS = "file string, line long, text string, reason string, code string"
_LARS = (
    "kind string, query long, model int, name string, args array<string>, op string, arrived long"
)
_MORE = {"final": "", "windows": ", query long", "changelog": ", query long, op string"}


def answers(records: DataFrame, form: str, kind: str) -> DataFrame:
    """The rows of a form of answer: maximal intervals (`fluent`) or events (`event`)."""
    times = "value string, start long, end long" if kind == "fluent" else "time long"
    types = f"name string, args array<string>, {times}{_MORE[form]}"

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for record in from_batch(batch):
                label = Label.load(record.label)
                if label.what == form and label.kind == kind:
                    columns = answer_columns(label, unpacked(record.blob), form)
                    yield from pa.table(columns).to_batches()

    return records.mapInArrow(rows, types)


def lars_lines(records: DataFrame) -> DataFrame:
    """The lines of answers of a LARS program: atoms, and where there is no answer."""

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for record in from_batch(batch):
                yield from unpacked(record.blob).to_batches()

    return records.mapInArrow(rows, _LARS)


def answer_columns(label: Label, table: pa.Table, form: str) -> dict[str, pa.Array]:
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


def letters(spark: SparkSession, found: Sequence[DeadLetter]) -> DataFrame:
    """Rows that were not used."""
    return spark.createDataFrame([tuple(letter) for letter in found], LETTERS)


def write_by_day(frame: DataFrame, path: str, time: str, unit: Unit | None) -> None:
    """Write Parquet in folders of names and, where time-points have a length, of days."""
    from pyspark.sql import functions as f

    folders = ["name"]
    if unit is not None:
        days = f.floor(f.col(time) / (NANOSECONDS["d"] // NANOSECONDS[unit])).cast("int")
        frame = frame.withColumn("day", f.date_add(f.lit("1970-01-01").cast("date"), days))
        folders.append("day")
    frame.write.mode("overwrite").partitionBy(*folders).parquet(path)
