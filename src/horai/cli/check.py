"""`horai check`: what is wrong or suspicious in rules, all at once."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from horai.cli import console
from horai.cli.combined import check_both, speaks_both
from horai.cli.guard import WRONG, guarded
from horai.cli.lars import check_lars, is_lars, refuse_lars_options
from horai.cli.options import Background, Clock, Predicates, RulesArgument, Severity, choose
from horai.errors import counted
from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.diagnostics import Severity as Level
from horai.lang.ec.reader import read_files
from horai.lang.ec.syntax import EventDescription
from horai.rules import all_findings
from horai.tools.codes import judged


class CheckFormat(StrEnum):
    """For people or for editors."""

    text = "text"
    json = "json"


@guarded
def command(
    rules: RulesArgument = None,
    background: Background = None,
    predicates: Predicates = None,
    clock: Clock = None,
    severity: Severity = None,
    format: Annotated[
        CheckFormat, typer.Option(help="For people, or for editors.")
    ] = CheckFormat.text,
) -> None:
    """Check rules; exit status 2 if there are errors."""
    chosen = choose(rules, background, predicates, severity=severity, runs=False)
    if speaks_both(chosen.rules):
        findings, summary = check_both(chosen, clock)
    elif is_lars(chosen.rules):
        findings, summary = check_lars(chosen.rules, chosen.background, clock)
    else:
        refuse_lars_options(clock=clock)
        description, read = read_files(chosen.rules, chosen.background)
        findings = all_findings(description, read, chosen.predicates)
        summary = _summary(description)
    findings = judged(findings, chosen.severity)
    errors = sum(finding.severity is Level.ERROR for finding in findings)
    if format is CheckFormat.json:
        typer.echo(json.dumps([d.as_json() for d in findings], ensure_ascii=False, indent=1))
    else:
        console.show_findings(findings)
        typer.echo(f"{summary}: {_verdict(findings, errors)}")
    if errors:
        raise typer.Exit(WRONG)


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
