"""Files in which buckets keep what they know between two steps of a stream."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from horai.spark.files import writing
from horai.spark.records import Record, from_batch, to_batch

ABOUT, PARTS = b"horai", b"horai.parts"
_BLOB = pa.schema([("blob", pa.large_binary())])


@dataclass(frozen=True, slots=True)
class Store:
    """State and items of buckets; workers have it too, so the folder is one they all see."""

    folder: str

    def state(self, stage: int, bucket: int, number: int) -> Path:
        """Where the state of a bucket is."""
        return self._path("state", stage, bucket, number)

    def items(self, round: int, bucket: int, number: int) -> Path:
        """Where items of a bucket wait for a round."""
        return self._path("items", round, bucket, number)

    def tracks(self, part: int, bucket: int, number: int) -> Path:
        """Where a bucket keeps what it knows of positions."""
        return self._path("tracks", part, bucket, number)

    def write_state(
        self, stage: int, bucket: int, number: int, about: dict[str, Any], parts: dict[str, bytes]
    ) -> int:
        """Keep the state of a bucket; returns its size."""
        told = {ABOUT: json.dumps(about), PARTS: json.dumps(list(parts))}
        schema = _BLOB.with_metadata(told)
        # Each part is a batch, so that it can be read without the others.
        batches = [pa.record_batch([_array(blob)], schema=schema) for blob in parts.values()]
        return _write(self.state(stage, bucket, number), schema, batches)

    def read_state(
        self, stage: int, bucket: int, number: int, wanted: Collection[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """What `write_state` was told: all parts, or those that are wanted."""
        path = str(self.state(stage, bucket, number))
        with pa.memory_map(path) as file, pa.ipc.open_file(file) as reader:
            told = reader.schema.metadata
            names = list(enumerate(json.loads(told[PARTS])))
            places = {n: place for place, n in names if wanted is None or n in wanted}
            parts = {n: reader.get_batch(p).column(0)[0].as_py() for n, p in places.items()}
            return json.loads(told[ABOUT]), parts

    def write_items(self, round: int, bucket: int, number: int, records: Sequence[Record]) -> None:
        """Keep items for a later step."""
        batch = to_batch(records)
        _write(self.items(round, bucket, number), batch.schema, [batch])

    def read_items(self, round: int, bucket: int, number: int) -> list[Record]:
        """The items that `write_items` kept."""
        with pa.ipc.open_file(pa.memory_map(str(self.items(round, bucket, number)))) as reader:
            return from_batch(reader.read_all())

    def write_tracks(self, part: int, bucket: int, number: int, known: bytes) -> int:
        """Keep what a bucket knows of positions; returns its size."""
        with writing(self.tracks(part, bucket, number)) as out:
            return out.write(known)

    def read_tracks(self, part: int, bucket: int, number: int) -> bytes:
        """What `write_tracks` kept."""
        return self.tracks(part, bucket, number).read_bytes()

    def _path(self, folder: str, part: int, bucket: int, number: int) -> Path:
        return Path(self.folder) / folder / f"{part}-{bucket}-{number:09}.arrow"


def files_of(folder: Path) -> Iterator[tuple[Path, tuple[int, int, int]]]:
    """All files of a kind, with the three numbers in their names."""
    for path in folder.glob("[0-9]*.arrow"):
        part, bucket, number = map(int, path.stem.split("-"))
        yield path, (part, bucket, number)


def _array(blob: bytes) -> pa.Array:
    """An array of one blob, which is not copied."""
    ends = pa.array([0, len(blob)], pa.int64()).buffers()[1]
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), 1, [None, ends, pa.py_buffer(blob)], 0
    )


def _write(path: Path, schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> int:
    """Batches as they are: what is large has few bytes already. Returns the size."""
    with writing(path) as out:
        with pa.ipc.new_file(out, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return out.tell()
