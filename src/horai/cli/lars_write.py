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
    from horai.lars_result import LarsResult, Row

_FORMATS = ("jsonl", "csv", "text", "parquet", "timeline")
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv"}
_SUFFIXES |= {".txt": "text", ".parquet": "parquet", ".pq": "parquet"}
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
    if given == "parquet" and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "name a file: -o answers.parquet")
    return given


def check_lines(form: str) -> None:
    """Refuse what a run that goes on cannot write line by line."""
    if not has_lines(form):
        hint = f"use one of {', '.join(_LINES)}"
        raise UsageError(f"a run that goes on writes lines, and {form} has none", hint)


def has_lines(form: str) -> bool:
    """Is this a format that can be written line by line?"""
    return form in _LINES


def write_whole(result: LarsResult, answers: str, form: str, output: Path | None) -> None:
    """All answers of a run that is over, in a format without lines."""
    if form == "timeline":
        _draw(result, output)
    else:
        _write_parquet(result.rows(answers), output)


def _draw(result: LarsResult, output: Path | None) -> None:
    from horai.cli.timeline import on_screen
    from horai.lars_spans import spans_of

    found = spans_of(result)
    on_screen(found.rows(), output, until=found.last)


def _write_parquet(rows: Sequence[Row], output: Path | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from horai.io import to_source

    wide = [{**row, "args": [to_source(arg) for arg in row.get("args", [])]} for row in rows]
    whole = ("query", "model", "arrived", "signals")
    kinds = {name: pa.int64() if name in whole else pa.string() for name in _COLUMNS}
    kinds["args"] = pa.list_(pa.string())
    used = [
        n for n in _COLUMNS if n in ("kind", "query", "name", "args") or any(n in r for r in wide)
    ]
    table = pa.Table.from_pylist(wide, pa.schema([(name, kinds[name]) for name in used]))
    pq.write_table(table, sys.stdout.buffer if output is None else str(output))


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
