"""Rules of both languages on the command line: files of the Event Calculus beside `.lars` files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.cli import console
from horai.cli.lars import SUFFIX
from horai.cli.options import query_bar
from horai.cli.output import tell_dead_letters, tell_of_rules, tell_of_run
from horai.errors import UsageError, counted
from horai.io import write_dead_letters
from horai.lang.core.diagnostics import Diagnostic, RulesError, has_errors

if TYPE_CHECKING:
    from horai.cli.options import Workload
    from horai.combined import CombinedRules
    from horai.runtime.combined.session import CombinedResult

SETTINGS = frozenset(
    {"window", "step", "start", "end", "unit", "time_in", "input_format", "strict", "engine"}
    | {"clock", "filter", "answers", "include_input", "allen_memory", "incremental", "reasoning"}
)
_INSTEAD = {
    "tick": "time points of a program lie one --clock apart",
    "models": "of several answers what holds in all of them counts, or with --brave in some; the "
    "answers themselves are those of the program alone",
    "least-change": "of several answers what holds in all of them counts, or with --brave in some",
    "lateness": "--window says how late rows may be",
    "output-every": "--step says how often answers are given",
    "live": "feed a session of both from Python: horai.combine(rules, program).session()",
    "real-time": "feed a session of both from Python: horai.combine(rules, program).session()",
    "master": "rules of two languages run in one process",
    "buckets": "rules of two languages run in one process",
}


def speaks_both(rules: Iterable[Path]) -> bool:
    """Are there files of both languages?"""
    return {path.suffix.lower() == SUFFIX for path in rules} == {True, False}


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
    chosen: Workload,
    settings: dict[str, Any],
    strange: Mapping[str, object],
    dead_letters: Path | None,
    state: Path | None,
    quiet: bool,
) -> CombinedResult:
    """Run both over the chosen input, and tell what was lost."""
    for name, value in strange.items():
        if value is not None:
            problem = f"--{name} has no meaning for rules of two languages"
            raise UsageError(problem, _INSTEAD.get(name, "give it to a run of one language"))
    settings.pop("format", None)
    for name in settings.keys() - SETTINGS:
        raise UsageError(f"the setting {name} of the project has no meaning for two languages")
    if not chosen.input and settings.get("end") is None:
        raise UsageError("no input given", "name the stream: --input FILE, or give --end TIME")
    from horai.combined import run_on

    both = load_both(chosen)
    warnings = both.check(settings.get("clock"), settings.get("unit"))
    if not has_errors(warnings):  # the run tells of errors
        tell_of_rules(warnings, chosen.severity, quiet)
    run = both.run if state is None else partial(run_on, both, state)
    if quiet or not console.is_watched():
        result = run(chosen.input or (), **settings)
    else:
        with query_bar() as progress:
            result = run(chosen.input or (), progress=progress, **settings)
    if dead_letters is not None:
        write_dead_letters(dead_letters, result.dead_letters)
    if result.unanswered and not quiet:
        from horai.report.page import span_text

        points = sum(end - start for start, end in result.unanswered)
        where = ", ".join(span_text(*span) for span in result.unanswered[:5])
        more = ", ..." if len(result.unanswered) > 5 else ""
        text = f"{counted(points, 'time point')}: {where}{more}"
        console.warning(f"the program has no answer at {text}")
    tell_dead_letters(result.dead_letters, dead_letters, quiet)
    tell_of_run(result.warnings, quiet)
    return result


def check_both(chosen: Workload, clock: str | None) -> tuple[list[Diagnostic], str]:
    """All findings about both, and what passes between them."""
    both = load_both(chosen)
    findings = both.check(clock or chosen.run.get("clock"), chosen.run.get("unit"))
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
