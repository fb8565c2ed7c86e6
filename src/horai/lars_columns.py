"""All signals of a run as columns, for an engine that works out all query times at once.

Rows one by one are needed where some are taken back, or where signals are shown beside what rules
derive. Most runs do neither, and there the columns of the input go to the engine as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from horai import io
from horai.both_log import joined
from horai.engine.arrow_items import read_items
from horai.engine.lars.signals import Key, Rows
from horai.engine.symbols import Symbols
from horai.lars_result import Shown
from horai.temporal.spans import INF, Ints, Mask


@dataclass(frozen=True)
class Coming:
    """Signals that come and stay: tables, and the place of each row in the order of the input."""

    tables: list[io.ItemTable]
    order: list[Ints]

    @classmethod
    def of(cls, narrative: io.Narrative, files: Sequence[str], shown: Shown) -> Coming | None:
        """The signals of an input; None if they have to be taken one by one."""
        tables = [table for table in narrative.tables if len(table)]
        for table in tables:
            is_shown = shown.may_show((table.name, table.arity))
            if is_shown or bool((_numbers(table, "op") < 0).any()):
                return None
        return cls(tables, _order(tables, files))

    def outside(self, start: int, end: int) -> tuple[list[io.Item], list[io.Item]]:
        """The rows that lie before a run, and those that arrive after it."""
        early, after = [], []
        for table in self.tables:
            late = _numbers(table, "arrival") > end
            after += _some(table, late)
            early += _some(table, ~late & (_numbers(table, "start") < start))
        return early, after

    def rows(self, queries: range, start: int, symbols: Symbols) -> dict[Key, Rows]:
        """What an engine knows of them: each from the first query time after its arrival on."""
        times = np.arange(queries.start, queries.stop, queries.step)
        found: dict[Key, Rows] = {}
        for table, order in zip(self.tables, self.order, strict=True):
            batch = read_items(table, symbols, tick=1)
            fine = np.flatnonzero((batch.arrival <= times[-1]) & (batch.start >= start))
            known = times[np.searchsorted(times, batch.arrival[fine])]
            args = tuple(column.take(fine) for column in batch.args)
            ever = np.full(len(fine), INF)
            new = Rows(args, batch.start[fine], known, ever, order[fine])
            key = (batch.name, batch.arity)
            found[key] = joined(found[key], new, symbols) if key in found else new
        return found


def _order(tables: Sequence[io.ItemTable], files: Sequence[str]) -> list[Ints]:
    """The places of rows among all: file after file as they were given, line after line."""
    if not tables:
        return []
    given = {name: place for place, name in enumerate(files)}
    coded = [_codes(table) for table in tables]
    names = sorted({name for listed, _ in coded for name in listed})
    names.sort(key=lambda name: given.get(name, len(given)))
    rank = {name: place for place, name in enumerate(names)}
    parts = [np.array([rank[name] for name in listed])[rows] for listed, rows in coded]
    lines = np.concatenate([_numbers(table, "line") for table in tables])
    places = np.empty(len(lines), np.int64)
    places[np.lexsort((lines, np.concatenate(parts)))] = np.arange(len(lines))
    return np.split(places, np.cumsum([len(table) for table in tables])[:-1])


def _codes(table: io.ItemTable) -> tuple[list[str], Ints]:
    """The files of rows: names, and which of them each row has."""
    column = table.table.column("file").unify_dictionaries().combine_chunks()
    rows: Ints = column.indices.to_numpy(zero_copy_only=False)
    return column.dictionary.to_pylist(), rows


def _numbers(table: io.ItemTable, name: str) -> Ints:
    found: Ints = table.table.column(name).to_numpy()
    return found


def _some(table: io.ItemTable, chosen: Mask) -> list[io.Item]:
    rows = pa.array(np.flatnonzero(chosen))
    return list(replace(table, table=table.table.take(rows)).items()) if len(rows) else []
