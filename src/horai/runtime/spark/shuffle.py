"""The exchange of records on Spark: a shuffle by slot, or files in a folder that all workers see.

With a shuffle each round is a pass over the partitions; with a folder it is one small job.
"""

from __future__ import annotations

import atexit
import gc
import json
import shutil
import tempfile
import uuid
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from horai.runtime.checkpoint import batch_at, opened, remove
from horai.runtime.records import (
    DRIVER,
    SCHEMA,
    TYPES,
    Exchanger,
    Read,
    Record,
    Work,
    from_batch,
    to_batch,
    unpacked,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


H = TypeVar("H")
Pack = Callable[[Iterable[pa.RecordBatch]], Iterator[Record]]
_tasks = count(1)  # that this worker has begun


def spare_collector() -> None:
    """Let Python's collector of garbage pass over what a worker has to keep anyway.

    A worker of Spark collects garbage after each task, and goes through all modules, rules and
    plans for it, which takes longer than many a task. It has just done so when the next one begins:
    what is there then stays. Now and then is enough, and leaves what is given up later to be found.
    """
    number = next(_tasks)
    if number & (number - 1) == 0:
        gc.freeze()


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


class Cluster(Exchanger[H]):
    """A grid on Spark, which also has data frames."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    @property
    def parallel(self) -> int:
        """How many tasks can run at once."""
        return int(self.spark.sparkContext.defaultParallelism)

    @abstractmethod
    def frame(self, frame: DataFrame, pack: Pack) -> H:
        """The records of the rows of a data frame, to their buckets."""

    @abstractmethod
    def there(self, some: Sequence[H], rounds: Collection[int]) -> DataFrame:
        """The records for some rounds as a data frame."""

    @abstractmethod
    def close(self) -> None:
        """Nothing more will be moved, and nothing is needed any more."""


class SparkGrid(Cluster["DataFrame"]):
    """Rounds as jobs of Spark."""

    _name = "Horai"

    def scatter(self, records: list[Record]) -> DataFrame:
        return self._kept(self.spark.createDataFrame(pa.Table.from_batches([to_batch(records)])))

    def read(self, number: int, read: Read) -> DataFrame:
        def pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            spare_collector()
            for batch in batches:
                for piece in batch.column(0).to_pylist():
                    yield from batches_of(read(piece))

        self._name_next("read and send")
        numbers = self.spark.range(0, number, 1, max(number, 1))
        return self._kept(numbers.mapInArrow(pieces, TYPES))

    def frame(self, frame: DataFrame, pack: Pack) -> DataFrame:
        self._name_next("read and send")
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

        self._name_next(name)
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

    def _name_next(self, name: str) -> None:
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


Written = tuple[str, bytes]  # the file of a task, empty if there is none, and its messages
_GROUPS = b"horai.groups"


@dataclass(frozen=True, slots=True)
class Shuffled:
    """Records that are in files, and messages for the driver, which are here."""

    files: list[str]
    messages: list[Record]


class FolderGrid(Cluster[Shuffled]):
    """Rounds as jobs without a shuffle."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        super().__init__(spark)
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)

    def scatter(self, records: list[Record]) -> Shuffled:
        return shuffled([written(str(self.folder), records)])

    def read(self, number: int, read: Read) -> Shuffled:
        return self._run(number, read, "read and send")

    def frame(self, frame: DataFrame, pack: Pack) -> Shuffled:
        folder = str(self.folder)

        def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            file, said = written(folder, pack(batches))
            yield pa.record_batch({"file": [file], "said": [said]})

        with named(self.spark, "Horai: read and send"):
            told = frame.mapInArrow(write, "file string, said binary").toArrow()
        return shuffled([(row["file"], row["said"]) for row in told.to_pylist()])

    def step(
        self, before: Sequence[Shuffled], rounds: Collection[int], slots: int, work: Work, name: str
    ) -> Shuffled:
        files = [file for some in before for file in some.files]

        def task(slot: int) -> Iterable[Record]:
            def mine(round: int, other: int) -> bool:
                return round in rounds and other % slots == slot

            return work(slot, [record for file in files for record in read_records(file, mine)])

        return self._run(slots, task, name)

    def collect(self, records: Shuffled, rounds: Collection[int]) -> list[Record]:
        found = [record for record in records.messages if record.round in rounds]
        if set(rounds) - {DRIVER}:
            for file in records.files:
                found += read_records(file, lambda round, _: round in rounds)
        return found

    def there(self, some: Sequence[Shuffled], rounds: Collection[int]) -> DataFrame:
        files = [(file,) for one in some for file in one.files]

        def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for file in batch.column(0).to_pylist():
                    yield from batches_of(read_records(file, lambda round, _: round in rounds))

        frame = self.spark.createDataFrame(files, "file string")
        return frame.repartition(max(len(files), 1)).mapInArrow(read, TYPES)

    def forget(self, records: Sequence[Shuffled]) -> None:
        remove([Path(file) for some in records for file in some.files])

    def close(self) -> None:  # tasks that failed have left something, too
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, number: int, task: Callable[[int], Iterable[Record]], name: str) -> Shuffled:
        folder = str(self.folder)

        def partition(numbers: Iterable[int]) -> Iterator[Written]:
            spare_collector()
            for one in numbers:
                yield written(folder, task(one))

        with named(self.spark, f"Horai: {name}"):
            context = self.spark.sparkContext
            tasks = context.parallelize(range(number), max(number, 1))
            return shuffled(tasks.mapPartitions(partition).collect())


def grid_of(spark: SparkSession) -> Cluster[Any]:
    """The exchange of records: where all workers are on this machine, a folder is enough."""
    if not str(spark.sparkContext.master).startswith("local"):
        return SparkGrid(spark)
    folder = tempfile.mkdtemp(prefix="horai-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return FolderGrid(spark, Path(folder))


def shuffled(tasks: Sequence[Written]) -> Shuffled:
    messages = [record for _, blob in tasks for record in from_batch(unpacked(blob))]
    return Shuffled([file for file, _ in tasks if file], messages)


def written(folder: str, records: Iterable[Record]) -> Written:
    """Write records to a file, messages for the driver apart."""
    groups: dict[tuple[int, int], list[Record]] = {}
    said: list[Record] = []
    for record in records:
        if record.round == DRIVER:
            said.append(record)
        else:
            groups.setdefault((record.round, record.slot), []).append(record)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as writer:
        writer.write_batch(to_batch(said))
    blob = bytes(sink.getvalue().to_pybytes())
    if not groups:
        return "", blob
    batches = [(group, batch) for group, some in groups.items() for batch in batches_of(some)]
    told = {_GROUPS: json.dumps([group for group, _ in batches])}
    path = str(Path(folder) / f"{uuid.uuid4().hex}.arrow")
    with pa.OSFile(path, "wb") as out, pa.ipc.new_file(out, SCHEMA.with_metadata(told)) as writer:
        for _, batch in batches:
            writer.write_batch(batch.replace_schema_metadata(told))
    return path, blob


def read_records(file: str, wanted: Callable[[int, int], bool]) -> Iterator[Record]:
    """The records of a file whose round and slot are wanted."""
    with opened(Path(file)) as reader:
        for place, (round, slot) in enumerate(json.loads(reader.schema.metadata[_GROUPS])):
            if wanted(round, slot):
                yield from from_batch(batch_at(reader, place))
