"""Records: tables as Arrow blobs, each with the bucket it goes to; and how they are exchanged."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.engine.arrow_items import Source
from horai.io.items.tables import ItemTable, united, whole_column
from horai.io.schema import TableKey

DRIVER = -1  # as a round: messages for the driver
ANSWERS = -2  # as a round: what was found

SCHEMA = pa.schema(
    [
        pa.field("round", pa.int32(), nullable=False),
        pa.field("slot", pa.int32(), nullable=False),
        pa.field("run", pa.int32(), nullable=False),
        pa.field("bucket", pa.int32(), nullable=False),
        pa.field("seq", pa.int64(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
        pa.field("blob", pa.binary(), nullable=False),
    ]
)
_SPARK = {
    pa.string(): "string",
    pa.binary(): "binary",
    pa.list_(pa.string()): "array<string>",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.float64(): "double",
}


def by_content(records: Iterable[Record]) -> defaultdict[str, list[Record]]:
    """Records by what is in them, in their order."""
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        found[BlobLabel.load(record.label).what].append(record)
    return found


def spark_types(schema: pa.Schema) -> str:
    """A schema as Spark writes it."""
    return ", ".join(f"`{field.name}` {_SPARK[field.type]}" for field in schema)


TYPES = spark_types(SCHEMA)
ROW = "@row"  # a column that tells rows apart which may arrive twice
Rows = npt.NDArray[np.int64]


class Record(NamedTuple):
    """A blob for a bucket of a run in some round.

    `slot` is the partition that works on the bucket, `seq` the order of what was sent to it, and
    `label` says what is in the blob.
    """

    round: int
    slot: int
    run: int
    bucket: int
    seq: int
    label: str
    blob: bytes


class BlobLabel(NamedTuple):
    """The label of a blob: `what` names the kind of content, the rest the table in it.

    Items that are `owned` are judged and counted where they go; replicas are only looked at.
    """

    what: str
    name: str = ""
    arity: int = 0
    kind: str = "event"
    form: str = "points"
    owned: bool = False
    number: int = 0

    @property
    def key(self) -> TableKey:
        return TableKey(self.name, self.arity, self.kind, self.form)  # type: ignore[arg-type]

    def dump(self) -> str:
        return json.dumps(self)

    @classmethod
    def load(cls, text: str) -> BlobLabel:
        return cls(*json.loads(text))


def to_batch(records: Iterable[Record]) -> pa.RecordBatch:
    columns: list[Any] = list(zip(*records, strict=True)) or [[] for _ in SCHEMA]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def from_batch(batch: pa.RecordBatch | pa.Table) -> list[Record]:
    columns = [batch.column(name).to_pylist() for name in SCHEMA.names]
    return [Record(*row) for row in zip(*columns, strict=True)]


def table_key(source: Source) -> TableKey:
    """The kind of items of a source."""
    return TableKey(source.name, source.arity, source.kind, source.form)


def message(seq: int, what: str, content: object, number: int = 0) -> Record:
    label = BlobLabel(what, number=number).dump()
    return Record(DRIVER, 0, 0, 0, seq, label, json.dumps(content).encode())


def packed(table: pa.Table, pressed: bool = True) -> bytes:
    """A table as a blob. To press it pays where Java is on the way, or a slow network."""
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4" if pressed else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue().to_pybytes())


def unpacked(blob: bytes) -> pa.Table:
    with pa.ipc.open_stream(blob) as reader:
        table = reader.read_all()
        table.validate(full=True)  # Arrow itself would read wherever a forged offset points
        return table


def pick(table: pa.Table, rows: Rows) -> pa.Table:
    """Some rows, with only those words in dictionaries that they use."""
    return lean(table.take(pa.array(rows)))


def lean(table: pa.Table) -> pa.Table:
    """The table, with only those words in dictionaries that its rows use."""
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            array = whole_column(table.column(place))
            if len(array.dictionary) > 1:
                table = table.set_column(place, field, _lean(array))
    return table


def _lean(array: pa.DictionaryArray) -> pa.DictionaryArray:
    indices = array.indices.to_numpy(zero_copy_only=False)
    used = np.zeros(len(array.dictionary), np.bool_)
    used[indices] = True
    if used.all():
        return array
    places = (np.cumsum(used) - 1).astype(np.int32)
    words = array.dictionary.take(pa.array(np.flatnonzero(used)))
    return pa.DictionaryArray.from_arrays(pa.array(places[indices]), words)


def joined(key: TableKey, tables: Sequence[pa.Table]) -> ItemTable:
    """One table of items out of many, whatever types their columns have; each row once."""
    if ROW in tables[0].column_names:
        tables = _once(tables)
    if len(tables) == 1:
        return ItemTable(*key, tables[0])
    (found,) = united(ItemTable(*key, table) for table in tables)
    return found


def _once(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """Tables without rows that came before, and without the column that tells."""
    numbers = [table.column(ROW).to_numpy() for table in tables]
    _, firsts = np.unique(np.concatenate(numbers), return_index=True)
    new = np.zeros(sum(map(len, numbers)), np.bool_)
    new[firsts] = True
    parts = np.split(new, np.cumsum([len(one) for one in numbers])[:-1])
    kept = [pick(t, np.flatnonzero(part)) for t, part in zip(tables, parts, strict=True)]
    return [table.drop_columns([ROW]) for table in kept]


H = TypeVar("H")
Work = Callable[[int, list[Record]], Iterable[Record]]
BucketWork = Callable[[int, list[Record]], Iterable[Record]]
Read = Callable[[int], Iterable[Record]]


def over_buckets(runs: Sequence[tuple[int, int, BucketWork]], slots: int) -> Work:
    """The work of a round in one slot: all buckets that belong to it, with records or without.

    Each run has its number, so many buckets, and something to do in each.
    """

    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        groups: dict[tuple[int, int], list[Record]] = {}
        for record in records:
            groups.setdefault((record.run, record.bucket), []).append(record)
        for run, buckets, do in runs:
            for bucket in range(buckets):
                if (run * buckets + bucket) % slots == slot:
                    yield from do(bucket, groups.get((run, bucket), []))

    return work


class Exchanger(Protocol, Generic[H]):
    """Moves records; `H` stands for records that are somewhere."""

    def scatter(self, records: list[Record]) -> H:
        """Records that are here."""

    def read(self, number: int, read: Read) -> H:
        """The records that reading gives, piece by piece."""

    def step(
        self, before: Sequence[H], rounds: Collection[int], slots: int, work: Work, name: str
    ) -> H:
        """Work on the records of some rounds, slot by slot; slots without records too."""

    def collect(self, records: H, rounds: Collection[int]) -> list[Record]:
        """The records for some rounds, brought here."""

    def forget(self, records: Sequence[H]) -> None:
        """They are not needed any more."""


class LocalGrid(Exchanger[list[Record]]):
    """One slot after the other, in this process."""

    def scatter(self, records: list[Record]) -> list[Record]:
        return records

    def read(self, number: int, read: Read) -> list[Record]:
        return [record for piece in range(number) for record in read(piece)]

    def step(
        self,
        before: Sequence[list[Record]],
        rounds: Collection[int],
        slots: int,
        work: Work,
        name: str,
    ) -> list[Record]:
        records = [record for some in before for record in some if record.round in rounds]
        return [
            found
            for slot in range(slots)
            for found in work(slot, [r for r in records if r.slot % slots == slot])
        ]

    def collect(self, records: list[Record], rounds: Collection[int]) -> list[Record]:
        return [record for record in records if record.round in rounds]

    def forget(self, records: Sequence[list[Record]]) -> None:
        return None
