"""Files in pieces that can be read apart from each other, by several processes.

Text is cut between lines and Parquet between its row groups; other files are one piece. Rows keep
the line, or number, that they have in the whole file.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from .arrowfiles import read_table
from .csvfiles import read_csv
from .formats import COMPRESSED, Format, first_line, format_of, text_format
from .harvest import Harvest
from .items import ItemTable, Narrative
from .jsonfiles import read_json_lines
from .letters import InputError
from .narratives import read_narrative
from .read import PEEK_BYTES, Options, explained, joined, read_file
from .rows import RowReader

PIECE_BYTES = 1 << 25
PIECE_ROWS = 1 << 20
_BLOCK = 1 << 22


class Piece(NamedTuple):
    """Part of a file: bytes of text from `first` to `last`, or row groups of Parquet.

    `head` is the header line of a CSV file, for pieces that do not begin with it; `before` is the
    number of lines or rows before the piece. A file that is not cut has no format here.
    """

    file: str
    format: Format | None
    first: int = 0
    last: int = 0
    head: bytes = b""
    before: int = 0


def pieces_of(file: str, format: Format | None, size: int = PIECE_BYTES) -> list[Piece]:
    """A file in pieces of about some number of bytes."""
    whole = [Piece(file, None)]
    path = Path(file)
    if file == "-" or path.suffix.lower() in COMPRESSED or not path.is_file():
        return whole
    found = format or format_of(file)
    if found == "parquet":
        with explained(file):
            return list(_row_groups(file)) or whole
    if found == "arrow":
        return whole
    with path.open("rb") as stream:
        head = stream.read(PEEK_BYTES)
    if format is None and found != "jsonl":
        found = text_format(head, found, file, None)
    if found == "jsonl" and first_line(head, file).startswith("["):
        return whole
    return list(_texts(file, found, size))


def _texts(file: str, format: Format, size: int) -> Iterator[Piece]:
    """Pieces of text, cut after a line."""
    first = before = lines = position = 0
    head = b""
    with Path(file).open("rb") as stream:
        if format == "csv":
            head = _header(stream)
        while block := stream.read(_BLOCK):
            ends = block.rfind(b"\n") + 1
            if position + ends - first >= size and ends:
                lines += block.count(b"\n", 0, ends)
                yield Piece(file, format, first, position + ends, head if first else b"", before)
                first, before = position + ends, lines
                lines += block.count(b"\n", ends)
            else:
                lines += block.count(b"\n")
            position += len(block)
    if position > first or not first:
        yield Piece(file, format, first, position, head if first else b"", before)


def _header(stream: io.BufferedReader) -> bytes:
    """The first line that is not blank; the stream is put back to its start."""
    head = next((line for line in stream if line.strip(b" \t\r\n\xef\xbb\xbf")), b"")
    stream.seek(0)
    return head.removeprefix(b"\xef\xbb\xbf")


def _row_groups(file: str) -> Iterator[Piece]:
    import pyarrow.parquet as pq

    rows = before = first = 0
    with pq.ParquetFile(file) as parquet:
        groups = parquet.metadata.num_row_groups
        for group in range(groups):
            rows += parquet.metadata.row_group(group).num_rows
            if rows >= PIECE_ROWS or group == groups - 1:
                yield Piece(file, "parquet", first, group + 1, b"", before)
                first, before, rows = group + 1, before + rows, 0


def read_piece(piece: Piece, options: Options, format: Format | None = None) -> Narrative:
    """The items of a piece. `format` is what the caller said of a file that is not cut."""
    if piece.format is None:
        return joined([read_file(piece.file, format, options)])
    shift = piece.before - (1 if piece.head else 0)
    try:
        return shifted(_read(piece, options), shift)
    except InputError as error:
        line = None if error.line is None else error.line + shift
        raise InputError(
            error.file, error.reason, line=line, text=error.text, hint=error.hint
        ) from None


def _read(piece: Piece, options: Options) -> Narrative:
    reader, harvest = options.start(piece.file)
    with explained(piece.file):
        if piece.format == "parquet":
            read_table(_groups(piece), reader, harvest, options.type_name)
            return joined([harvest])
        with Path(piece.file).open("rb") as file:
            file.seek(piece.first)
            text = piece.head + file.read(piece.last - piece.first)
        stream = io.BytesIO(text)
        if piece.format == "narrative":
            read_narrative(stream, reader, harvest)
        elif piece.format == "csv":
            read_csv(stream, reader, harvest, options.type_name)
        else:
            read_json_lines(stream, reader, harvest, options.type_name)
    return joined([harvest])


def read_lines(text: bytes, format: Format | None, options: Options, name: str) -> Narrative:
    """The items of lines that are no file: narrative rows or, if they look like it, JSON."""
    reader, harvest = options.start(name)
    if format is None:
        format = "jsonl" if text.lstrip().startswith(b"{") else "narrative"
    read = read_narrative if format == "narrative" else _json_lines
    read(io.BytesIO(text), reader, harvest)
    return joined([harvest])


def _json_lines(stream: io.BytesIO, reader: RowReader, harvest: Harvest) -> None:
    read_json_lines(stream, reader, harvest, None)


def _groups(piece: Piece) -> pa.Table:
    import pyarrow.parquet as pq

    with pq.ParquetFile(piece.file) as parquet:
        return parquet.read_row_groups(list(range(piece.first, piece.last)))


def shifted(narrative: Narrative, lines: int) -> Narrative:
    """A narrative whose rows have so many lines before them."""
    if not lines:
        return narrative
    letters = [letter._replace(line=letter.line + lines) for letter in narrative.dead_letters]
    return Narrative(tuple(_moved(table, lines) for table in narrative.tables), letters)


def _moved(items: ItemTable, lines: int) -> ItemTable:
    table = items.table
    place = table.schema.get_field_index("line")
    moved = pa.array(table.column(place).to_numpy() + lines, pa.int64())
    return replace(items, table=table.set_column(place, table.schema.field(place), moved))
