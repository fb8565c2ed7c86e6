"""The way out: answers as JSON lines, CSV, Parquet or text for people."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import IO, Any, Literal, cast, get_args

import pyarrow as pa

from .answers import AnswerTable, Row
from .letters import InputError
from .lines import utf8
from .spelling import Lines, csv_lines, json_lines, text_lines
from .tabular import arrow_table
from .times import Unit

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
        yield lambda lines: text.write(lines.decode())


_LINES: dict[str, Callable[[AnswerTable, Unit | None], Lines]] = {
    "jsonl": json_lines,
    "csv": csv_lines,
    "text": text_lines,
}
