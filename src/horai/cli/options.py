"""Options that several commands share, and how they meet the settings of a project.

Large arrays that reuse memory instead of asking the system for new pages each time.
Options about raw positions. What they need is loaded only by who uses them.
The options of `horai run` that are about LARS programs only.
Raw positions as options name them, for all commands that read them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from horai.cli import console
from horai.errors import UsageError
from horai.io import InputError, Narrative
from horai.io.items.tables import extent
from horai.lang.core.diagnostics import did_you_mean
from horai.predicates import Predicate, from_file, outlined
from horai.result import Result
from horai.rules import Rules, load
from horai.runtime.engines import SPARK
from horai.runtime.inputs import checked_clock, checked_format, read_input, time_point
from horai.runtime.jobs import check_format
from horai.session import Progress
from horai.settings import RunSettings, plan_run
from horai.signals import (
    SPEED_UNITS,
    Feed,
    Layout,
    MotionLimits,
    Pipeline,
    SettingsError,
    SpeedUnit,
    no_areas,
    read_areas,
    read_positions,
)
from horai.signals.columns import ALIASES
from horai.signals.letters import as_letters
from horai.tools.codes import Severities, checked_severities
from horai.tools.project import FILE, Project, find_project, trusted_text

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # as in malloc.h
MOST = 2**31 - 1


def keep_memory() -> bool:
    """Let this process keep the memory of arrays it has done with; False where nobody can say so.

    The C library maps every large array anew and gives it back at once, and the system clears each
    page again: a third of the time of ten million events. It is a setting of the whole process, so
    programs choose it, never the library on its own.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    return bool(mallopt and mallopt(MMAP_MAX, 0) and mallopt(TRIM_THRESHOLD, MOST))


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
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="TYPE=NAME,...",
        help="Which columns are the arguments of a type: speed=vessel,knots, or with "
        "time:when if the time is called when.",
    ),
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
Severity = Annotated[
    list[str] | None,
    typer.Option(
        "--severity",
        metavar="CODE=LEVEL",
        help="Make findings of a code an error, a warning, or turn them off: H206=off.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only errors and lost rows.")]


@dataclass(frozen=True)
class Workload:
    """What to work on: given on the command line, or by the project we are in."""

    rules: list[Path]
    background: list[Path]
    input: list[str]
    predicates: dict[str, Predicate]
    run: dict[str, Any]
    project: Project | None = None
    severity: Severities = field(default_factory=dict)

    def files(self, *more: Path | None) -> list[str | Path]:
        """All files that are read, as far as the command line and the project name them."""
        project = None if self.project is None else self.project.folder / FILE
        functions = None if self.project is None else self.project.predicates
        named = [path for path in (project, functions, *more) if path is not None]
        return [*self.rules, *self.background, *self.input, *named]

    def load(self) -> Rules:
        """The rules, checked."""
        return load(self.rules, self.background, self.predicates, self.severity)


def choose(
    rules: list[Path] | None,
    background: list[Path] | None,
    predicates: Path | None,
    input: list[str] | None = None,
    severity: list[str] | None = None,
    runs: bool = True,
) -> Workload:
    """Who names rules means just these; otherwise the project is asked and options override it.

    Python predicates that a project names have to be trusted, unless nothing `runs`: then their
    names and parameters are enough.
    """
    project = None if rules else find_project()
    if not rules and project is None:
        hint = f"name a file of rules, or work in a folder with {FILE} (`horai new` makes one)"
        raise UsageError("no rules given", hint)
    if project is not None and not project.rules:
        raise UsageError(f"{project.folder / FILE}: no rules", 'add rules = ["rules.ec"]')
    return Workload(
        rules=rules or (project.rules if project else []),
        background=background or (project.background if project else []),
        input=input or [str(path) for path in (project.input if project else [])],
        predicates=_functions(predicates, project, runs),
        run=_run_of(project),
        project=project,
        severity={**(project.severity if project else {}), **_severities(severity)},
    )


def _run_of(project: Project | None) -> dict[str, Any]:
    if project is None:
        return {}
    return {**project.run, **({"columns": project.columns} if project.columns else {})}


def _severities(given: list[str] | None) -> Severities:
    found = {}
    for text in given or []:
        code, sign, level = text.partition("=")
        if not sign:
            raise UsageError(f"--severity {text} names no level", f"write {text}=warning, or =off")
        found[code.strip()] = level.strip()
    return checked_severities(found)


def _functions(named: Path | None, project: Project | None, runs: bool) -> dict[str, Predicate]:
    path = named or (project.predicates if project else None)
    if path is None:
        return {}
    if not runs:
        return outlined(path)
    if named or project is None:
        return from_file(path)
    return from_file(path, trusted_text(path, project.folder / FILE))


def merged(chosen: Workload, **options: Any) -> dict[str, Any]:
    """The settings of the run: what the command line says, else what the project says."""
    given = {name: value for name, value in options.items() if value is not None}
    settings = chosen.run | given
    for name in ("start", "end"):
        if isinstance(settings.get(name), str):
            settings[name] = _number_or_text(settings[name])
    return settings


def columns_given(given: list[str] | None) -> dict[str, list[str]] | None:
    """The columns of types, from `speed=vessel,knots`."""
    found = {}
    for text in given or []:
        type_, sign, names = text.partition("=")
        if not sign:
            raise UsageError(f"--columns {text} names no columns", f"write {text}=vessel,knots")
        found[type_.strip()] = [name.strip() for name in names.split(",")]
    return found or None


def _number_or_text(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text


def run_rules(
    rules: Rules,
    chosen: Workload,
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
    lengths = RunSettings(window=settings.get("window"), step=settings.get("step"))
    if lengths.loses_items and not quiet:
        console.warning(
            f"the window ({lengths.window}) is shorter than the step ({lengths.step}): what "
            "happens between two windows is lost"
        )
    if settings.get("engine") == SPARK:
        from horai.runtime.spark.batch import run

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
    """Options of Spark are for runs there, and columns are chosen elsewhere."""
    if settings.get("engine") == SPARK and settings.get("columns"):
        raise UsageError("columns cannot be chosen on Spark", "rename those of the input")
    if settings.get("engine") != SPARK:
        for name in ("master", "buckets"):
            if settings.get(name) is not None:
                raise UsageError(f"--{name} is about runs on Spark", "add --engine spark")


def read_chosen(rules: Rules, chosen: Workload, settings: dict[str, Any]) -> Narrative:
    """The chosen input, read."""
    return read_input(
        chosen.input,
        rules.schema,
        checked_clock(settings.get("unit"), settings.get("time_in")),
        format=checked_format(settings.get("input_format")),
        strict=bool(settings.get("strict")),
        columns=settings.get("columns"),
    )


def _tell_of_a_long_tick(settings: dict[str, Any], narrative: Narrative) -> None:
    """Without a time-point in the run nothing happens in it, whatever the input says."""
    names = ("window", "step", "tick", "allen_memory")
    lengths = {name: settings[name] for name in names if name in settings}
    clock = checked_clock(settings.get("unit"), settings.get("time_in"))
    start, end = (time_point(settings.get(name), clock.unit, name) for name in ("start", "end"))
    asked = RunSettings(start=start, end=end, **lengths)
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


Positions = Annotated[
    list[str] | None,
    typer.Option(
        "--positions",
        "-p",
        metavar="FILE",
        help="Raw positions: CSV, JSON lines, Parquet or Arrow; - is stdin.",
    ),
]
AreasFile = Annotated[
    Path | None, typer.Option("--areas", "-a", metavar="FILE", help="Polygons as GeoJSON.")
]
SpeedIn = Annotated[str, typer.Option("--speed-in", metavar="UNIT", help="kn, m/s, km/h or mph.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="PART=NAME", help="Which column is which: entity=ship_id."),
]
Limits = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A limit: gap_after=1800, turn=10, ..."),
]
KNOTS = "kn"


PANEL = "LARS programs"

Clock = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Length of a time point, such as 500ms.", rich_help_panel=PANEL
    ),
]
Models = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="How many answers at each time: one, a number, all.",
        rich_help_panel=PANEL,
    ),
]
ReasoningOption = Annotated[
    str | None,
    typer.Option(
        metavar="HOW",
        help="models, brave (what holds in some answer) or cautious (in all of them).",
        rich_help_panel=PANEL,
    ),
]
Brave = Annotated[
    bool | None, typer.Option("--brave", help="--reasoning brave.", rich_help_panel=PANEL)
]
Cautious = Annotated[
    bool | None, typer.Option("--cautious", help="--reasoning cautious.", rich_help_panel=PANEL)
]
LeastChange = Annotated[
    bool | None,
    typer.Option(
        "--least-change/--no-least-change",
        help="Each answer is as near to the one before as can be.",
        rich_help_panel=PANEL,
    ),
]
Filter = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="Show inferences, none (all), or a,b.", rich_help_panel=PANEL
    ),
]
Lateness = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Revise answers when signals come up to N time points late.",
        rich_help_panel=PANEL,
    ),
]
OutputEvery = Annotated[
    str | None,
    typer.Option(
        "--output-every",
        metavar="WHEN",
        help="time, change, signal, 5signals, 10s: when answers are given.",
        rich_help_panel=PANEL,
    ),
]
Live = Annotated[
    bool,
    typer.Option(
        "--live",
        help="Read line by line and answer as time goes on; ends with the input or Ctrl-C.",
        rich_help_panel=PANEL,
    ),
]
RealTime = Annotated[
    bool,
    typer.Option(
        "--real-time",
        help="Live, and time points pass as the clock does.",
        rich_help_panel=PANEL,
    ),
]
State = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Go on from what this file knows, if it is there, and save it at the end.",
        rich_help_panel=PANEL,
    ),
]


def reasoning_of(given: str | None, brave: bool | None, cautious: bool | None) -> str | None:
    """One way to say it of several; two that say different things are an error."""
    from horai.errors import UsageError

    said = {"brave"} if brave else set()
    said |= {"cautious"} if cautious else set()
    said |= set() if given is None else {given}
    if len(said) > 1:
        words = " and ".join(sorted(said))
        raise UsageError(f"the reasoning cannot be {words} at once", "choose one of them")
    return said.pop() if said else None


UNIT = "s"


def feed_from(
    unit: str | None,
    time_in: str | None,
    areas: Path | None,
    speed_in: str,
    columns: Sequence[str] | None,
    limits: Sequence[str] | None,
    lateness: int = 0,
) -> Feed:
    """How positions are written, and what is derived from them."""
    unit = unit or UNIT
    layout = Layout(
        checked_clock(unit, time_in),
        _speed_unit(speed_in),
        dict(_pairs(columns or [], "--column", ALIASES, "entity=ship_id")),
    )
    chosen = _chosen(unit, limits or [])
    try:
        settings = MotionLimits(**chosen)
        around = no_areas() if areas is None else read_areas(areas)
        return Feed(Pipeline(settings, around), layout, lateness)
    except SettingsError as error:
        raise UsageError(error.problem, error.hint or None) from None


def only_of_positions(
    instead: str,
    areas: Path | None,
    speed_in: str,
    columns: Sequence[str] | None,
    limits: Sequence[str] | None,
    lateness: int = 0,
) -> None:
    """Refuse what is about raw positions where there are none, but what is said `instead`."""
    given = {
        "--areas": areas,
        "--lateness": lateness,
        "--speed-in": speed_in != KNOTS,
        "--column": columns,
        "--set": limits,
    }
    wrong = [name for name, value in given.items() if value]
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        problem = f"{' and '.join(wrong)} {verb} about raw positions, and {instead}"
        raise UsageError(problem, "say that there are positions: --positions")


def positions_of_run(
    chosen: Workload, given: dict[str, Any], settings: dict[str, Any]
) -> tuple[Workload, dict[str, Any]]:
    """A run whose input has positions, if that is what options say.

    Then the files are the input, and the settings have a feed, and its unit of time.
    """
    speed_in = given["speed_in"] or KNOTS
    about = given["areas"], speed_in, given["column"], given["set"]
    if not given["positions"]:
        only_of_positions("the input has items", *about)
        return chosen, settings
    if given["input"]:
        hint = "derive items with `horai signals`, and give them with the others as --input"
        raise UsageError("--input names items and --positions positions: a run reads one", hint)
    feed = feed_from(settings.get("unit"), settings.get("time_in"), *about)
    check_format(feed, checked_format(settings.get("input_format")))
    unit = {"unit": feed.layout.clock.unit, "positions": feed}
    return replace(chosen, input=list(given["positions"])), settings | unit


def run_positions(rules: Rules, chosen: Workload, settings: dict[str, Any], quiet: bool) -> Result:
    """Run over items that are derived from positions: here, or by workers of Spark."""
    if settings.get("engine") == SPARK:
        return run_rules(rules, chosen, settings, quiet)
    feed: Feed = settings["positions"]
    plain = {name: value for name, value in settings.items() if name != "positions"}
    return run_rules(rules, chosen, plain, quiet, _derived(feed, chosen, plain))


def _derived(feed: Feed, chosen: Workload, settings: dict[str, Any]) -> Narrative:
    format = checked_format(settings.get("input_format"))
    rows = read_positions(chosen.input, feed.layout, format)
    if settings.get("strict") and rows.letters.num_rows:
        raise InputError.from_letter(as_letters(rows.letters)[0])
    return feed.pipeline.run(rows).narrative()


def _chosen(unit: str, given: Sequence[str]) -> dict[str, Any]:
    known = {field.name: field.type for field in fields(MotionLimits) if field.name != "unit"}
    chosen: dict[str, Any] = {"unit": unit}
    for name, value in _pairs(given, "--set", known, "gap_after=1800"):
        try:
            chosen[name] = int(value) if known[name] == "int" else float(value)
        except ValueError:
            kind = "a whole number" if known[name] == "int" else "a number"
            raise UsageError(f"--set {name}={value}: {kind} is expected") from None
    return chosen


def _pairs(
    given: Sequence[str], option: str, known: Sequence[str] | dict[str, Any], example: str
) -> list[tuple[str, str]]:
    found = []
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not value:
            raise UsageError(f"{option} {text}: a name and a value are expected", f"as {example}")
        if name not in known:
            near = did_you_mean(name, list(known))
            hint = f"did you mean {near}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"{option}: there is no {name}", hint)
        found.append((name, value))
    return found


def _speed_unit(name: str) -> SpeedUnit:
    for known in SPEED_UNITS:
        if name == known:
            return known
    raise UsageError(f"unknown unit of speed {name!r}", f"the units are {', '.join(SPEED_UNITS)}")
