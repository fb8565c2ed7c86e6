"""`horai signals`: from raw positions to the events that rules read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from horai.cli import console
from horai.cli.command import (
    ABOUT_POSITIONS,
    POSITIONS,
    DeadLetters,
    Quiet,
    about_time,
    run_options,
    takes,
    writes,
)
from horai.cli.output import check_outputs, tell_dead_letters, writing
from horai.errors import UsageError, counted
from horai.io import InputError, write_dead_letters
from horai.io.shown import printable
from horai.io.times import TimeScale, Unit
from horai.settings import RunSettings, nearest, point_in
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
    write_items,
)
from horai.signals.items import ARITY, FORMATS, csv_of, only_types
from horai.signals.reading import ALIASES

UNIT: Unit = "s"
KNOTS = "kn"


class AboutPositions(NamedTuple):
    """What options say about raw positions."""

    areas: Path | None = None
    speed_in: str | None = None
    column: Sequence[str] = ()
    set: Sequence[str] = ()
    lateness: int = 0

    def feed(self, scale: TimeScale) -> Feed:
        """How positions are written, and what is derived from them."""
        scale = TimeScale(scale.unit or UNIT, scale.time_in)
        layout = Layout(
            scale,
            _speed_unit(self.speed_in or KNOTS),
            dict(_pairs(self.column, "--column", ALIASES, "entity=ship_id")),
        )
        chosen = _limits(scale.unit or UNIT, self.set)
        try:
            limits = MotionLimits(**chosen)
            around = no_areas() if self.areas is None else read_areas(self.areas)
            return Feed(Pipeline(limits, around), layout, self.lateness)
        except SettingsError as error:
            raise UsageError(error.problem, error.hint or None) from None

    def refuse(self, instead: str) -> None:
        """Refuse what is about raw positions where there are none, but what is said `instead`."""
        given = {
            "--areas": self.areas,
            "--position-lateness": self.lateness,
            "--speed-in": self.speed_in,
            "--column": self.column,
            "--set": self.set,
        }
        wrong = [name for name, value in given.items() if value]
        if wrong:
            verb = "is" if len(wrong) == 1 else "are"
            problem = f"{' and '.join(wrong)} {verb} about raw positions, and {instead}"
            raise UsageError(problem, "say that there are positions: --positions")


def _limits(unit: str, given: Sequence[str]) -> dict[str, Any]:
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
    given: Sequence[str], option: str, known: Sequence[str] | Mapping[str, Any], example: str
) -> list[tuple[str, str]]:
    found = []
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not value:
            raise UsageError(f"{option} {text}: a name and a value are expected", f"as {example}")
        if name not in known:
            hint = nearest(name, known) or f"there are {', '.join(known)}"
            raise UsageError(f"{option}: there is no {name}", hint)
        found.append((name, value))
    return found


def _speed_unit(name: str) -> SpeedUnit:
    for known in SPEED_UNITS:
        if name == known:
            return known
    raise UsageError(f"unknown unit of speed {name!r}", f"the units are {', '.join(SPEED_UNITS)}")


@takes(POSITIONS, *ABOUT_POSITIONS, *run_options("run", only=("time_in", "strict", "unit")))
def command(
    positions: list[str],
    areas: Path | None,
    given: dict[str, Any],
    until: Annotated[str | None, about_time("Until when all positions are there.", metavar="TIME")],
    output: Annotated[Path | None, writes("Where items go: .csv or .parquet.", "-o")],
    facts: Annotated[Path | None, writes("Where areaType(Area, Kind) of all areas goes.")],
    dead_letters: DeadLetters,
    only: Annotated[
        str | None, writes("Items of some types only: velocity,stop,proximity.", metavar="NAMES")
    ],
    quiet: Quiet,
    **raw: Any,
) -> None:
    if not positions:
        raise UsageError("no positions given", "name the file: --positions day.csv")
    if facts is not None and areas is None:
        raise UsageError("--facts tells the kinds of areas, and there are none", "give --areas")
    if output is not None and output.suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"{output}: the file name does not tell its format", f"use {known}")
    check_outputs(
        {"--output": output, "--facts": facts, "--dead-letters": dead_letters},
        [*positions, *([] if areas is None else [areas])],
    )
    wanted = _types(only)
    settings = RunSettings.of("ec", "run", {"unit": UNIT, **given})
    end = None if until is None else point_in(until, settings.scale, "until")
    began = time.perf_counter()
    with _telling(quiet) as tell:
        feed = AboutPositions(areas, **raw).feed(settings.scale)
        tell("reading positions")
        rows = read_positions(positions, feed.layout)
        tell(f"deriving events from {len(rows):,} positions")
        found = feed.pipeline.run(rows, end)
        items = only_types(found.items, wanted)
        letters = found.dead_letters
        if settings.strict and letters:
            raise InputError.from_letter(letters[0])
        tell(f"writing {items.num_rows:,} items")
        if output is None:
            lines = csv_of(items)
            tame = sys.stdout.isatty()
            sys.stdout.buffer.write(printable(lines.decode()).encode() if tame else lines)
        else:
            write_items(output, items)
        if facts is not None:
            facts.write_text(f"% From {areas}.\n{feed.pipeline.areas.facts()}", encoding="utf-8")
    if dead_letters is not None:
        with writing(dead_letters):
            write_dead_letters(dead_letters, letters)
    tell_dead_letters(letters, dead_letters, quiet)
    if not quiet and console.is_watched():
        spent = time.perf_counter() - began
        made = f"{counted(items.num_rows, 'item')} from {counted(len(rows), 'position')}"
        console.say(f"{made}, {spent:.1f} s", "dim")


def _types(given: str | None) -> set[str]:
    """The types that are asked for; `stop` stands for start and end of it."""
    if given is None:
        return set(ARITY)
    found = set()
    for name in filter(None, given.replace(" ", "").split(",")):
        both = {name, f"{name}_start", f"{name}_end"} & set(ARITY)
        if not both:
            hint = nearest(name, ARITY) or f"there are {', '.join(ARITY)}"
            raise UsageError(f"--only: there are no items {name}", hint)
        found |= both
    return found


@contextmanager
def _telling(quiet: bool) -> Iterator[Callable[[str], None]]:
    """What is being done, on a terminal, until it is done."""
    if quiet or not console.is_watched():
        yield lambda text: None
        return
    with console.stderr().status("reading areas") as status:
        yield status.update
