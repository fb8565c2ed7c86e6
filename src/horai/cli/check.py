"""`horai check`: what is wrong or suspicious in rules, all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from horai.cli import console
from horai.cli.command import (
    FOR_PEOPLE,
    ON_RULES,
    SEVERITY,
    STDIN_NAME,
    WRONG,
    Exit,
    run_options,
    standard_input,
    takes,
)
from horai.cli.workload import Workload, choose
from horai.errors import UsageError, counted
from horai.lang.core.diagnostics import Diagnostic, has_errors, sort_key
from horai.lang.core.diagnostics import Severity as Level
from horai.lang.core.source import SourceText
from horai.lang.ec.reader import read_files
from horai.lang.ec.syntax import EventDescription
from horai.rules import all_findings
from horai.settings import RunSettings
from horai.tools.codes import judged


@takes(
    *ON_RULES,
    *run_options(only=("clock", "unit")),
    SEVERITY,
    STDIN_NAME,
    FOR_PEOPLE,
)
def command(
    named: dict[str, Any],
    stdin_name: Path | None,
    format: str,
    given: dict[str, str],
) -> None:
    text = standard_input(named["rules"], stdin_name)
    if text is not None:
        named = {**named, "rules": [Path(text.name)]}
    chosen = choose(**named, runs=False)
    settings = chosen.settings(("run", "live"), given, ("clock", "unit"))
    if chosen.language == "combined":
        findings, summary = _combined(chosen, settings)
    elif chosen.language == "lars":
        findings, summary = _program(chosen, settings, text)
    else:
        description, read = read_files([text] if text else chosen.rules, chosen.background)
        findings = all_findings(description, read, chosen.predicates)
        summary = _summary(description)
    findings = judged(findings, chosen.severity)
    errors = sum(finding.severity is Level.ERROR for finding in findings)
    if format != "json":
        console.show_findings(findings)
    verdict = f"{summary}: {_verdict(findings, errors)}"
    console.show(format, [one.as_json() for one in findings], [verdict])
    if errors:
        raise Exit(WRONG)


def _summary(description: EventDescription) -> str:
    facts = sum(len(facts.rows) for facts in description.facts.values())
    read = [
        counted(len(description.sources), "file"),
        counted(len(description.rules), "rule"),
        counted(facts, "fact"),
    ]
    return ", ".join(read)


def _program(
    chosen: Workload, settings: RunSettings, text: SourceText | None
) -> tuple[list[Diagnostic], str]:
    """All findings about a program, its fragment, and the engines that run it."""
    from horai.lang.lars.reader import read_files as read_programs
    from horai.lang.lars.reader import read_sources
    from horai.report.plan import engine_lines, kind_lines
    from horai.rules import Rules
    from horai.runtime.inputs import clock_for

    if text is not None and chosen.background:
        raise UsageError("a program from standard input has no background", "add it to the program")
    files = [*chosen.rules, *chosen.background]
    program, read = read_programs(files) if text is None else read_sources([text])
    found, clock = Rules(program=program), str(clock_for(settings.clock, settings.unit))
    findings = sorted([*read, *found.check(clock)], key=sort_key)
    lines = [] if has_errors(read) else list(kind_lines(found.classification))
    if not has_errors(findings):
        lines += engine_lines(*(found.engine(clock, together=one) for one in (True, False)))
    read_all = counted(len(program.sources), "file"), counted(len(program.rules), "rule")
    return findings, "\n".join([*lines, ", ".join(read_all)])


def _combined(chosen: Workload, settings: RunSettings) -> tuple[list[Diagnostic], str]:
    """All findings about both languages, and what passes between them."""
    both = chosen.load()
    passing = both.passing
    lines = [
        f"the {reader} reads {name}/{arity} of the {other}"
        for reader, other, some in (
            ("description", "program", passing.to_description),
            ("program", "description", passing.to_program),
        )
        for name, arity in sorted({one.predicate for one in some})
    ]
    files = counted(sum(map(len, both.sources.values())), "file")
    rules = counted(len(both.description.rules) + len(both.program.rules), "rule")
    findings = both.check(settings.clock, settings.unit)
    return findings, "\n".join([*lines, f"{files}, {rules}"])


def _verdict(findings: list[Diagnostic], errors: int) -> str:
    warnings = len(findings) - errors
    found = [
        counted(number, what)
        for number, what in ((errors, "error"), (warnings, "warning"))
        if number
    ]
    return " and ".join(found) or "all is well"
