"""Rules of both languages on the command line: files of the Event Calculus beside `.lars` files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from horai.cli import console
from horai.cli.output import (
    fail_on,
    format_of,
    tell_dead_letters,
    tell_of_rules,
    tell_of_run,
    write,
    write_metrics,
)
from horai.cli.workload import arguments
from horai.errors import counted
from horai.io import write_dead_letters
from horai.lang.core.diagnostics import Diagnostic, has_errors
from horai.settings import RunSettings

if TYPE_CHECKING:
    from horai.cli.run import Files
    from horai.cli.workload import Workload


def run_both(
    chosen: Workload,
    settings: RunSettings,
    wanted: str | None,
    files: Files,
    quiet: bool,
    interactive: bool = False,
) -> None:
    """Run both over the chosen input, write or ask for the answers, and tell what was lost."""
    form = format_of(wanted, files.output)
    if settings.end is None:
        chosen.demand_input("name the stream: --input FILE, or give --end TIME")
    both = chosen.load()
    warnings = both.check(settings.clock, settings.unit)
    if not has_errors(warnings):  # the run tells of errors
        tell_of_rules(warnings, chosen.severity, quiet)
    asked = arguments(settings)
    state = asked.pop("state", None)
    run = both.run if state is None else partial(both.run_on, Path(state))
    with console.bar("query times", quiet) as progress:
        result = run(chosen.input or (), progress=progress, **asked)
    if files.dead_letters is not None:
        write_dead_letters(files.dead_letters, result.dead_letters)
    if result.unanswered and not quiet:
        from horai.report.page import span_text

        points = sum(end - start for start, end in result.unanswered)
        where = ", ".join(span_text(*span) for span in result.unanswered[:5])
        more = ", ..." if len(result.unanswered) > 5 else ""
        text = f"{counted(points, 'time point')}: {where}{more}"
        console.warning(f"the program has no answer at {text}")
    tell_dead_letters(result.dead_letters, files.dead_letters, quiet)
    tell_of_run(result.warnings, quiet)
    if files.metrics is not None:
        write_metrics(files.metrics, result.metrics)
    if interactive:
        from horai.cli.query import converse

        converse(result, "combined")
    else:
        write(result, form, files.output)
    fail_on(result.warnings)


def check_both(
    chosen: Workload, clock: str | None, unit: str | None
) -> tuple[list[Diagnostic], str]:
    """All findings about both, and what passes between them."""
    both = chosen.load()
    findings = both.check(clock, unit)
    lines = [
        f"the description reads {name} of the program"
        for name in _names(one.predicate for one in both.passing.to_description)
    ]
    lines += [
        f"the program reads {name} of the description"
        for name in _names(one.predicate for one in both.passing.to_program)
    ]
    files = sum(map(len, both.sources.values()))
    rules = len(both.description.rules) + len(both.program.rules)
    return findings, "\n".join([*lines, f"{counted(files, 'file')}, {counted(rules, 'rule')}"])


def _names(predicates: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{name}/{arity}" for name, arity in sorted(set(predicates))]
