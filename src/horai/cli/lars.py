"""LARS programs on the command line: files whose names end in `.lars`."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.cli import console
from horai.cli.dead_letters import tell_dead_letters
from horai.errors import UsageError
from horai.io import write_dead_letters
from horai.words import counted

if TYPE_CHECKING:
    from horai.cli.options import Chosen
    from horai.lang.diagnostics import Diagnostic
    from horai.lars import LarsProgram
    from horai.lars_result import LarsResult, Row

SUFFIX = ".lars"
_FORMATS = ("jsonl", "csv", "text")
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".txt": "text"}
_SETTINGS = frozenset(
    {"step", "start", "end", "unit", "time_in", "input_format", "strict", "engine"}
    | {"clock", "models", "filter"}
)
_COLUMNS = ("kind", "query", "model", "name", "args", "op")


def is_lars(rules: Iterable[Path]) -> bool:
    """Are these files LARS programs, and nothing else?"""
    return {path.suffix.lower() == SUFFIX for path in rules} == {True}


def refuse_lars_options(**given: object) -> None:
    """Say that an option is about LARS programs only."""
    for name, value in given.items():
        if value is not None:
            hint = f"the names of LARS programs end in {SUFFIX}"
            raise UsageError(f"--{name} is an option for LARS programs", hint)


def run_lars(
    chosen: Chosen,
    settings: dict[str, Any],
    strange: Mapping[str, object],
    answers: str | None,
    format: str | None,
    output: Path | None,
    dead_letters: Path | None,
    quiet: bool,
) -> None:
    """Run a program over the chosen input and write what was found."""
    for name, value in strange.items():
        if value is not None:
            hint = "windows stand in the program itself" if name == "window" else None
            raise UsageError(f"--{name} has no meaning for LARS programs", hint)
    form = _format(format or settings.pop("format", None), output)
    for ours in ("answers", "format"):
        settings.pop(ours, None)
    for name in settings.keys() - _SETTINGS:
        raise UsageError(f"the setting {name} of the project has no meaning for LARS programs")
    from horai import lars

    if not chosen.input and settings.get("end") is None:
        raise UsageError("no input given", "name the stream: --input FILE, or give --end TIME")
    program = lars.load(chosen.rules, chosen.background)
    _tell_warnings(program, settings.get("clock") or lars.DEFAULT_CLOCK, quiet)
    result = program.run(chosen.input or (), **settings)
    if dead_letters is not None:
        write_dead_letters(dead_letters, result.dead_letters)
    _write(result, answers or "windows", form, output)
    tell_dead_letters(result.dead_letters, dead_letters, quiet)


def check_lars(
    rules: list[Path], background: list[Path], clock: str | None
) -> tuple[list[Diagnostic], str]:
    """All findings about a program, and a line about what it is."""
    from horai.lang.diagnostics import sort_key
    from horai.lang.lars.reader import read_files
    from horai.lang.report import has_errors
    from horai.lars import DEFAULT_CLOCK, LarsProgram

    program, read = read_files([*rules, *background])
    found = LarsProgram(program)
    findings = sorted([*read, *found.check(clock or DEFAULT_CLOCK)], key=sort_key)
    counts = [counted(len(program.sources), "file"), counted(len(program.rules), "rule")]
    if has_errors(read):
        return findings, ", ".join(counts)
    kind = found.classification
    uses = f" ({', '.join(sorted(kind.features))})" if kind.features else ""
    lines = [f"fragment: {kind.fragment}{uses}"]
    for reason in kind.reasons[:3]:
        place = ""
        if reason.rule is not None and reason.rule.source is not None and reason.rule.span:
            line = reason.rule.source.position(reason.rule.span[0])[0]
            place = f" ({reason.rule.source.name}:{line})"
        lines.append(f"  because {reason.text}{place}")
    return findings, "\n".join([*lines, ", ".join(counts)])


def _tell_warnings(program: LarsProgram, clock: str, quiet: bool) -> None:
    number = len(program.check(clock))
    if number and not quiet:
        text = counted(number, "warning")
        console.warning(f"the rules have {text}; `horai check` shows them")


def _format(given: str | None, output: Path | None) -> str:
    if given is None and output is not None:
        given = _SUFFIXES.get(output.suffix.lower())
        if given is None:
            raise UsageError(f"{output}: the file name does not tell its format", "use --format")
    if given is None:
        given = "text" if sys.stdout.isatty() else "jsonl"
    if given not in _FORMATS:
        hint = f"use one of {', '.join(_FORMATS)}"
        raise UsageError(f"answers of LARS programs are not written as {given}", hint)
    return given


def _write(result: LarsResult, answers: str, form: str, output: Path | None) -> None:
    lines = _LINES[form](result, answers)
    with _target(output) as write:
        for line in lines:
            write(line + "\n")


@contextmanager
def _target(output: Path | None) -> Iterator[Any]:
    if output is None:
        yield sys.stdout.write
    else:
        with output.open("w", encoding="utf-8") as file:
            yield file.write


def _json_lines(result: LarsResult, answers: str) -> Iterator[str]:
    for row in result.rows(answers):
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _csv_lines(result: LarsResult, answers: str) -> Iterator[str]:
    yield ",".join(_COLUMNS)
    for row in result.rows(answers):
        cells = {**row, "args": json.dumps(row.get("args", []), ensure_ascii=False)}
        yield _csv([cells.get(column, "") for column in _COLUMNS])


def _csv(cells: list[object]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()


def _text_lines(result: LarsResult, answers: str) -> Iterator[str]:
    """One line per query time and model: `3: busy(ada), free(bob)`."""
    lines: dict[tuple[object, ...], list[str]] = {}
    for row in result.rows(answers):
        which = f" model {row['model']}" if "model" in row else ""
        key = (f"{row['query']}{which}{' ' + row['op'] if 'op' in row else ''}",)
        lines.setdefault(key, []).extend(_words(row))
    for (place,), words in lines.items():
        yield f"{place}: {', '.join(words) or '-'}"


def _words(row: Row) -> list[str]:
    if row["kind"] == "none":
        return ["no answer"]
    if row["kind"] == "empty":
        return []
    args = ",".join(map(str, row["args"]))
    return [f"{row['name']}({args})" if args else row["name"]]


_LINES = {"jsonl": _json_lines, "csv": _csv_lines, "text": _text_lines}
