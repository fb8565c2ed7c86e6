"""`horai test`: run case files and show how answers differ from what was expected."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from horai.cli import console
from horai.cli.command import FAILED, Exit, takes
from horai.cli.options import FILE, QUIET, argument, run_options
from horai.cli.workload import choose
from horai.errors import CaseError, UsageError, counted
from horai.lang.core.diagnostics import RulesError
from horai.rules import Rules
from horai.runtime.engines import engine_named, incremental_named
from horai.settings import RunSettings
from horai.testing import Case, Difference, find_cases, read_cases, run_case
from horai.tools.project import Project, find_project

_STYLES = {"-": "red", "+": "green", "!": "yellow"}


@takes(
    argument("files", "[FILES]...", nargs=-1),
    *run_options(only=("engine", "incremental")),
    QUIET,
)
def command(files: list[Path], given: dict[str, str], quiet: bool) -> None:
    settings = RunSettings.of("ec", "run", given)
    name = settings.engine
    engine_named(name)
    way = incremental_named(settings.incremental, name)
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
    click.echo(f"{passed} of {counted(len(cases), 'case')} passed")
    if failed:
        raise Exit(FAILED)


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
