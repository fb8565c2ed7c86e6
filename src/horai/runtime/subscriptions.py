"""Joins in streams: who asks stays known, and who begins to ask gets what there was before.

Rows that come by a join are at home in the bucket of what they are asked for by, whether somebody
asks or not. That bucket knows from its state who asks. When another bucket begins to
ask, it sends on what its session still knows of that entity, and from then on all that is new.


Joins on entities: rows go from their meeting point to the buckets that ask for them.
Joins in streams: who names somebody no more does not ask for them any longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.engine.columns import Column
from horai.engine.lending import Lent, Type, Wanted, arguments, borrow, lend
from horai.engine.session import Session
from horai.engine.symbols import Symbols
from horai.io.items.tables import ItemTable
from horai.runtime.hashing import Hashes, Path, hash_argument, hash_column
from horai.runtime.records import BlobLabel, Record, Rows, packed, pick, unpacked
from horai.runtime.routes import ASKING, NEEDING, Entity, Routes, engine_round, meeting_round

Pairs = npt.NDArray[np.uint64]  # two rows: what is asked for, by its number, and by which bucket
NOBODY: Pairs = np.zeros((2, 0), np.uint64)


class Subscriptions:
    """Who asks for what, meeting by meeting."""

    def __init__(self) -> None:
        self.pairs: dict[int, Pairs] = {}

    def add(self, meeting: int, pairs: Pairs) -> None:
        """More who ask."""
        both = np.concatenate([self.of(meeting), pairs], axis=1)
        self.pairs[meeting] = np.unique(both, axis=1)

    def of(self, meeting: int) -> Pairs:
        """Who asks at a meeting, sorted."""
        return self.pairs.get(meeting, NOBODY)

    def askers(self, meeting: int, hashes: Hashes) -> tuple[Rows, Rows]:
        """Rows and the buckets that ask for them; a row as often as it is asked for."""
        asked, buckets = self.of(meeting)
        first = np.searchsorted(asked, hashes, "left")
        count = np.searchsorted(asked, hashes, "right") - first
        rows = np.repeat(np.arange(len(hashes)), count)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        return rows, buckets[first[rows] + within].astype(np.int64)

    def beyond(self, other: Subscriptions) -> Subscriptions:
        """Who asks here, and not there."""
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
        """Who asks here, and there too."""
        found = Subscriptions()
        for meeting, pairs in self.pairs.items():
            both = np.concatenate([pairs, other.of(meeting)], axis=1)
            each, count = np.unique(both, axis=1, return_counts=True)
            found.pairs[meeting] = each[:, count == 2]
        return found

    def dump(self) -> bytes:
        """As bytes."""
        listed = [*self.pairs.items()]
        meetings = np.repeat([n for n, _ in listed], [p.shape[1] for _, p in listed])
        pairs = np.concatenate([NOBODY, *(pairs for _, pairs in listed)], axis=1)
        columns = {"meeting": meetings.astype(np.int32), "hash": pairs[0], "bucket": pairs[1]}
        return packed(pa.table(columns))

    @classmethod
    def load(cls, blob: bytes) -> Subscriptions:
        """What `dump` wrote."""
        found, table = cls(), unpacked(blob)
        meetings, *columns = (column.to_numpy() for column in table.columns)
        pairs = np.stack(columns)
        for meeting in np.unique(meetings).tolist():
            found.pairs[meeting] = pairs[:, meetings == meeting]
        return found


def asked_in(
    records: Sequence[Record], what: str = ASKING
) -> tuple[list[tuple[Record, BlobLabel]], Subscriptions]:
    """The other records of a meeting, and who asks for them."""
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


def send_on(
    routes: Routes, rows: Sequence[tuple[Record, BlobLabel]], asked: Subscriptions
) -> Iterator[Record]:
    """What goes on from a meeting point to the buckets of the engine's round."""
    for record, label in rows:
        meeting = routes.meetings[label.number]
        table = unpacked(record.blob)
        hashes = hash_argument(table, meeting.place)
        own = routes.bucket(hashes)
        found, targets = asked.askers(label.number, hashes)
        if meeting.itself:
            here = targets == own[found]  # these get their copy below
            found, targets = found[~here], targets[~here]
            for bucket in np.unique(own).tolist():
                home = label._replace(home=meeting.home, number=0)
                part = pick(table, np.flatnonzero(own == bucket))
                yield routes.record(record.round + 1, record.run, bucket, record.seq, home, part)
        guest = label._replace(home=False, number=0)
        for bucket in np.unique(targets).tolist():
            part = pick(table, found[targets == bucket])
            yield routes.record(record.round + 1, record.run, bucket, record.seq, guest, part)


ASKED, PAST, WAITED = "asked", "past", "waited"
STATE = {ASKED, PAST}  # what is not items


def gather(
    routes: Routes,
    stage: int,
    bucket: int,
    run: int,
    records: Sequence[Record],
    known: Subscriptions,
    renews: bool,
    session: Callable[[], Session | None],
) -> Iterator[Record]:
    """What goes on to the engine: rows to all who ask, and the past to who begins to.

    If it `renews`, only those go on to ask who have said that they do.
    """
    if renews:
        said, still = asked_in(records, NEEDING)
        records, known = [record for record, _ in said], known.within(still)
    rows, asked = asked_in(records)
    new = asked.beyond(known)
    for meeting, pairs in new.pairs.items():
        known.add(meeting, pairs)
    yield from send_on(routes, rows, known)
    if not new.pairs and not renews:
        return
    round = engine_round(stage)
    slot = routes.slot(run, bucket)
    yield Record(round, slot, run, bucket, -1, BlobLabel(ASKED).dump(), known.dump())
    lender = session()
    if lender is not None:
        for meeting, pairs in new.pairs.items():
            for asker in np.unique(pairs[1]).tolist():
                if asker != bucket:  # groups that are made of this one later ask too
                    hashes = pairs[0][pairs[1] == asker]
                    yield from _past(routes, lender, run, meeting, hashes, asker)


def _past(
    routes: Routes, session: Session, run: int, number: int, hashes: Hashes, asker: int
) -> Iterator[Record]:
    meeting = routes.meetings[number]
    round, slot = engine_round(meeting.stage), routes.slot(run, asker)
    lent = lend(session, [type_of(meeting.entity)], _meant(meeting.place, hashes, session.symbols))
    lent = lent or Lent(b"", [])
    blob = packed(pa.table({"hashes": [hashes.tobytes()], "known": [lent.known]}))
    yield Record(round, slot, run, asker, -1, BlobLabel(PAST, number=number).dump(), blob)
    for items in lent.waiting:
        label = BlobLabel(WAITED, items.name, items.arity, items.kind, items.form)
        yield routes.record(round, run, asker, -1, label, items.table)


def take_over(routes: Routes, session: Session, records: Sequence[Record]) -> None:
    """Know what others have known of those who are asked for from now on."""
    for record in records:
        label = BlobLabel.load(record.label)
        if label.what == PAST:
            meeting = routes.meetings[label.number]
            row = unpacked(record.blob).to_pylist()[0]
            hashes = np.frombuffer(row["hashes"], np.uint64)
            known = [row["known"]] if row["known"] else []
            meant = _meant(meeting.place, hashes, session.symbols)
            borrow(session, [type_of(meeting.entity)], known, meant)


def asked_of(records: Sequence[Record]) -> bytes | None:
    """All who have asked, if some are new."""
    return next((r.blob for r in records if BlobLabel.load(r.label).what == ASKED), None)


def is_state(record: Record) -> bool:
    """Does a record speak of what is known, and has no items?"""
    return BlobLabel.load(record.label).what in STATE


def has_waited(record: Record) -> bool:
    """Are these items that have waited elsewhere?"""
    return BlobLabel.load(record.label).what == WAITED


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
STEPS = 16  # from one time that buckets are heard to the next


def needs_of(
    routes: Routes, stage: int, bucket: int, session: Session, waiting: Sequence[ItemTable]
) -> Subscriptions:
    """Whom a bucket asks for: who is named by rows that it knows, and by those that wait."""
    found = Subscriptions()
    for number in routes.meetings_of(stage):
        for anchor, *places in routes.askers(number):
            for named, key in _named(session, waiting, anchor, places):
                hashes = np.unique(named[routes.bucket(key) == bucket])
                askers = np.full(len(hashes), bucket, np.uint64)
                found.add(number, np.stack([hashes, askers]))
    return found


def _named(
    session: Session, waiting: Sequence[ItemTable], anchor: Entity, places: Sequence[Path]
) -> Iterator[list[Hashes]]:
    """What stands at some places in rows of a kind."""
    for args in arguments(session, type_of(anchor)):
        yield [hash_column(args[place[0]], session.symbols, place[1:]) for place in places]
    for table in waiting:
        if (str(table.kind), table.name, table.arity) == anchor:
            yield [hash_argument(table.table, place) for place in places]


def say(
    routes: Routes, run: int, stage: int, bucket: int, needs: Subscriptions
) -> Iterator[Record]:
    """Whom a bucket asks for, to where they are at home."""
    for number, pairs in needs.pairs.items():
        label = BlobLabel(NEEDING, number=number)
        yield from routes.tell_askers(meeting_round(stage), run, bucket, label, pairs)


def forget_others(
    routes: Routes, stage: int, bucket: int, session: Session, needs: Subscriptions
) -> None:
    """Forget rows that came by joins, of those whom the bucket does not ask for any longer."""
    for number, meeting in routes.meetings_of(stage).items():
        asked, place = needs.of(number)[0], meeting.place

        def strange(args: tuple[Column, ...], asked: Hashes = asked, place: Path = place) -> Mask:
            hashes = hash_column(args[place[0]], session.symbols, place[1:])
            found: Mask = (routes.bucket(hashes) != bucket) & ~np.isin(hashes, asked)
            return found

        borrow(session, [type_of(meeting.entity)], [], strange)
