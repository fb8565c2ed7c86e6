"""A narrative in memory: typed tables of items, in the order in which a run gets to know them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.items.rows import Header, Item, RowReader, header_of
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.schema import Kind, RowForm, TableKey
from horai.io.terms import META, SYMBOLS, Term, TermColumn, TermKind, concat, from_terms, to_terms

Numbers = np.ndarray[Any, np.dtype[np.int64]]


# Marked, so that a reader of this very table does not take them for arguments.
_ORIGIN = {b"horai.role": b"origin"}
_FIELDS = {
    **{name: pa.field(name, pa.int64(), nullable=False) for name in ("arrival", "start")},
    "op": pa.field("op", pa.int8(), nullable=False),
    "end": pa.field("end", pa.int64()),
    "file": pa.field("file", SYMBOLS, nullable=False, metadata=_ORIGIN),
    "line": pa.field("line", pa.int64(), nullable=False, metadata=_ORIGIN),
}


@dataclass(frozen=True)
class ItemTable:
    """Items of one name, arity, kind and form of row.

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
    def of_columns(
        cls,
        key: TableKey,
        file: pa.Array | str,
        line: pa.Array,
        op: pa.Array,
        arrival: pa.Array,
        start: pa.Array,
        end: pa.Array | None,
        value: TermColumn | None,
        args: Sequence[TermColumn],
    ) -> ItemTable:
        """The table of columns; an end is for intervals, a value for fluents."""
        if isinstance(file, str):
            file = one_file(file, len(line))
        times = {"op": op, "arrival": arrival, "start": start, "end": end}
        terms = {"value": value, **{f"a{place}": column for place, column in enumerate(args)}}
        fields, arrays = [], []
        for name, column in {**times, **terms, "file": file, "line": line}.items():
            if column is not None:
                is_term = isinstance(column, TermColumn)
                fields.append(column.field(name) if is_term else _FIELDS[name])
                arrays.append(column.array if is_term else column)
        return cls(*key, pa.Table.from_arrays(arrays, schema=pa.schema(fields)))

    @classmethod
    def of_items(cls, items: Sequence[Item]) -> ItemTable:
        """The table of items that belong to the same one."""
        key = items[0].key
        return cls.of_columns(
            key,
            pa.array([item.file for item in items], pa.string()).dictionary_encode().cast(SYMBOLS),
            pa.array([item.line for item in items], pa.int64()),
            pa.array([item.op for item in items], pa.int8()),
            pa.array([item.arrival for item in items], pa.int64()),
            pa.array([item.start for item in items], pa.int64()),
            pa.array([item.end for item in items], pa.int64()) if key.form == "intervals" else None,
            from_terms([_value(item) for item in items]) if key.kind == "fluent" else None,
            [from_terms([item.args[i] for item in items]) for i in range(key.arity)],
        )

    @property
    def key(self) -> TableKey:
        return TableKey(self.name, self.arity, self.kind, self.form)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def where(self, rows: object) -> ItemTable:
        """Some of the items, by a mask."""
        return replace(self, table=self.table.filter(pa.array(rows)))

    def with_lines(self, lines: Numbers) -> ItemTable:
        """The same items, from other lines."""
        place = self.table.schema.get_field_index("line")
        column = pa.array(lines, pa.int64())
        return replace(self, table=self.table.set_column(place, _FIELDS["line"], column))

    def in_line_order(self) -> ItemTable:
        """The same items, sorted by line."""
        lines: Numbers = self.table.column("line").to_numpy()
        if bool((lines[1:] >= lines[:-1]).all()):
            return self
        return replace(self, table=self.table.take(pa.array(np.argsort(lines, kind="stable"))))

    def column(self, name: str) -> TermColumn:
        """An argument or value column with its kind."""
        kind: TermKind = self.table.schema.field(name).metadata[META].decode()
        return TermColumn(kind, whole_column(self.table.column(name)))

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


def _value(item: Item) -> Term:
    if item.value is None:
        raise ValueError(f"an item of the fluent {item.name} needs a value: {item}")
    return item.value


def one_file(name: str, rows: int) -> pa.DictionaryArray:
    """The file column of rows that all come from one file."""
    codes = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array([name], pa.string()))


def whole_column(column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return column.combine_chunks()


def by_table(items: Iterable[Item]) -> list[ItemTable]:
    """Items as tables, each in their order."""
    groups: dict[TableKey, list[Item]] = {}
    for item in items:
        groups.setdefault(item.key, []).append(item)
    return [ItemTable.of_items(group) for group in groups.values()]


def united(tables: Iterable[ItemTable]) -> list[ItemTable]:
    """Tables of the same key one after the other, as one, whatever kinds of terms they have."""
    groups: dict[TableKey, list[ItemTable]] = {}
    for table in tables:
        groups.setdefault(table.key, []).append(table)
    return [some[0] if len(some) == 1 else _one(some) for some in groups.values()]


def _one(tables: Sequence[ItemTable]) -> ItemTable:
    first = tables[0].table
    fields, arrays = [], []
    for field_ in first.schema:
        if META in (field_.metadata or {}):
            column = concat([table.column(field_.name) for table in tables])
            fields.append(column.field(field_.name))
            arrays.append(column.array)
        else:
            chunks = [one for table in tables for one in table.table.column(field_.name).chunks]
            fields.append(field_)
            arrays.append(whole_column(pa.chunked_array(chunks, field_.type)))
    return replace(tables[0], table=pa.Table.from_arrays(arrays, schema=pa.schema(fields)))


@dataclass
class Harvest:
    """Collects the rows of one file in whatever order those who read it find them.

    `reader` judges single rows; readers of columns ask it about each row they are not sure of. It
    learns from the header of a file what no row says.
    """

    reader: RowReader
    tables: list[ItemTable] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.reader.file

    def header(self, names: Sequence[str], ignore: Iterable[int] = ()) -> Header:
        """The header of a table with these columns."""
        found = header_of(names, self.reader, ignore)
        self.reader = self.reader._replace(type_name=found.type_name)
        return found

    def add(self, table: ItemTable) -> None:
        # A column without rows has no type of its own and must not spoil that of others.
        if len(table):
            self.tables.append(table)

    def row(self, line: int, raw: object, read: Callable[[], Item | None]) -> None:
        """Keep the item that `read` returns, or a dead letter if it says the row is bad."""
        try:
            item = read()
        except BadRow as bad:
            self.refuse(line, raw, bad.code, bad.reason)
        else:
            if item is not None:
                self.items.append(item)

    def refuse(self, line: int, raw: object, code: str, reason: str) -> None:
        """Set a row aside."""
        self.letters.append(DeadLetter(self.file, line, as_text(raw), reason, code))

    def settle(self) -> None:
        """Called after each piece of a file, whose rows come in order: obey `strict`."""
        if self.reader.strict and self.letters:
            raise InputError.from_letter(self.letters[0])

    @property
    def is_empty(self) -> bool:
        """Had the file no rows, neither good nor bad?"""
        return not (self.tables or self.items or self.letters)

    def sorted_tables(self) -> list[ItemTable]:
        """One table for each key, its rows in the order of the file."""
        return [table.in_line_order() for table in united([*self.tables, *by_table(self.items)])]


def as_text(raw: object) -> str:
    """A row as the text of its dead letter."""
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(raw, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(raw)


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
        return cls.of(by_table(items), dead_letters)

    @classmethod
    def of(cls, tables: Iterable[ItemTable], dead_letters: Iterable[DeadLetter] = ()) -> Narrative:
        """A narrative of tables, of which several may have the same key, in their order."""
        return cls(tuple(sorted(united(tables), key=lambda one: one.key)), list(dead_letters))

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
