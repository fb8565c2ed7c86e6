"""Signals as columns: all that a program knows of them, and what a whole run is given at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.arrow_items import ItemBatch, read_items
from horai.engine.columns import codes_of, concat
from horai.engine.core.lars import SignalRows
from horai.engine.origins import Dropped, Reason
from horai.engine.symbols import Symbols
from horai.plan.lars.strata import Key
from horai.runtime.lars.answers import AtomFilter
from horai.temporal.spans import INF, Ints, Mask

ORDER = "order"
"""The column that says in which order signals of one time point came."""


class Log:
    """All signals from `first` on that may still count."""

    def __init__(self, first: int, symbols: Symbols) -> None:
        self.first = first
        self.symbols = symbols
        self.rows: dict[Key, SignalRows] = {}
        self.refused: list[Dropped] = []
        self.waiting: list[io.ItemTable] = []  # rows that lay ahead of the query time

    def take(self, table: io.ItemTable, border: int, query: int) -> int:
        """Take in rows of events; gives the first point that changes, `INF` if none does.

        What lies at or before the border is final.
        """
        batch = read_items(table, self.symbols, tick=1)
        order = table.table.column(ORDER).to_numpy()
        fine = self._judged(table, batch, border, query)
        plus = np.flatnonzero(fine & (batch.op > 0))
        change = int(batch.start[plus].min(initial=INF))
        key = (batch.name, batch.arity)
        known = len(self.rows[key]) if key in self.rows else 0
        self._append(batch, plus, order)
        gone = np.flatnonzero(fine & (batch.op < 0))
        if len(gone):
            change = min(change, self._retract(table, batch, gone, plus, known, query))
        return change

    def _judged(self, table: io.ItemTable, batch: ItemBatch, border: int, query: int) -> Mask:
        """Which rows count; the others are noted."""
        early = batch.start < self.first
        late = (batch.start <= border) & ~early
        before = f"lies before the start of the run, {self.first - 1}"
        self._refuse(table, early, Reason.OUTSIDE_RUN, query, before)
        self._refuse(
            table, late, Reason.TOO_LATE, query, f"arrived when all up to {border} was final"
        )
        ahead = batch.start > query
        if ahead.any():
            self.waiting.append(table.where(ahead))
        return ~(early | late)

    def _refuse(
        self, table: io.ItemTable, rows: Mask, reason: Reason, query: int, text: str
    ) -> None:
        places = np.flatnonzero(rows).tolist()
        self.refused += [Dropped(table, place, reason, query, text) for place in places]

    def ahead(self, query: int) -> list[Dropped]:
        """The rows that lie after a query time."""
        text = "lies after the end of the run"
        return [
            Dropped(table, place, Reason.OUTSIDE_RUN, query, text)
            for table in self.waiting
            for place in np.flatnonzero(_numbers(table, "start") > query).tolist()
        ]

    def _append(self, batch: ItemBatch, rows: Ints, order: Ints) -> None:
        new = SignalRows(
            tuple(column.take(rows) for column in batch.args),
            batch.start[rows],
            np.full(len(rows), self.first),
            np.full(len(rows), INF),
            order[rows],
        )
        key = (batch.name, batch.arity)
        self.rows[key] = joined(self.rows[key], new, self.symbols) if key in self.rows else new

    def _retract(
        self,
        table: io.ItemTable,
        batch: ItemBatch,
        gone: Ints,
        plus: Ints,
        known: int,
        query: int,
    ) -> int:
        """Each takes back the last signal before it that says the same."""
        key = (batch.name, batch.arity)
        rows = self.rows[key]
        said = [codes_of(column, self.symbols) for column in rows.args]
        asked = [codes_of(column, self.symbols) for column in batch.args]
        there = np.ones(len(rows), np.bool_)
        change = INF
        for row in gone.tolist():
            same = there & (rows.time == batch.start[row])
            same[known + int(np.searchsorted(plus, row)) :] = False
            for mine, theirs in zip(said, asked, strict=True):
                same &= mine == theirs[row]
            found = np.flatnonzero(same)
            if len(found):
                there[found[-1]] = False
                change = min(change, int(batch.start[row]))
            else:
                reason = "takes back a signal that was never there"
                self.refused.append(Dropped(table, row, Reason.UNKNOWN_RETRACTION, query, reason))
        self.rows[key] = only(rows, there)
        return change

    def forget(self, before: int) -> None:
        """Drop signals that nobody looks at any more."""
        for key, rows in self.rows.items():
            if len(rows) and int(rows.time.min()) < before:
                self.rows[key] = only(rows, rows.time >= before)


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
            _numbers(table, ORDER if ORDER in table.table.column_names else "line")
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
            if is_shown or bool((_numbers(table, "op") < 0).any()):
                return None
        return cls(tables)

    def outside(self, start: int, last: int, end: int) -> tuple[list[Dropped], list[Dropped]]:
        """The rows that lie before a run, and those that arrive after its last query time."""
        early: list[Dropped] = []
        after: list[Dropped] = []
        for table in self.tables:
            late = _numbers(table, "arrival") > last
            before = ~late & (_numbers(table, "start") < start)
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
            new = SignalRows(args, batch.start[fine], known, ever, _numbers(table, ORDER)[fine])
            key = (batch.name, batch.arity)
            found[key] = joined(found[key], new, symbols) if key in found else new
        return found


def _files(table: io.ItemTable) -> tuple[list[str], Ints]:
    """The files of rows: names, and which of them each row has."""
    column = table.table.column("file").unify_dictionaries().combine_chunks()
    rows: Ints = column.indices.to_numpy(zero_copy_only=False)
    return column.dictionary.to_pylist(), rows


def _numbers(table: io.ItemTable, name: str) -> Ints:
    found: Ints = table.table.column(name).to_numpy()
    return found
