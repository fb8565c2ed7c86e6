"""Signals as columns: in which order they came, and what a whole run is given at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.admission import Dropped, Reason
from horai.engine.arrow_items import ORDER, numbers_of, read_items
from horai.engine.columns import concat
from horai.engine.lars.run import SignalRows
from horai.engine.symbols import Symbols
from horai.plan.lars.strata import Key
from horai.runtime.lars.answers import AtomFilter
from horai.temporal.spans import INF, Ints, Mask


def joined(one: SignalRows, other: SignalRows, symbols: Symbols) -> SignalRows:
    """Signals of one predicate, one after the other."""
    args = tuple(concat(pair, symbols) for pair in zip(one.args, other.args, strict=True))
    rest = (np.concatenate(pair) for pair in zip(one[1:], other[1:], strict=True))
    return SignalRows(args, *rest)


def only(rows: SignalRows, chosen: Mask) -> SignalRows:
    return SignalRows(
        tuple(column.take(chosen) for column in rows.args), *(c[chosen] for c in rows[1:])
    )


def numbered(
    tables: Iterable[io.ItemTable], files: Sequence[str] = (), first: int = 0
) -> list[io.ItemTable]:
    """Tables with the order of their rows: file after file as they were given, line after line.

    SignalRows that have an order keep it, and come before others.
    """
    listed = [table for table in tables if len(table)]
    if not listed:
        return []
    given = {name: place for place, name in enumerate(files)}
    coded = [_files(table) for table in listed]
    names = sorted({name for some, _ in coded for name in some})
    names.sort(key=lambda name: given.get(name, len(given)))
    rank = {name: place for place, name in enumerate(names)}
    places = [
        np.full(len(table), -1)
        if ORDER in table.table.column_names
        else np.array([rank[name] for name in some], np.int64)[rows]
        for table, (some, rows) in zip(listed, coded, strict=True)
    ]
    lines = np.concatenate(
        [
            numbers_of(table.table, ORDER if ORDER in table.table.column_names else "line")
            for table in listed
        ]
    )
    order = np.empty(len(lines), np.int64)
    order[np.lexsort((lines, np.concatenate(places)))] = np.arange(first, first + len(lines))
    borders = np.cumsum([len(table) for table in listed])[:-1]
    return [
        replace(table, table=_without_order(table).append_column(ORDER, pa.array(part)))
        for table, part in zip(listed, np.split(order, borders), strict=True)
    ]


def _without_order(table: io.ItemTable) -> pa.Table:
    has_order = ORDER in table.table.column_names
    return table.table.drop_columns([ORDER]) if has_order else table.table


def in_order(tables: Iterable[io.ItemTable]) -> list[io.Item]:
    """The rows of numbered tables one by one."""
    pairs = [
        pair
        for table in tables
        for pair in zip(table.table.column(ORDER).to_pylist(), table.items(), strict=True)
    ]
    return [row for _, row in sorted(pairs, key=lambda pair: pair[0])]


@dataclass(frozen=True)
class Coming:
    """Signals that come and stay, as numbered tables."""

    tables: Sequence[io.ItemTable]

    @classmethod
    def of(cls, tables: Sequence[io.ItemTable], shown: AtomFilter) -> Coming | None:
        """The signals of an input; None if they have to be taken one by one."""
        for table in tables:
            is_shown = shown.may_show((table.name, table.arity))
            if is_shown or bool((numbers_of(table.table, "op") < 0).any()):
                return None
        return cls(tables)

    def outside(self, start: int, last: int, end: int) -> tuple[list[Dropped], list[Dropped]]:
        """The rows that lie before a run, and those that arrive after its last query time."""
        early: list[Dropped] = []
        after: list[Dropped] = []
        for table in self.tables:
            late = numbers_of(table.table, "arrival") > last
            before = ~late & (numbers_of(table.table, "start") < start)
            for rows, found, text in (
                (before, early, f"lies before the start of the run, {start}"),
                (late, after, f"arrives after the last query time; the run ends at {end}"),
            ):
                places = np.flatnonzero(rows).tolist()
                found += [Dropped(table, row, Reason.OUTSIDE_RUN, last, text) for row in places]
        return early, after

    def rows(self, queries: range, start: int, symbols: Symbols) -> dict[Key, SignalRows]:
        """What an engine knows of them: each from the first query time after its arrival on."""
        times = np.arange(queries.start, queries.stop, queries.step)
        found: dict[Key, SignalRows] = {}
        for table in self.tables:
            batch = read_items(table, symbols, tick=1)
            fine = np.flatnonzero((batch.arrival <= times[-1]) & (batch.start >= start))
            known = times[np.searchsorted(times, batch.arrival[fine])]
            args = tuple(column.take(fine) for column in batch.args)
            ever = np.full(len(fine), INF)
            new = SignalRows(
                args, batch.start[fine], known, ever, numbers_of(table.table, ORDER)[fine]
            )
            key = (batch.name, batch.arity)
            found[key] = joined(found[key], new, symbols) if key in found else new
        return found


def _files(table: io.ItemTable) -> tuple[list[str], Ints]:
    """The files of rows: names, and which of them each row has."""
    column = table.table.column("file").unify_dictionaries().combine_chunks()
    rows: Ints = column.indices.to_numpy(zero_copy_only=False)
    return column.dictionary.to_pylist(), rows
