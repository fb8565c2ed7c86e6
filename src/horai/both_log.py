"""The signals that a program knows: rows of the stream as they come, wait and are taken back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from horai import io
from horai.engine.arrow_items import ItemBatch, read_items
from horai.engine.columns import codes_of, concat
from horai.engine.lars.signals import Key, Rows
from horai.engine.symbols import Symbols
from horai.inputs import row_text
from horai.temporal.spans import INF, Ints, Mask

ORDER = "order"
"""The column that says in which order signals of one time point came."""


class Refused(NamedTuple):
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
        self.refused: list[Refused] = []
        self.waiting: list[tuple[int, Refused]] = []  # rows ahead of the query time

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
                self.refused.append(Refused(table, row, code, reason, mask is after))
        fine: Mask = ~(early | late | after)
        for row in np.flatnonzero(fine & (batch.start > query)).tolist():
            letter = Refused(table, row, "outside-run", "lies after the end of the run")
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
                self.refused.append(Refused(table, row, "unknown-retraction", reason))
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


def letter_of(refused: Refused) -> io.DeadLetter:
    """What is told of a row that was not used."""
    table = refused.table
    few = table.table.take(pa.array([refused.row]))
    (row,) = replace(table, table=few).items()
    return io.DeadLetter(row.file, row.line, row_text(row), refused.reason, refused.code)
