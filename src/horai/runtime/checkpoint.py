"""Checkpoints: the folder of a stream, with the state of buckets and a manifest for every step.

    stream.json                what the stream is: rules, settings, number of buckets
    commits/NUMBER.json        a manifest: what was known after a step, and the files it needs
    state/STAGE-BUCKET-NUMBER.arrow   the state of a bucket of a stage
    items/ROUND-BUCKET-NUMBER.arrow   items that no query time has asked for yet
    tracks/PART-BUCKET-NUMBER.arrow   what is known of positions, if the stream is one of those
    dead-letters/NUMBER.jsonl  rows that were not used
    lock                       held by the process that runs the stream
    exchange/                  records of the step that runs, between its workers
    spark/                     what Spark itself keeps: how far sources have been read

A step writes all its files under its own number and then its manifest. Before the manifest is there
the step has not happened: it can be done again from the manifest before, with the same result.
Files appear whole or not at all, whoever is stopped while writing them. The lock is held by one
stream at a time: two would remove each other's files.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import socket
import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from horai.io.letters import DeadLetter
from horai.runtime.records import Record, from_batch, to_batch
from horai.runtime.refusals import Refused

_BESIDE = re.compile(r"\..+\.[0-9a-f]{32}")


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Write a file beside its place, and put it there when all of it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.parent / f".{path.name}.{uuid.uuid4().hex}"
    try:
        with beside.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """The same with what is there already."""
    with writing(path) as out:
        out.write(content)


def clear(folder: Path) -> None:
    """Remove what was being written when somebody was killed; nobody else may write there now."""
    remove([path for path in folder.glob(".*") if _BESIDE.fullmatch(path.name)])


def remove(paths: list[Path]) -> None:
    """Remove files, whether they are still there or not."""
    for path in paths:
        path.unlink(missing_ok=True)


ABOUT, PARTS = b"horai", b"horai.parts"
_BLOB = pa.schema([("blob", pa.large_binary())])


@dataclass(frozen=True, slots=True)
class Store:
    """State and items of buckets; workers have it too, so the folder is one they all see."""

    folder: str

    def path(self, kind: str, part: int, bucket: int, number: int) -> Path:
        """Where `state` of a stage, `items` for a round, or `tracks` of a bucket are."""
        return Path(self.folder) / kind / f"{part}-{bucket}-{number:09}.arrow"

    def write_state(
        self, stage: int, bucket: int, number: int, about: dict[str, Any], parts: dict[str, bytes]
    ) -> int:
        """Keep the state of a bucket; returns its size."""
        told = {ABOUT: json.dumps(about), PARTS: json.dumps(list(parts))}
        schema = _BLOB.with_metadata(told)
        # Each part is a batch, so that it can be read without the others.
        batches = [pa.record_batch([_array(blob)], schema=schema) for blob in parts.values()]
        return _write(self.path("state", stage, bucket, number), schema, batches)

    def read_state(
        self, stage: int, bucket: int, number: int, wanted: Collection[str] | None = None
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """The state that `write_state` wrote: all parts, or those that are wanted."""
        with opened(self.path("state", stage, bucket, number)) as reader:
            told = reader.schema.metadata
            names = list(enumerate(json.loads(told[PARTS])))
            places = {n: place for place, n in names if wanted is None or n in wanted}
            parts = {n: batch_at(reader, p).column(0)[0].as_py() for n, p in places.items()}
            return json.loads(told[ABOUT]), parts

    def write_items(self, round: int, bucket: int, number: int, records: Sequence[Record]) -> None:
        """Keep items for a later step."""
        batch = to_batch(records)
        _write(self.path("items", round, bucket, number), batch.schema, [batch])

    def read_items(self, round: int, bucket: int, number: int) -> list[Record]:
        with opened(self.path("items", round, bucket, number)) as reader:
            places = range(reader.num_record_batches)
            return [record for place in places for record in from_batch(batch_at(reader, place))]

    def write_tracks(self, part: int, bucket: int, number: int, known: bytes) -> int:
        """Keep what a bucket knows of positions; returns its size."""
        with writing(self.path("tracks", part, bucket, number)) as out:
            return out.write(known)

    def read_tracks(self, part: int, bucket: int, number: int) -> bytes:
        return self.path("tracks", part, bucket, number).read_bytes()


def files_of(folder: Path) -> Iterator[tuple[Path, tuple[int, int, int]]]:
    """All files of a kind, with the three numbers in their names."""
    for path in folder.glob("[0-9]*.arrow"):
        part, bucket, number = map(int, path.stem.split("-"))
        yield path, (part, bucket, number)


@contextmanager
def opened(path: Path) -> Iterator[pa.RecordBatchFileReader]:
    """The batches of a file; one that is not what was written is refused by name."""
    try:
        with pa.memory_map(str(path)) as file, pa.ipc.open_file(file) as reader:
            yield reader
    except FileNotFoundError:
        raise  # who runs the stream may have removed it
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        hint = "restore the folder, begin with a new one, or from a savepoint"
        raise Refused(f"{path} is damaged: {error}", hint) from error


def batch_at(reader: pa.RecordBatchFileReader, place: int) -> pa.RecordBatch:
    """A batch that says only what is in it."""
    batch = reader.get_batch(place)
    batch.validate(full=True)  # Arrow itself would read wherever a forged offset points
    return batch


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


KEPT = 3  # manifests, with all that they need; older ones are removed
FORMAT = 5
NAMED = "name the folder that was given as --checkpoint"


@dataclass(slots=True)
class Identity:
    """The identity of a stream: steps of another cannot follow on its own.

    `buckets` is in how many parts it runs. State is kept in `groups` of entities, so many for each
    bucket: groups can be made smaller, and never larger.
    """

    id: str
    rules: list[tuple[str, str]]
    predicates: list[str]
    settings: dict[str, Any]
    buckets: int
    groups: int
    source: str | None = None  # where items come from, in words; what Spark has read is of that
    format: int = FORMAT


@dataclass(slots=True)
class Seen:
    """The times that items have named so far: first occurrence, last time, last arrival."""

    first: int
    last: int
    arrival: int

    def __or__(self, other: Seen | None) -> Seen:
        if other is None:
            return self
        return Seen(
            min(self.first, other.first),
            max(self.last, other.last),
            max(self.arrival, other.arrival),
        )


@dataclass(frozen=True, slots=True)
class TrackProgress:
    """Positions so far: the step that keeps them, how far all is settled, the latest time, and the
    first that was believed."""

    number: int
    until: int
    latest: int
    first: int | None = None


ItemFile = tuple[int, int, int]
"""A file of items: their round and bucket, and the step that stored them."""


@dataclass(slots=True)
class Manifest:
    """The manifest of a step. `state` and `items` name the files by the steps they are of."""

    number: int = 0
    batch: int = -1
    start: int | None = None
    query: int | None = None
    seen: Seen | None = None
    ended: bool = False
    state: int | None = None
    items: list[ItemFile] = field(default_factory=list)
    refreshed: int = 0  # the step of the last subscription refresh
    tracks: TrackProgress | None = None
    totals: dict[str, int] = field(default_factory=dict)

    def dump(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def load(cls, text: bytes) -> Manifest:
        plain = json.loads(text)
        seen, items, tracks = (plain.pop(name) for name in ("seen", "items", "tracks"))
        found = cls(**plain)
        found.seen = None if seen is None else Seen(**seen)
        found.tracks = None if tracks is None else TrackProgress(**tracks)
        found.items = [(round, bucket, number) for round, bucket, number in items]
        return found


class Checkpoint:
    """The folder as who runs the stream sees it."""

    def __init__(self, folder: Path, identity: Identity, last: Manifest) -> None:
        self.folder, self.identity, self.last = folder, identity, last

    @property
    def store(self) -> Store:
        """For workers."""
        return Store(str(self.folder.resolve()))

    @property
    def spark(self) -> Path:
        """Where Spark keeps how far it has read."""
        return self.folder.resolve() / "spark"  # Java may have begun in another folder

    @property
    def exchange(self) -> Path:
        """The folder of records of the step that runs, between its workers."""
        return self.folder.resolve() / "exchange"

    def clear_way(self) -> None:
        """Remove what was on its way when the stream was killed."""
        shutil.rmtree(self.exchange, ignore_errors=True)

    def clear(self) -> None:
        """Remove what a stream that was killed has left behind, and nobody needs."""
        self.clear_way()
        for name in ("", "commits", "state", "items", "tracks", "dead-letters"):
            clear(self.folder / name)

    def commit(self, manifest: Manifest, letters: Sequence[DeadLetter]) -> None:
        """The step has happened, from now on."""
        if letters:
            lines = [json.dumps(letter._asdict(), ensure_ascii=False) for letter in letters]
            path = self.folder / "dead-letters" / f"{manifest.number:09}.jsonl"
            write_whole(path, "".join(f"{line}\n" for line in lines).encode())
        write_whole(commit_path(self.folder, manifest.number), manifest.dump())
        self.last = manifest
        self._tidy()

    def _tidy(self) -> None:
        """Remove what only older steps need, and what steps left that were never finished."""
        numbers = _numbers(self.folder)
        old, kept = numbers[:-KEPT], numbers[-KEPT:]
        if not old:
            return
        manifests = [read_manifest(self.folder, number) for number in kept]
        states = {manifest.state for manifest in manifests}
        tracks = {manifest.tracks.number for manifest in manifests if manifest.tracks}
        items = {file for manifest in manifests for file in manifest.items}
        gone = [
            path
            for folder, needed in (("state", states), ("tracks", tracks))
            for path, (_, _, number) in files_of(self.folder / folder)
            if number not in needed and number <= self.last.number
        ]
        gone += [
            path
            for path, file in files_of(self.folder / "items")
            if file not in items and file[2] <= self.last.number
        ]
        remove(gone)
        remove([commit_path(self.folder, number) for number in old])


def create(folder: Path, identity: Identity) -> Checkpoint:
    try:
        write_whole(folder / "stream.json", json.dumps(asdict(identity), indent=1).encode())
    except OSError as error:
        hint = "choose a folder that you may write to, and that all workers see"
        problem = f"{folder} cannot be written: {error.strerror or error}"
        raise Refused(problem, hint) from error
    return Checkpoint(folder, identity, Manifest())


def is_checkpoint(folder: Path) -> bool:
    """Is there a stream in a folder?"""
    return (folder / "stream.json").is_file()


def open_checkpoint(folder: Path) -> Checkpoint:
    """The stream that is in a folder, as it was after its last step."""
    path = folder / "stream.json"
    if folder.exists() and not folder.is_dir():
        raise Refused(f"{folder} is a file, and a checkpoint is a folder", NAMED)
    try:
        plain = json.loads(path.read_bytes())
        plain["rules"] = [(name, text) for name, text in plain["rules"]]
        identity = Identity(**plain)
    except (FileNotFoundError, NotADirectoryError):
        raise Refused(f"{folder} is no checkpoint of a stream", NAMED) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        hint = "restore the folder, or begin with a new one"
        raise Refused(f"{path} cannot be read: {error}", hint) from error
    if identity.format != FORMAT:
        hint = "go on with that version, or begin with a new folder"
        raise Refused(f"{folder} was written by another version of Horai", hint)
    numbers = _numbers(folder)
    last = read_manifest(folder, numbers[-1]) if numbers else Manifest()
    return Checkpoint(folder, identity, last)


def read_manifest(folder: Path, number: int) -> Manifest:
    """The manifest of an earlier step."""
    path = commit_path(folder, number)
    try:
        return Manifest.load(path.read_bytes())
    except (OSError, ValueError, TypeError, KeyError) as error:
        hint = "restore the folder, or begin with a new one"
        raise Refused(f"{path} cannot be read: {error}", hint) from error


def commit_path(folder: Path, number: int) -> Path:
    """Where the manifest of a step is."""
    return folder / "commits" / f"{number:09}.json"


def _numbers(folder: Path) -> list[int]:
    found = (folder / "commits").glob("[0-9]*.json")
    return sorted(int(path.stem) for path in found if path.stem.isdigit())


LOCK = "lock"


class CheckpointLock:
    """A folder that is ours until it is released."""

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK
        self._file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            holder = self._file.read().strip()
            self._file.close()
            hint = "stop that stream first, or begin a new one in another folder"
            problem = f"{folder} is the checkpoint of a stream that runs"
            raise Refused(f"{problem}: {holder}" if holder else problem, hint) from None
        except OSError:
            return  # a file system without locks: whoever uses it has to take care
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()} on {socket.gethostname()}")
        self._file.flush()

    def release(self) -> None:
        self._file.close()
