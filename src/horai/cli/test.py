"""`horai test`: run case files and show how answers differ from what was expected."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from horai.cli import console
from horai.cli.guard import FAILED, guarded
from horai.cli.options import Engine, Incremental, choose
from horai.errors import CaseError, UsageError, counted
from horai.lang.core.diagnostics import RulesError
from horai.rules import Rules
from horai.runtime.engines import DEFAULT, engine_named, incremental_named
from horai.testing import Case, Difference, find_cases, read_cases, run_case
from horai.tools.project import FILE, Project, find_project

_STYLES = {"-": "red", "+": "green", "!": "yellow"}


@guarded
def command(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILES", help=f"Case files or folders; else those of {FILE}."),
    ] = None,
    engine: Engine = None,
    incremental: Incremental = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only failures.")] = False,
) -> None:
    """Run given/expect cases; exit status 1 if one fails."""
    name = engine or DEFAULT
    engine_named(name)
    way = incremental_named(incremental or "auto", name)
    project = find_project()
    cases = _read(_paths(files, project))
    rules = _project_rules(project) if any(case.rules is None for case in cases) else None
    failed = 0
    for case in cases:
        differences = run_case(case, name, rules, incremental=way)
        failed += bool(differences)
        if differences or not quiet:
            console.stdout().print(_report(case, differences))
    passed = len(cases) - failed
    typer.echo(f"{passed} of {counted(len(cases), 'case')} passed")
    if failed:
        raise typer.Exit(FAILED)


def _paths(files: list[Path] | None, project: Project | None) -> list[Path]:
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
        return choose(None, None, None).load()
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
