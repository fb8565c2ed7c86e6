"""`horai check`: what is wrong or suspicious in rules, all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from horai.cli import console
from horai.cli.command import (
    ON_RULES,
    SEVERITY,
    WRONG,
    Exit,
    ForPeople,
    StdinName,
    run_options,
    standard_input,
    takes,
)
from horai.cli.workload import choose
from horai.errors import UsageError, counted
from horai.lang.core.diagnostics import Diagnostic, has_errors
from horai.lang.core.diagnostics import Severity as Level
from horai.rules import Rules, examined
from horai.settings import RunSettings


@takes(*ON_RULES, *run_options(only=("clock", "unit")), SEVERITY)
def command(
    named: dict[str, Any],
    given: dict[str, str],
    stdin_name: StdinName,
    format: ForPeople = "text",
) -> None:
    text = standard_input(named["rules"], stdin_name)
    if text is not None:
        named = {**named, "rules": [Path(text.name)]}
    chosen = choose(**named, runs=False)
    settings = chosen.settings(("run", "live"), given, ("clock", "unit"))
    if text is not None and chosen.background and chosen.language == "lars":
        raise UsageError("a program from standard input has no background", "add it to the program")
    unsaved = {} if text is None else {Path(text.name).resolve(): text.text}
    timed = settings.clock, settings.unit
    given_files = chosen.rules, chosen.background, chosen.predicates, chosen.severity
    rules, findings, is_sound, is_readable = examined(*given_files, timed, unsaved)
    lines: Iterable[str] = ()
    if rules.language == "lars" and is_readable:
        lines = _about_program(rules, settings, findings)
    elif rules.language == "combined" and is_sound:
        lines = _about_passing(rules)
    summary = "\n".join([*lines, _summary(rules)])
    errors = sum(finding.severity is Level.ERROR for finding in findings)
    if format != "json":
        console.show_findings(findings)
    verdict = f"{summary}: {_verdict(findings, errors)}"
    console.show(format, [one.as_json() for one in findings], [verdict])
    if errors:
        raise Exit(WRONG)


def _summary(rules: Rules) -> str:
    """How much was read."""
    description, program = rules.description, rules.program
    read = [
        counted(len(description.sources) + len(program.sources), "file"),
        counted(len(description.rules) + len(program.rules), "rule"),
    ]
    if rules.language == "ec":
        read.append(counted(sum(len(some.rows) for some in description.facts.values()), "fact"))
    return ", ".join(read)


def _about_program(
    rules: Rules, settings: RunSettings, findings: list[Diagnostic]
) -> Iterator[str]:
    """The fragment of a program, and the engines that run it."""
    from horai.report.plan import engine_lines, kind_lines
    from horai.runtime.inputs import clock_for

    yield from kind_lines(rules.classification)
    if not has_errors(findings):
        clock = str(clock_for(settings.clock, settings.unit))
        yield from engine_lines(rules.engine(clock))


def _about_passing(rules: Rules) -> Iterator[str]:
    """What passes between both languages."""
    for reader, other, some in (
        ("description", "program", rules.passing.to_description),
        ("program", "description", rules.passing.to_program),
    ):
        for name, arity in sorted({one.predicate for one in some}):
            yield f"the {reader} reads {name}/{arity} of the {other}"


def _verdict(findings: list[Diagnostic], errors: int) -> str:
    warnings = len(findings) - errors
    found = [
        counted(number, what)
        for number, what in ((errors, "error"), (warnings, "warning"))
        if number
    ]
    return " and ".join(found) or "all is well"
