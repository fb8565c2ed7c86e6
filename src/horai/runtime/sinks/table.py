"""A table of what holds as far as is known: intervals and events, without what was taken back.

The table is in files, some for each name, and `current.json` tells which ones. A step writes new
files for names that change, and then that list: who reads the list sees a step whole or not at all.

The files of a name are segments, and each knows the times at which its rows end. A step reads and
writes anew only those in which something may change, which are the last ones: what has been over
for longer than anything that changes stays as it is. So a step costs what changes, however long the
table is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from horai.engine.numbering import dense
from horai.runtime.checkpoint import remove, write_whole
from horai.runtime.records import Rows
from horai.runtime.sinks.files import claim, write_parquet
from horai.runtime.sinks.protocol import ROWS, About, Changes, Sink

CURRENT = "current.json"
OPEN = int(np.iinfo(np.int64).max)  # when rows end that have no end yet
SMALL, MANY = 1 << 16, 16  # so many segments of fewer rows than this are put together


class Segment(NamedTuple):
    """A file with rows of a name that end at `first` to `last`."""

    file: str
    rows: int
    first: int
    last: int


Segments = dict[str, list[Segment]]


class TableSink(Sink):
    """Exactly once: a step that is done again leaves the table as it is."""

    form = "table:FOLDER"

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def open(self, about: About) -> None:
        """See that the folder is ours."""
        claim(self.folder, about)

    def write(self, changes: Changes) -> None:
        """Bring the files of all names that change up to date."""
        current = _current(self.folder)
        if current["step"] >= changes.number:
            return
        before = segments_of(current)
        now = dict(before)
        table = changes.unordered() if changes.rows else ROWS.empty_table()

        def upsert(found: tuple[str, str, pa.Table]) -> tuple[str, list[Segment]]:
            kind, name, some = found
            key, stem = f"{kind} {name}", f"{kind}-{quote(name, safe='')}-{changes.number:09}"
            return key, self._upsert(before.get(key, []), some, stem)

        # Workers of Spark wait for this, so that all cores may help.
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            now.update(threads.map(upsert, _by_name(table)))
        query = changes.queries[-1] if changes.queries else current["query"]
        new = {"step": changes.number, "query": query, "files": now}
        write_whole(self.folder / CURRENT, json.dumps(new, indent=1).encode())
        self._tidy(before, now)

    def _upsert(self, segments: list[Segment], changes: pa.Table, stem: str) -> list[Segment]:
        """The segments of a name after some changes."""
        ends = np.sort(ends_of(changes))
        changed = [s for s in segments if _any_in(ends, s)]
        left = [s for s in segments if s not in changed]
        rows = upserted(self._read(changed), changes)
        over = ends_of(rows) < ends[0]  # nothing of this has changed, so it is likely to stay
        small = [s for s in left if s.rows < SMALL]
        settled = rows.filter(pa.array(over))
        if len(small) >= MANY:
            left = [s for s in left if s.rows >= SMALL]
            settled = pa.concat_tables([self._read(small), settled])
        left += self._segment(f"{stem}-settled.parquet", settled)
        left += self._segment(f"{stem}.parquet", rows.filter(pa.array(~over)))
        return left

    def _read(self, segments: list[Segment]) -> pa.Table:
        return read_segments(self.folder, segments)

    def _segment(self, file: str, rows: pa.Table) -> list[Segment]:
        if not rows.num_rows:
            return []
        write_parquet(self.folder / file, rows)
        ends = ends_of(rows)
        return [Segment(file, rows.num_rows, int(ends.min()), int(ends.max()))]

    def _tidy(self, before: Segments, now: Segments) -> None:
        """Remove old files; those of the step before stay for who is reading them."""
        kept = {s.file for some in (before, now) for listed in some.values() for s in listed}
        remove([path for path in self.folder.glob("*.parquet") if path.name not in kept])


def _any_in(ends: Rows, segment: Segment) -> bool:
    """Does anything of what is sorted here lie between the bounds of a segment?"""
    place = int(np.searchsorted(ends, segment.first))
    return place < len(ends) and int(ends[place]) <= segment.last


def ends_of(table: pa.Table) -> Rows:
    """When rows are over: the ends of intervals and the times of events."""
    ends = pc.fill_null(pc.coalesce(table["end"], table["time"]), OPEN)
    return np.asarray(ends.to_numpy(), np.int64)


def upserted(before: pa.Table, changes: pa.Table) -> pa.Table:
    """A table with the changes of one name: of each row, what was said of it last counts."""
    order = np.argsort(changes["query"].to_numpy(), kind="stable")
    both = pa.concat_tables([before, changes.take(pa.array(order))]).combine_chunks()
    rows, _ = dense(_keys(both), both.num_rows)
    last = np.zeros(both.num_rows, np.bool_)
    latest = np.zeros(int(rows.max(initial=-1)) + 1, np.int64)
    latest[rows] = np.arange(both.num_rows)  # of several the last one stays
    last[latest] = True
    there = pc.and_(pa.array(last), pc.equal(both["op"], "+"))
    return both.filter(there)


def _keys(table: pa.Table) -> list[Rows]:
    """Columns of numbers that are all equal only where rows are."""
    texts = [pc.binary_join(table["args"], "\x1f"), pc.fill_null(table["value"], "\x1d")]
    codes = [_whole(text).dictionary_encode().indices.to_numpy() for text in texts]
    times = [pc.fill_null(table[name], OPEN).to_numpy() for name in ("start", "end", "time")]
    return [np.asarray(column, np.int64) for column in (*codes, *times)]


def _whole(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _by_name(table: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    """The rows of each kind and name."""
    table = table.combine_chunks()
    kinds, names = (_whole(table[name]).dictionary_encode() for name in ("kind", "name"))
    codes = [np.asarray(column.indices.to_numpy(), np.int64) for column in (kinds, names)]
    numbers, firsts = dense(codes, table.num_rows)
    for number, first in enumerate(firsts.tolist()):
        kind, name = table["kind"][first].as_py(), table["name"][first].as_py()
        yield kind, name, table.take(pa.array(np.flatnonzero(numbers == number)))


def _current(folder: Path) -> dict[str, Any]:
    path = folder / CURRENT
    if not path.is_file():
        return {"step": 0, "query": None, "files": {}}
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def segments_of(current: dict[str, Any]) -> Segments:
    """The segments of all names that `current.json` lists."""
    return {key: [Segment(*one) for one in some] for key, some in current["files"].items()}


def read_segments(folder: Path, segments: list[Segment]) -> pa.Table:
    tables = [pq.read_table(folder / segment.file, schema=ROWS) for segment in segments]
    return pa.concat_tables([ROWS.empty_table(), *tables])


def read_current(folder: str | Path) -> pa.Table:
    """The table as it is now."""
    segments = segments_of(_current(Path(folder))).values()
    return read_segments(Path(folder), [segment for some in segments for segment in some])
