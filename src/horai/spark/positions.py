"""Positions to items as stages of Spark, in front of recognition.

| stage | rows come together by |
|---|---|
| read positions | - |
| follow entities: cleaning, critical points, areas, places at common times | entity |
| find pairs | cell of the earth, and hour |
| put together for how long they are close | pair |

Each is a pass of Arrow batches through the functions of `horai.signals` that one process calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from horai.signals.cells import meeting_cells
from horai.signals.columns import Layout
from horai.signals.items import ITEMS, as_rows, plain_schema
from horai.signals.letters import LETTERS
from horai.signals.pipeline import Pipeline, items_of_meetings
from horai.signals.positions import POSITIONS, numbers, together
from horai.signals.proximity import MEETINGS, PAIRS, close_pairs, meetings
from horai.signals.reading import from_table
from horai.signals.samples import SAMPLES
from horai.signals.settings import Settings
from horai.signals.state import start
from horai.spark.cluster import named
from horai.spark.connect import NoSpark

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Work = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]

POSITION, ITEM, LETTER, SAMPLE = range(4)
STEPS_TOGETHER = 60  # of `close_step`: so a busy harbour is not one task
TERM = {"horai.type": "term"}

_TYPES = {pa.string(): "string", pa.int64(): "long", pa.float64(): "double"}


def _fields(*schemas: pa.Schema) -> pa.Schema:
    """One schema with the columns of several, each once; `what` says which of them a row is."""
    found = {"what": pa.int64()}
    for schema in schemas:
        found.update((field.name, field.type) for field in plain_schema(schema))
    return pa.schema(found.items())


READ = _fields(POSITIONS, LETTERS)
ROWS = as_rows(ITEMS.empty_table()).schema
FOLLOWED = _fields(ROWS, LETTERS, SAMPLES).append(pa.field("cell", pa.int64()))


@dataclass
class Derived:
    """Items as a data frame that `Rules.spark` takes, and letters about unused positions."""

    items: DataFrame
    dead_letters: DataFrame
    _kept: tuple[DataFrame, ...]

    def unpersist(self) -> None:
        """Free what the cluster keeps."""
        for frame in self._kept:
            frame.unpersist()


def derive(
    frame: DataFrame,
    pipeline: Pipeline,
    layout: Layout | None = None,
    *,
    buckets: int | None = None,
    until: int | None = None,
) -> Derived:
    """Derive items from a data frame of positions, with columns named as in a file of them.

    Everything is known up to `until`, or up to the last position. Rows come together in so many
    `buckets`; without any, in as many partitions as Spark's shuffles have.
    """
    from pyspark.sql import functions as f

    if find_spec("h3") is None:
        raise NoSpark("h3 is not installed", "pip install 'horai[space]'")
    layout = layout or Layout()
    layout.places(frame.columns, "<data frame>")  # here it can still be told what is wrong
    spark = frame.sparkSession
    many = buckets or int(spark.conf.get("spark.sql.shuffle.partitions") or 200)

    read = frame.mapInArrow(_reading(layout), _ddl(READ)).persist()
    if until is None:
        with named(spark, "Horai: read positions"):
            row = read.filter(f.col("what") == POSITION).agg(f.max("time")).first()
        until = 0 if row is None or row[0] is None else int(row[0])
    positions = read.filter(f.col("what") == POSITION).select(*POSITIONS.names)
    followed = (
        positions.repartition(many, "entity")
        .mapInArrow(_following(pipeline, until), _ddl(FOLLOWED))
        .persist()
    )
    step = pipeline.settings.points(pipeline.settings.close_step) * STEPS_TOGETHER
    hour = f.floor(f.col("time") / step)
    pairs = (
        followed.filter(f.col("what") == SAMPLE)
        .repartition(many, f.col("cell"), hour)
        .select(*SAMPLES.names)
        .mapInArrow(_pairing(pipeline.settings), _ddl(PAIRS))
    )
    close = pairs.repartition(many, "one", "two").mapInArrow(
        _meeting(pipeline.settings), _ddl(ROWS)
    )
    items = followed.filter(f.col("what") == ITEM).select(*ROWS.names).unionByName(close)
    marked = [
        f.col(field.name).alias(field.name, metadata=TERM) if field.metadata else f.col(field.name)
        for field in ROWS
    ]
    letters = read.filter(f.col("what") == LETTER).select(*LETTERS.names)
    more = followed.filter(f.col("what") == LETTER).select(*LETTERS.names)
    return Derived(items.select(*marked), letters.unionByName(more), (read, followed))


def _ddl(schema: pa.Schema) -> str:
    return ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in plain_schema(schema))


def _sent(table: pa.Table, schema: pa.Schema, what: int | None = None) -> Iterator[pa.RecordBatch]:
    """A table with the columns of a schema, those that it has not got being empty."""
    columns = []
    for field in plain_schema(schema):
        if field.name == "what":
            columns.append(pa.array(np.full(table.num_rows, what, np.int64)))
        elif field.name in table.column_names:
            columns.append(table.column(field.name).cast(field.type))
        else:
            columns.append(pa.nulls(table.num_rows, field.type))
    plain = plain_schema(schema)
    yield from pa.Table.from_arrays(columns, schema=plain).combine_chunks().to_batches()


def _reading(layout: Layout) -> Work:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        name = f"<partition {0 if context is None else context.partitionId()}>"
        before = 0
        for batch in batches:
            found = from_table(pa.Table.from_batches([batch]), layout, name, before)
            before += batch.num_rows
            yield from _sent(found.table, READ, POSITION)
            yield from _sent(found.letters, READ, LETTER)

    return read


def _following(pipeline: Pipeline, until: int) -> Work:
    def follow(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = list(batches)
        if not some:
            return
        traced = pipeline.trace(start(), together([pa.Table.from_batches(some)]), until)
        for items in traced.items:
            yield from _sent(as_rows(items), FOLLOWED, ITEM)
        for letters in traced.letters:
            yield from _sent(letters, FOLLOWED, LETTER)
        samples = traced.samples
        places = numbers(samples, "lon"), numbers(samples, "lat")
        place, cell = meeting_cells(*places, pipeline.settings.close)
        sent = samples.take(pa.array(place)).append_column("cell", pa.array(cell))
        yield from _sent(sent, FOLLOWED, SAMPLE)

    return follow


def _pairing(settings: Settings) -> Work:
    def pair(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = list(batches)
        if some:
            samples = together([pa.Table.from_batches(some)], SAMPLES)
            yield from _sent(close_pairs(samples, settings), PAIRS)

    return pair


def _meeting(settings: Settings) -> Work:
    def meet(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        some = list(batches)
        if some:
            pairs = together([pa.Table.from_batches(some)], PAIRS)
            told, _ = meetings(pairs, MEETINGS.empty_table(), None, settings)
            yield from _sent(as_rows(items_of_meetings(told)), ROWS)

    return meet
