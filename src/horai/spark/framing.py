"""Rows of data frames on their way to buckets: columns, lines of text, and messages.

Each way to have items in rows gives the columns that are needed, and what to do with their batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from horai.io.formats import Format
from horai.io.harvest import Harvest
from horai.io.items import Narrative
from horai.io.letters import InputError
from horai.io.pieces import read_lines, shifted
from horai.io.read import Options, joined, read_object
from horai.io.termcolumns import META
from horai.io.topics import Rows, Topic
from horai.spark.batch import Send, unreadable
from horai.spark.grid import Pack
from horai.spark.records import Record

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FRAME_ROWS = 1 << 19
T = TypeVar("T")


def columns(frame: DataFrame, send: Send, options: Options) -> tuple[DataFrame, Pack]:
    """The rows of a data frame with columns as in a file."""
    terms = frozenset(
        field.name for field in frame.schema if field.metadata.get("horai.type") == "term"
    )
    return frame, packing(send, partial(_read, options=options, terms=terms))


def lines(
    frame: DataFrame, send: Send, options: Options, format: Format | None
) -> tuple[DataFrame, Pack]:
    """The lines in the column `value` of a data frame."""
    from pyspark.sql import functions as f

    texts = frame.select(f.col("value").cast("string"))
    return texts, packing(send, partial(_read_lines, options=options, format=format))


def messages(
    frame: DataFrame, send: Send, options: Options, format: Format | None, topic: Topic
) -> tuple[DataFrame, Pack]:
    """The messages of a topic."""
    rows = Rows(options.schema, options.clock, format, options.type_name, options.strict)
    values = frame.select("partition", "offset", "value")
    return values, packing(send, partial(_read_messages, rows=rows, topic=topic))


def packing(
    send: Callable[[int, T], Iterator[Record]], read: Callable[[pa.Table, str, int], T]
) -> Pack:
    """Reads rows and sends them. `read` gets a name for them, and how many rows are before them."""

    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[Record]:
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        lines = 0
        for number, table in enumerate(_large(batches)):
            seq = (partition << 20) + number
            try:
                yield from send(seq, read(table, f"<partition {partition}>", lines))
            except InputError as error:
                yield unreadable(seq, error)
            lines += table.num_rows

    return pack


def _large(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches put together, so that the work on each pays."""
    some: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        some.append(batch)
        rows += batch.num_rows
        if rows >= FRAME_ROWS:
            yield pa.Table.from_batches(some)
            some, rows = [], 0
    if rows:
        yield pa.Table.from_batches(some)


def _read_lines(
    table: pa.Table, name: str, lines: int, options: Options, format: Format | None
) -> Narrative:
    # A line that has breaks in it is still one.
    values = [line.replace("\n", " ") for line in table.column(0).to_pylist() if line is not None]
    text = "\n".join(values).encode("utf-8", "surrogatepass")
    return shifted(read_lines(text, format, options, name), lines)


def _read_messages(table: pa.Table, name: str, lines: int, rows: Rows, topic: Topic) -> Narrative:
    harvests: list[Harvest] = []
    for partition in table.column("partition").unique().to_pylist():
        some = table.filter(pc.equal(table.column("partition"), partition))
        offsets, values = (some.column(name).to_pylist() for name in ("offset", "value"))
        harvests.append(rows.read(topic.partition(partition), offsets, values))
    return joined(harvests)


def _read(
    table: pa.Table, name: str, lines: int, options: Options, terms: frozenset[str]
) -> Narrative:
    # Spark knows which columns are source text, but does not tell its Python workers.
    marked = [f.with_metadata({META: b"term"}) if f.name in terms else f for f in table.schema]
    narrative = read_object(
        table.cast(pa.schema(marked)),
        options.schema,
        unit=options.clock.unit,
        time_in=options.clock.time_in,
        type_name=options.type_name,
        strict=options.strict,
        name=name,
    )
    return shifted(narrative, lines)
