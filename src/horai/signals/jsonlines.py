"""Positions as JSON objects, one on each line or in each message."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from horai.io.chunks import chunks
from horai.io.letters import BadRow, DeadLetter, InputError
from horai.io.linetext import decode
from horai.signals.columns import Layout, plain, typed
from horai.signals.letters import letters_of
from horai.signals.positions import Positions, joined

Line = tuple[int, bytes]
Row = tuple[int, bytes, dict[str, Any]]
# What a value is not that is true, a list or an object.
UNFIT = {"entity": ("bad-term", "no name"), "time": ("bad-time", "not a time")}


def json_file(stream: BinaryIO, layout: Layout, file: str) -> Iterator[Positions]:
    """The positions of a file, some megabytes at a time; empty lines are none."""
    for chunk in chunks(stream, file):
        lines = enumerate(map(bytes.strip, chunk.data.split(b"\n")), chunk.first_line)
        yield json_positions(((line, raw) for line, raw in lines if raw), layout, file)


def json_positions(lines: Iterable[Line], layout: Layout, file: str) -> Positions:
    """The positions that numbered lines tell; a line that tells none is a letter."""
    groups: dict[tuple[tuple[str, str], ...], list[Row]] = {}
    letters: list[DeadLetter] = []
    for line, raw in lines:
        try:
            given = _object(raw)
            groups.setdefault(_shape(given), []).append((line, raw, given))
        except BadRow as bad:
            letters.append(DeadLetter(file, line, _shown(raw), bad.reason, bad.code))
    parts = [part for rows in groups.values() for part in _alike(rows, layout, file)]
    return joined([*parts, Positions(joined([]).table, letters_of(letters))])


def _object(raw: bytes) -> dict[str, Any]:
    if not raw.strip():
        raise BadRow("null", "the message has no value")
    try:
        given = json.loads(decode(raw))
    except (ValueError, RecursionError) as error:
        raise BadRow("json", f"not JSON: {error}") from None
    if not isinstance(given, dict):
        raise BadRow("json", "not a JSON object")
    return given


def _shape(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Rows of the same shape have columns of the same types: text, numbers, or nothing."""
    return tuple((key, _kind(value)) for key, value in given.items())


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return "number" if number else "text" if isinstance(value, str) else "other"


def _alike(rows: Sequence[Row], layout: Layout, file: str) -> Iterator[Positions]:
    """Rows of one shape, as columns."""
    shape = _shape(rows[0][2])
    try:
        places = layout.places([name for name, _ in shape], file)
    except InputError as error:
        yield _refused(rows, file, "missing-column", error.reason)
        return
    for part, place in places.items():
        name, kind = shape[place]
        if kind == "other":
            code, what = UNFIT.get(part, ("bad-number", "no number"))
            for row in rows:
                reason = f"{part} is {what}: {json.dumps(row[2][name])[:60]}"
                yield _refused([row], file, code, reason)
            return
    numbers = np.array([line for line, _, _ in rows], np.int64)
    names = {part: shape[place][0] for part, place in places.items()}
    broken = [row for row in rows if isinstance(row[2][names["entity"]], float)]
    if 0 < len(broken) < len(rows):  # in one column with these, 5 would be 5.0
        yield from _alike(broken, layout, file)
        rows = [row for row in rows if not isinstance(row[2][names["entity"]], float)]
        yield from _alike(rows, layout, file)
        return
    try:
        cells = {
            part: plain(pa.array([given[name] for _, _, given in rows]))
            for part, name in names.items()
        }
    except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError) as error:
        if len(rows) > 1:
            for row in rows:
                yield from _alike([row], layout, file)
        elif isinstance(error, UnicodeEncodeError):
            yield _refused(rows, file, "encoding", "half a surrogate pair is no character")
        else:
            yield _refused(rows, file, "bad-number", "a number is beyond 64 bits")
        return
    yield typed(cells, numbers, layout, file, text_of=lambda row: _shown(rows[row][1]))


def _refused(rows: Sequence[Row], file: str, code: str, reason: str) -> Positions:
    letters = [DeadLetter(file, line, _shown(raw), reason, code) for line, raw, _ in rows]
    return Positions(joined([]).table, letters_of(letters))


def _shown(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
