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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TextIO, cast

from horai.cli import console
from horai.errors import UsageError, counted
from horai.io import AnswerFormat, DeadLetter, write_answers
from horai.io.answers import SUFFIXES, PointLines, point_columns
from horai.io.schema import MEANT
from horai.io.shown import printable, shortened
from horai.io.sources.registry import endpoints_of, places_named, sink_of
from horai.io.times import Unit
from horai.lang.core.diagnostics import Diagnostic, RulesError, Severity, has_errors
from horai.result import Result
from horai.runtime.lars.answers import AtomGroup, AtomTexts
from horai.runtime.metrics import Metrics, RunMetrics


class OutputFormat(StrEnum):
    """How answers are written."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    text = "text"
    timeline = "timeline"


_LINES = (OutputFormat.jsonl, OutputFormat.csv, OutputFormat.text)


def format_of(given: str | None, output: Path | None) -> OutputFormat:
    """The format asked for, else that of the file name, else what suits the reader."""
    if given is not None:
        if given not in list(OutputFormat):
            raise UsageError(f"there is no format {given}", f"use one of {', '.join(OutputFormat)}")
        form = OutputFormat(given)
    elif output is not None and _places(output) is None:
        found = SUFFIXES.get(output.suffix.lower())
        if found is None:
            known = ", ".join(SUFFIXES)
            raise UsageError(f"{output}: the file name does not tell its format", f"use {known}")
        form = OutputFormat(found)
    else:
        form = OutputFormat.text if output is None and sys.stdout.isatty() else OutputFormat.jsonl
    if form is OutputFormat.parquet and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "name a file: -o answers.parquet")
    return form


def iso_unit(times: str | None, unit: Unit | None, for_people: bool) -> Unit | None:
    """The unit of times that are written in ISO 8601; None if they are time-points.

    >>> iso_unit("iso", None, False)
    Traceback (most recent call last):
    ...
    horai.errors.UsageError: --times iso needs the length of a time-point
      hint: add --unit, such as --unit s
    """
    if times == "iso" and unit is None:
        problem = "--times iso needs the length of a time-point"
        raise UsageError(problem, "add --unit, such as --unit s")
    return unit if times == "iso" or (times is None and for_people) else None


class Target:
    """Where answers go, in a format: a file, standard output, or whoever is connected."""

    def __init__(
        self,
        form: OutputFormat,
        output: Path | None,
        *,
        at_once: bool = False,
        iso: Unit | None = None,
    ) -> None:
        self.form, self.output, self.iso = form, output, iso
        places = None if output is None else _places(output)
        if form not in _LINES and (at_once or places is not None):
            hint = f"use one of {', '.join(_LINES)}"
            who = "a run that goes on writes" if at_once else f"{output} takes"
            raise UsageError(f"{who} lines, and {form} has none", hint)
        # Who cannot write is told at once, and others may connect while the run is on.
        self._sinks = None if places is None else [sink_of(one, console.say) for one in places]
        self._file: TextIO | None = None
        self._is_terminal = False
        self._lines = PointLines(form, iso)
        self._texts = AtomTexts(self._lines.atom)
        if at_once:
            self._begin()

    def finish(self, result: Result) -> None:
        """Write all answers of a run that is over."""
        with writing(self.output):
            self._finish(result)

    def _finish(self, result: Result) -> None:
        if self.form is OutputFormat.timeline:
            from horai.cli.timeline import draw_run

            draw_run(result, self.output, self.iso)
        elif result.rules.language == "lars" and self.form in _LINES:
            self._begin()
            self.say(() if result.points is None else result.points.groups(result.form))
            self.close()
        else:
            write_answers(
                result.table(),
                "-" if self.output is None else cast(TextIO, self) if self._sinks else self.output,
                format=cast(AnswerFormat, str(self.form)),
                unit=self.iso,
                times="points" if self.iso is None else "iso",
            )

    def _begin(self) -> None:
        if self._sinks is None:
            self._file = (
                sys.stdout if self.output is None else self.output.open("w", encoding="utf-8")
            )
            self._is_terminal = self._file.isatty()
        if self.form is OutputFormat.csv:
            self.write(",".join(point_columns(self.iso)) + "\n")

    def say(self, groups: Iterable[AtomGroup]) -> None:
        """Write what holds at query times."""
        texts, lines = self._texts.of, self._lines.lines
        text = "".join([lines(group.row, texts(group.atoms)) for group in groups])
        if text:
            self.write(text)

    def write(self, text: str) -> None:
        """Write a text; who waits for it has it once it is let go."""
        for sink in self._sinks or ():
            sink.write(text)
        if self._file is not None:
            try:  # `writing` would take longer than to write the text
                self._file.write(printable(text) if self._is_terminal else text)
            except OSError as error:
                raise _named(error, self.output) from None

    def flush(self) -> None:
        """Let go of all that was written."""
        if self._file is not None:
            with writing(self.output):
                self._file.flush()

    def close(self) -> None:
        """Nothing more is written."""
        self.flush()
        if self._file is not None and self._file is not sys.stdout:
            self._file.close()


@contextmanager
def writing(path: Path | None) -> Iterator[None]:
    """Errors name the file that is written: Python does so only where it opens one."""
    try:
        yield
    except OSError as error:
        raise _named(error, path) from None


def _named(error: OSError, path: Path | None) -> OSError:
    """The error, with the file that could not be written."""
    if error.filename is None and not isinstance(error, BrokenPipeError):
        error.filename = "standard output" if path is None else str(path)
    return error


def _places(output: Path) -> list[str] | None:
    """The places that are no file, if they were named as output."""
    return endpoints_of(places_named(output))


_SHOWN = 5


def tell_dead_letters(letters: list[DeadLetter], target: Path | None, quiet: bool) -> None:
    """Say how many letters there are, why, and where they went.

    A stream may well have types that no rule reads; only names that look mistyped are told of.
    """
    letters = [one for one in letters if one.code != "unknown-type" or MEANT in one.reason]
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


_TOLD = ("on_time", "late", "too_late", "partly_too_late", "retracted", "unknown_retractions")


def write_metrics(path: Path, metrics: Metrics) -> None:
    """One JSON object, with `run` and `windows`."""
    with writing(path):
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
    read = [None if str(name) == "-" else Path(name) for name in inputs]
    taken: list[tuple[str, Path]] = []
    for option, path in outputs.items():
        if path is None or _places(path) is not None:
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


_PARTS = ("spans", "events", "atoms")


def check_folder(output: Path, inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Refuse to let Spark replace folders that are not answers of before, or are read."""
    if output.exists() and not output.is_dir():
        raise UsageError(f"--output {output}: this is a file", "name a folder, or a file.parquet")
    for part in (output / name for name in _PARTS):
        if any(part.resolve() in Path(one).resolve().parents for one in inputs):
            hint = "name another folder: what is read would be lost"
            raise UsageError(f"--output {output}: {part} is read by the command", hint)
        if part.exists() and not (part / "_SUCCESS").exists():
            problem = f"--output {output}: {part} would be replaced, and is no answer of before"
            raise UsageError(problem, "name another folder, or remove it")


def _check_writable(option: str, path: Path) -> None:
    if path.is_dir():
        raise UsageError(f"{option} {path}: this is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} {path}: there is no folder {path.parent}", "make it first")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{option} {path}: this file must not be written", "name another one")


def _is_same(one: Path, other: Path | None) -> bool:
    """Are these one file, also by way of links? None is standard input."""
    try:
        found = os.fstat(0) if other is None else other.stat()
        return os.path.samestat(one.stat(), found)
    except OSError:  # one of them is not there yet
        return other is not None and one.resolve() == other.resolve()


_MOST_WARNINGS = 10


def tell_of_rules(found: Sequence[Diagnostic], quiet: bool) -> None:
    """Show the first warnings; an error stops the run."""
    if has_errors(found):
        raise RulesError(found)
    if quiet:
        return
    console.show_findings(found[:_MOST_WARNINGS])
    if len(found) > _MOST_WARNINGS:
        console.warning(f"the rules have {len(found)} warnings; `horai check` shows all of them")


def tell_of_run(result: Result, quiet: bool, dead_letters: Path | None = None) -> None:
    """Show what a run says about its input; errors even to who wants little."""
    tell_dead_letters(result.dead_letters, dead_letters, quiet)
    tell_findings(result.warnings, quiet)


def tell_findings(found: Iterable[Diagnostic], quiet: bool) -> None:
    """Show the findings of a run; errors even to who wants little."""
    console.show_findings(one for one in found if not quiet or one.severity is Severity.ERROR)
