"""The folder of a stream: its state bucket by bucket, and a manifest for every step.

    stream.json                what the stream is: rules, settings, number of buckets
    commits/NUMBER.json        a manifest: what was known after a step, and the files it needs
    state/STAGE-BUCKET-NUMBER.arrow   what a bucket of a stage keeps
    items/ROUND-BUCKET-NUMBER.arrow   items that no query time has asked for yet
    tracks/PART-BUCKET-NUMBER.arrow   what is known of positions, if the stream is one of those
    dead-letters/NUMBER.jsonl  rows that were not used
    lock                       held by the process that runs the stream
    way/                       records of the step that runs, on their way between workers
    spark/                     what Spark itself keeps: how far sources have been read

A step writes all its files under its own number and then its manifest. Before the manifest is there
the step has not happened: it can be done again from the manifest before, with the same result.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from horai.io.letters import DeadLetter
from horai.spark.files import clear, remove, write_whole
from horai.spark.refusals import Refused
from horai.spark.store import Store, files_of

KEPT = 3  # manifests, with all that they need; older ones are removed
FORMAT = 4


@dataclass(slots=True)
class Identity:
    """What a stream is: nobody else's steps can follow on its own.

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
    """What items have named so far: the first occurrence, the last time, the last arrival."""

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
class Tracks:
    """Positions so far: the step that keeps them, how far all is settled, the latest time, and the
    first that was believed."""

    number: int
    until: int
    latest: int
    first: int | None = None


@dataclass(slots=True)
class Manifest:
    """What is known after a step. `state` and `items` name the files by the steps they are of."""

    number: int = 0
    batch: int = -1
    start: int | None = None
    query: int | None = None
    seen: Seen | None = None
    ended: bool = False
    state: int | None = None
    items: list[tuple[int, int, int]] = field(default_factory=list)  # round, bucket, number
    renewed: int = 0  # the step in which buckets have last said whom they ask for
    tracks: Tracks | None = None
    totals: dict[str, int] = field(default_factory=dict)

    def dump(self) -> bytes:
        """As text."""
        return json.dumps(asdict(self), indent=1).encode()

    @classmethod
    def load(cls, text: bytes) -> Manifest:
        """The manifest that `dump` wrote."""
        plain = json.loads(text)
        seen, items, tracks = (plain.pop(name) for name in ("seen", "items", "tracks"))
        found = cls(**plain)
        found.seen = None if seen is None else Seen(**seen)
        found.tracks = None if tracks is None else Tracks(**tracks)
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
    def way(self) -> Path:
        """Where records of the step that runs are on their way between workers."""
        return self.folder.resolve() / "way"

    def clear_way(self) -> None:
        """Remove what was on its way when the stream was killed."""
        shutil.rmtree(self.way, ignore_errors=True)

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
    """A new stream."""
    try:
        write_whole(folder / "stream.json", json.dumps(asdict(identity), indent=1).encode())
    except OSError as error:
        raise _unwritable(folder, error) from error
    return Checkpoint(folder, identity, Manifest())


def is_checkpoint(folder: Path) -> bool:
    """Is there a stream in a folder?"""
    return (folder / "stream.json").is_file()


def open_checkpoint(folder: Path) -> Checkpoint:
    """The stream that is in a folder, as it was after its last step."""
    path = folder / "stream.json"
    try:
        plain = json.loads(path.read_bytes())
        plain["rules"] = [(name, text) for name, text in plain["rules"]]
        identity = Identity(**plain)
    except FileNotFoundError:
        hint = "name the folder that was given as --checkpoint"
        raise Refused(f"{folder} is no checkpoint of a stream", hint) from None
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
    """What was known after a step."""
    path = commit_path(folder, number)
    try:
        return Manifest.load(path.read_bytes())
    except (OSError, ValueError, TypeError, KeyError) as error:
        hint = "restore the folder, or begin with a new one"
        raise Refused(f"{path} cannot be read: {error}", hint) from error


def _unwritable(folder: Path, error: OSError) -> Refused:
    hint = "choose a folder that you may write to, and that all workers see"
    return Refused(f"{folder} cannot be written: {error.strerror or error}", hint)


def commit_path(folder: Path, number: int) -> Path:
    """Where the manifest of a step is."""
    return folder / "commits" / f"{number:09}.json"


def _numbers(folder: Path) -> list[int]:
    found = (folder / "commits").glob("[0-9]*.json")
    return sorted(int(path.stem) for path in found if path.stem.isdigit())
