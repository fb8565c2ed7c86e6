"""Options that several commands share, and how they meet the settings of a project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from horai.cli import console
from horai.cli.allocation import keep_memory
from horai.engines import SPARK
from horai.errors import UsageError
from horai.feeding import Progress
from horai.inputs import checked_clock, checked_format, extent, read_input, time_point
from horai.io import Narrative
from horai.loading import load
from horai.predicates import Predicate, from_file
from horai.project import FILE, Project, find_project
from horai.result import Result
from horai.rules import Rules
from horai.schedule import Settings, plan_run

RulesArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="RULES", help=f"Files of rules; without any, those of {FILE}."),
]
Background = Annotated[
    list[Path] | None,
    typer.Option("--background", "-b", metavar="FILE", help="Facts and helper rules."),
]
Predicates = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Python file with functions marked @horai.predicate."),
]
Input = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        "-i",
        metavar="FILE",
        help="The stream: narrative, CSV, JSON lines, Parquet, kafka://HOST:PORT/TOPIC.",
    ),
]
Window = Annotated[int | None, typer.Option(metavar="N", help="How far back a query looks.")]
Step = Annotated[int | None, typer.Option(metavar="N", help="Time between two queries.")]
Start = Annotated[str | None, typer.Option(metavar="TIME", help="The run covers what is after it.")]
End = Annotated[str | None, typer.Option(metavar="TIME", help="The last query time.")]
Tick = Annotated[int | None, typer.Option(metavar="N", help="Distance of two time-points.")]
Unit = Annotated[
    str | None,
    typer.Option(metavar="UNIT", help="Length of a time-point: s, ms, ..."),
]
TimeIn = Annotated[
    str | None, typer.Option("--time-in", metavar="UNIT", help="Unit of epoch times in the input.")
]
InputFormat = Annotated[
    str | None,
    typer.Option("--input-format", metavar="NAME", help="narrative, csv, jsonl, parquet or arrow."),
]
AllenMemory = Annotated[
    int | None, typer.Option("--allen-memory", metavar="N", help="How far back `before` looks.")
]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="columnar (fast), spark (many machines), reference (slow, obvious); for LARS auto.",
    ),
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Where Spark runs: local[*], spark://HOST:PORT.")
]
Buckets = Annotated[
    int | None, typer.Option(metavar="N", help="In how many parts Spark splits the entities.")
]
Incremental = Annotated[
    str | None,
    typer.Option(
        metavar="WHEN",
        help="Work out windows by what has changed: auto (where it pays), always, never.",
    ),
]
Strict = Annotated[
    bool | None, typer.Option("--strict/--no-strict", help="Stop at the first bad row.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only errors and lost rows.")]


@dataclass(frozen=True)
class Chosen:
    """What to work on: given on the command line, or by the project we are in."""

    rules: list[Path]
    background: list[Path]
    input: list[str]
    predicates: dict[str, Predicate]
    run: dict[str, Any]
    project: Project | None = None

    def load(self) -> Rules:
        """The rules, checked."""
        return load(self.rules, self.background, self.predicates)


def choose(
    rules: list[Path] | None,
    background: list[Path] | None,
    predicates: Path | None,
    input: list[str] | None = None,
) -> Chosen:
    """Who names rules means just these; otherwise the project is asked and options override it."""
    project = None if rules else find_project()
    if not rules and project is None:
        hint = f"name a file of rules, or work in a folder with {FILE} (`horai new` makes one)"
        raise UsageError("no rules given", hint)
    if project is not None and not project.rules:
        raise UsageError(f"{project.folder / FILE}: no rules", 'add rules = ["rules.ec"]')
    functions = predicates or (project.predicates if project else None)
    return Chosen(
        rules=rules or (project.rules if project else []),
        background=background or (project.background if project else []),
        input=input or [str(path) for path in (project.input if project else [])],
        predicates=from_file(functions) if functions else {},
        run=dict(project.run) if project else {},
        project=project,
    )


def merged(chosen: Chosen, **options: Any) -> dict[str, Any]:
    """The settings of the run: what the command line says, else what the project says."""
    given = {name: value for name, value in options.items() if value is not None}
    settings = chosen.run | given
    for name in ("start", "end"):
        if isinstance(settings.get(name), str):
            settings[name] = _number_or_text(settings[name])
    return settings


def _number_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def run_rules(
    rules: Rules,
    chosen: Chosen,
    settings: dict[str, Any],
    quiet: bool,
    narrative: Narrative | None = None,
) -> Result:
    """Run over the chosen input, with a progress bar where somebody can see it.

    `narrative` is that input, where it has been read before.
    """
    if not chosen.input:
        raise UsageError("no input given", "name the stream: --input FILE")
    check_spark(settings)
    lengths = Settings(window=settings.get("window"), step=settings.get("step"))
    if lengths.loses_items and not quiet:
        console.warning(
            f"the window ({lengths.window}) is shorter than the step ({lengths.step}): what "
            "happens between two windows is lost"
        )
    if settings.get("engine") == SPARK:
        from horai.sparked import run

        asked = {name: value for name, value in settings.items() if name != "engine"}
        return run(rules, chosen.input, **asked)  # workers read it
    stream = read_chosen(rules, chosen, settings) if narrative is None else narrative
    if not quiet:
        _tell_of_a_long_tick(settings, stream)
    keep_memory()
    if quiet or not console.is_watched():
        return rules.run(stream, **settings)
    with query_bar() as progress:
        return rules.run(stream, progress=progress, **settings)


def check_spark(settings: Mapping[str, object]) -> None:
    """Options of Spark are for runs there."""
    if settings.get("engine") != SPARK:
        for name in ("master", "buckets"):
            if settings.get(name) is not None:
                raise UsageError(f"--{name} is about runs on Spark", "add --engine spark")


def read_chosen(rules: Rules, chosen: Chosen, settings: dict[str, Any]) -> Narrative:
    """The chosen input, read."""
    return read_input(
        chosen.input,
        rules.schema,
        checked_clock(settings.get("unit"), settings.get("time_in")),
        format=checked_format(settings.get("input_format")),
        strict=bool(settings.get("strict")),
    )


def _tell_of_a_long_tick(settings: dict[str, Any], narrative: Narrative) -> None:
    """Without a time-point in the run nothing happens in it, whatever the input says."""
    names = ("window", "step", "tick", "allen_memory")
    lengths = {name: settings[name] for name in names if name in settings}
    clock = checked_clock(settings.get("unit"), settings.get("time_in"))
    start, end = (time_point(settings.get(name), clock.unit, name) for name in ("start", "end"))
    asked = Settings(start=start, end=end, **lengths)
    schedule = plan_run(asked, extent(narrative.tables))
    if schedule is not None and schedule.next_point > schedule.end:
        console.warning(
            f"with a tick of {schedule.tick} there is no time-point between {schedule.start} and "
            f"{schedule.end}, so nothing happens in this run; the next one is {schedule.next_point}"
        )


class query_bar:
    """A bar on standard error that goes away when it is full."""

    def __enter__(self) -> Progress:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = [TextColumn("query times"), BarColumn(), MofNCompleteColumn()]
        self._bar = Progress(*columns, console=console.stderr(), transient=True)
        task = self._bar.add_task("run", total=None)
        self._bar.start()
        return lambda done, all: self._bar.update(task, completed=done, total=all)

    def __exit__(self, *_: object) -> None:
        self._bar.stop()
