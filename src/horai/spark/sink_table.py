"""A table of what holds as far as is known: intervals and events, without what was taken back.

The table is in files, one for each name, and `current.json` tells which ones. A step writes the
files of names that change, and then that list: who reads the list sees a step whole or not at all.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from horai.spark.changelog import ROWS, Changes
from horai.spark.files import remove, write_whole
from horai.spark.jars import Part
from horai.spark.sink_files import claim, parquet
from horai.spark.sinks import About

CURRENT = "current.json"
_KEYS = ("value", "start", "end", "time")


class TableSink:
    """Exactly once: a step that is done again leaves the table as it is."""

    parts: tuple[Part, ...] = ()

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)

    def open(self, about: About) -> None:
        """See that the folder is ours."""
        claim(self.folder, about)

    def write(self, changes: Changes) -> None:
        """Bring the files of all names that change up to date."""
        current = self._current()
        if current["step"] >= changes.number:
            return
        table = changes.table() if changes.rows else ROWS.empty_table()
        files: dict[str, str] = dict(current["files"])
        for kind, name in sorted(set(zip(*_pair(table), strict=True))):
            mine = pc.and_(pc.equal(table["kind"], kind), pc.equal(table["name"], name))
            key = f"{kind} {name}"
            before = ROWS.empty_table()
            if key in files:
                before = pq.read_table(self.folder / files[key])
            files[key] = f"{kind}-{quote(name, safe='')}-{changes.number:09}.parquet"
            write_whole(self.folder / files[key], parquet(upserted(before, table.filter(mine))))
        query = changes.queries[-1] if changes.queries else current["query"]
        new = {"step": changes.number, "query": query, "files": files}
        write_whole(self.folder / CURRENT, json.dumps(new, indent=1).encode())
        self._tidy(current["files"], files)

    def close(self) -> None:
        """The table is complete after every step."""

    def _current(self) -> dict[str, Any]:
        path = self.folder / CURRENT
        if not path.is_file():
            return {"step": 0, "query": None, "files": {}}
        found: dict[str, Any] = json.loads(path.read_bytes())
        return found

    def _tidy(self, before: dict[str, str], now: dict[str, str]) -> None:
        """Remove old files; those of the step before stay for who is reading them."""
        kept = {*before.values(), *now.values()}
        remove([path for path in self.folder.glob("*.parquet") if path.name not in kept])


def upserted(before: pa.Table, changes: pa.Table) -> pa.Table:
    """A table with the changes of one name: of each row, what was said of it last counts."""
    keys = _keys(changes)
    order = np.argsort(changes["query"].to_numpy(), kind="stable")[::-1]
    _, last = np.unique(keys.to_numpy(zero_copy_only=False)[order], return_index=True)
    newest = changes.take(pa.array(np.sort(order[last])))
    stays = pc.invert(pc.is_in(_keys(before), value_set=keys))
    return pa.concat_tables(
        [before.filter(stays), newest.filter(pc.equal(newest["op"], "+"))]
    ).combine_chunks()


def _keys(table: pa.Table) -> pa.Array:
    """A text for each row that only equal rows have."""
    parts = [pc.binary_join(table["args"], "\x1f")]
    parts += [pc.fill_null(table[name].cast(pa.string()), "\x1d") for name in _KEYS]
    found = pc.binary_join_element_wise(*parts, "\x1e")
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _pair(table: pa.Table) -> tuple[list[str], list[str]]:
    return table["kind"].to_pylist(), table["name"].to_pylist()


def read_current(folder: str | Path) -> pa.Table:
    """The table as it is now."""
    files = json.loads((Path(folder) / CURRENT).read_bytes())["files"].values()
    tables = [pq.read_table(Path(folder) / file) for file in files]
    return pa.concat_tables([ROWS.empty_table(), *tables])
