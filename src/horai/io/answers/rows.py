"""Answers in memory: rows for people, and the same as typed columns for everything else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from horai.io.items.tables import Numbers
from horai.io.schema import Kind
from horai.io.terms import Term, TermColumn, from_terms, to_terms

AnswerKind = Kind | Literal["atom", "none", "empty"]


class AnswerRow(NamedTuple):
    """A maximal interval of a fluent (`start`, `end`; None = still open), or an event (`time`).

    An atom of a LARS program has maximal intervals too, but no value; or it holds at the query time
    only, and has no start. `none` says that there is no answer at a query time, `empty` that an
    answer has no atoms. `query` is the query time the row belongs to, `op` is `+` or `-` in a
    changelog, `model` the number of one of several answers, `arrived` the query time at which it
    was known, and `signals` how many signals had come by then.
    """

    kind: AnswerKind
    name: str = ""
    args: Sequence[Term] = ()
    value: Term | None = None
    start: int | None = None
    end: int | None = None
    time: int | None = None
    query: int | None = None
    op: str | None = None
    model: int | None = None
    arrived: int | None = None
    signals: int | None = None

    def __repr__(self) -> str:
        rare = ("model", "arrived", "signals")
        shown = [(n, v) for n, v in self._asdict().items() if n not in rare or v is not None]
        return f"AnswerRow({', '.join(f'{name}={value!r}' for name, value in shown)})"

    def as_dict(self) -> dict[str, Any]:
        """Only the fields that apply, in the order in which they are written.

        >>> AnswerRow("atom", "busy", ("ada",), query=3).as_dict()
        {'kind': 'atom', 'query': 3, 'name': 'busy', 'args': ['ada']}
        """
        row = {name: value for name, value in self._asdict().items() if value is not None}
        row["args"] = list(self.args)
        if self.kind == "fluent" and self.end is None:
            row["end"] = None
        if self.name and (self.start is not None or self.time is not None):
            return row
        shown = row if self.name else row.keys() - {"name", "args"}
        return {name: row[name] for name in POINT_COLUMNS if name in shown}


POINT_COLUMNS = ("kind", "query", "model", "name", "args", "op", "arrived", "signals")
"""The columns of what holds at query times."""
MORE = ("query", "op", "model", "arrived", "signals")
"""Columns that a block only has where one of its rows does."""


Row = AnswerRow | Mapping[str, Any]


@dataclass(frozen=True)
class AnswerBlock:
    """Rows of one kind, name and arity.

    `start` is the time of an event, which has no `end` (null = open); `value` is there for fluents
    only. `query` and what follows are None when no row has them. What holds at query times only has
    neither start nor end: its start is null.
    """

    kind: AnswerKind
    name: str
    args: tuple[TermColumn, ...]
    value: TermColumn | None
    start: pa.Array
    end: pa.Array | None
    query: pa.Array | None = None
    op: pa.Array | None = None
    model: pa.Array | None = None
    arrived: pa.Array | None = None
    signals: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.start)

    @property
    def is_of_points(self) -> bool:
        """Do its rows say what holds at query times?"""
        return self.kind not in ("fluent", "event") and self.end is None


@dataclass(frozen=True)
class AnswerTable:
    """An answer: row i is row `order[i]` of the blocks one after the other, or row i itself."""

    blocks: tuple[AnswerBlock, ...] = ()
    order: Numbers | None = None

    @classmethod
    def of(cls, rows: Iterable[Row]) -> AnswerTable:
        """The table of rows, in their order."""
        groups: dict[tuple[object, ...], list[tuple[int, AnswerRow]]] = {}
        for place, given in enumerate(rows):
            row = given if isinstance(given, AnswerRow) else AnswerRow(**given)
            key = (row.kind, row.name, len(row.args), row.value is None, row.start is None)
            groups.setdefault(key, []).append((place, row))
        places = np.array([place for group in groups.values() for place, _ in group], np.int64)
        blocks = tuple(_block([row for _, row in group]) for group in groups.values())
        return cls(blocks, np.argsort(places))

    def __len__(self) -> int:
        return sum(len(block) for block in self.blocks)

    def count(self, kind: AnswerKind) -> int:
        """How many rows there are of a kind."""
        return sum(len(block) for block in self.blocks if block.kind == kind)

    def only(self, *kinds: AnswerKind) -> AnswerTable:
        """The rows of some kinds, in the same order."""
        kept = tuple(block for block in self.blocks if block.kind in kinds)
        if self.order is None:
            return AnswerTable(kept)
        marks = np.concatenate([np.full(len(b), b.kind in kinds) for b in self.blocks] or [_NONE])
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
    is_event, is_point = first.kind == "event", first.kind != "fluent" and first.start is None
    values = [row.value for row in rows if row.value is not None]
    more = {name: [getattr(row, name) for row in rows] for name in MORE}
    return AnswerBlock(
        first.kind,
        first.name,
        tuple(from_terms([row.args[i] for row in rows]) for i in range(len(first.args))),
        from_terms(values) if first.kind == "fluent" and values else None,
        pa.array([row.time if is_event else row.start for row in rows], pa.int64()),
        None if is_event or is_point else pa.array([row.end for row in rows], pa.int64()),
        **{
            name: pa.array(column, pa.string() if name == "op" else pa.int64())
            for name, column in more.items()
            if any(value is not None for value in column)
        },
    )


def _lists(block: AnswerBlock) -> dict[str, Iterable[Any]]:
    rows = len(block)
    nothing = [None] * rows
    lasts = block.kind != "event"
    starts = block.start.to_pylist()
    args = [to_terms(column) for column in block.args]
    more = {name: getattr(block, name) for name in MORE}
    return {
        "kind": repeat(block.kind, rows),
        "name": repeat(block.name, rows),
        "args": zip(*args, strict=True) if args else repeat((), rows),
        "value": nothing if block.value is None else to_terms(block.value),
        "start": starts if lasts else nothing,
        "end": nothing if block.end is None else block.end.to_pylist(),
        "time": nothing if lasts else starts,
        **{n: nothing if column is None else column.to_pylist() for n, column in more.items()},
    }
