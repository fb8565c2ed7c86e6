"""The way out: answers as JSON lines, CSV, Parquet or text for people.

Answers as Arrow tables, in which arguments and values are Prolog source text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, Literal, cast, get_args

import numpy as np
import pyarrow as pa

from horai.io.answers.rows import MORE, AnswerBlock, AnswerTable, Row
from horai.io.answers.text import (
    TIMES,
    Lines,
    columns_of,
    csv_lines,
    iso_columns,
    json_lines,
    spelled,
    text_lines,
    texts_of,
    times_of,
    utf8,
)
from horai.io.letters import InputError
from horai.io.shown import printable
from horai.io.terms import META, TermColumn, to_source
from horai.io.times import Unit

_SOURCE = {META: b"term"}
_TYPES = {
    "args": pa.list_(pa.string()),
    **dict.fromkeys({*TIMES, *MORE} - {"op"}, pa.int64()),
}


def arrow_table(table: AnswerTable, iso: Unit | None) -> pa.Table:
    """The table of answers; `args` and `value` are marked as source text."""
    # A table of CSV always has the same columns; here those go of which no row has anything.
    rare = {name for name in MORE if name != "query"}
    rare -= {name for name in rare if any(getattr(b, name) is not None for b in table.blocks)}
    fields = [
        pa.field(
            name,
            _TYPES.get(name, pa.string()),
            metadata=_SOURCE if name in ("args", "value") else {},
        )
        for name in columns_of(table, iso)
        if name not in rare
    ]
    schema = pa.schema(fields)
    blocks = [_arrow_block(block, schema, iso) for block in table.blocks]
    whole = pa.concat_tables(blocks) if blocks else schema.empty_table()
    if table.order is not None:
        whole = whole.take(pa.array(table.order))
    return whole.combine_chunks()


def _arrow_block(block: AnswerBlock, schema: pa.Schema, iso: Unit | None) -> pa.Table:
    rows = len(block)
    columns: dict[str, pa.Array] = {
        "kind": pa.repeat(pa.scalar(block.kind, pa.string()), rows),
        "name": pa.repeat(pa.scalar(block.name, pa.string()), rows),
        "args": _lists([_sources(column) for column in block.args], rows),
        **times_of(block),
    }
    if block.value is not None:
        columns["value"] = _sources(block.value)
    columns |= {name: texts_of(texts) for name, texts in iso_columns(block, iso).items()}
    for name in MORE:
        if getattr(block, name) is not None:
            columns[name] = texts_of(block.op) if name == "op" else getattr(block, name)
    arrays = [columns.get(field.name, pa.nulls(rows, field.type)) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _sources(column: TermColumn) -> pa.Array:
    return texts_of(spelled(column, to_source))


def _lists(columns: list[pa.Array], rows: int) -> pa.ListArray:
    """The lists of the values that stand side by side."""
    arity = len(columns)
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * arity)
    if not columns:
        return pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))
    places = np.arange(rows * arity).reshape(arity, rows).T.ravel()
    return pa.ListArray.from_arrays(offsets, pa.concat_arrays(columns).take(pa.array(places)))


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

Target = str | os.PathLike[str] | IO[str] | IO[bytes]
Answers = AnswerTable | Iterable[Row]


def write_answers(
    answers: Answers,
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
    table = _as_table(answers)
    iso = unit if times == "iso" else None
    if chosen == "parquet":
        import pyarrow.parquet as pq

        with _binary(target) as out:
            pq.write_table(arrow_table(table, iso), out)
        return
    with _writer(target) as write:
        for lines in _LINES[chosen](table, iso):
            write(utf8(lines))


def answer_table(answers: Answers, iso: Unit | None = None) -> pa.Table:
    """Answers as an Arrow table. `args` and `value` are Prolog source text, and marked as such."""
    return arrow_table(_as_table(answers), iso)


def json_line(row: Row, iso: Unit | None = None) -> str:
    """One line of JSON.

    >>> json_line({"kind": "fluent", "name": "f", "args": [], "value": 3, "start": 4, "end": 9})
    '{"kind":"fluent","name":"f","args":[],"value":3,"start":4,"end":9}'
    """
    lines = next(json_lines(_as_table([row]), iso))
    return cast(str, lines[0].as_py()).removesuffix("\n")


def _as_table(answers: Answers) -> AnswerTable:
    return answers if isinstance(answers, AnswerTable) else AnswerTable.of(answers)


def _format_of(target: Target) -> AnswerFormat:
    if target == "-" or not isinstance(target, str | os.PathLike):
        return "jsonl"
    found = SUFFIXES.get(PurePath(target).suffix.lower())
    if found is None:
        hint = f"name the format ({', '.join(ANSWER_FORMATS)}), or use one of {' '.join(SUFFIXES)}"
        raise InputError(os.fspath(target), "the file name does not tell its format", hint=hint)
    return found


@contextmanager
def _binary(target: Target) -> Iterator[Any]:
    if target == "-":
        yield sys.stdout.buffer
    elif not isinstance(target, str | os.PathLike):
        yield target
    else:
        with Path(target).open("wb") as out:
            yield out


@contextmanager
def _writer(target: Target) -> Iterator[Callable[[bytes], object]]:
    """What takes UTF-8: a file as it is, a stream of text in its own encoding."""
    if target != "-" and isinstance(target, str | os.PathLike):
        with Path(target).open("wb") as out:
            yield out.write
    else:
        text = sys.stdout if target == "-" else cast(IO[str], target)
        shown = printable if target == "-" and text.isatty() else str
        yield lambda lines: text.write(shown(lines.decode()))


_LINES: dict[str, Callable[[AnswerTable, Unit | None], Lines]] = {
    "jsonl": json_lines,
    "csv": csv_lines,
    "text": text_lines,
}
