"""Answers in memory: rows for people, and the same as typed columns for everything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from horai.io.items.blocks import Numbers
from horai.io.schema import Kind
from horai.io.terms import Term, TermColumn, from_terms, to_terms

AnswerKind = Kind | Literal["atom"]


class AnswerRow(NamedTuple):
    """A maximal interval of a fluent (`start`, `end`; None = still open), or an event (`time`).

    An atom of a LARS program has maximal intervals too, but no value. `query` is the query time the
    row belongs to; `op` is `+` or `-` in a changelog.
    """

    kind: AnswerKind
    name: str
    args: Sequence[Term]
    value: Term | None = None
    start: int | None = None
    end: int | None = None
    time: int | None = None
    query: int | None = None
    op: str | None = None


Row = AnswerRow | Mapping[str, Any]


@dataclass(frozen=True)
class AnswerBlock:
    """Rows of one kind, name and arity.

    `start` is the time of an event, which has no `end` (null = open); `value` is there for fluents
    only. `query` and `op` are None when no row has them.
    """

    kind: AnswerKind
    name: str
    args: tuple[TermColumn, ...]
    value: TermColumn | None
    start: pa.Array
    end: pa.Array | None
    query: pa.Array | None = None
    op: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True)
class AnswerTable:
    """An answer: row i is row `order[i]` of the blocks one after the other, or row i itself."""

    blocks: tuple[AnswerBlock, ...] = ()
    order: Numbers | None = None

    @classmethod
    def of(cls, rows: Iterable[Row]) -> AnswerTable:
        """The table of rows, in their order."""
        groups: dict[tuple[AnswerKind, str, int, bool], list[tuple[int, AnswerRow]]] = {}
        for place, given in enumerate(rows):
            row = given if isinstance(given, AnswerRow) else AnswerRow(**given)
            key = (row.kind, row.name, len(row.args), row.value is None)
            groups.setdefault(key, []).append((place, row))
        places = np.array([place for group in groups.values() for place, _ in group], np.int64)
        blocks = tuple(_block([row for _, row in group]) for group in groups.values())
        return cls(blocks, np.argsort(places))

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def count(self, kind: AnswerKind) -> int:
        """How many rows there are of a kind."""
        return sum(len(block) for block in self.blocks if block.kind == kind)

    def only(self, kind: AnswerKind) -> AnswerTable:
        """The rows of one kind, in the same order."""
        kept = tuple(block for block in self.blocks if block.kind == kind)
        if self.order is None:
            return AnswerTable(kept)
        marks = np.concatenate([np.full(len(b), b.kind == kind) for b in self.blocks] or [_NONE])
        places = np.cumsum(marks) - 1
        return AnswerTable(kept, places[self.order[marks[self.order]]])

    def lists(self) -> dict[str, list[Any]]:
        """The columns of `AnswerRow` as Python lists."""
        columns: dict[str, list[Any]] = {name: [] for name in AnswerRow._fields}
        for block in self.blocks:
            for name, values in _lists(block).items():
                columns[name].extend(values)
        if self.order is None:
            return columns
        order = self.order.tolist()
        return {name: [values[i] for i in order] for name, values in columns.items()}

    def rows(self) -> list[AnswerRow]:
        """The rows one by one."""
        return list(map(AnswerRow._make, zip(*self.lists().values(), strict=True)))


_NONE = np.zeros(0, np.bool_)


def _block(rows: Sequence[AnswerRow]) -> AnswerBlock:
    first = rows[0]
    is_fluent, lasts = first.kind == "fluent", first.kind != "event"
    queries, ops = [row.query for row in rows], [row.op for row in rows]
    values = [row.value for row in rows if row.value is not None]
    return AnswerBlock(
        first.kind,
        first.name,
        tuple(from_terms([row.args[i] for row in rows]) for i in range(len(first.args))),
        from_terms(values) if is_fluent and values else None,
        pa.array([row.start if lasts else row.time for row in rows], pa.int64()),
        pa.array([row.end for row in rows], pa.int64()) if lasts else None,
        None if not any(query is not None for query in queries) else pa.array(queries, pa.int64()),
        None if not any(op is not None for op in ops) else pa.array(ops, pa.string()),
    )


def _lists(block: AnswerBlock) -> dict[str, Iterable[Any]]:
    rows = len(block)
    nothing = [None] * rows
    lasts = block.kind != "event"
    starts = block.start.to_pylist()
    args = [to_terms(column) for column in block.args]
    return {
        "kind": repeat(block.kind, rows),
        "name": repeat(block.name, rows),
        "args": zip(*args, strict=True) if args else repeat((), rows),
        "value": nothing if block.value is None else to_terms(block.value),
        "start": starts if lasts else nothing,
        "end": nothing if block.end is None else block.end.to_pylist(),
        "time": nothing if lasts else starts,
        "query": nothing if block.query is None else block.query.to_pylist(),
        "op": nothing if block.op is None else block.op.to_pylist(),
    }
