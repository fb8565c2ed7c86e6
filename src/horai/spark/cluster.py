"""Records on Spark: each round is a shuffle by slot, and a pass over the partitions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

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
from horai.spark.grid import Grid, Read, Work
from horai.spark.records import Record, from_batch, to_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOTHING = -3  # as a round: a row that is there so that its slot is worked on
BATCH_BYTES = 1 << 25
_NAME = "spark.job.description"
FRAME_ROWS = 1 << 19
_TYPES = (
    "round int, slot int, run int, bucket int, seq long, label string, blob binary"  # as SCHEMA
)
# Blobs are large: a batch of ten thousand would be too much at once. And plans are so small that
# to compile them, or to look at them again half-way, costs more than it gives.
_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.inMemoryColumnarStorage.batchSize": "64",
}


class SparkGrid(Grid["DataFrame"]):
    """Rounds as jobs of Spark."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self._name = "Horai"

    @property
    def parallel(self) -> int:
        """How many tasks can run at once."""
        return int(self.spark.sparkContext.defaultParallelism)

    def scatter(self, records: list[Record]) -> DataFrame:
        return self._kept(self.spark.createDataFrame(pa.Table.from_batches([to_batch(records)])))

    def read(self, number: int, read: Read) -> DataFrame:
        def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for piece in batch.column(0).to_pylist():
                    yield from batches_of(read(piece))

        self._tell("read and send")
        numbers = self.spark.range(0, number, 1, max(number, 1))
        return self._kept(numbers.mapInArrow(pieces, _TYPES))

    def frame(self, frame: DataFrame, send: Send, options: Options) -> DataFrame:
        """The rows of a data frame on their way to buckets."""
        terms = frozenset(
            field.name for field in frame.schema if field.metadata.get("horai.type") == "term"
        )
        return self._packed(frame, send, partial(_read, options=options, terms=terms))

    def lines(
        self, frame: DataFrame, send: Send, options: Options, format: Format | None
    ) -> DataFrame:
        """The lines in the column `value` of a data frame on their way to buckets."""
        from pyspark.sql import functions as f

        lines = frame.select(f.col("value").cast("string"))
        return self._packed(lines, send, partial(_read_lines, options=options, format=format))

    def messages(
        self, frame: DataFrame, send: Send, options: Options, format: Format | None, topic: Topic
    ) -> DataFrame:
        """The messages of a topic on their way to buckets."""
        rows = Rows(options.schema, options.clock, format, options.type_name, options.strict)
        columns = frame.select("partition", "offset", "value")
        return self._packed(columns, send, partial(_read_messages, rows=rows, topic=topic))

    def _packed(self, frame: DataFrame, send: Send, read: ReadTable) -> DataFrame:
        self._tell("read and send")
        return self._kept(frame.mapInArrow(_packing(send, read), _TYPES))

    def step(
        self,
        before: Sequence[DataFrame],
        rounds: Collection[int],
        slots: int,
        work: Work,
        name: str,
    ) -> DataFrame:
        from pyspark.sql import functions as f

        nobody = self.spark.range(0, slots, 1, 1).select(
            *(f.lit(NOTHING).cast("int").alias("round"), f.col("id").cast("int").alias("slot")),
            *(f.lit(0).cast("int").alias(column) for column in ("run", "bucket")),
            *(f.lit(0).cast("long").alias("seq"), f.lit("").alias("label")),
            f.lit(b"").alias("blob"),
        )
        rows = nobody
        for some in before:
            rows = rows.unionByName(some.filter(f.col("round").isin(list(rounds))))

        def slot(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            records = [record for batch in batches for record in from_batch(batch)]
            mine = sorted({r.slot % slots for r in records if r.round == NOTHING})
            for number in mine:
                here = [r for r in records if r.round != NOTHING and r.slot % slots == number]
                yield from batches_of(work(number, here))

        self._tell(name)
        return self._kept(rows.repartitionById(slots, f.col("slot")).mapInArrow(slot, _TYPES))

    def collect(self, records: DataFrame, rounds: Collection[int]) -> list[Record]:
        from pyspark.sql import functions as f

        with self._set(), self._named():
            return from_batch(records.filter(f.col("round").isin(list(rounds))).toArrow())

    def forget(self, records: Sequence[DataFrame]) -> None:
        for frame in records:
            frame.unpersist()

    def _kept(self, frame: DataFrame) -> DataFrame:
        with self._set():
            return frame.persist()

    def _tell(self, name: str) -> None:
        """Name what comes, for the pages of Spark: jobs and stages are listed by it."""
        self._name = f"Horai: {name}"

    @contextmanager
    def _named(self) -> Iterator[None]:
        """The name, as long as we are at work: other jobs of the session have others."""
        context: Any = self.spark.sparkContext
        before = context.getLocalProperty(_NAME)
        context.setLocalProperty(_NAME, self._name)
        try:
            yield
        finally:
            context.setLocalProperty(_NAME, before)

    @contextmanager
    def _set(self) -> Iterator[None]:
        """Settings for blobs, taken back afterwards: the session may belong to others."""
        conf = self.spark.conf
        before = {name: conf.get(name) for name in _SETTINGS}
        for name, value in _SETTINGS.items():
            conf.set(name, value)
        try:
            yield
        finally:
            for name, old in before.items():
                conf.unset(name) if old is None else conf.set(name, old)


def batches_of(records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    """Records in batches of bounded size."""
    some: list[Record] = []
    size = 0
    for record in records:
        some.append(record)
        size += len(record.blob)
        if size >= BATCH_BYTES:
            yield to_batch(some)
            some, size = [], 0
    if some:
        yield to_batch(some)


ReadTable = Callable[[pa.Table, str, int], Narrative]  # with a name, and rows that are before it


def _packing(
    send: Send, read: ReadTable
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def pack(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        lines = 0
        for number, table in enumerate(_large(batches)):
            seq = (partition << 20) + number
            try:
                narrative = read(table, f"<partition {partition}>", lines)
                yield from batches_of(send(seq, narrative))
            except InputError as error:
                yield to_batch([unreadable(seq, error)])
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
