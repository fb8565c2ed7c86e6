"""Rows of data frames as records, and answers as data frames.

Columns, lines of text and messages go to the buckets of their entities, items as well as positions.
Answers become data frames without being brought together in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.read import (
    PIECE_BYTES,
    Piece,
    joined,
    pieces_of,
    read_lines,
    read_object,
    shifted,
)
from horai.io.items.rows import RowReader
from horai.io.items.tables import Narrative
from horai.io.letters import DeadLetter, InputError
from horai.io.schema import Format
from horai.io.sources.kafka import Topic, read_messages
from horai.io.terms import META
from horai.io.times import NANOSECONDS, Unit
from horai.runtime.inputs import is_files, read_input
from horai.runtime.lars.buckets import SCHEMA as LARS_ROWS
from horai.runtime.records import BlobLabel, Read, Record, packed, spark_types, unpacked
from horai.runtime.rounds import Rounds, Send, letter_of, reader, unreadable
from horai.runtime.sinks.protocol import answer_columns, rows_of
from horai.runtime.spark.shuffle import Cluster, Pack, grid_of
from horai.runtime.streams import positions_within
from horai.runtime.tracks import TrackTask, check_parts, derive_all, send_positions
from horai.signals.items import ITEMS, as_rows, plain_schema
from horai.signals.pipeline import Feed, Pipeline
from horai.signals.positions import LETTERS as POSITION_LETTERS
from horai.signals.positions import Positions, as_letters, letters_of
from horai.signals.positions import joined as joined_positions
from horai.signals.reading import Layout, from_table, json_positions, positions_of, read_positions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


LETTERS = "file string, line long, text string, reason string, code string"
_MORE = {"final": "", "windows": ", query long", "changelog": ", query long, op string"}


def answers(records: DataFrame, form: str, kind: str) -> DataFrame:
    """The rows of a form of answer: maximal intervals (`fluent`) or events (`event`)."""
    times = "value string, start long, end long" if kind == "fluent" else "time long"
    types = f"name string, args array<string>, {times}{_MORE[form]}"

    def rows(record: Record) -> Iterator[pa.Table]:
        label = BlobLabel.load(record.label)
        if label.what == form and label.kind == kind:
            yield pa.table(answer_columns(label, unpacked(record.blob), form))

    return rows_of(records, rows, types)


def lars_lines(records: DataFrame) -> DataFrame:
    """The lines of answers of a LARS program: atoms, and where there is no answer."""
    return rows_of(records, lambda record: [unpacked(record.blob)], spark_types(LARS_ROWS))


def letters(spark: SparkSession, found: Sequence[DeadLetter]) -> DataFrame:
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
_TERM = {META: b"term"}
T = TypeVar("T")


LEAST_BYTES = 1 << 22  # of a file, that one worker of a stream reads


@dataclass(frozen=True, slots=True)
class ItemIntake:
    """Takes rows in as items, and sends them to the buckets that read them."""

    send: Send
    options: RowReader
    patient: bool = False  # as streams are: a file that cannot be read is a dead letter

    def columns(self, frame: DataFrame) -> tuple[DataFrame, Pack]:
        """The rows of a data frame with columns as in a file."""
        # Spark knows which columns are source text, but does not tell its Python workers.
        terms = {f.name for f in frame.schema if f.metadata.get("horai.type") == "term"}

        def read(table: pa.Table, name: str, before: int) -> Narrative:
            options = self.options
            marked = [f.with_metadata(_TERM) if f.name in terms else f for f in table.schema]
            narrative = read_object(
                table.cast(pa.schema(marked)),
                options.schema,
                unit=options.clock.unit,
                time_in=options.clock.time_in,
                type_name=options.type_name,
                strict=options.strict,
                name=name,
            )
            return shifted(narrative, before)

        return frame, packing(self.send, read)

    def lines(self, frame: DataFrame) -> tuple[DataFrame, Pack]:
        """The lines in the column `value` of a data frame."""

        def read(table: pa.Table, name: str, before: int) -> Narrative:
            values = (line for line in table.column(0).to_pylist() if line is not None)
            # A line that has breaks in it is still one.
            text = "\n".join(line.replace("\n", " ") for line in values)
            coded = text.encode("utf-8", "surrogatepass")
            return shifted(read_lines(coded, self.options, name), before)

        return frame.select(frame["value"].cast("string")), packing(self.send, read)

    def messages(self, frame: DataFrame, topic: Topic) -> tuple[DataFrame, Pack]:

        def read(table: pa.Table, name: str, before: int) -> Narrative:
            parts = _by_partition(table, topic)
            return joined([read_messages(*one, self.options) for one in parts])

        return frame.select("partition", "offset", "value"), packing(self.send, read)

    def files(self, files: Sequence[str], parallel: int = 1) -> tuple[int, Read]:
        """Files in pieces; those of a stream are so large that all who read get about the same."""
        size: tuple[int, ...] = ()
        if self.patient:
            paths = [Path(file) for file in files]
            share = sum(path.stat().st_size for path in paths if path.is_file()) // parallel
            size = (max(LEAST_BYTES, min(PIECE_BYTES, share)),)
        pieces = [piece for file in files for piece in self._pieces(file, *size)]
        return len(pieces), reader(self.send, pieces, self.options, self.patient)

    def _pieces(self, file: str, *size: int) -> list[Piece]:
        try:
            return pieces_of(file, self.options.format, *size)
        except (InputError, OSError):
            if self.patient:
                return [Piece(file, None)]  # who reads it will say what is wrong
            raise

    def here(self, given: object) -> list[Record]:
        """What only this process has."""
        schema, clock, _, _, strict, format = self.options
        narrative = read_input(given, schema, clock, format=format, strict=strict)
        return list(self.send(0, narrative))


@dataclass(frozen=True, slots=True)
class PositionIntake:
    """Takes rows in as positions, and sends them to the buckets of their entities."""

    task: TrackTask
    strict: bool = False
    format: Format | None = None
    patient: bool = False
    limit: int | None = None  # what lies beyond it is a dead letter

    def send(self, seq: int, found: Positions) -> Iterator[Record]:
        """Positions on their way."""
        if self.strict and found.letters.num_rows:
            raise InputError.from_letter(as_letters(found.letters)[0])
        found = found if self.limit is None else positions_within(self.limit)(found)
        yield from send_positions(self.task, seq, found)

    def columns(self, frame: DataFrame) -> tuple[DataFrame, Pack]:
        """The rows of a data frame with columns as in a file of positions."""
        layout = self.task.feed.layout
        layout.places(frame.columns, "<data frame>")  # here it can still be told what is wrong
        return frame, packing(self.send, lambda table, *place: from_table(table, layout, *place))

    def lines(self, frame: DataFrame) -> tuple[DataFrame, Pack]:
        """Objects of JSON in the column `value` of a data frame."""

        def read(table: pa.Table, name: str, before: int) -> Positions:
            values = enumerate(table.column(0).to_pylist(), before + 1)
            rows = ((line, raw) for line, raw in values if raw)
            return json_positions(rows, self.task.feed.layout, name)

        return frame.select(frame["value"].cast("binary")), packing(self.send, read)

    def messages(self, frame: DataFrame, topic: Topic) -> tuple[DataFrame, Pack]:
        """The messages of a topic, each an object of JSON."""

        def read(table: pa.Table, name: str, before: int) -> Positions:
            found = []
            for partition, offsets, values in _by_partition(table, topic):
                rows = zip(offsets, (value or b"" for value in values), strict=True)
                found.append(json_positions(rows, self.task.feed.layout, partition))
            return joined_positions(found)

        return frame.select("partition", "offset", "value"), packing(self.send, read)

    def files(self, files: Sequence[str], parallel: int = 1) -> tuple[int, Read]:

        def read(number: int) -> Iterator[Record]:
            try:
                found = read_positions(files[number], self.task.feed.layout, self.format)
            except InputError as error:
                if self.strict or not self.patient:
                    yield unreadable(number, error)
                    return
                found = Positions(joined_positions([]).table, letters_of([letter_of(error)]))
            try:
                yield from self.send(number, found)
            except InputError as error:
                yield unreadable(number, error)

        return len(files), read

    def here(self, given: Any) -> list[Record]:
        """What only this process has."""
        layout = self.task.feed.layout
        if is_files(given):
            return list(self.send(0, read_positions(given, layout, self.format)))
        return list(self.send(0, positions_of(given, layout)))


def _by_partition(table: pa.Table, topic: Topic) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """The messages of each partition of a topic: its name, offsets and values."""
    for partition in table.column("partition").unique().to_pylist():
        some = table.filter(pc.equal(table.column("partition"), partition))
        offsets, values = (some.column(name).to_pylist() for name in ("offset", "value"))
        yield topic.partition(partition), offsets, values


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


ITEM, LETTER = -21, -22  # rounds that nobody works on
BUCKETS_PER_TASK = 2
ROWS = as_rows(ITEMS.empty_table()).schema


@dataclass
class Derived:
    """Items as a data frame that `Rules.spark` takes, and letters about unused positions."""

    items: DataFrame
    dead_letters: DataFrame
    _grid: Cluster[Any]
    _ran: Rounds[Any]

    def unpersist(self) -> None:
        """Free what the cluster keeps."""
        self._ran.forget()
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
    ran = Rounds(grid, many)
    derive_all(ran, grid.frame(*PositionIntake(task).columns(frame)), task, until)
    kept = [some for some, _ in ran.records]
    items = _frame(grid, kept, ITEM, ROWS)
    term = {"horai.type": "term"}
    marked = [
        items[one.name].alias(one.name, metadata=term) if one.metadata else items[one.name]
        for one in ROWS
    ]
    return Derived(items.select(*marked), _frame(grid, kept, LETTER, POSITION_LETTERS), grid, ran)


def _tell(seq: int, items: pa.Table, letters: pa.Table) -> Iterator[Record]:
    """Items and letters stay where they are, as rows."""
    for round, table in ((ITEM, as_rows(items)), (LETTER, letters)):
        if table.num_rows:
            yield Record(round, 0, 0, 0, seq, BlobLabel("rows").dump(), packed(table))


def _frame(grid: Cluster[Any], kept: list[Any], round: int, schema: pa.Schema) -> DataFrame:
    """The rows that are there for a round."""
    plain = plain_schema(schema)

    def rows(record: Record) -> list[pa.Table]:
        return [unpacked(record.blob).cast(plain).combine_chunks()]

    return rows_of(grid.there(kept, [round]), rows, spark_types(plain))
