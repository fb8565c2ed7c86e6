"""`horai check`: what is wrong or suspicious in rules, all at once."""

from __future__ import annotations

import json
from pathlib import Path

import click

from horai.cli import console
from horai.cli.command import WRONG, Exit, takes
from horai.cli.options import (
    BACKGROUND,
    FOR_PEOPLE,
    PREDICATES,
    RULES,
    SEVERITY,
    run_options,
)
from horai.cli.workload import choose
from horai.errors import counted
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.diagnostics import Severity as Level
from horai.lang.ec.reader import read_files
from horai.lang.ec.syntax import EventDescription
from horai.rules import all_findings
from horai.tools.codes import judged


@takes(
    RULES,
    BACKGROUND,
    PREDICATES,
    *run_options(only=("clock", "unit")),
    SEVERITY,
    FOR_PEOPLE,
)
def command(
    rules: list[Path],
    background: list[Path],
    predicates: Path | None,
    severity: list[str],
    format: str,
    given: dict[str, str],
) -> None:
    chosen = choose(rules, background, predicates, severity=severity, runs=False)
    settings = chosen.settings(("run", "live"), given, ("clock", "unit"))
    if chosen.language == "combined":
        from horai.cli.combined import check_both

        findings, summary = check_both(chosen, settings.clock, settings.unit)
    elif chosen.language == "lars":
        from horai.cli.lars import check_lars

        findings, summary = check_lars(chosen, settings)
    else:
        description, read = read_files(chosen.rules, chosen.background)
        findings = all_findings(description, read, chosen.predicates)
        summary = _summary(description)
    findings = judged(findings, chosen.severity)
    errors = sum(finding.severity is Level.ERROR for finding in findings)
    if format == "json":
        click.echo(json.dumps([d.as_json() for d in findings], ensure_ascii=False, indent=1))
    else:
        console.show_findings(findings)
        click.echo(f"{summary}: {_verdict(findings, errors)}")
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


def _verdict(findings: list[Diagnostic], errors: int) -> str:
    warnings = len(findings) - errors
    found = [
        counted(number, what)
        for number, what in ((errors, "error"), (warnings, "warning"))
        if number
    ]
    return " and ".join(found) or "all is well"
