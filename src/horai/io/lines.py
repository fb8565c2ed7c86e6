"""Lines of text from columns: each different value is spelled once, and Arrow joins the rest.

A line is a list of pieces: text that all rows share, or a column of texts or integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .answers import AnswerTable
from .blocks import Numbers
from .termcolumns import TermColumn, distinct, text_bytes
from .terms import Term
from .times import Unit, format_time

Piece: TypeAlias = str | pa.Array
CHUNK = 1 << 16  # rows that are made into text at once: what fits into the caches


def spelled(column: TermColumn, spell: Callable[[Term], str]) -> pa.Array:
    """A column of terms as texts; integers stay, as they look the same everywhere."""
    if column.kind == "int":
        return column.array
    indices, terms = distinct(column)
    texts = pa.array([spell(term) for term in terms], pa.string())
    return pa.DictionaryArray.from_arrays(indices, texts)


def filled(column: pa.Array, nothing: str) -> pa.Array:
    """A column of integers with a text where there is none."""
    return column if not column.null_count else texts_of(column).fill_null(nothing)


def texts_of(column: pa.Array) -> pa.Array:
    """A piece as plain texts."""
    return column if column.type == pa.string() else column.cast(pa.string())


def iso_texts(points: pa.Array, unit: Unit) -> pa.DictionaryArray:
    """Time-points in ISO 8601; null stays null."""
    encoded = points.dictionary_encode()
    texts = [format_time(point, unit) for point in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(texts, pa.string()))


def optional(column: pa.Array | None, before: str, after: str) -> list[Piece]:
    """Text around each value of a column, and nothing where there is no value."""
    if column is None:
        return []
    around = pc.binary_join_element_wise(before, texts_of(column), after, "")
    return [around.fill_null("")]


def joined(pieces: Sequence[Piece], rows: int) -> pa.Array:
    """The texts of so many rows."""
    if not any(isinstance(piece, pa.Array) for piece in pieces):
        return pa.array(["".join(map(str, pieces))] * rows, pa.string())
    columns = [piece if isinstance(piece, str) else texts_of(piece) for piece in pieces]
    return pc.binary_join_element_wise(*columns, "")


def folded(pieces: Sequence[Piece]) -> list[Piece]:
    """The same line with fewer pieces: shared text goes into the dictionary that follows it."""
    found: list[Piece] = []
    before = ""
    for piece in pieces:
        if isinstance(piece, str):
            before += piece
            continue
        if before and pa.types.is_dictionary(piece.type):
            texts = pc.binary_join_element_wise(before, piece.dictionary, "")
            piece = pa.DictionaryArray.from_arrays(piece.indices, texts)
        elif before:
            found.append(before)
        found.append(piece)
        before = ""
    return [*found, before] if before else found


def chunks_of_lines(
    table: AnswerTable, lines: Sequence[Sequence[Piece]]
) -> Iterator[pa.StringArray]:
    """The lines of a table, many at a time and in order; `lines` has the pieces of each block."""
    lines = [folded(pieces) for pieces in lines]
    lengths = [len(block) for block in table.blocks]
    if table.order is not None:
        yield from _ordered(table.order, np.cumsum([0, *lengths]), lines)
        return
    for pieces, length in zip(lines, lengths, strict=True):
        for begin in range(0, length, CHUNK):
            rows = min(CHUNK, length - begin)
            part = [p if isinstance(p, str) else p.slice(begin, rows) for p in pieces]
            yield joined(part, rows)


def _ordered(
    order: Numbers, bounds: Numbers, lines: Sequence[Sequence[Piece]]
) -> Iterator[pa.StringArray]:
    for begin in range(0, len(order), CHUNK):
        rows = order[begin : begin + CHUNK]
        block = np.searchsorted(bounds, rows, side="right") - 1
        texts = []
        for number in np.flatnonzero(np.bincount(block)).tolist():
            places = pa.array(rows[block == number] - bounds[number])
            pieces = [p if isinstance(p, str) else p.take(places) for p in lines[number]]
            texts.append(joined(pieces, len(places)))
        if len(texts) == 1:
            yield texts[0]
        else:
            back = np.argsort(np.argsort(block, kind="stable"))
            yield pa.concat_arrays(texts).take(pa.array(back))


def utf8(lines: pa.StringArray) -> bytes:
    """The bytes of all lines, one after the other."""
    return text_bytes(lines).tobytes()
