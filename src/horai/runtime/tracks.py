"""Raw positions to items in buckets: follow entities, find pairs, put meetings together.

| round | rows come together by | what a bucket keeps |
|---|---|---|
| follow | entity | a row for each, areas it is in, positions of times that are not settled |
| pair | cell of the earth, and hour | places at times at which not all are known |
| meet | pair | who may still be close |

Each calls the functions of `horai.signals` that one process calls. They run over all positions at
once, or go on from what was kept by an earlier step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.tables import whole_column
from horai.runtime.checkpoint import Manifest, Store, TrackProgress
from horai.runtime.hashing import Hashes, combined, hash_array
from horai.runtime.records import (
    BlobLabel,
    Record,
    Rows,
    by_content,
    message,
    packed,
    unpacked,
)
from horai.runtime.refusals import Refused
from horai.runtime.rounds import Heard, Rounds, Send
from horai.runtime.routes import split
from horai.signals.items import ITEMS, narrative_of
from horai.signals.pipeline import Feed, State, items_of_meetings, last_of_all, start
from horai.signals.positions import (
    LETTERS,
    POSITIONS,
    Positions,
    as_letters,
    numbers,
    parted,
    together,
)
from horai.signals.proximity import (
    MEETINGS,
    PAIRS,
    SAMPLES,
    close_pairs,
    in_slices,
    meeting_cells,
    meetings,
)

FOLLOW, PAIR, MEET = -11, -12, -13  # rounds in front of those of stages
STEPS_TOGETHER = 60  # of `close_step`: so a busy harbour is not one task
SLICE = 500_000  # samples that are compared with each other at a time
NOT_SETTLED = "rest"

# Sends the items and dead letters of a bucket on.
SendItems = Callable[[int, pa.Table, pa.Table], Iterator[Record]]
Bucket = Callable[["TrackTask", int, Sequence[Record]], Iterator[Record]]


@dataclass(frozen=True, slots=True)
class TrackTask:
    """The task of buckets: everything is known up to `until`, of all up to `settled`.

    A step goes on from what step `before` has kept, and keeps what it knows by its own `number`. If
    it `ends`, items that are not settled are sent as well, and stored all the same.
    """

    feed: Feed
    buckets: int
    send: SendItems
    pressed: bool = True
    until: int = 0
    settled: int = 0
    ends: bool = True
    store: Store | None = None
    number: int = 0
    before: int | None = None

    def bucket(self, hashes: Hashes) -> Rows:
        """The buckets of what has these numbers."""
        return (hashes % np.uint64(self.buckets)).astype(np.int64)

    def spread(
        self, round: int, seq: int, what: str, table: pa.Table, buckets: Rows
    ) -> Iterator[Record]:
        """Rows on their way to buckets."""
        label = BlobLabel(what).dump()
        for bucket, part in split(table, buckets, self.buckets):
            yield Record(round, bucket, 0, bucket, seq, label, packed(part, self.pressed))

    def known(self, part: int, bucket: int) -> bytes | None:
        """The state of a bucket."""
        if self.store is None or self.before is None:
            return None
        return self.store.read_tracks(part, bucket, self.before)

    def keep(self, part: int, bucket: int, known: bytes) -> Iterator[Record]:
        """Keep what a bucket knows, if there is a next step."""
        if self.store is not None:
            size = self.store.write_tracks(part, bucket, self.number, known)
            yield message(bucket, "tracks", size)


def send_positions(task: TrackTask, seq: int, found: Positions) -> Iterator[Record]:
    """Positions to the buckets of their entities, and messages about them to the driver."""
    if found.letters.num_rows:
        yield from task.send(seq, ITEMS.empty_table(), found.letters)
    if len(found):
        buckets = task.bucket(names_of(found.table, "entity"))
        yield from task.spread(FOLLOW, seq, "positions", found.table, buckets)
        yield message(seq, "latest", pc.max(found.table.column("time")).as_py())
        yield message(seq, "rounds", [FOLLOW])


def names_of(table: pa.Table, name: str) -> Hashes:
    """A number for each text of a column."""
    return hash_array(whole_column(table.column(name)), b"atom")


def follow(task: TrackTask, bucket: int, records: Sequence[Record]) -> Iterator[Record]:
    """Follow the entities of a bucket: cleaning, critical points, areas, common times."""
    known = task.known(0, bucket)
    state = start() if known is None else State.from_bytes(known)
    pipeline = task.feed.pipeline
    traced = pipeline.trace(state, _tables(records, "positions", POSITIONS), task.until)
    letters = pa.concat_tables([LETTERS.empty_table(), *traced.letters])
    yield from task.send(bucket, pa.concat_tables(traced.items), letters)
    kept = traced.state
    yield message(bucket, "known", last_of_all(kept.tracks))
    if traced.first is not None:
        yield message(bucket, "first", traced.first)
    yield from task.keep(0, bucket, kept.to_bytes())
    if traced.samples.num_rows:
        yield from _send_samples(task, bucket, traced.samples)
        yield message(bucket, "rounds", [PAIR])


def _send_samples(task: TrackTask, seq: int, samples: pa.Table) -> Iterator[Record]:
    """Each to the buckets in which somebody may be who is close to it."""
    settings = task.feed.pipeline.settings
    places = numbers(samples, "lon"), numbers(samples, "lat")
    if task.buckets == 1:
        yield from task.spread(PAIR, seq, "samples", samples, np.zeros(len(places[0]), np.int64))
        return
    row, cell = meeting_cells(*places, settings.close)
    hour = numbers(samples, "time") // (settings.points(settings.close_step) * STEPS_TOGETHER)
    hashes = combined([cell.view(np.uint64), hour[row].view(np.uint64)], len(row))
    once = np.unique(row * task.buckets + task.bucket(hashes))
    sent = samples.take(pa.array(once // task.buckets))
    yield from task.spread(PAIR, seq, "samples", sent, once % task.buckets)


def pair(task: TrackTask, bucket: int, records: Sequence[Record]) -> Iterator[Record]:
    """The pairs that are close, at times at which all are known."""
    known = task.known(1, bucket)
    before = [] if known is None else [unpacked(known)]
    samples = together([*before, _tables(records, "samples", SAMPLES)], SAMPLES)
    ready, later = parted(samples, numbers(samples, "time") <= task.settled)
    yield from _send_pairs(task, bucket, "pairs", ready)
    if task.ends:
        yield from _send_pairs(task, bucket, NOT_SETTLED, later)
    if task.store is not None:
        yield from task.keep(1, bucket, packed(later, False))


def _send_pairs(task: TrackTask, bucket: int, what: str, samples: pa.Table) -> Iterator[Record]:
    for number, (some, _) in enumerate(in_slices(samples, SLICE)):
        pairs = close_pairs(some, task.feed.pipeline.settings)
        if pairs.num_rows:
            both = [names_of(pairs, name) for name in ("one", "two")]
            buckets = task.bucket(combined(both, pairs.num_rows))
            yield from task.spread(MEET, (bucket << 20) + number, what, pairs, buckets)
            yield message(bucket, "rounds", [MEET])


def meet(task: TrackTask, bucket: int, records: Sequence[Record]) -> Iterator[Record]:
    """For how long pairs are close; what may go on is kept."""
    known, settings = task.known(2, bucket), task.feed.pipeline.settings
    going = MEETINGS.empty_table() if known is None else together([unpacked(known)], MEETINGS)
    told, going = meetings(_tables(records, "pairs", PAIRS), going, task.settled, settings)
    items = [items_of_meetings(told)]
    if task.ends:
        rest, _ = meetings(_tables(records, NOT_SETTLED, PAIRS), going, None, settings)
        items.append(items_of_meetings(rest))
    yield from task.send(bucket, pa.concat_tables(items), LETTERS.empty_table())
    if task.store is not None:
        yield from task.keep(2, bucket, packed(going, False))


def _tables(records: Sequence[Record], what: str, schema: pa.Schema) -> pa.Table:
    ordered = sorted(by_content(records)[what], key=lambda record: record.seq)
    return together([unpacked(record.blob) for record in ordered], schema)


H = TypeVar("H")


def derive_step(
    front: TrackTask, manifest: Manifest, heard: list[int], on: Rounds[H], finishing: bool
) -> set[int]:
    """The rounds of positions in front of a step; the rounds that items go on to come back.

    `heard` are the latest times that new positions tell of.
    """
    before = manifest.tracks
    times = heard if before is None else [*heard, before.latest]
    if not times:
        return set()  # nobody has been heard of yet
    latest = max(times)
    # Others may tell of the same time still.
    until = latest if finishing else latest - front.feed.lateness - 1
    until = until if before is None else max(until, before.until)
    task = replace(
        front,
        number=manifest.number,
        before=None if before is None else before.number,
        until=until,
        ends=finishing,
    )
    rounds, firsts = derive(task, on)
    if before is not None and before.first is not None:
        firsts = [*firsts, before.first]
    manifest.tracks = TrackProgress(manifest.number, until, latest, min(firsts, default=None))
    return rounds


def derive(task: TrackTask, on: Rounds[H]) -> tuple[set[int], list[int]]:
    """Follow, pair, meet; the rounds that items go on to, and the times of first positions."""

    def one(round: int, bucket: Bucket, task: TrackTask, name: str) -> Heard:
        work = partial(bucket, task)
        heard = on.buckets({round}, task.buckets, work, f"positions: {name}")
        on.state_bytes += sum(heard["tracks"])
        return heard

    followed = one(FOLLOW, follow, task, "follow entities")
    # When all positions are there, all is known.
    known = [] if task.store is None else followed["known"]
    task = replace(task, settled=min([task.until, *known]))
    one(PAIR, pair, task, "find pairs")
    met = one(MEET, meet, task, "put pairs together")
    return (followed.rounds | met.rounds) - {PAIR}, followed["first"]


def derive_all(on: Rounds[H], rows: H, task: TrackTask, until: int | None = None) -> set[int]:
    """All that follows from positions that have been read; the rounds that items go on to."""
    latest = on.listen(rows)["latest"]
    if not latest:
        return set()
    return derive(replace(task, until=max(latest) if until is None else until), on)[0]


def front_of(feed: Feed, buckets: int, send: Send, store: Store | None = None) -> TrackTask:
    """The task of buckets in front of a run, or of a stream, whose items are sent on like this."""
    check_parts()
    # What a whole run sends may be on its way through Java, or a slow network.
    return TrackTask(feed, buckets, partial(send_items, send), store is None, store=store)


def check_parts() -> None:
    """Raise if something is missing that positions need."""
    for name in ("h3", "shapely"):
        if find_spec(name) is None:
            raise Refused(f"{name} is not installed", "pip install 'horai[space]'")


def send_items(send: Send, seq: int, items: pa.Table, letters: pa.Table) -> Iterator[Record]:
    """Items to the buckets of stages, and dead letters to the driver."""
    yield from send(seq, narrative_of(together([items], ITEMS), as_letters(letters)))
