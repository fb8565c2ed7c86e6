"""Items in the order in which a run gets to know them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .items import ItemTable


def extent(tables: Iterable[ItemTable]) -> tuple[int, int] | None:
    """The first occurrence and the last time that rows name, None without rows."""
    columns = [table.table for table in tables if len(table)]
    if not columns:
        return None
    first = min(pc.min(table.column("start")).as_py() for table in columns)
    named = [
        pc.max(table.column(name)).as_py()
        for table in columns
        for name in ("arrival", "start", "end")
        if name in table.column_names
    ]
    return first, max(time for time in named if time is not None)


def by_arrival(tables: Iterable[ItemTable], queries: Sequence[int]) -> Iterator[list[ItemTable]]:
    """For every query time the rows that have arrived since the one before.

    The last query also gets what arrives later, so that none of it goes unnoticed.
    """
    cut = [_cut_by_arrival(table, queries) for table in tables if len(table)]
    for number in range(len(queries)):
        yield [
            replace(table, table=table.table.slice(bounds[number], rows))
            for table, bounds in cut
            if (rows := bounds[number + 1] - bounds[number])
        ]


def _cut_by_arrival(table: ItemTable, queries: Sequence[int]) -> tuple[ItemTable, Sequence[int]]:
    """The table sorted by arrival, and where the rows of each query time begin."""
    if len(queries) == 1:
        return table, (0, len(table))
    arrival = table.table.column("arrival").to_numpy()
    if not bool((arrival[1:] >= arrival[:-1]).all()):
        order = np.argsort(arrival, kind="stable")
        table = replace(table, table=table.table.take(pa.array(order)))
        arrival = arrival[order]
    bounds = np.searchsorted(arrival, np.asarray(queries[:-1], np.int64), side="right")
    return table, [0, *bounds.tolist(), len(table)]
