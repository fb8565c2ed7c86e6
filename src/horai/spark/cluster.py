"""Records on Spark: each round is a shuffle by slot, and a pass over the partitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from horai.spark.grid import Cluster, Pack, Read, Work
from horai.spark.records import TYPES, Record, from_batch, to_batch
from horai.spark.sparing import spare_collector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NOTHING = -3  # as a round: a row that is there so that its slot is worked on
BATCH_BYTES = 1 << 25
_NAME = "spark.job.description"
# Blobs are large: a batch of ten thousand would be too much at once. And plans are so small that
# to compile them, or to look at them again half-way, costs more than it gives.
_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.inMemoryColumnarStorage.batchSize": "64",
}


class SparkGrid(Cluster["DataFrame"]):
    """Rounds as jobs of Spark."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._name = "Horai"

    @property
    def spark(self) -> SparkSession:
        return self._spark

    @property
    def parallel(self) -> int:
        """How many tasks can run at once."""
        return int(self.spark.sparkContext.defaultParallelism)

    def scatter(self, records: list[Record]) -> DataFrame:
        return self._kept(self.spark.createDataFrame(pa.Table.from_batches([to_batch(records)])))

    def read(self, number: int, read: Read) -> DataFrame:
        def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            spare_collector()
            for batch in batches:
                for piece in batch.column(0).to_pylist():
                    yield from batches_of(read(piece))

        self._tell("read and send")
        numbers = self.spark.range(0, number, 1, max(number, 1))
        return self._kept(numbers.mapInArrow(pieces, TYPES))

    def frame(self, frame: DataFrame, pack: Pack) -> DataFrame:
        """What the rows of a data frame give, on its way to buckets."""
        self._tell("read and send")
        return self._kept(frame.mapInArrow(lambda batches: batches_of(pack(batches)), TYPES))

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
            spare_collector()
            records = [record for batch in batches for record in from_batch(batch)]
            mine = sorted({r.slot % slots for r in records if r.round == NOTHING})
            for number in mine:
                here = [r for r in records if r.round != NOTHING and r.slot % slots == number]
                yield from batches_of(work(number, here))

        self._tell(name)
        return self._kept(rows.repartitionById(slots, f.col("slot")).mapInArrow(slot, TYPES))

    def collect(self, records: DataFrame, rounds: Collection[int]) -> list[Record]:
        from pyspark.sql import functions as f

        with self._set(), named(self.spark, self._name):
            return from_batch(records.filter(f.col("round").isin(list(rounds))).toArrow())

    def there(self, some: Sequence[DataFrame], rounds: Collection[int]) -> DataFrame:
        from pyspark.sql import functions as f

        if not some:
            return self.spark.createDataFrame([], TYPES)
        whole = reduce(lambda one, other: one.unionByName(other), some)
        return whole.filter(f.col("round").isin(list(rounds)))

    def forget(self, records: Sequence[DataFrame]) -> None:
        for frame in records:
            frame.unpersist()

    def close(self) -> None:
        return None

    def _kept(self, frame: DataFrame) -> DataFrame:
        with self._set():
            return frame.persist()

    def _tell(self, name: str) -> None:
        """Name what comes, for the pages of Spark: jobs and stages are listed by it."""
        self._name = f"Horai: {name}"

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


@contextmanager
def named(spark: SparkSession, name: str) -> Iterator[None]:
    """A name for jobs, as long as we are at work: others of the session have others."""
    context: Any = spark.sparkContext
    before = context.getLocalProperty(_NAME)
    context.setLocalProperty(_NAME, name)
    try:
        yield
    finally:
        context.setLocalProperty(_NAME, before)


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
