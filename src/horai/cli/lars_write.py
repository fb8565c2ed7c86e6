"""Answers of LARS programs as lines: to standard output, a file, or whoever is connected."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from horai.cli import console
from horai.errors import UsageError
from horai.io.endpoints import endpoints_of, sink_of
from horai.io.topics import SCHEME

if TYPE_CHECKING:
    from horai.lars_result import Row

_FORMATS = ("jsonl", "csv", "text")
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".txt": "text"}
_COLUMNS = ("kind", "query", "model", "name", "args", "op", "arrived", "signals")


def checked_format(given: str | None, output: Path | None) -> str:
    """The format asked for, else that of the file name, else what suits the reader."""
    if given is None and output is not None and endpoints_of(_name(output)) is None:
        given = _SUFFIXES.get(output.suffix.lower())
        if given is None:
            raise UsageError(f"{output}: the file name does not tell its format", "use --format")
    if given is None:
        given = "text" if output is None and sys.stdout.isatty() else "jsonl"
    if given not in _FORMATS:
        hint = f"use one of {', '.join(_FORMATS)}"
        raise UsageError(f"answers of LARS programs are not written as {given}", hint)
    return given


def _name(output: Path) -> str:
    """A path has one slash where the name of a topic has two."""
    return str(output).replace(SCHEME[:-1], SCHEME)


class Target:
    """Where answers go, in a format; several places if they are no files."""

    def __init__(self, form: str, output: Path | None) -> None:
        self._lines = _LINES[form]
        self._file = None
        places = ["-"] if output is None else endpoints_of(_name(output))
        if places is not None:
            self._sinks = [sink_of(place, console.say) for place in places]
        else:
            assert output is not None
            self._file = output.open("w", encoding="utf-8")
        if form == "csv":
            self._put(",".join(_COLUMNS) + "\n")

    def write(self, rows: Sequence[Row]) -> None:
        """Write rows; who waits for them has them at once."""
        if rows:
            self._put("".join(f"{line}\n" for line in self._lines(rows)))

    def _put(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)
            self._file.flush()
        else:
            for sink in self._sinks:
                sink.write(text)

    def close(self) -> None:
        """Nothing more is written."""
        if self._file is not None:
            self._file.close()


def _json_lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _csv_lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        cells = {**row, "args": json.dumps(row.get("args", []), ensure_ascii=False)}
        yield _csv([cells.get(column, "") for column in _COLUMNS])


def _csv(cells: list[object]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _text_lines(rows: Sequence[Row]) -> Iterator[str]:
    """One line per query time and model: `3: busy(ada), free(bob)`."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        lines.setdefault(_place(row), []).extend(_words(row))
    for place, words in lines.items():
        yield f"{place}: {', '.join(words) or '-'}"


def _place(row: Row) -> str:
    """What a line is about: `5, 3 model 1 +` is a change at 5 of the answer at 3."""
    arrived = f"{row['arrived']}, " if "arrived" in row else ""
    model = f" model {row['model']}" if "model" in row else ""
    signals = f" signal {row['signals']}" if "signals" in row else ""
    op = f" {row['op']}" if "op" in row else ""
    return f"{arrived}{row['query']}{signals}{model}{op}"


def _words(row: Row) -> list[str]:
    if row["kind"] == "none":
        return ["no answer"]
    if row["kind"] == "empty":
        return []
    args = ",".join(map(str, row["args"]))
    return [f"{row['name']}({args})" if args else row["name"]]


_LINES: dict[str, Callable[[Sequence[Row]], Iterator[str]]] = {
    "jsonl": _json_lines,
    "csv": _csv_lines,
    "text": _text_lines,
}
