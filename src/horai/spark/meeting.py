"""Joins on entities: rows go from their meeting point to the buckets that ask for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from horai.spark.hashing import Hashes, hash_argument
from horai.spark.records import Label, Record, Rows, pick, unpacked
from horai.spark.routes import Routes


def send_on(routes: Routes, records: Sequence[Record]) -> Iterator[Record]:
    """What goes on from a meeting point to the buckets of the engine's round."""
    asked: dict[int, list[pa.Table]] = {}
    rows: list[tuple[Record, Label]] = []
    for record in records:
        label = Label.load(record.label)
        if label.what == "asking":
            asked.setdefault(label.number, []).append(unpacked(record.blob))
        else:
            rows.append((record, label))
    for record, label in rows:
        meeting = routes.meetings[label.number]
        table = unpacked(record.blob)
        hashes = hash_argument(table, meeting.place)
        own = routes.bucket(hashes)
        found, targets = _Wanted(asked.get(label.number, [])).of(hashes)
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


class _Wanted:
    """Who asks for what, as pairs of a number and a bucket, sorted."""

    def __init__(self, tables: Sequence[pa.Table]) -> None:
        columns = [[t.column(name).to_numpy() for t in tables] for name in ("hash", "bucket")]
        pairs = [np.concatenate([np.zeros(0, np.uint64), *column]) for column in columns]
        self.hashes, self.buckets = np.unique(np.stack(pairs), axis=1)

    def of(self, hashes: Hashes) -> tuple[Rows, Rows]:
        """Rows and the buckets that ask for them; a row as often as it is asked for."""
        first = np.searchsorted(self.hashes, hashes, "left")
        count = np.searchsorted(self.hashes, hashes, "right") - first
        rows = np.repeat(np.arange(len(hashes)), count)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
        return rows, self.buckets[first[rows] + within].astype(np.int64)
