"""Blocks: rows of one kind as typed columns, and the harvest of a file: blocks and dead letters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from horai.io.items.rows import Item
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.schema import TableKey
from horai.io.terms import SYMBOLS, Term, TermColumn, concat, from_terms

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Block:
    """Some rows of one table. `end` is there for intervals, `value` for fluents."""

    key: TableKey
    file: pa.Array
    line: pa.Array
    op: pa.Array
    arrival: pa.Array
    start: pa.Array
    end: pa.Array | None
    value: TermColumn | None
    args: tuple[TermColumn, ...]

    def __len__(self) -> int:
        return len(self.line)


def one_file(name: str, rows: int) -> pa.DictionaryArray:
    """The file column of rows that all come from one file."""
    codes = pa.array(np.zeros(rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(codes, pa.array([name], pa.string()))


def block_of(items: Sequence[Item]) -> Block:
    """A block of items that belong to the same table."""
    key = items[0].key
    ends = [item.end for item in items]
    return Block(
        key,
        pa.array([item.file for item in items], pa.string()).dictionary_encode().cast(SYMBOLS),
        pa.array([item.line for item in items], pa.int64()),
        pa.array([item.op for item in items], pa.int8()),
        pa.array([item.arrival for item in items], pa.int64()),
        pa.array([item.start for item in items], pa.int64()),
        pa.array(ends, pa.int64()) if key.form == "intervals" else None,
        from_terms([_value(item) for item in items]) if key.kind == "fluent" else None,
        tuple(from_terms([item.args[i] for item in items]) for i in range(key.arity)),
    )


def _value(item: Item) -> Term:
    if item.value is None:
        raise ValueError(f"an item of the fluent {item.name} needs a value: {item}")
    return item.value


def in_line_order(blocks: Sequence[Block]) -> Block:
    """The blocks of one file and one table as one block, sorted by line."""
    block = concat_blocks(blocks)
    lines: Numbers = np.asarray(block.line)
    if bool((lines[1:] >= lines[:-1]).all()):
        return block
    return take(block, pa.array(np.argsort(lines, kind="stable")))


def concat_blocks(blocks: Sequence[Block]) -> Block:
    """Blocks of one table, one after the other."""
    if len(blocks) == 1:
        return blocks[0]
    first = blocks[0]
    files = concat([TermColumn("atom", block.file) for block in blocks]).array
    values = [block.value for block in blocks if block.value is not None]
    return Block(
        first.key,
        files,
        pa.concat_arrays([block.line for block in blocks]),
        pa.concat_arrays([block.op for block in blocks]),
        pa.concat_arrays([block.arrival for block in blocks]),
        pa.concat_arrays([block.start for block in blocks]),
        pa.concat_arrays([block.end for block in blocks]) if first.end is not None else None,
        concat(values) if values else None,
        tuple(concat([block.args[i] for block in blocks]) for i in range(first.key.arity)),
    )


def take(block: Block, rows: pa.Array) -> Block:
    """The given rows of a block, in the given order."""
    return Block(
        block.key,
        block.file.take(rows),
        block.line.take(rows),
        block.op.take(rows),
        block.arrival.take(rows),
        block.start.take(rows),
        None if block.end is None else block.end.take(rows),
        None if block.value is None else block.value.take(rows),
        tuple(column.take(rows) for column in block.args),
    )


def merge(blocks: Sequence[Block]) -> pa.Table:
    """The Arrow table of all blocks of one table."""
    block = concat_blocks(blocks)
    fields = [
        pa.field("op", pa.int8(), nullable=False),
        pa.field("arrival", pa.int64(), nullable=False),
        pa.field("start", pa.int64(), nullable=False),
    ]
    arrays = [block.op, block.arrival, block.start]
    if block.end is not None:
        fields.append(pa.field("end", pa.int64()))
        arrays.append(block.end)
    named = {f"a{i}": column for i, column in enumerate(block.args)}
    if block.value is not None:
        named = {"value": block.value, **named}
    fields += [column.field(name) for name, column in named.items()]
    arrays += [column.array for column in named.values()]
    # Marked, so that a reader of this very table does not take them for arguments.
    origin = {b"horai.role": b"origin"}
    fields.append(pa.field("file", SYMBOLS, nullable=False, metadata=origin))
    fields.append(pa.field("line", pa.int64(), nullable=False, metadata=origin))
    return pa.Table.from_arrays([*arrays, block.file, block.line], schema=pa.schema(fields))


@dataclass
class Harvest:
    """Collects the rows of one file in whatever order a reader finds them."""

    file: str
    strict: bool = False
    blocks: list[Block] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    letters: list[DeadLetter] = field(default_factory=list)

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
        groups: dict[TableKey, list[Block]] = {}
        for block in [*self.blocks, *_blocks_of(self.items)]:
            groups.setdefault(block.key, []).append(block)
        return [in_line_order(blocks) for blocks in groups.values()]


def as_text(raw: object) -> str:
    """A row as the text of its dead letter."""
    if isinstance(raw, bytes):
        return raw.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(raw, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return repr(raw)


def _blocks_of(items: Iterable[Item]) -> list[Block]:
    groups: dict[TableKey, list[Item]] = {}
    for item in items:
        groups.setdefault(item.key, []).append(item)
    return [block_of(group) for group in groups.values()]
