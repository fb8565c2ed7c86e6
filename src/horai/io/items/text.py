"""Text files in big pieces, cut into fields a piece or a line at a time."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from horai.io.letters import BadRow, InputError
from horai.io.terms import BLANKS

Rows = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

NEWLINE, RETURN, QUOTE_BYTE = 10, 13, 34
CHUNK_BYTES = 1 << 23
MAX_CHUNK = 2**31 - 2  # places in a chunk are 32-bit numbers


class Chunk(NamedTuple):
    """Some whole lines of a file. `first_line` counts from 1."""

    data: bytes
    first_line: int


def chunks(stream: BinaryIO, file: str, size: int = CHUNK_BYTES) -> Iterator[Chunk]:
    """The lines of a stream in pieces of about `size` bytes, each ending in a newline."""
    line = 1
    begun = [without_mark(stream.read(size), file)]
    while begun[-1]:
        cut = begun[-1].rfind(b"\n") + 1
        if cut:
            data = b"".join([*begun[:-1], begun[-1][:cut]])
            yield Chunk(_checked(data, file), line)
            line += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == NEWLINE))
            begun = [begun[-1][cut:]]
        begun.append(stream.read(size))
    rest = b"".join(begun)
    if rest:
        yield Chunk(_checked(rest, file) + b"\n", line)


def _checked(data: bytes, file: str) -> bytes:
    if len(data) >= MAX_CHUNK:
        raise InputError(file, "a line longer than 2 GB", hint="is this really a text file?")
    return data


def without_mark(start: bytes, file: str) -> bytes:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise InputError(file, "the text is UTF-16", hint="save it as UTF-8")
    return start.removeprefix(codecs.BOM_UTF8)


@dataclass(frozen=True)
class Fields:
    """All fields of a chunk.

    `cells` holds each field followed by its delimiter, so field i is element 2i: two neighbouring
    elements share a bound, and the whole chunk becomes one Arrow array without copying a byte.
    """

    data: bytes
    cells: pa.Array
    first: Rows  # of each line, its first field
    count: Rows  # of each line, how many fields it has
    begin: Rows  # of each line, where it begins in `data`
    end: Rows  # and where it ends, without the line break

    def column(self, lines: Rows, place: int) -> pa.Array:
        """The fields at one place in the given lines."""
        return self.cells.take(pa.array(2 * (self.first[lines] + place)))

    def line(self, index: int) -> bytes:
        return self.data[self.begin[index] : self.end[index]]


def split(data: bytes, delimiter: str) -> Fields:
    """Cut a chunk into fields, taking quotes for ordinary letters."""
    letters = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero((letters == ord(delimiter)) | (letters == NEWLINE))
    last = np.flatnonzero(letters[marks] == NEWLINE)
    count = np.diff(last, prepend=-1)
    line_end = marks[last]
    begin = np.concatenate(([0], line_end[:-1] + 1))
    bounds = np.empty(2 * len(marks) + 1, dtype=np.int32)
    bounds[0] = 0
    bounds[1::2] = marks
    bounds[2::2] = marks + 1
    returns = (letters[line_end - 1] == RETURN) & (line_end > begin)
    end = line_end - returns
    # The carriage return before a newline goes to the delimiter, not to the last field.
    bounds[2 * last + 1] = end
    cells = pa.StringArray.from_buffers(len(bounds) - 1, pa.py_buffer(bounds), pa.py_buffer(data))
    return Fields(data, cells, last - count + 1, count, begin, end)


def blank_lines(fields: Fields) -> Mask:
    mask: Mask = fields.begin == fields.end
    return mask


def odd_lines(fields: Fields) -> Mask:
    """Lines that need a closer look: with quotes, or with bytes that are not UTF-8."""
    letters = np.frombuffer(fields.data, dtype=np.uint8)
    odd = np.zeros(len(fields.begin), dtype=np.bool_)
    if b'"' in fields.data:
        odd[_lines_of(fields, np.flatnonzero(letters == QUOTE_BYTE))] = True
    if not fields.data.isascii() and not _is_utf8(fields.data):
        foreign = np.unique(_lines_of(fields, np.flatnonzero(letters > 127)))
        odd[[line for line in foreign if not _is_utf8(fields.line(line))]] = True
    return odd


def _lines_of(fields: Fields, places: Rows) -> Rows:
    lines: Rows = np.searchsorted(fields.begin, places, side="right") - 1
    return lines


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


QUOTE = '"'


def decode(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = raw[error.start : error.start + 1].hex()
        reason = f"byte {error.start + 1} (hex {bad}) is not UTF-8; save the file as UTF-8"
        raise BadRow("encoding", reason) from error


def split_fields(text: str, delimiter: str) -> list[str]:
    """The fields of a line without quotes and surrounding blanks.

    >>> split_fields('a| x y |"p|q"|"say ""hi"" "|5" pipe', "|")
    ['a', 'x y', 'p|q', 'say "hi" ', '5" pipe']
    """
    if QUOTE not in text:
        return [field.strip(BLANKS) for field in text.split(delimiter)]
    return [field for field, _ in scan_fields(text, delimiter)]


def scan_fields(text: str, delimiter: str) -> list[tuple[str, bool]]:
    """The fields of a line, each with whether it was quoted."""
    fields: list[tuple[str, bool]] = []
    at = 0
    while True:
        begin = at
        while begin < len(text) and text[begin] in BLANKS and text[begin] != delimiter:
            begin += 1
        if text.startswith(QUOTE, begin):
            field, stop = _quoted(text, begin + 1, delimiter)
            fields.append((field, True))
        else:
            found = text.find(delimiter, at)
            stop = len(text) if found < 0 else found
            fields.append((text[at:stop].strip(BLANKS), False))
        if stop >= len(text):
            return fields
        at = stop + 1


def _quoted(text: str, begin: int, delimiter: str) -> tuple[str, int]:
    """The field that opened just before `begin`, and where its delimiter stands."""
    parts: list[str] = []
    while True:
        close = text.find(QUOTE, begin)
        if close < 0:
            raise BadRow("quote", 'a field opens with " and does not close on this line')
        parts.append(text[begin:close])
        if not text.startswith(QUOTE, close + 1):
            break
        parts.append(QUOTE)
        begin = close + 2
    found = text.find(delimiter, close + 1)
    stop = len(text) if found < 0 else found
    if text[close + 1 : stop].strip(BLANKS):
        raise BadRow("quote", 'text after the closing " of a field; write "" for a " inside it')
    return "".join(parts), stop
