"""LARS programs on the command line: files whose names end in `.lars`."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from horai.cli import console
from horai.cli.dead_letters import tell_dead_letters
from horai.cli.lars_plan import engine_lines, kind_lines
from horai.cli.lars_write import Target, check_lines, checked_format, has_lines, write_whole
from horai.cli.metrics import write_metrics
from horai.cli.options import check_spark
from horai.engines import SPARK
from horai.errors import UsageError
from horai.io import DeadLetter, write_dead_letters
from horai.words import counted

if TYPE_CHECKING:
    from horai.cli.options import Chosen
    from horai.lang.diagnostics import Diagnostic
    from horai.lars_program import LarsProgram

SUFFIX = ".lars"
SETTINGS = frozenset(
    {"step", "start", "end", "unit", "time_in", "input_format", "strict", "engine"}
    | {"clock", "models", "reasoning", "least_change", "filter", "lateness", "output_every"}
    | {"master", "buckets"}
)


class Flowing(NamedTuple):
    """How a run goes on: line by line, with the clock, from where another one ended."""

    live: bool = False
    real_time: bool = False
    state: Path | None = None


class Files(NamedTuple):
    """Where answers go, rows that were not used, and numbers about the signals."""

    output: Path | None = None
    dead_letters: Path | None = None
    metrics: Path | None = None


class Said(NamedTuple):
    """What became of a run: who ran it, and why, how often it was asked, and what was not used."""

    engine: str
    reasons: list[str]
    queries: int
    dead_letters: list[DeadLetter]


def is_lars(rules: Iterable[Path]) -> bool:
    """Are these files LARS programs, and nothing else?"""
    return {path.suffix.lower() == SUFFIX for path in rules} == {True}


def refuse_lars(rules: Iterable[Path], problem: str, hint: str) -> None:
    """Say that a command is not for LARS programs, and what is."""
    for path in rules:
        if path.suffix.lower() == SUFFIX:
            raise UsageError(f"{path}: {problem}", hint)


def refuse_lars_options(**given: object) -> None:
    """Say that an option is about LARS programs only."""
    for name, value in given.items():
        if value is not None:
            hint = f"the names of LARS programs end in {SUFFIX}"
            raise UsageError(f"--{name} is an option for LARS programs", hint)


_INSTEAD = {
    "window": "windows stand in the program itself; --lateness says how late signals may be",
    "tick": "time points lie one --clock apart",
    "include-input": "--filter none shows signals, too",
    "analyze": "leave it out: what is shown are the operators, in their order",
    "incremental": "the engine plan works by change wherever it can; `horai plan` says if it does",
    "interactive": "use horai query",
}


def refuse_lars_settings(*given: Mapping[str, object]) -> None:
    """Say that options have no meaning for LARS programs, and what to use instead."""
    for name, value in (pair for some in given for pair in some.items()):
        if value is not None:
            raise UsageError(f"--{name} has no meaning for LARS programs", _INSTEAD.get(name))


def run_lars(
    chosen: Chosen,
    settings: dict[str, Any],
    strange: Mapping[str, object],
    answers: str | None,
    format: str | None,
    files: Files,
    quiet: bool,
    flowing: Flowing,
) -> None:
    """Run a program over the chosen input and write what was found."""
    output, dead_letters, metrics = files
    refuse_lars_settings(strange)
    flows = any(flowing) or settings.get("output_every") not in (None, "time")
    _check_spark(settings, flows)
    wanted = format or settings.pop("format", None)
    is_folder = settings.get("engine") == SPARK and output is not None and not output.suffix
    form = "parquet" if is_folder else checked_format(wanted, output)
    for ours in ("answers", "format"):
        settings.pop(ours, None)
    for name in settings.keys() - SETTINGS:
        raise UsageError(f"the setting {name} of the project has no meaning for LARS programs")
    from horai import lars
    from horai.lars_clock import DEFAULT_CLOCK

    program = lars.load(chosen.rules, chosen.background)
    _tell_warnings(program, settings.get("clock") or DEFAULT_CLOCK, quiet)
    _tell_strange_names(program, settings.get("filter"), quiet)
    if not chosen.input and settings.get("end") is None and not flows:
        raise UsageError("no input given", "name the stream: --input FILE, or give --end TIME")
    if is_folder:
        assert output is not None
        _write_folder(program, chosen, settings, answers, wanted, output, dead_letters, quiet)
        return
    if flows:
        check_lines(form)
    target = Target(form, output) if has_lines(form) else None  # who cannot write is told at once
    began = time.perf_counter()
    if flows:
        from horai.cli.lars_flow import run_flow

        if metrics is not None:
            hint = "leave out --live, --real-time, --state and --output-every"
            raise UsageError("--metrics is about a run over whole files", hint)
        assert target is not None
        said = run_flow(program, chosen.input, settings, answers or "windows", target, flowing)
    else:
        settings.pop("output_every", None)
        result = program.run(chosen.input or (), **settings)
        if target is None:
            write_whole(result, answers or "windows", form, output)
        else:
            target.write(result.rows(answers or "windows"))
        said = Said(result.engine, result.reasons, len(result.answers), result.dead_letters)
        if metrics is not None:
            write_metrics(metrics, result.metrics)
    if target is not None:
        target.close()
    if dead_letters is not None:
        write_dead_letters(dead_letters, said.dead_letters)
    tell_dead_letters(said.dead_letters, dead_letters, quiet)
    if not quiet and console.is_watched():
        times = counted(said.queries, "query time")
        console.say(f"{times} in {time.perf_counter() - began:.1f} s by the engine {said.engine}")
        for reason in said.reasons:
            console.say(f"  because {reason}", "dim")


def _check_spark(settings: Mapping[str, object], flows: bool) -> None:
    """Refuse what Spark does not do, and what only Spark does."""
    check_spark(settings)
    if flows and settings.get("engine") == SPARK:
        problem = "Spark runs over whole streams, and gives answers at all query times"
        raise UsageError(problem, "leave out --live, --real-time, --state and --output-every")


def _write_folder(
    program: LarsProgram,
    chosen: Chosen,
    settings: dict[str, Any],
    answers: str | None,
    format: str | None,
    output: Path,
    dead_letters: Path | None,
    quiet: bool,
) -> None:
    """Parquet in folders of names and days, written by the workers of Spark."""
    if format not in (None, "parquet"):
        hint = "name a file such as answers.csv"
        raise UsageError(f"{output}: a folder is written as Parquet", hint)
    asked = {n: v for n, v in settings.items() if n not in ("engine", "output_every")}
    found = program.spark(chosen.input or (), answers=answers or "windows", **asked)
    found.write_parquet(output)
    if dead_letters is not None:
        write_dead_letters(dead_letters, found.letters)
    tell_dead_letters(found.letters, dead_letters, quiet)


def check_lars(
    rules: list[Path], background: list[Path], clock: str | None
) -> tuple[list[Diagnostic], str]:
    """All findings about a program, and a line about what it is."""
    from horai.lang.diagnostics import sort_key
    from horai.lang.lars.reader import read_files
    from horai.lang.report import has_errors
    from horai.lars_clock import DEFAULT_CLOCK
    from horai.lars_program import LarsProgram

    program, read = read_files([*rules, *background])
    found = LarsProgram(program)
    findings = sorted([*read, *found.check(clock or DEFAULT_CLOCK)], key=sort_key)
    counts = [counted(len(program.sources), "file"), counted(len(program.rules), "rule")]
    if has_errors(read):
        return findings, ", ".join(counts)
    lines = list(kind_lines(found.classification))
    if not has_errors(findings):
        both = (found.engine(clock or DEFAULT_CLOCK, together=one) for one in (True, False))
        lines += engine_lines(*both)
    return findings, "\n".join([*lines, ", ".join(counts)])


def _tell_warnings(program: LarsProgram, clock: str, quiet: bool) -> None:
    from horai.lang.report import has_errors

    findings = program.check(clock)
    if findings and not has_errors(findings) and not quiet:  # errors are shown in any case
        text = counted(len(findings), "warning")
        console.warning(f"the rules have {text}; `horai check` shows them")


def _tell_strange_names(program: LarsProgram, filter: str | None, quiet: bool) -> None:
    """Warn about names in a filter that the program does not have: nothing will be shown of them.

    Signals that no rule reads may have such names.
    """
    from horai.lang.diagnostics import did_you_mean
    from horai.lang.lars.predicates import background, derived, inputs

    if quiet or filter is None or filter in ("inferences", "none"):
        return
    rules = program.program
    known = sorted({name for name, _ in derived(rules) | inputs(rules) | background(rules)})
    for name in filter.split(","):
        if name.strip() and name.strip() not in known:
            near = did_you_mean(name.strip(), known)
            hint = f": did you mean {near}?" if near else ""
            console.warning(f"no rule has the predicate {name.strip()} of the filter{hint}")
