"""Joins on entities: rows go from their meeting point to the buckets that ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from horai.spark.hashing import Hashes, hash_argument
from horai.spark.records import Label, Record, Rows, packed, pick, unpacked
from horai.spark.routes import ASKING, Routes

Pairs = npt.NDArray[np.uint64]  # two rows: what is asked for, by its number, and by which bucket
NOBODY: Pairs = np.zeros((2, 0), np.uint64)


class Asked:
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

    def beyond(self, other: Asked) -> Asked:
        """Who asks here, and not there."""
        found = Asked()
        for meeting, pairs in self.pairs.items():
            known = other.of(meeting)
            both = np.concatenate([known, pairs], axis=1)
            _, firsts = np.unique(both, axis=1, return_index=True)
            new = np.sort(firsts[firsts >= known.shape[1]])
            if len(new):
                found.pairs[meeting] = both[:, new]
        return found

    def within(self, other: Asked) -> Asked:
        """Who asks here, and there too."""
        found = Asked()
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
    def load(cls, blob: bytes) -> Asked:
        """What `dump` wrote."""
        found, table = cls(), unpacked(blob)
        meetings, *columns = (column.to_numpy() for column in table.columns)
        pairs = np.stack(columns)
        for meeting in np.unique(meetings).tolist():
            found.pairs[meeting] = pairs[:, meetings == meeting]
        return found


def asked_in(
    records: Sequence[Record], what: str = ASKING
) -> tuple[list[tuple[Record, Label]], Asked]:
    """The other records of a meeting, and who asks for them."""
    asked = Asked()
    rows: list[tuple[Record, Label]] = []
    for record in records:
        label = Label.load(record.label)
        if label.what == what:
            table = unpacked(record.blob)
            columns = [table.column(name).to_numpy() for name in ("hash", "bucket")]
            asked.add(label.number, np.stack(columns))
        else:
            rows.append((record, label))
    return rows, asked


def send_on(routes: Routes, rows: Sequence[tuple[Record, Label]], asked: Asked) -> Iterator[Record]:
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
