"""The table of positions that everything here works on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from horai.io.terms import SYMBOLS
from horai.signals.letters import LETTERS

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Small = np.ndarray[Any, np.dtype[np.int8]]

POSITIONS = pa.schema(
    [
        ("entity", SYMBOLS),  # Prolog source text: 244660000, ferry, 'MS Ida'
        ("time", pa.int64()),
        ("lon", pa.float64()),
        ("lat", pa.float64()),
        ("speed", pa.float64()),  # knots; NaN where nobody knows
        ("course", pa.float64()),
        ("heading", pa.float64()),
        ("file", SYMBOLS),
        ("line", pa.int64()),
    ]
)
VALUES = ("lon", "lat", "speed", "course", "heading")


@dataclass(frozen=True)
class Positions:
    """Positions that were read: a table like `POSITIONS`, and dead letters."""

    table: pa.Table
    letters: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)


def together(tables: Iterable[pa.Table], schema: pa.Schema = POSITIONS) -> pa.Table:
    """Tables one after the other, as one piece."""
    some = [table.select(schema.names).cast(schema) for table in tables]
    whole = pa.concat_tables([schema.empty_table(), *some])
    return whole.unify_dictionaries().combine_chunks()


def joined(parts: Sequence[Positions]) -> Positions:
    """Positions one after the other, with all letters."""
    letters = [LETTERS.empty_table(), *(part.letters for part in parts)]
    return Positions(together(part.table for part in parts), pa.concat_tables(letters))


def parted(table: pa.Table, flags: Flags) -> tuple[pa.Table, pa.Table]:
    """The rows with a flag and those without; mostly all are alike, and nothing is copied."""
    if flags.all():
        return table, table.slice(0, 0)
    if not flags.any():
        return table.slice(0, 0), table
    return table.filter(pa.array(flags)), table.filter(pa.array(~flags))


def numbers(table: pa.Table, name: str) -> np.ndarray[Any, Any]:
    """A column as numpy sees it."""
    return np.ascontiguousarray(table.column(name).to_numpy())


def texts(table: pa.Table, name: str) -> tuple[Ints, list[str]]:
    """A column of texts as numbers into its different texts."""
    column = table.column(name).combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return np.asarray(column.indices).astype(np.int64), column.dictionary.to_pylist()
