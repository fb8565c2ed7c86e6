"""Joins in streams: who names somebody no more does not ask for them any longer.

Now and then every bucket says anew whom it asks for: all that its rows name which it still knows.
Where they are at home nothing more is sent to buckets that were not heard, and these forget what
they had got. Whoever asks again begins to ask, and gets what is known by then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from horai.engine.columns import Column
from horai.engine.lending import arguments, borrow
from horai.engine.session import Session
from horai.io.items import ItemTable
from horai.spark.asking import type_of
from horai.spark.hashing import Hashes, Path, hash_argument, hash_column
from horai.spark.meeting import Asked
from horai.spark.records import Label, Record
from horai.spark.routes import NEEDING, Entity, Routes, meeting_round

Mask = npt.NDArray[np.bool_]
STEPS = 16  # from one time that buckets are heard to the next


def needs_of(
    routes: Routes, stage: int, bucket: int, session: Session, waiting: Sequence[ItemTable]
) -> Asked:
    """Whom a bucket asks for: who is named by rows that it knows, and by those that wait."""
    found = Asked()
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


def say(routes: Routes, run: int, stage: int, bucket: int, needs: Asked) -> Iterator[Record]:
    """Whom a bucket asks for, to where they are at home."""
    for number, pairs in needs.pairs.items():
        label = Label(NEEDING, number=number)
        yield from routes.tell_askers(meeting_round(stage), run, bucket, label, pairs)


def forget_others(routes: Routes, stage: int, bucket: int, session: Session, needs: Asked) -> None:
    """Forget rows that came by joins, of those whom the bucket does not ask for any longer."""
    for number, meeting in routes.meetings_of(stage).items():
        asked, place = needs.of(number)[0], meeting.place

        def strange(args: tuple[Column, ...], asked: Hashes = asked, place: Path = place) -> Mask:
            hashes = hash_column(args[place[0]], session.symbols, place[1:])
            found: Mask = (routes.bucket(hashes) != bucket) & ~np.isin(hashes, asked)
            return found

        borrow(session, [type_of(meeting.entity)], [], strange)
