"""Raw positions in front of recognition: three rounds that turn them into items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from typing import Protocol, TypeVar

import pyarrow as pa

from horai.signals.feed import Feed
from horai.signals.items import ITEMS, narrative_of
from horai.signals.letters import as_letters
from horai.signals.positions import together
from horai.spark.batch import Send, sender
from horai.spark.checkpoint import Manifest, Tracks
from horai.spark.grid import Grid, Work
from horai.spark.records import DRIVER, Label, Record
from horai.spark.refusals import Refused
from horai.spark.store import Store
from horai.spark.tasks import RunTask
from horai.spark.tracks import FOLLOW, MEET, PAIR, Bucket, TrackTask, follow, meet, pair, work

H = TypeVar("H")


class Heard(Protocol):
    """What workers have to say about a round of positions."""

    rounds: set[int]
    known: list[int]  # up to when each bucket knows where all are who are not silent
    first: list[int]  # the times of first positions


class Rounds(Protocol):
    """Somebody who does a round, and listens."""

    def __call__(self, round: int, work: Work, name: str) -> Heard:
        """Work on the records for a round."""


@dataclass(frozen=True, slots=True)
class Front:
    """Positions of a stream on their way to becoming items."""

    task: TrackTask
    store: Store

    def step(
        self, manifest: Manifest, heard: list[int], slots: int, finishing: bool, do: Rounds
    ) -> set[int]:
        """The rounds of a step; the rounds that items go on to come back.

        `heard` are the latest times that new positions tell of.
        """
        before = manifest.tracks
        times = heard if before is None else [*heard, before.latest]
        if not times:
            return set()  # nobody has been heard of yet
        latest = max(times)
        # Others may tell of the same time still.
        until = latest if finishing else latest - self.task.feed.lateness - 1
        until = until if before is None else max(until, before.until)
        task = replace(
            self.task,
            store=self.store,
            number=manifest.number,
            before=None if before is None else before.number,
            until=until,
            ends=finishing,
        )
        rounds, firsts = derive(task, slots, do)
        if before is not None and before.first is not None:
            firsts = [*firsts, before.first]
        manifest.tracks = Tracks(manifest.number, until, latest, min(firsts, default=None))
        return rounds


def derive(task: TrackTask, slots: int, do: Rounds) -> tuple[set[int], list[int]]:
    """Follow, pair, meet; the rounds that items go on to, and the times of first positions."""

    def one(round: int, bucket: Bucket, task: TrackTask, name: str) -> Heard:
        return do(round, work(task, slots, bucket), f"positions: {name}")

    followed = one(FOLLOW, follow, task, "follow entities")
    task = replace(task, settled=min([task.until, *followed.known]))
    one(PAIR, pair, task, "find pairs")
    met = one(MEET, meet, task, "put pairs together")
    return (followed.rounds | met.rounds) - {PAIR}, followed.first


def batch_task(feed: Feed, run: RunTask) -> TrackTask:
    """What buckets have to know when all positions come at once, in front of a run."""
    routes = run.plan.routes
    return TrackTask(feed, routes.buckets, partial(tell_items, sender(run)), routes.pressed)


@dataclass(slots=True)
class _Nothing:
    """Nobody listens: when all are there, all is known."""

    rounds: set[int] = field(default_factory=set)
    known: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)


def derive_all(grid: Grid[H], rows: H, task: TrackTask, until: int | None = None) -> list[H]:
    """Where all is that follows from positions which have been read, and themselves."""
    records = [rows]
    said = [(Label.load(r.label).what, r.blob) for r in grid.collect(rows, [DRIVER])]
    latest = [int(blob) for what, blob in said if what == "latest"]
    if not latest:
        return records

    def do(round: int, work: Work, name: str) -> Heard:
        records.append(grid.step(records[-1:], [round], task.buckets, work, name))
        return _Nothing()

    derive(replace(task, until=max(latest) if until is None else until), task.buckets, do)
    return records


def front_of(feed: Feed, buckets: int, send: Send, store: Store) -> Front:
    """What stands in front of a stream whose items are sent on like this."""
    check_parts()
    return Front(TrackTask(feed, buckets, partial(tell_items, send), pressed=False), store)


def check_parts() -> None:
    """Raise if something is missing that positions need."""
    for name in ("h3", "shapely"):
        if find_spec(name) is None:
            raise Refused(f"{name} is not installed", "pip install 'horai[space]'")


def tell_items(send: Send, seq: int, items: pa.Table, letters: pa.Table) -> Iterator[Record]:
    """Items to the buckets of stages, and letters to who runs it all."""
    yield from send(seq, narrative_of(together([items], ITEMS), as_letters(letters)))
