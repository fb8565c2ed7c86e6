"""Subscriptions: what buckets want to know of entities that other buckets own.

Rows that come by a join belong to the bucket of what they are joined by, whether another bucket
has subscribed or not. Their owner knows from its state which buckets have. When one subscribes, the
owner sends the state of that entity, which is what its session still knows of it, and from then on
all that is new. From time to time subscriptions are refreshed, and those that are not needed end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.engine.admission import Wanted
from horai.engine.columns import Column
from horai.engine.core.staged import CompiledStage, Lent, Type
from horai.engine.symbols import Symbols
from horai.io.items.tables import ItemTable
from horai.runtime.hashing import Hashes, Path, hash_argument, hash_column
from horai.runtime.records import BlobLabel, Record, Rows, packed, pick, unpacked
from horai.runtime.routes import REFRESH, SUBSCRIBE, Entity, Routes, engine_round, meeting_round

Pairs = npt.NDArray[np.uint64]  # two rows: hashes of entities, and the buckets that subscribe
NONE: Pairs = np.zeros((2, 0), np.uint64)


class Subscriptions:
    """The subscribers of entities, meeting by meeting."""

    def __init__(self) -> None:
        self.pairs: dict[int, Pairs] = {}

    def add(self, meeting: int, pairs: Pairs) -> None:
        both = np.concatenate([self.of(meeting), pairs], axis=1)
        self.pairs[meeting] = np.unique(both, axis=1)

    def of(self, meeting: int) -> Pairs:
        """The subscribers of a meeting, sorted."""
        return self.pairs.get(meeting, NONE)

    def subscribers(self, meeting: int, hashes: Hashes) -> tuple[Rows, Rows]:
        """Rows and the buckets that have subscribed to them; a row as often as there are such."""
        asked, buckets = self.of(meeting)
        first = np.searchsorted(asked, hashes, "left")
        count = np.searchsorted(asked, hashes, "right") - first
        rows = np.repeat(np.arange(len(hashes)), count)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        return rows, buckets[first[rows] + within].astype(np.int64)

    def beyond(self, other: Subscriptions) -> Subscriptions:
        """The subscriptions that others do not have."""
        found = Subscriptions()
        for meeting, pairs in self.pairs.items():
            known = other.of(meeting)
            both = np.concatenate([known, pairs], axis=1)
            _, firsts = np.unique(both, axis=1, return_index=True)
            new = np.sort(firsts[firsts >= known.shape[1]])
            if len(new):
                found.pairs[meeting] = both[:, new]
        return found

    def within(self, other: Subscriptions) -> Subscriptions:
        """The subscriptions that others have too."""
        found = Subscriptions()
        for meeting, pairs in self.pairs.items():
            both = np.concatenate([pairs, other.of(meeting)], axis=1)
            each, count = np.unique(both, axis=1, return_counts=True)
            found.pairs[meeting] = each[:, count == 2]
        return found

    def dump(self) -> bytes:
        listed = [*self.pairs.items()]
        meetings = np.repeat([n for n, _ in listed], [p.shape[1] for _, p in listed])
        pairs = np.concatenate([NONE, *(pairs for _, pairs in listed)], axis=1)
        columns = {"meeting": meetings.astype(np.int32), "hash": pairs[0], "bucket": pairs[1]}
        return packed(pa.table(columns))

    @classmethod
    def load(cls, blob: bytes) -> Subscriptions:
        found, table = cls(), unpacked(blob)
        meetings, *columns = (column.to_numpy() for column in table.columns)
        pairs = np.stack(columns)
        for meeting in np.unique(meetings).tolist():
            found.pairs[meeting] = pairs[:, meetings == meeting]
        return found


def subscriptions_in(
    records: Sequence[Record], what: str = SUBSCRIBE
) -> tuple[list[tuple[Record, BlobLabel]], Subscriptions]:
    """The other records of a meeting, and the subscriptions among them."""
    asked = Subscriptions()
    rows: list[tuple[Record, BlobLabel]] = []
    for record in records:
        label = BlobLabel.load(record.label)
        if label.what == what:
            table = unpacked(record.blob)
            columns = [table.column(name).to_numpy() for name in ("hash", "bucket")]
            asked.add(label.number, np.stack(columns))
        else:
            rows.append((record, label))
    return rows, asked


def forward(
    routes: Routes, rows: Sequence[tuple[Record, BlobLabel]], asked: Subscriptions
) -> Iterator[Record]:
    """Rows from a meeting point to the subscribers, in the round of the engine."""
    for record, label in rows:
        meeting = routes.meetings[label.number]
        table = unpacked(record.blob)
        hashes = hash_argument(table, meeting.place)
        own = routes.bucket(hashes)
        found, targets = asked.subscribers(label.number, hashes)
        if meeting.itself:
            here = targets == own[found]  # these get their copy below
            found, targets = found[~here], targets[~here]
            for bucket in np.unique(own).tolist():
                own_label = label._replace(owned=meeting.owned, number=0)
                part = pick(table, np.flatnonzero(own == bucket))
                yield routes.record(
                    record.round + 1, record.run, bucket, record.seq, own_label, part
                )
        replica = label._replace(owned=False, number=0)
        for bucket in np.unique(targets).tolist():
            part = pick(table, found[targets == bucket])
            yield routes.record(record.round + 1, record.run, bucket, record.seq, replica, part)


SUBSCRIPTIONS, TRANSFER, WAITED = "subscriptions", "transfer", "waited"


def forward_new(
    routes: Routes,
    stage: int,
    bucket: int,
    records: Sequence[Record],
    known: Subscriptions,
    refreshes: bool,
    session: Callable[[], CompiledStage | None],
) -> Iterator[Record]:
    """Rows to all subscribers, and the state of entities to those that are new.

    If it `refreshes`, only subscriptions that have been refreshed stay.
    """
    if refreshes:
        said, still = subscriptions_in(records, REFRESH)
        records, known = [record for record, _ in said], known.within(still)
    rows, asked = subscriptions_in(records)
    new = asked.beyond(known)
    for meeting, pairs in new.pairs.items():
        known.add(meeting, pairs)
    yield from forward(routes, rows, known)
    if not new.pairs and not refreshes:
        return
    round = engine_round(stage)
    yield Record(round, bucket, 0, bucket, -1, BlobLabel(SUBSCRIPTIONS).dump(), known.dump())
    owner = session()
    if owner is not None:
        for meeting, pairs in new.pairs.items():
            for subscriber in np.unique(pairs[1]).tolist():
                if subscriber != bucket:  # groups made of this one later subscribe too
                    hashes = pairs[0][pairs[1] == subscriber]
                    yield from _transfer(routes, owner, meeting, hashes, subscriber)


def _transfer(
    routes: Routes, session: CompiledStage, number: int, hashes: Hashes, target: int
) -> Iterator[Record]:
    meeting = routes.meetings[number]
    round = engine_round(meeting.stage)
    lent = session.lend(type_of(meeting.entity), _meant(meeting.place, hashes, session.symbols))
    lent = lent or Lent(b"", [])
    blob = packed(pa.table({"hashes": [hashes.tobytes()], "known": [lent.known]}))
    yield Record(round, target, 0, target, -1, BlobLabel(TRANSFER, number=number).dump(), blob)
    for items in lent.waiting:
        label = BlobLabel(WAITED, items.name, items.arity, items.kind, items.form)
        yield routes.record(round, 0, target, -1, label, items.table)


def take_state(routes: Routes, session: CompiledStage, records: Sequence[Record]) -> None:
    """Take in the state of entities to which a bucket has just subscribed."""
    for record in records:
        meeting = routes.meetings[BlobLabel.load(record.label).number]
        row = unpacked(record.blob).to_pylist()[0]
        hashes = np.frombuffer(row["hashes"], np.uint64)
        known = [row["known"]] if row["known"] else []
        meant = _meant(meeting.place, hashes, session.symbols)
        session.borrow(type_of(meeting.entity), known, meant)


def type_of(entity: Entity) -> Type:
    """An entity as sessions know it."""
    kind, name, arity = entity
    return kind, (name, arity)  # type: ignore[return-value]


def _meant(place: Path, hashes: Hashes, symbols: Symbols) -> Wanted:
    """Rows in which something of these numbers stands at a place."""

    def mask(args: tuple[Column, ...]) -> npt.NDArray[np.bool_]:
        found: npt.NDArray[np.bool_] = np.isin(
            hash_column(args[place[0]], symbols, place[1:]), hashes
        )
        return found

    return mask


Mask = npt.NDArray[np.bool_]
STEPS = 16  # from one subscription refresh to the next


def needed_by(
    routes: Routes, stage: int, bucket: int, session: CompiledStage, waiting: Sequence[ItemTable]
) -> Subscriptions:
    """The subscriptions of a bucket: to all that is named by rows that it knows or that wait."""
    found = Subscriptions()
    for number in routes.meetings_of(stage):
        for anchor, *places in routes.subscribers(number):
            for named, key in _named(session, waiting, anchor, places):
                hashes = np.unique(named[routes.bucket(key) == bucket])
                own = np.full(len(hashes), bucket, np.uint64)
                found.add(number, np.stack([hashes, own]))
    return found


def _named(
    session: CompiledStage, waiting: Sequence[ItemTable], anchor: Entity, places: Sequence[Path]
) -> Iterator[list[Hashes]]:
    """The hashes at some places in rows of a kind."""
    for args in session.arguments(type_of(anchor)):
        yield [hash_column(args[place[0]], session.symbols, place[1:]) for place in places]
    for table in waiting:
        if (str(table.kind), table.name, table.arity) == anchor:
            yield [hash_argument(table.table, place) for place in places]


def refresh(routes: Routes, stage: int, bucket: int, needs: Subscriptions) -> Iterator[Record]:
    """The subscriptions that a bucket still needs, to the owners."""
    for number, pairs in needs.pairs.items():
        label = BlobLabel(REFRESH, number=number)
        yield from routes.send_subscriptions(meeting_round(stage), 0, bucket, label, pairs)


def drop_unsubscribed(
    routes: Routes, stage: int, bucket: int, session: CompiledStage, needs: Subscriptions
) -> None:
    """Drop replicas that came by joins and that the bucket does not need any longer."""
    for number, meeting in routes.meetings_of(stage).items():
        asked, place = needs.of(number)[0], meeting.place

        def strange(args: tuple[Column, ...], asked: Hashes = asked, place: Path = place) -> Mask:
            hashes = hash_column(args[place[0]], session.symbols, place[1:])
            found: Mask = (routes.bucket(hashes) != bucket) & ~np.isin(hashes, asked)
            return found

        session.borrow(type_of(meeting.entity), [], strange)
