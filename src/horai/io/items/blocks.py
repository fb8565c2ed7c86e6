"""Blocks: rows of one kind as typed columns, and the harvest of a file: blocks and dead letters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from horai.io.items.rows import Item, RowReader
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.schema import InputSchema, TableKey
from horai.io.terms import SYMBOLS, Term, TermColumn, concat, from_terms
from horai.io.times import TimeScale

Format = Literal["narrative", "csv", "jsonl", "parquet", "arrow"]

Numbers = np.ndarray[Any, np.dtype[np.int64]]


Column: TypeAlias = pa.Array | TermColumn


@dataclass(frozen=True)
class Block:
    """Some rows of one table. Its columns have the names and the order of those of `ItemTable`."""

    key: TableKey
    columns: dict[str, Column]

    @classmethod
    def of(
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
    ) -> Block:
        """A block of columns; an end is for intervals, a value for fluents."""
        if isinstance(file, str):
            file = one_file(file, len(line))
        terms = {"value": value, **{f"a{place}": column for place, column in enumerate(args)}}
        columns = {"op": op, "arrival": arrival, "start": start, "end": end, **terms}
        columns |= {"file": file, "line": line}
        return cls(key, {name: one for name, one in columns.items() if one is not None})

    def __len__(self) -> int:
        return len(self.columns["line"])

    def take(self, rows: pa.Array) -> Block:
        """The given rows, in the given order."""
        return Block(self.key, {name: one.take(rows) for name, one in self.columns.items()})

    def in_line_order(self) -> Block:
        """The same rows, sorted by line."""
        lines: Numbers = np.asarray(self.columns["line"])
        if bool((lines[1:] >= lines[:-1]).all()):
            return self
        return self.take(pa.array(np.argsort(lines, kind="stable")))


def one_file(name: str, rows: int) -> pa.DictionaryArray:
    """The file column of rows that all come from one file."""
    codes = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array([name], pa.string()))


def block_of(items: Sequence[Item]) -> Block:
    """A block of items that belong to the same table."""
    key = items[0].key
    return Block.of(
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


def _value(item: Item) -> Term:
    if item.value is None:
        raise ValueError(f"an item of the fluent {item.name} needs a value: {item}")
    return item.value


def by_table(items: Iterable[Item]) -> list[Block]:
    """Items as one block per table, each in their order."""
    groups: dict[TableKey, list[Item]] = {}
    for item in items:
        groups.setdefault(item.key, []).append(item)
    return [block_of(group) for group in groups.values()]


def united(blocks: Iterable[Block]) -> list[Block]:
    """The blocks of each table one after the other, as one."""
    groups: dict[TableKey, list[Block]] = {}
    for block in blocks:
        groups.setdefault(block.key, []).append(block)
    return [some[0] if len(some) == 1 else _one(some) for some in groups.values()]


def _one(blocks: Sequence[Block]) -> Block:
    first = blocks[0]
    columns = {n: _concat([block.columns[n] for block in blocks]) for n in first.columns}
    return Block(first.key, columns)


def _concat(columns: Sequence[Column]) -> Column:
    if isinstance(columns[0], TermColumn):
        return concat(columns)
    if pa.types.is_dictionary(columns[0].type):
        return concat([TermColumn("atom", column) for column in columns]).array
    return pa.concat_arrays(columns)


# Marked, so that a reader of this very table does not take them for arguments.
_ORIGIN = {b"horai.role": b"origin"}
_FIELDS = {
    **{name: pa.field(name, pa.int64(), nullable=False) for name in ("arrival", "start")},
    "op": pa.field("op", pa.int8(), nullable=False),
    "end": pa.field("end", pa.int64()),
    "file": pa.field("file", SYMBOLS, nullable=False, metadata=_ORIGIN),
    "line": pa.field("line", pa.int64(), nullable=False, metadata=_ORIGIN),
}


def table_of_block(block: Block) -> pa.Table:
    """The Arrow table of all rows of one table."""
    fields, arrays = [], []
    for name, column in block.columns.items():
        is_term = isinstance(column, TermColumn)
        fields.append(column.field(name) if is_term else _FIELDS[name])
        arrays.append(column.array if is_term else column)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


class Options(NamedTuple):
    """How rows are read: what the rules know, how times are meant, and what the caller has said."""

    schema: InputSchema
    clock: TimeScale
    type_name: str | None = None
    strict: bool = False
    format: Format | None = None

    def harvest(self, file: str) -> Harvest:
        """The harvest of a file, which has not begun."""
        return Harvest(RowReader(self.schema, self.clock, file, self.type_name), self.strict)

    def is_json(self, lines: bytes) -> bool:
        """Are lines that are no file JSON? The first one that says something tells."""
        return (self.format or lines.lstrip()[:1]) in ("jsonl", b"{")


@dataclass
class Harvest:
    """Collects the rows of one file in whatever order those who read it find them.

    `reader` judges single rows; readers of columns ask it about each row they are not sure of.
    """

    reader: RowReader
    strict: bool = False
    blocks: list[Block] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)

    @property
    def file(self) -> str:
        """The name of the file."""
        return self.reader.file

    def add(self, block: Block) -> None:
        # A column without rows has no type of its own and must not spoil that of others.
        if len(block):
            self.blocks.append(block)

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
        if self.strict and self.letters:
            raise InputError.from_letter(self.letters[0])

    @property
    def is_empty(self) -> bool:
        """Had the file no rows, neither good nor bad?"""
        return not (self.blocks or self.items or self.letters)

    def sorted_blocks(self) -> list[Block]:
        """One block per table, its rows in the order of the file."""
        blocks = united([*self.blocks, *by_table(self.items)])
        return [block.in_line_order() for block in blocks]


def as_text(raw: object) -> str:
    """A row as the text of its dead letter."""
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(raw, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(raw)
