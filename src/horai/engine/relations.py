"""Relations of a world: rows of typed columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, concat
from horai.engine.symbols import Symbols
from horai.temporal.spans import Ints, Mask


@dataclass(slots=True)
class Relation:
    """Rows, column by column."""

    columns: tuple[Column, ...]
    rows: int

    def where(self, rows: Ints | Mask) -> Relation:
        """A relation of some of the rows."""
        columns = tuple(column.take(rows) for column in self.columns)
        count = int(rows.sum()) if rows.dtype == np.bool_ else len(rows)
        return Relation(columns, count)


def joined(relations: list[Relation], symbols: Symbols) -> Relation:
    """Relations of the same columns, one below the other."""
    filled = [part for part in relations if part.rows] or relations[:1]
    if len(filled) == 1:
        return filled[0]
    width = len(filled[0].columns)
    columns = tuple(concat([part.columns[i] for part in filled], symbols) for i in range(width))
    return Relation(columns, sum(part.rows for part in filled))
