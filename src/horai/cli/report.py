"""`horai report`: a page with a timeline of what rules find in a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from horai.cli import console
from horai.cli.combined import load_both, speaks_both
from horai.cli.guard import guarded
from horai.cli.lars import is_lars
from horai.cli.options import (
    Background,
    Clock,
    End,
    Engine,
    Filter,
    Input,
    InputFormat,
    Predicates,
    Quiet,
    RulesArgument,
    Start,
    Step,
    TimeIn,
    Unit,
    Window,
    Workload,
    choose,
    merged,
)
from horai.cli.output import check_outputs, tell_dead_letters, tell_of_run
from horai.errors import UsageError
from horai.runtime.engines import DEFAULT

_OF_EVENTS = frozenset(
    {"columns", "window", "allen_memory", "incremental", "tick", "include_input"}
)
_OF_WINDOWS = frozenset({"clock", "filter"})
_OF_BOTH = (_OF_EVENTS | _OF_WINDOWS) - {"tick", "columns"}
_OF_ALL = frozenset({"step", "start", "end", "unit", "time_in", "input_format", "engine"})


@guarded
def command(
    rules: RulesArgument = None,
    background: Background = None,
    predicates: Predicates = None,
    input: Input = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page.")
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is called.")] = None,
    window: Window = None,
    step: Step = None,
    start: Start = None,
    end: End = None,
    unit: Unit = None,
    time_in: TimeIn = None,
    input_format: InputFormat = None,
    engine: Engine = None,
    clock: Clock = None,
    filter: Filter = None,
    quiet: Quiet = False,
) -> None:
    """Draw what rules find in a stream, on a page for a browser."""
    from horai.report.results import title_of, write_page

    if output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{output}: a page is HTML", "name a file such as report.html")
    chosen = choose(rules, background, predicates, input)
    check_outputs({"--output": output}, chosen.files(predicates))
    given = {"window": window, "step": step, "start": start, "end": end, "unit": unit}
    given |= {"time_in": time_in, "input_format": input_format, "engine": engine}
    settings = merged(chosen, **given, clock=clock, filter=filter)
    if not chosen.input:
        raise UsageError("no input given", "name the stream: --input FILE")
    result = _found(chosen, settings, {name for name, value in given.items() if value is not None})
    name = title or (chosen.project.name if chosen.project else title_of(chosen.rules))
    write_page(result, output, name, settings.get("unit"))
    tell_dead_letters(result.dead_letters, None, quiet)
    tell_of_run(getattr(result, "warnings", ()), quiet)
    if not quiet:
        console.say(f"{output} is written")


def _found(chosen: Workload, settings: dict[str, Any], given: set[str]) -> Any:
    """The result of a run in the language of the rules."""
    if speaks_both(chosen.rules):
        return load_both(chosen).run(chosen.input, **_fitting(settings, _OF_BOTH, given))
    if is_lars(chosen.rules):
        from horai import lars

        program = lars.load(chosen.rules, chosen.background)
        return program.run(chosen.input, **_fitting(settings, _OF_WINDOWS, given))
    settings.setdefault("engine", DEFAULT)
    return chosen.load().run(chosen.input, **_fitting(settings, _OF_EVENTS, given))


def _fitting(settings: dict[str, Any], known: frozenset[str], given: set[str]) -> dict[str, Any]:
    """The settings that the rules understand; one that was given and is none of them is told."""
    for name in sorted(given - known - _OF_ALL):
        raise UsageError(f"--{name.replace('_', '-')} has no meaning for these rules")
    return {name: value for name, value in settings.items() if name in known | _OF_ALL}
