"""The way out: answers as JSON lines, CSV, Parquet or text for people."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, Literal, NamedTuple, cast, get_args

import pyarrow as pa
import pyarrow.parquet as pq

from .letters import InputError
from .schema import Kind
from .termcolumns import META
from .terms import Term, to_source
from .times import Unit, format_time

AnswerFormat = Literal["jsonl", "csv", "parquet", "text"]
ANSWER_FORMATS: tuple[AnswerFormat, ...] = get_args(AnswerFormat)
SUFFIXES: dict[str, AnswerFormat] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "text",
}
TIMES = ("start", "end", "time")


class AnswerRow(NamedTuple):
    """A maximal interval of a fluent (`start`, `end`; None = still open), or an event (`time`).

    `query` is the query time the row belongs to; `op` is `+` or `-` in a changelog.
    """

    kind: Kind
    name: str
    args: Sequence[Term]
    value: Term | None = None
    start: int | None = None
    end: int | None = None
    time: int | None = None
    query: int | None = None
    op: str | None = None


Row = AnswerRow | Mapping[str, Any]
Target = str | os.PathLike[str] | IO[str] | IO[bytes]


def write_answers(
    rows: Iterable[Row],
    target: Target,
    *,
    format: AnswerFormat | None = None,
    unit: Unit | None = None,
    times: Literal["points", "iso"] = "points",
) -> None:
    """Write answers to a file, an open stream, or `-` for standard output.

    The format is that of the file name, or JSON lines. With `times="iso"` each time is followed by
    the same in ISO 8601 (`start_iso`, ...), which needs the `unit` of a time-point.
    """
    if times == "iso" and unit is None:
        raise ValueError("times='iso' needs unit: say how long a time-point is")
    chosen = format or _format_of(target)
    if chosen not in ANSWER_FORMATS:
        raise ValueError(f"unknown format {chosen!r}: use one of {', '.join(ANSWER_FORMATS)}")
    answers = (row if isinstance(row, AnswerRow) else AnswerRow(**row) for row in rows)
    iso = unit if times == "iso" else None
    if chosen == "parquet":
        with _opened(target, binary=True) as out:
            pq.write_table(answer_table(answers, iso), out)
        return
    with _opened(target, binary=False) as out:
        for line in _LINES[chosen](answers, iso):
            out.write(line)


def _format_of(target: Target) -> AnswerFormat:
    if target == "-" or not isinstance(target, str | os.PathLike):
        return "jsonl"
    found = SUFFIXES.get(PurePath(target).suffix.lower())
    if found is None:
        hint = f"name the format ({', '.join(ANSWER_FORMATS)}), or use one of {' '.join(SUFFIXES)}"
        raise InputError(os.fspath(target), "the file name does not tell its format", hint=hint)
    return found


@contextmanager
def _opened(target: Target, *, binary: bool) -> Iterator[Any]:
    if target == "-":
        yield sys.stdout.buffer if binary else sys.stdout
    elif not isinstance(target, str | os.PathLike):
        yield target
    elif binary:
        with Path(target).open("wb") as out:
            yield out
    else:
        with Path(target).open("w", encoding="utf-8", newline="") as text:
            yield text


def answer_dict(row: AnswerRow, iso: Unit | None = None) -> dict[str, object]:
    """The row as an object of JSON lines: only the keys that apply to it, in a fixed order."""
    fields: dict[str, object] = {"kind": row.kind, "name": row.name, "args": list(row.args)}
    if row.kind == "fluent":
        fields |= {"value": row.value, "start": row.start, "end": row.end}
    else:
        fields["time"] = row.time
    if iso is not None:
        fields |= {f"{key}_iso": _iso(fields[key], iso) for key in TIMES if key in fields}
    if row.query is not None:
        fields["query"] = row.query
    if row.op is not None:
        fields["op"] = row.op
    return fields


def _iso(point: object, unit: Unit) -> str | None:
    return None if point is None else format_time(cast(int, point), unit)


def json_line(row: AnswerRow, iso: Unit | None = None) -> str:
    """One line of JSON.

    >>> json_line(AnswerRow("fluent", "rich", ["chris"], "true", 14, 20))
    '{"kind":"fluent","name":"rich","args":["chris"],"value":"true","start":14,"end":20}'
    """
    return json.dumps(answer_dict(row, iso), ensure_ascii=False, separators=(",", ":"))


def _json_lines(rows: Iterable[AnswerRow], iso: Unit | None) -> Iterator[str]:
    return (json_line(row, iso) + "\n" for row in rows)


def _columns(rows: Sequence[AnswerRow], iso: Unit | None) -> list[str]:
    """The columns of a table of these rows; `query` and `op` only where some row has them."""
    extra = [f"{key}_iso" for key in TIMES] if iso is not None else []
    extra += ["query"] if any(row.query is not None for row in rows) else []
    extra += ["op"] if any(row.op is not None for row in rows) else []
    return ["kind", "name", "args", "value", *TIMES, *extra]


def _csv_lines(rows: Iterable[AnswerRow], iso: Unit | None) -> Iterator[str]:
    listed = list(rows)
    columns = _columns(listed, iso)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="", lineterminator="\n")
    writer.writeheader()
    for row in listed:
        writer.writerow(_csv_cells(row, iso))
    yield buffer.getvalue()


def _csv_cells(row: AnswerRow, iso: Unit | None) -> dict[str, object]:
    cells = answer_dict(row, iso)
    cells["args"] = json.dumps(cells["args"], ensure_ascii=False, separators=(",", ":"))
    if row.kind == "fluent" and row.end is None:
        cells["end"] = "inf"
    return cells


def answer_table(rows: Iterable[AnswerRow], iso: Unit | None = None) -> pa.Table:
    """Answers as an Arrow table. `args` and `value` are Prolog source text, and marked as such."""
    listed = list(rows)
    source = {META: b"term"}
    types: dict[str, tuple[pa.DataType, dict[bytes, bytes]]] = {
        "args": (pa.list_(pa.string()), source),
        "value": (pa.string(), source),
        **{key: (pa.int64(), {}) for key in (*TIMES, "query")},
    }
    cells = [_source_cells(row, iso) for row in listed]
    fields, arrays = [], []
    for column in _columns(listed, iso):
        type_, metadata = types.get(column, (pa.string(), {}))
        fields.append(pa.field(column, type_, metadata=metadata))
        arrays.append(pa.array([cell.get(column) for cell in cells], type_))
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields))


def _source_cells(row: AnswerRow, iso: Unit | None) -> dict[str, object]:
    cells = answer_dict(row, iso)
    cells["args"] = [to_source(arg) for arg in row.args]
    cells["value"] = None if row.value is None else to_source(row.value)
    return cells


def _text_lines(rows: Iterable[AnswerRow], iso: Unit | None) -> Iterator[str]:
    """Aligned columns: query time and change if there are any, what, and when."""
    table = [_text_cells(row, iso) for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True) if width)
        yield "  ".join(padded).rstrip() + "\n"


def _text_cells(row: AnswerRow, iso: Unit | None) -> tuple[str, str, str, str]:
    def shown(point: int | None) -> str:
        if point is None:
            return "inf"
        return str(point) if iso is None else format_time(point, iso)

    inside = ",".join(to_source(arg) for arg in row.args)
    what = to_source(row.name) + (f"({inside})" if inside else "")
    if row.kind == "fluent":
        what += f"={to_source(row.value)}" if row.value is not None else ""
        when = f"({shown(row.start)},{shown(row.end)})"
    else:
        when = f"at {shown(row.time)}"
    return "" if row.query is None else f"{row.query}:", row.op or "", what, when


_LINES: dict[str, Callable[[Iterable[AnswerRow], Unit | None], Iterator[str]]] = {
    "jsonl": _json_lines,
    "csv": _csv_lines,
    "text": _text_lines,
}
