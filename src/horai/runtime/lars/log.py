"""The signals that a program knows: rows of the stream as they come, wait and are taken back.

All signals of a run as columns, for an engine that works out all query times at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.arrow_items import ItemBatch, read_items
from horai.engine.columns import codes_of, concat
from horai.engine.lars.signals import Key, Rows
from horai.engine.symbols import Symbols
from horai.runtime.inputs import row_text
from horai.runtime.lars.result import ShownAtoms
from horai.temporal.spans import INF, Ints, Mask

ORDER = "order"
"""The column that says in which order signals of one time point came."""


class RefusedRow(NamedTuple):
    """A row that was not used, by its place in its table."""

    table: io.ItemTable
    row: int
    code: str
    reason: str
    is_after: bool = False  # it arrives after the end of the run


class Log:
    """All signals from `first` on that may still count."""

    def __init__(self, first: int, symbols: Symbols) -> None:
        self.first = first
        self.symbols = symbols
        self.rows: dict[Key, Rows] = {}
        self.refused: list[RefusedRow] = []
        self.waiting: list[tuple[int, RefusedRow]] = []  # rows ahead of the query time

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
            change = min(change, self._retract(table, batch, gone, plus, known))
        return change

    def _judged(self, table: io.ItemTable, batch: ItemBatch, border: int, query: int) -> Mask:
        """Which rows count; the others are noted."""
        early, after = batch.start < self.first, batch.arrival > query
        late = (batch.start <= border) & ~early & ~after
        reasons = (
            (early & ~after, "outside-run", f"lies before the start of the run, {self.first - 1}"),
            (after, "outside-run", f"arrives after the end of the run, {query}"),
            (late, "too-late", f"arrived when all up to {border} was final"),
        )
        for mask, code, reason in reasons:
            for row in np.flatnonzero(mask).tolist():
                self.refused.append(RefusedRow(table, row, code, reason, mask is after))
        fine: Mask = ~(early | late | after)
        for row in np.flatnonzero(fine & (batch.start > query)).tolist():
            letter = RefusedRow(table, row, "outside-run", "lies after the end of the run")
            self.waiting.append((int(batch.start[row]), letter))
        return fine

    def _append(self, batch: ItemBatch, rows: Ints, order: Ints) -> None:
        new = Rows(
            tuple(column.take(rows) for column in batch.args),
            batch.start[rows],
            np.full(len(rows), self.first),
            np.full(len(rows), INF),
            order[rows],
        )
        key = (batch.name, batch.arity)
        self.rows[key] = joined(self.rows[key], new, self.symbols) if key in self.rows else new

    def _retract(
        self, table: io.ItemTable, batch: ItemBatch, gone: Ints, plus: Ints, known: int
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
                self.refused.append(RefusedRow(table, row, "unknown-retraction", reason))
        self.rows[key] = only(rows, there)
        return change

    def forget(self, before: int) -> None:
        """Drop signals that nobody looks at any more."""
        for key, rows in self.rows.items():
            if len(rows) and int(rows.time.min()) < before:
                self.rows[key] = only(rows, rows.time >= before)


def joined(one: Rows, other: Rows, symbols: Symbols) -> Rows:
    """Signals of one predicate, one after the other."""
    args = tuple(concat(pair, symbols) for pair in zip(one.args, other.args, strict=True))
    rest = (np.concatenate(pair) for pair in zip(one[1:], other[1:], strict=True))
    return Rows(args, *rest)


def only(rows: Rows, chosen: Mask) -> Rows:
    """Some of the signals."""
    return Rows(tuple(column.take(chosen) for column in rows.args), *(c[chosen] for c in rows[1:]))


def numbered(tables: Iterable[io.ItemTable], first: int = 0) -> list[io.ItemTable]:
    """Tables with the order of their rows, which is that of files and lines."""
    listed = [table for table in tables if len(table)]
    if not listed:
        return []
    files: dict[str, int] = {}
    places = []
    for table in listed:
        column = table.table.column("file").combine_chunks()
        names = [files.setdefault(name, len(files)) for name in column.dictionary.to_pylist()]
        places.append(np.array(names, np.int64)[column.indices.to_numpy()])
    lines = np.concatenate([table.table.column("line").to_numpy() for table in listed])
    rank = np.empty(len(lines), np.int64)
    rank[np.lexsort((lines, np.concatenate(places)))] = np.arange(first, first + len(lines))
    borders = np.cumsum([len(table) for table in listed])[:-1]
    return [
        replace(table, table=table.table.append_column(ORDER, pa.array(part)))
        for table, part in zip(listed, np.split(rank, borders), strict=True)
    ]


def letter_of(refused: RefusedRow) -> io.DeadLetter:
    """What is told of a row that was not used."""
    table = refused.table
    few = table.table.take(pa.array([refused.row]))
    (row,) = replace(table, table=few).items()
    return io.DeadLetter(row.file, row.line, row_text(row), refused.reason, refused.code)


@dataclass(frozen=True)
class Coming:
    """Signals that come and stay: tables, and the place of each row in the order of the input."""

    tables: list[io.ItemTable]
    order: list[Ints]

    @classmethod
    def of(cls, narrative: io.Narrative, files: Sequence[str], shown: ShownAtoms) -> Coming | None:
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
