"""Rows of data frames as records, and answers as data frames.

Columns, lines of text and messages go to the buckets of their entities, items as well as positions.
Answers become data frames without being brought together in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.blocks import Format, Harvest, Options
from horai.io.items.read import joined, read_lines, read_object, shifted
from horai.io.items.tables import Narrative
from horai.io.letters import UNREADABLE, DeadLetter, InputError
from horai.io.sources.kafka import Topic, read_messages
from horai.io.terms import META, TermColumn, distinct, to_source
from horai.io.times import NANOSECONDS, Unit
from horai.runtime.batch import Send, unreadable
from horai.runtime.grid import Cluster, Pack, Read
from horai.runtime.records import BlobLabel, Record, from_batch, packed, unpacked
from horai.runtime.spark.shuffle import grid_of
from horai.runtime.tracks import TrackTask, check_parts, derive_all, send_positions
from horai.signals.columns import Layout
from horai.signals.items import ITEMS, as_rows, plain_schema
from horai.signals.pipeline import Feed, Pipeline
from horai.signals.positions import LETTERS as POSITION_LETTERS
from horai.signals.positions import Positions, as_letters, letters_of
from horai.signals.positions import joined as joined_positions
from horai.signals.reading import from_table, json_positions, read_positions

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
                label = BlobLabel.load(record.label)
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


def letters(spark: SparkSession, found: Sequence[DeadLetter]) -> DataFrame:
    """Rows that were not used."""
    return spark.createDataFrame([tuple(letter) for letter in found], LETTERS)


def all_of_one_event(frame: DataFrame, columns: dict[str, str], event: str) -> DataFrame:
    """The columns that are wanted under new names, with one that says that all is one event."""
    from pyspark.sql import functions as f

    renamed = [f.col(old).alias(new) for old, new in columns.items()]
    return frame.select(f.lit(event).alias("type"), *renamed)


def write_by_day(frame: DataFrame, path: str, time: str, unit: Unit | None) -> None:
    """Write Parquet in folders of names and, where time-points have a length, of days."""
    from pyspark.sql import functions as f

    folders = ["name"]
    if unit is not None:
        days = f.floor(f.col(time) / (NANOSECONDS["d"] // NANOSECONDS[unit])).cast("int")
        frame = frame.withColumn("day", f.date_add(f.lit("1970-01-01").cast("date"), days))
        folders.append("day")
    frame.write.mode("overwrite").partitionBy(*folders).parquet(path)


FRAME_ROWS = 1 << 19
T = TypeVar("T")


def columns(frame: DataFrame, send: Send, options: Options) -> tuple[DataFrame, Pack]:
    """The rows of a data frame with columns as in a file."""
    terms = frozenset(
        field.name for field in frame.schema if field.metadata.get("horai.type") == "term"
    )
    return frame, packing(send, partial(_read, options=options, terms=terms))


def lines(frame: DataFrame, send: Send, options: Options) -> tuple[DataFrame, Pack]:
    """The lines in the column `value` of a data frame."""
    from pyspark.sql import functions as f

    texts = frame.select(f.col("value").cast("string"))
    return texts, packing(send, partial(_read_lines, options=options))


def messages(
    frame: DataFrame, send: Send, options: Options, topic: Topic
) -> tuple[DataFrame, Pack]:
    """The messages of a topic."""
    values = frame.select("partition", "offset", "value")
    return values, packing(send, partial(_read_messages, options=options, topic=topic))


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


def _read_lines(table: pa.Table, name: str, lines: int, options: Options) -> Narrative:
    # A line that has breaks in it is still one.
    values = [line.replace("\n", " ") for line in table.column(0).to_pylist() if line is not None]
    text = "\n".join(values).encode("utf-8", "surrogatepass")
    return shifted(read_lines(text, options, name), lines)


def _read_messages(
    table: pa.Table, name: str, lines: int, options: Options, topic: Topic
) -> Narrative:
    harvests: list[Harvest] = []
    for partition in table.column("partition").unique().to_pylist():
        some = table.filter(pc.equal(table.column("partition"), partition))
        offsets, values = (some.column(name).to_pylist() for name in ("offset", "value"))
        harvests.append(read_messages(topic.partition(partition), offsets, values, options))
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


@dataclass(frozen=True, slots=True)
class Take:
    """How positions are taken in: if that is `strict`, a row that cannot be read is an error."""

    strict: bool = False
    within: Callable[[Positions], Positions] | None = None  # leaves some of them out


def send(task: TrackTask, take: Take, seq: int, found: Positions) -> Iterator[Record]:
    """Positions on their way."""
    if take.strict and found.letters.num_rows:
        raise InputError.from_letter(as_letters(found.letters)[0])
    found = found if take.within is None else take.within(found)
    yield from send_positions(task, seq, found)


def position_columns(frame: DataFrame, task: TrackTask, take: Take) -> tuple[DataFrame, Pack]:
    """The rows of a data frame with columns as in a file of positions."""
    layout = task.feed.layout
    layout.places(frame.columns, "<data frame>")  # here it can still be told what is wrong
    return frame, packing(partial(send, task, take), partial(_columns, layout))


def position_lines(frame: DataFrame, task: TrackTask, take: Take) -> tuple[DataFrame, Pack]:
    """Objects of JSON in the column `value` of a data frame."""
    read = partial(_lines, task.feed.layout)
    return frame.select(frame["value"].cast("binary")), packing(partial(send, task, take), read)


def position_messages(
    frame: DataFrame, task: TrackTask, take: Take, topic: Topic
) -> tuple[DataFrame, Pack]:
    """The messages of a topic, each an object of JSON."""
    read = partial(_messages, task.feed.layout, topic)
    values = frame.select("partition", "offset", "value")
    return values, packing(partial(send, task, take), read)


def files(
    paths: Sequence[str], task: TrackTask, take: Take, format: Format | None, patient: bool = True
) -> Read:
    """Reads files of positions; who is patient takes one that cannot be read for a dead letter."""

    def read(number: int) -> Iterator[Record]:
        try:
            found = read_positions(paths[number], task.feed.layout, format)
        except InputError as error:
            if take.strict or not patient:
                yield unreadable(number, error)
                return
            letter = DeadLetter(error.file, error.line or 0, error.text, error.reason, UNREADABLE)
            found = Positions(joined_positions([]).table, letters_of([letter]))
        try:
            yield from send(task, take, number, found)
        except InputError as error:
            yield unreadable(number, error)

    return read


def _columns(layout: Layout, table: pa.Table, name: str, before: int) -> Positions:
    return from_table(table, layout, name, before)


def _lines(layout: Layout, table: pa.Table, name: str, before: int) -> Positions:
    values = enumerate(table.column(0).to_pylist(), before + 1)
    return json_positions(((line, raw) for line, raw in values if raw), layout, name)


def _messages(layout: Layout, topic: Topic, table: pa.Table, name: str, before: int) -> Positions:
    parts = []
    for partition in table.column("partition").unique().to_pylist():
        some = table.filter(pc.equal(table.column("partition"), partition))
        offsets, values = (some.column(name).to_pylist() for name in ("offset", "value"))
        rows = zip(offsets, (value or b"" for value in values), strict=True)
        parts.append(json_positions(rows, layout, topic.partition(partition)))
    return joined_positions(parts)


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
    check_parts()
    grid = grid_of(frame.sparkSession)
    many = buckets or max(2, BUCKETS_PER_TASK * grid.parallel)
    task = TrackTask(Feed(pipeline, layout or Layout()), many, _tell)
    kept = derive_all(grid, grid.frame(*position_columns(frame, task, Take())), task, until)
    items = _frame(grid, kept, ITEM, ROWS)
    marked = [
        items[field.name].alias(field.name, metadata=TERM) if field.metadata else items[field.name]
        for field in ROWS
    ]
    return Derived(items.select(*marked), _frame(grid, kept, LETTER, POSITION_LETTERS), grid, kept)


def _tell(seq: int, items: pa.Table, letters: pa.Table) -> Iterator[Record]:
    """Items and letters stay where they are, as rows."""
    for round, table in ((ITEM, as_rows(items)), (LETTER, letters)):
        if table.num_rows:
            yield Record(round, 0, 0, 0, seq, BlobLabel("rows").dump(), packed(table))


def _frame(grid: Cluster[Any], kept: list[Any], round: int, schema: pa.Schema) -> DataFrame:
    """The rows that are there for a round."""
    plain = plain_schema(schema)
    types = ", ".join(f"`{field.name}` {_TYPES[field.type]}" for field in plain)

    def rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for blob in batch.column("blob").to_pylist():
                yield from unpacked(blob).cast(plain).combine_chunks().to_batches()

    return grid.there(kept, [round]).mapInArrow(rows, types)
