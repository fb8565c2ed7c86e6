"""Positions: a table of where entities were and when, and dead letters about rows that are none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.letters import DeadLetter
from horai.io.terms import SYMBOLS

CODES: dict[str, str] = {
    "coordinates": "no place on earth: longitude beyond 180 or latitude beyond 90",
    "motion": "a speed, course or heading that nothing can have",
    "duplicate": "the same position again",
    "conflict": "two places at the same time; the one nearer to where it was before is used",
    "jump": "too far from the position before to have got there in time",
    "late-position": "came after its time had been settled",
}
"""The codes of dead letters of positions, beside those of `horai.io`."""

LETTERS = pa.schema(
    [
        ("file", pa.string()),
        ("line", pa.int64()),
        ("text", pa.string()),
        ("reason", pa.string()),
        ("code", pa.string()),
    ]
)


def letters_of(found: Sequence[DeadLetter]) -> pa.Table:
    """Letters as a table."""
    return pa.Table.from_pylist([letter._asdict() for letter in found], schema=LETTERS)


def as_letters(table: pa.Table) -> list[DeadLetter]:
    """The letters of a table, in the order of files and lines."""
    ordered = table.sort_by([("file", "ascending"), ("line", "ascending"), ("code", "ascending")])
    columns = [ordered.column(name).to_pylist() for name in LETTERS.names]
    return [DeadLetter(*row) for row in zip(*columns, strict=True)]


def letters_about(rows: pa.Table, reason: str | pa.Array, code: str) -> pa.Table:
    """Letters about positions, all with the same code."""
    many = rows.num_rows
    reasons = pa.repeat(reason, many) if isinstance(reason, str) else reason
    files = rows.column("file").cast(pa.string())
    columns = [files, rows.column("line"), row_texts(rows), reasons, pa.repeat(code, many)]
    return pa.Table.from_arrays(columns, schema=LETTERS)


def row_texts(rows: pa.Table) -> pa.ChunkedArray:
    """Positions as lines of CSV; what is not known is empty."""
    cells = [rows.column("entity").cast(pa.string()), rows.column("time").cast(pa.string())]
    for name in ("lon", "lat", "speed", "course", "heading"):
        numbers = rows.column(name).to_numpy()
        cells.append(pa.array(numbers, mask=np.isnan(numbers)).cast(pa.string()).fill_null(""))
    return pc.binary_join_element_wise(*cells, ",")


KNOT = 1852.0 / 3600.0  # metres per second

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


def coded(codes: Ints, words: pa.Array) -> pa.Array:
    """A column of texts from numbers into its different texts."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), words)


def texts(table: pa.Table, name: str) -> tuple[Ints, list[str]]:
    """A column of texts as numbers into its different texts."""
    column = table.column(name).combine_chunks()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return np.asarray(column.indices).astype(np.int64), column.dictionary.to_pylist()
