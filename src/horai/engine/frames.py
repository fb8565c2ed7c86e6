"""Tables of bindings: one column per variable, one row per solution.

A variable may also stand for an interval list. Those are kept aside, as spans whose key is the row,
so that interval operations run for all rows at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from horai.engine.columns import Column, ints
from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, Mask, Spans


@dataclass(slots=True)
class Frame:
    """Rows of bindings."""

    rows: int
    columns: dict[str, Column] = field(default_factory=dict)
    lists: dict[str, Spans] = field(default_factory=dict)

    def take(self, rows: Ints) -> Frame:
        """The rows at some positions, in that order."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        lists = {name: gather(spans, self.rows, rows) for name, spans in self.lists.items()}
        return Frame(len(rows), columns, lists)

    def where(self, mask: Mask) -> Frame:
        """The rows a mask picks."""
        if mask.all():
            return self
        return self.take(np.flatnonzero(mask))

    def only(self, names: Iterable[str]) -> Frame:
        """The frame without other variables; numbers of rows stay."""
        kept = set(names)
        return Frame(
            self.rows,
            {n: c for n, c in self.columns.items() if n in kept or is_number(n)},
            {n: s for n, s in self.lists.items() if n in kept or is_number(n)},
        )

    def with_columns(self, new: dict[str, Column]) -> Frame:
        """The frame with more variables."""
        return Frame(self.rows, {**self.columns, **new}, self.lists)

    def numbered(self, name: str) -> Frame:
        """The frame with the number of each row as a column."""
        return self.with_columns({name: ints(np.arange(self.rows))})

    def empty(self) -> Frame:
        """The same variables and no rows."""
        return self.take(np.empty(0, np.int64))


def is_number(name: str) -> bool:
    """Is it the engine's own: row numbers by which an outer chain finds its rows again?"""
    return name.startswith("@")


def gather(spans: Spans, rows: int, chosen: Ints) -> Spans:
    """The spans of some rows, numbered by their new places."""
    offsets = np.searchsorted(spans.key, np.arange(rows + 1))
    return Spans(*_gather(spans.start, spans.end, offsets, chosen))


@kernel
def _gather(start: Ints, end: Ints, offsets: Ints, chosen: Ints) -> tuple[Ints, Ints, Ints]:
    total = 0
    for row in chosen:
        total += offsets[row + 1] - offsets[row]
    out_key = np.empty(total, np.int64)
    out_start = np.empty(total, np.int64)
    out_end = np.empty(total, np.int64)
    n = 0
    for place in range(len(chosen)):
        row = chosen[place]
        for i in range(offsets[row], offsets[row + 1]):
            out_key[n] = place
            out_start[n] = start[i]
            out_end[n] = end[i]
            n += 1
    return out_key, out_start, out_end
