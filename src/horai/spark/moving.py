"""Records through a folder that all workers see: a round is one small job of Spark.

A task writes what it sends to later rounds, and what it found, into one file, in groups by round
and slot; who comes later reads the groups that are meant for it. To have Spark keep and shuffle
them instead costs it more than all that is in them. What is said to who runs it all comes back as
the result of the task. Files have names that nobody else has, so that tasks which are done twice do
no harm, and none is needed any more once a run, or the step of a stream, is over.
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from horai.spark.cluster import SparkGrid, batches_of, named
from horai.spark.files import remove
from horai.spark.grid import Cluster, Pack, Read, Work
from horai.spark.records import DRIVER, SCHEMA, TYPES, Record, from_batch, to_batch
from horai.spark.sparing import spare_collector

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Told = tuple[str, bytes]  # the file of a task, empty if there is none, and what it says
_GROUPS = b"horai.groups"


@dataclass(frozen=True, slots=True)
class Moved:
    """Records that are in files, and those for who runs it all, which are here."""

    files: list[str]
    said: list[Record]


class FolderGrid(Cluster[Moved]):
    """Rounds as jobs without a shuffle."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def spark(self) -> SparkSession:
        return self._spark

    @property
    def parallel(self) -> int:
        return int(self.spark.sparkContext.defaultParallelism)

    def scatter(self, records: list[Record]) -> Moved:
        return moved([written(str(self.folder), records)])

    def read(self, number: int, read: Read) -> Moved:
        return self._run(number, read, "read and send")

    def frame(self, frame: DataFrame, pack: Pack) -> Moved:
        folder = str(self.folder)

        def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            file, said = written(folder, pack(batches))
            yield pa.record_batch({"file": [file], "said": [said]})

        with named(self.spark, "Horai: read and send"):
            told = frame.mapInArrow(write, "file string, said binary").toArrow()
        return moved([(row["file"], row["said"]) for row in told.to_pylist()])

    def step(
        self, before: Sequence[Moved], rounds: Collection[int], slots: int, work: Work, name: str
    ) -> Moved:
        files = [file for some in before for file in some.files]

        def task(slot: int) -> Iterable[Record]:
            def mine(round: int, other: int) -> bool:
                return round in rounds and other % slots == slot

            return work(slot, [record for file in files for record in read_records(file, mine)])

        return self._run(slots, task, name)

    def collect(self, records: Moved, rounds: Collection[int]) -> list[Record]:
        found = [record for record in records.said if record.round in rounds]
        if set(rounds) - {DRIVER}:
            for file in records.files:
                found += read_records(file, lambda round, _: round in rounds)
        return found

    def there(self, some: Sequence[Moved], rounds: Collection[int]) -> DataFrame:
        files = [(file,) for moved in some for file in moved.files]

        def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                for file in batch.column(0).to_pylist():
                    yield from batches_of(read_records(file, lambda round, _: round in rounds))

        frame = self.spark.createDataFrame(files, "file string")
        return frame.repartition(max(len(files), 1)).mapInArrow(read, TYPES)

    def forget(self, records: Sequence[Moved]) -> None:
        remove([Path(file) for some in records for file in some.files])

    def close(self) -> None:  # tasks that failed have left something, too
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, number: int, task: Callable[[int], Iterable[Record]], name: str) -> Moved:
        folder = str(self.folder)

        def partition(numbers: Iterable[int]) -> Iterator[Told]:
            spare_collector()
            for one in numbers:
                yield written(folder, task(one))

        with named(self.spark, f"Horai: {name}"):
            context = self.spark.sparkContext
            tasks = context.parallelize(range(number), max(number, 1))
            return moved(tasks.mapPartitions(partition).collect())


def grid_of(spark: SparkSession) -> Cluster[Any]:
    """What moves records: where all workers are on this machine, a folder is enough."""
    if not str(spark.sparkContext.master).startswith("local"):
        return SparkGrid(spark)
    folder = tempfile.mkdtemp(prefix="horai-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return FolderGrid(spark, Path(folder))


def moved(told: Sequence[Told]) -> Moved:
    said = [record for _, blob in told for record in _said(blob)]
    return Moved([file for file, _ in told if file], said)


def _said(blob: bytes) -> list[Record]:
    with pa.ipc.open_stream(blob) as reader:
        return from_batch(reader.read_all())


def written(folder: str, records: Iterable[Record]) -> Told:
    """Write records, but for those that are said to who runs it all."""
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
    with pa.memory_map(file) as source, pa.ipc.open_file(source) as reader:
        for place, (round, slot) in enumerate(json.loads(reader.schema.metadata[_GROUPS])):
            if wanted(round, slot):
                yield from from_batch(reader.get_batch(place))
