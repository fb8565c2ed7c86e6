"""How the answers of a run are written: the formats, and which one is meant.

Rows that were not used: to a file, or told on standard error. Nothing is dropped silently.
How late the stream of a run was: a line for people, and all numbers in a file.
Files that a command will write: looked at before it begins, so that no answer is lost.
Findings that do not stop a run: about rules before it, about the input after it.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from horai.cli import console
from horai.cli.command import FAILED, Exit
from horai.errors import UsageError, counted
from horai.io import AnswerFormat, DeadLetter, write_answers
from horai.io.answers.write import SUFFIXES
from horai.io.schema import MEANT
from horai.io.shown import shortened
from horai.io.sources.kafka import SCHEME
from horai.io.sources.lines import endpoints_of
from horai.lang.core.diagnostics import Diagnostic, RulesError, Severity, has_errors
from horai.result import Result
from horai.runtime.metrics import Metrics, RunMetrics
from horai.tools.codes import Severities, judged


class OutputFormat(StrEnum):
    """How answers are written."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    text = "text"
    timeline = "timeline"


_FORMATS: dict[OutputFormat, AnswerFormat] = {
    OutputFormat.jsonl: "jsonl",
    OutputFormat.csv: "csv",
    OutputFormat.parquet: "parquet",
    OutputFormat.text: "text",
}


def format_of(given: str | None, output: Path | None) -> OutputFormat:
    """The format asked for, else that of the file name, else what suits the reader."""
    if given is not None:
        if given not in list(OutputFormat):
            raise UsageError(f"there is no format {given}", f"use one of {', '.join(OutputFormat)}")
        form = OutputFormat(given)
    elif output is not None:
        found = SUFFIXES.get(output.suffix.lower())
        if found is None:
            known = ", ".join(SUFFIXES)
            raise UsageError(f"{output}: the file name does not tell its format", f"use {known}")
        form = OutputFormat(found)
    else:
        form = OutputFormat.text if sys.stdout.isatty() else OutputFormat.jsonl
    if form is OutputFormat.parquet and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "name a file: -o answers.parquet")
    return form


def write(result: Result, form: OutputFormat, output: Path | None) -> None:
    """Write answers to a file, to standard output, or as a timeline."""
    if form is OutputFormat.timeline:
        from horai.cli.timeline import draw_run

        draw_run(result, output)
        return
    people = form is OutputFormat.text and result.unit is not None
    write_answers(
        result.table(),
        "-" if output is None else output,
        format=_FORMATS[form],
        unit=result.unit,
        times="iso" if people else "points",
    )


_SHOWN = 5


def tell_dead_letters(letters: list[DeadLetter], target: Path | None, quiet: bool) -> None:
    """Say how many letters there are, why, and where they went.

    A stream may well have types that no rule reads; only names that look mistyped are told of.
    """
    letters = [letter for letter in letters if not _is_of_no_concern(letter)]
    if not letters:
        return
    codes = Counter(letter.code for letter in letters)
    reasons = ", ".join(f"{number} {code}" for code, number in sorted(codes.items()))
    where = f"; see {target}" if target is not None else ""
    noun = "row was" if len(letters) == 1 else "rows were"
    console.warning(f"{len(letters)} {noun} not used, or only in part ({reasons}){where}")
    if target is not None or quiet:
        return
    for letter in letters[:_SHOWN]:
        console.say(
            f"  {letter.file}:{letter.line}: {letter.code}: {shortened(letter.reason, 300)}"
        )
        console.say(f"    {shortened(letter.text, 100)}", "dim")
    if len(letters) > _SHOWN:
        console.say(f"  ... and {len(letters) - _SHOWN} more; --dead-letters FILE keeps all")


def _is_of_no_concern(letter: DeadLetter) -> bool:
    return letter.code == "unknown-type" and MEANT not in letter.reason


_TOLD = ("on_time", "late", "too_late", "partly_too_late", "retracted", "unknown_retractions")


def write_metrics(path: Path, metrics: Metrics) -> None:
    """One JSON object, with `run` and `windows`."""
    path.write_text(json.dumps(metrics.to_dict(), indent=2) + "\n", encoding="utf-8")


def summary(run: RunMetrics) -> str:
    """What became of the items, in one line; what did not happen is not mentioned.

    >>> summary(RunMetrics(items=5, on_time=3, late=1, too_late=1, revised=2))
    '5 items: 3 on time, 1 late, 1 too late; 2 answers revised'
    """
    counts = {name: getattr(run, name) for name in (*_TOLD, "outside_run", "waiting")}
    told = [f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items() if number]
    items = f"{run.items:,} {'item' if run.items == 1 else 'items'}"
    line = f"{items}: {', '.join(told)}" if told else items
    return f"{line}; {counted(run.revised, 'answer')} revised" if run.revised else line


def check_outputs(
    outputs: Mapping[str, Path | None], inputs: Iterable[str | os.PathLike[str]]
) -> None:
    """Refuse what cannot be written, and what would replace a file that is read."""
    read = [Path(name) for name in inputs if str(name) != "-"]
    taken: list[tuple[str, Path]] = []
    for option, path in outputs.items():
        if path is None or endpoints_of(places_named(path)) is not None:
            continue
        _check_writable(option, path)
        for one in read:
            if _is_same(path, one):
                hint = "name another file: what is read would be lost"
                raise UsageError(f"{option} {path}: this file is read by the command", hint)
        for other, before in taken:
            if _is_same(path, before):
                hint = "name another file for one of them"
                raise UsageError(f"{option} {path}: {other} goes to the same file", hint)
        taken.append((option, path))


def places_named(output: Path) -> str:
    """What was named as output: a path has one slash where the name of a topic has two."""
    return str(output).replace(SCHEME[:-1], SCHEME)


def _check_writable(option: str, path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{option} {path}: this is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {path.parent}", "make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {path}: this file must not be written", "name another one")


def _is_same(one: Path, other: Path) -> bool:
    """Are these one file, also by way of links?"""
    try:
        return one.samefile(other)
    except OSError:  # one of them is not there yet
        return one.resolve() == other.resolve()


_warnings_SHOWN = 10


def tell_of_rules(findings: Sequence[Diagnostic], severities: Severities, quiet: bool) -> None:
    """Show the first warnings; one that was made an error stops the run."""
    found = judged(findings, severities)
    if has_errors(found):
        raise RulesError(found)
    if quiet:
        return
    console.show_findings(found[:_warnings_SHOWN])
    if len(found) > _warnings_SHOWN:
        console.warning(f"the rules have {len(found)} warnings; `horai check` shows all of them")


def tell_of_run(findings: Sequence[Diagnostic], quiet: bool) -> None:
    """Show what a run says about its input; errors even to who wants little."""
    for finding in findings:
        if not quiet or finding.severity is Severity.ERROR:
            console.show_findings([finding])


def fail_on(findings: Sequence[Diagnostic]) -> None:
    """A run with an error among its findings has failed."""
    if has_errors(findings):
        raise Exit(FAILED)
