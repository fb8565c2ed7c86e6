"""Rules of both languages on the command line: files of the Event Calculus beside `.lars` files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from horai.cli import console
from horai.cli.command import SUFFIX
from horai.cli.output import (
    OutputFormat,
    fail_on,
    format_of,
    tell_dead_letters,
    tell_of_rules,
    tell_of_run,
    write,
    write_metrics,
)
from horai.cli.workload import arguments
from horai.errors import UsageError, counted
from horai.io import write_dead_letters
from horai.lang.core.diagnostics import Diagnostic, RulesError, has_errors
from horai.settings import RunSettings

if TYPE_CHECKING:
    from horai.cli.run import Files
    from horai.cli.workload import Workload
    from horai.combined import CombinedRules


def load_both(chosen: Workload) -> CombinedRules:
    """The description and the program; background belongs to the language its name ends in.

    What is wrong in either of them is raised at once.
    """
    from horai import combine as together
    from horai import lars, load

    windows, events = _parted(chosen.rules)
    more_windows, more_events = _parted(chosen.background)
    wrong: list[Diagnostic] = []
    rules = program = None
    try:
        rules = load(events, more_events, chosen.predicates, chosen.severity)
    except RulesError as error:
        wrong += error.diagnostics
    try:
        program = lars.load(windows, more_windows)
    except RulesError as error:
        wrong += error.diagnostics
    if rules is None or program is None:
        raise RulesError(wrong)
    return together(rules, program)


def _parted(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    listed = list(paths)
    ours = [path for path in listed if path.suffix.lower() == SUFFIX]
    return ours, [path for path in listed if path not in ours]


def run_both(
    chosen: Workload, settings: RunSettings, wanted: str | None, files: Files, quiet: bool
) -> None:
    """Run both over the chosen input, write the answers, and tell what was lost."""
    form = format_of(wanted, files.output)
    if form is OutputFormat.timeline:
        raise UsageError("a timeline shows one language", "use another --format")
    if settings.end is None:
        chosen.demand_input("name the stream: --input FILE, or give --end TIME")
    from horai.combined import run_on

    both = load_both(chosen)
    warnings = both.check(settings.clock, settings.unit)
    if not has_errors(warnings):  # the run tells of errors
        tell_of_rules(warnings, chosen.severity, quiet)
    asked = arguments(settings)
    state = asked.pop("state", None)
    run = both.run if state is None else partial(run_on, both, Path(state))
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
    write(result, form, files.output)
    fail_on(result.warnings)


def check_both(
    chosen: Workload, clock: str | None, unit: str | None
) -> tuple[list[Diagnostic], str]:
    """All findings about both, and what passes between them."""
    both = load_both(chosen)
    findings = both.check(clock, unit)
    lines = [
        f"the description reads {name} of the program"
        for name in _names(one.predicate for one in both.passing.to_description)
    ]
    lines += [
        f"the program reads {name} of the description"
        for name in _names(one.predicate for one in both.passing.to_program)
    ]
    files = len(both.rules.description.sources) + len(both.program.program.sources)
    rules = len(both.rules.description.rules) + len(both.program.program.rules)
    return findings, "\n".join([*lines, f"{counted(files, 'file')}, {counted(rules, 'rule')}"])


def _names(predicates: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{name}/{arity}" for name, arity in sorted(set(predicates))]
