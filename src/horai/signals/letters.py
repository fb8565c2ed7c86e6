"""Positions that were not used, as columns: where each stood, and why it was not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.io.letters import DeadLetter

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
