"""Joins in streams: who asks stays known, and who begins to ask gets what there was before.

Rows that come by a join are at home in the bucket of what they are asked for by, whether somebody
asks or not. That bucket knows from its state who asks. When another bucket begins to
ask, it sends on what its session still knows of that entity, and from then on all that is new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.engine.columns import Column
from horai.engine.lending import Lent, Type, Wanted, borrow, lend
from horai.engine.session import Session
from horai.engine.symbols import Symbols
from horai.spark.hashing import Hashes, Path, hash_column
from horai.spark.meeting import Asked, asked_in, send_on
from horai.spark.records import Label, Record, packed, unpacked
from horai.spark.routes import NEEDING, Entity, Routes, engine_round

ASKED, PAST, WAITED = "asked", "past", "waited"
STATE = {ASKED, PAST}  # what is not items


def gather(
    routes: Routes,
    stage: int,
    bucket: int,
    run: int,
    records: Sequence[Record],
    known: Asked,
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
    yield Record(round, slot, run, bucket, -1, Label(ASKED).dump(), known.dump())
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
    yield Record(round, slot, run, asker, -1, Label(PAST, number=number).dump(), blob)
    for items in lent.waiting:
        label = Label(WAITED, items.name, items.arity, items.kind, items.form)
        yield routes.record(round, run, asker, -1, label, items.table)


def take_over(routes: Routes, session: Session, records: Sequence[Record]) -> None:
    """Know what others have known of those who are asked for from now on."""
    for record in records:
        label = Label.load(record.label)
        if label.what == PAST:
            meeting = routes.meetings[label.number]
            row = unpacked(record.blob).to_pylist()[0]
            hashes = np.frombuffer(row["hashes"], np.uint64)
            known = [row["known"]] if row["known"] else []
            meant = _meant(meeting.place, hashes, session.symbols)
            borrow(session, [type_of(meeting.entity)], known, meant)


def asked_of(records: Sequence[Record]) -> bytes | None:
    """All who have asked, if some are new."""
    return next((r.blob for r in records if Label.load(r.label).what == ASKED), None)


def is_state(record: Record) -> bool:
    """Does a record speak of what is known, and has no items?"""
    return Label.load(record.label).what in STATE


def has_waited(record: Record) -> bool:
    """Are these items that have waited elsewhere?"""
    return Label.load(record.label).what == WAITED


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
