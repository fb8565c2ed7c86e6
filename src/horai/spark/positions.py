"""Items of positions as data frames of Spark, for who wants them without rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from horai.signals.columns import Layout
from horai.signals.feed import Feed
from horai.signals.items import ITEMS, as_rows, plain_schema
from horai.signals.letters import LETTERS
from horai.signals.pipeline import Pipeline
from horai.spark import rawframes
from horai.spark.connect import NoSpark
from horai.spark.front import check_parts, derive_all
from horai.spark.grid import Cluster
from horai.spark.moving import grid_of
from horai.spark.records import Label, Record, packed, unpacked
from horai.spark.refusals import Refused
from horai.spark.tracks import TrackTask

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ITEM, LETTER = -21, -22  # rounds that nobody works on
BUCKETS_PER_TASK = 2
TERM = {"horai.type": "term"}
ROWS = as_rows(ITEMS.empty_table()).schema

_TYPES = {pa.string(): "string", pa.int64(): "long", pa.float64(): "double"}


@dataclass
class Derived:
    """Items as a data frame that `Rules.spark` takes, and letters about unused positions."""

    items: DataFrame
    dead_letters: DataFrame
    _grid: Cluster[Any]
    _kept: list[Any]

    def unpersist(self) -> None:
        """Free what the cluster keeps."""
        self._grid.forget(self._kept)
        self._grid.close()


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
    `buckets`; without any, in twice as many as there are tasks at once.
    """
    try:
        check_parts()
    except Refused as error:
        raise NoSpark(error.problem, error.hint) from error
    grid = grid_of(frame.sparkSession)
    many = buckets or max(2, BUCKETS_PER_TASK * grid.parallel)
    task = TrackTask(Feed(pipeline, layout or Layout()), many, _tell)
    kept = derive_all(
        grid, grid.frame(*rawframes.columns(frame, task, rawframes.Take())), task, until
    )
    items = _frame(grid, kept, ITEM, ROWS)
    marked = [
        items[field.name].alias(field.name, metadata=TERM) if field.metadata else items[field.name]
        for field in ROWS
    ]
    return Derived(items.select(*marked), _frame(grid, kept, LETTER, LETTERS), grid, kept)


def _tell(seq: int, items: pa.Table, letters: pa.Table) -> Iterator[Record]:
    """Items and letters stay where they are, as rows."""
    for round, table in ((ITEM, as_rows(items)), (LETTER, letters)):
        if table.num_rows:
            yield Record(round, 0, 0, 0, seq, Label("rows").dump(), packed(table))


def _frame(grid: Cluster[Any], kept: list[Any], round: int, schema: pa.Schema) -> DataFrame:
    """The rows that are there for a round."""
    plain = plain_schema(schema)
    types = ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in plain)

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for blob in batch.column("blob").to_pylist():
                yield from unpacked(blob).cast(plain).combine_chunks().to_batches()

    return grid.there(kept, [round]).mapInArrow(rows, types)
