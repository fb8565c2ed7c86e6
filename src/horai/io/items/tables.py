"""A narrative in memory: typed tables of items, in the order in which a run gets to know them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.blocks import Block, by_table, table_of_block, united
from horai.io.items.rows import Item
from horai.io.letters import DeadLetter
from horai.io.schema import Kind, RowForm, TableKey
from horai.io.terms import META, Term, TermColumn, TermKind, to_terms


@dataclass(frozen=True)
class ItemTable:
    """All items of one name, arity, kind and form of row.

    Columns of `table`: `op` (+1 insert, -1 retract), `arrival`, `start`, then `end` (intervals
    only; null = still open), `value` (fluents only), the arguments `a0`, `a1`, ..., and where the
    row came from: `file`, `line`. The metadata `horai.type` of `value` and the arguments is
    `int`, `float`, `atom` or `term`.
    """

    name: str
    arity: int
    kind: Kind
    form: RowForm
    table: pa.Table

    @classmethod
    def of_block(cls, block: Block) -> ItemTable:
        """The table of a block."""
        return cls(*block.key, table_of_block(block))

    @property
    def key(self) -> TableKey:
        return TableKey(self.name, self.arity, self.kind, self.form)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def where(self, rows: object) -> ItemTable:
        """Some of the items, by a mask."""
        return replace(self, table=self.table.filter(pa.array(rows)))

    def column(self, name: str) -> TermColumn:
        """An argument or value column with its kind."""
        kind: TermKind = self.table.schema.field(name).metadata[META].decode()
        chunks = self.table.column(name)
        is_whole = chunks.num_chunks == 1  # else it is copied
        return TermColumn(kind, chunks.chunk(0) if is_whole else chunks.combine_chunks())

    def items(self) -> Iterator[Item]:
        """The rows as plain Python values."""
        plain = {name: self.table.column(name).to_pylist() for name in ("op", "arrival", "start")}
        rows = len(self)
        ends = self.table.column("end").to_pylist() if self.form == "intervals" else [None] * rows
        values = to_terms(self.column("value")) if self.kind == "fluent" else [None] * rows
        columns = [to_terms(self.column(f"a{i}")) for i in range(self.arity)]
        args: Iterable[tuple[Term, ...]] = zip(*columns, strict=True) if columns else [()] * rows
        origins = (self.table.column(name).to_pylist() for name in ("file", "line"))
        for op, arrival, start, end, value, row_args, file, line in zip(
            *plain.values(), ends, values, args, *origins, strict=True
        ):
            yield Item(
                op,
                self.name,
                self.kind,
                self.form,
                arrival,
                start,
                end,
                value,
                row_args,
                file,
                line,
            )


class ReadCounts(NamedTuple):
    """How much was read, in numbers."""

    items: int
    inserts: int
    retractions: int
    dead_letters: int
    by_type: dict[str, int]
    by_code: dict[str, int]


@dataclass(frozen=True)
class Narrative:
    """A narrative: tables ordered by name, each in the order of the input, and dead letters.

    `empty` are the files that had no rows at all.
    """

    tables: tuple[ItemTable, ...]
    dead_letters: list[DeadLetter]
    empty: tuple[str, ...] = ()

    @classmethod
    def from_items(
        cls, items: Iterable[Item], dead_letters: Iterable[DeadLetter] = ()
    ) -> Narrative:
        """A narrative of items made in Python, each table in the order given."""
        return cls.from_blocks(by_table(items), dead_letters)

    @classmethod
    def from_blocks(
        cls, blocks: Iterable[Block], dead_letters: Iterable[DeadLetter] = ()
    ) -> Narrative:
        """A narrative of blocks of typed columns, in their order."""
        found = sorted(united(blocks), key=lambda block: block.key)
        return cls(tuple(map(ItemTable.of_block, found)), list(dead_letters))

    def items(self) -> Iterator[Item]:
        """All items, table by table."""
        for table in self.tables:
            yield from table.items()

    def __len__(self) -> int:
        return sum(len(table) for table in self.tables)

    def counts(self) -> ReadCounts:
        """How many items, by operation and type, and how many dead letters, by code."""
        by_type: Counter[str] = Counter()
        inserts = 0
        for table in self.tables:
            by_type[table.name] += len(table)
            inserts += pc.sum(pc.equal(table.table.column("op"), 1)).as_py()
        by_code = Counter(letter.code for letter in self.dead_letters)
        total = len(self)
        return ReadCounts(
            total, inserts, total - inserts, len(self.dead_letters), dict(by_type), dict(by_code)
        )


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
