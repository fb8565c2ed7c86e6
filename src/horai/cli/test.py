"""`horai test`: run case files and show how answers differ from what was expected."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import click
from rich.text import Text

from horai.cli import console
from horai.cli.command import FAILED, FILE, Exit, Quiet, argument, option, run_options, takes
from horai.cli.workload import choose
from horai.errors import CaseError, UsageError, counted
from horai.io.shown import printable
from horai.lang.core.diagnostics import RulesError
from horai.rules import Rules
from horai.runtime.engines import engine_named
from horai.settings import SPARK, RunSettings
from horai.testing import (
    Case,
    Difference,
    Runner,
    find_cases,
    read_cases,
    run_case,
    run_whole,
)
from horai.tools.project import Project, find_project

_VERDICTS = {
    "never": "No answer of any case is another one without",
    "decides": "Answers are other ones, but no case fails without",
}
_STYLES = {"-": "red", "+": "green", "!": "yellow"}


@takes(*run_options(only=("engine",)))
def command(
    given: dict[str, str],
    files: Annotated[list[Path], argument("[FILES]...")],
    as_stream: Annotated[
        bool, option("Feed each case in random pieces, late, and save and load it in between.")
    ],
    seed: Annotated[int | None, option("The same streams as a run that printed N.", metavar="N")],
    cover: Annotated[bool, option("Tell which rules and conditions never decide anything.")],
    quiet: Quiet,
) -> None:
    settings = RunSettings.of("ec", "run", given)
    name = settings.engine
    engine_named(name)
    run = _as_stream(seed, name) if as_stream else run_whole
    if seed is not None and not as_stream:
        raise UsageError("--seed is about random streams", "add --as-stream")
    project = find_project()
    cases = _read(_paths(files, project))
    rules = _project_rules(project) if any(case.rules is None for case in cases) else None
    failed = 0
    for case in cases:
        differences = run_case(case, name, rules, run=run)
        failed += bool(differences)
        if differences or not quiet:
            console.put(_report(case, differences))
    passed = len(cases) - failed
    click.echo(f"{passed} of {counted(len(cases), 'case')} passed")
    if failed:
        raise Exit(FAILED)
    if cover:
        _cover(cases, name, rules, quiet)


def _as_stream(seed: int | None, engine: str) -> Runner:
    """Random streams; who wants the same once more is told the seed."""
    from horai.testing import as_stream

    if engine == SPARK:
        hint = "`horai stream` runs streams on Spark; leave out --engine"
        raise UsageError("cases run as streams in this process, not on Spark", hint)
    if seed is not None and seed < 0:
        raise UsageError(f"--seed must be at least 0, not {seed}")
    chosen = secrets.randbelow(10**6) if seed is None else seed
    click.echo(f"as streams, --seed {chosen}")
    return as_stream(chosen)


def _cover(cases: list[Case], engine: str, rules: Rules | None, quiet: bool) -> None:
    """Show what never decides anything, and what decides only what no case expects."""
    from horai.tools.cover import cover

    with console.bar("rules and conditions", quiet) as progress:
        parts = cover(cases, rules, engine, progress)
    for verdict, told in _VERDICTS.items():
        found = [part for part in parts if part.verdict == verdict]
        if found:
            click.echo(f"\n{told}:")
        for part in found:
            place = f"{part.source.name}:{part.line}"
            click.echo(printable(f"  {place}: {part.kind} {part.text}"))
    counts = []
    for kind in ("rule", "condition"):
        some = [part.verdict != "never" for part in parts if part.kind == kind]
        counts.append(f"{sum(some)} of {counted(len(some), kind)}")
    click.echo(f"\n{' and '.join(counts)} that can be left out decide something")


def _paths(files: list[Path], project: Project | None) -> list[Path]:
    if not files and project is None:
        hint = f"name case files, or work in a folder with {FILE}"
        raise UsageError("no cases given", hint)
    found = find_cases(files or (project.cases if project else []))
    if not found:
        raise UsageError("no case files found", "they end in .case")
    return found


def _read(paths: list[Path]) -> list[Case]:
    """The cases of all files; malformed files are told together."""
    cases: list[Case] = []
    wrong: list[CaseError] = []
    for path in paths:
        try:
            cases.extend(read_cases(path))
        except CaseError as error:
            wrong.append(error)
    for malformed in wrong[:-1]:
        for line, text in malformed.problems:
            console.error(f"{malformed.file}:{line}: {text}")
    if wrong:
        raise wrong[-1]
    return cases


def _project_rules(project: Project | None) -> Rules | None:
    if project is None:
        return None
    try:
        return choose().load()
    except RulesError as error:
        console.error(f"the rules of {project.folder / FILE} cannot be used")
        raise error


def _report(case: Case, differences: list[Difference]) -> Text:
    word, style = ("FAIL", "bold red") if differences else ("ok", "green")
    text = Text.assemble((f"{word:4}", style), f"  {case.file}:{case.line}  {case.title}")
    place = ""
    for difference in differences:
        if difference.place != place:
            place = difference.place
            text.append(f"\n        {place} ({case.file}:{difference.line})", style="bold")
        note = {"-": "  (missing)", "+": "  (unexpected)"}.get(difference.sign, "")
        for line in difference.text.split("\n"):
            shown = f"\n        {difference.sign} {line}{note}"
            text.append(shown, style=_STYLES[difference.sign])
    return text
