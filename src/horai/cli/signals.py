"""`horai signals`: from raw positions to the events that rules read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from horai.cli import console
from horai.cli.dead_letters import tell_dead_letters
from horai.cli.guard import guarded
from horai.cli.options import Quiet, Strict, TimeIn
from horai.errors import UsageError
from horai.inputs import checked_clock, time_point
from horai.io import InputError, write_dead_letters
from horai.lang.diagnostics import did_you_mean
from horai.signals import (
    SPEED_UNITS,
    Layout,
    Pipeline,
    Settings,
    SettingsError,
    SpeedUnit,
    no_areas,
    read_areas,
    read_positions,
    write_items,
)
from horai.signals.columns import ALIASES
from horai.signals.items import ARITY, FORMATS, csv_of, only_types
from horai.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator


@guarded
def command(
    positions: Annotated[
        list[str] | None,
        typer.Option(
            "--positions", "-p", metavar="FILE", help="Positions: CSV, Parquet, Arrow; - is stdin."
        ),
    ] = None,
    areas: Annotated[
        Path | None, typer.Option("--areas", "-a", metavar="FILE", help="Polygons as GeoJSON.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where items go: .csv or .parquet."),
    ] = None,
    facts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where areaType(Area, Kind) of all areas goes."),
    ] = None,
    dead_letters: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Positions that were not used, and why.")
    ] = None,
    unit: Annotated[str, typer.Option(metavar="UNIT", help="Length of a time-point.")] = "s",
    time_in: TimeIn = None,
    speed_in: Annotated[
        str, typer.Option("--speed-in", metavar="UNIT", help="kn, m/s, km/h or mph.")
    ] = "kn",
    column: Annotated[
        list[str] | None,
        typer.Option(metavar="PART=NAME", help="Which column is which: entity=ship_id."),
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A limit: gap_after=1800, turn=10, ..."),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="Items of some types only: velocity,stop,proximity."),
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="Until when all positions are there.")
    ] = None,
    strict: Strict = None,
    quiet: Quiet = False,
) -> None:
    """Derive events from raw positions: stops, turns, gaps, areas, who is close to whom."""
    if not positions:
        raise UsageError("no positions given", "name the file: --positions day.csv")
    if facts is not None and areas is None:
        raise UsageError("--facts tells the kinds of areas, and there are none", "give --areas")
    if output is not None and output.suffix.lower() not in FORMATS:
        known = ", ".join(FORMATS)
        raise UsageError(f"{output}: the file name does not tell its format", f"use {known}")
    settings = _settings(unit, set or [])
    layout = Layout(checked_clock(unit, time_in), _speed_unit(speed_in), _columns(column or []))
    wanted = _types(only)
    end = time_point(until, layout.clock.unit, "until")
    began = time.perf_counter()
    with _telling(quiet) as tell:
        around = no_areas() if areas is None else read_areas(areas)
        tell("reading positions")
        rows = read_positions(positions, layout)
        tell(f"deriving events from {len(rows):,} positions")
        found = Pipeline(settings, around).run(rows, end)
        items = only_types(found.items, wanted)
        letters = found.dead_letters
        if strict and letters:
            raise InputError.from_letter(letters[0])
        tell(f"writing {items.num_rows:,} items")
        if output is None:
            sys.stdout.buffer.write(csv_of(items))
        else:
            write_items(output, items)
        if facts is not None:
            facts.write_text(f"% From {areas}.\n{around.facts()}", encoding="utf-8")
    if dead_letters is not None:
        write_dead_letters(dead_letters, letters)
    tell_dead_letters(letters, dead_letters, quiet)
    if not quiet and console.is_watched():
        spent = time.perf_counter() - began
        made = f"{counted(items.num_rows, 'item')} from {counted(len(rows), 'position')}"
        console.say(f"{made}, {spent:.1f} s", "dim")


def _settings(unit: str, given: Sequence[str]) -> Settings:
    known = {field.name: field.type for field in fields(Settings) if field.name != "unit"}
    chosen: dict[str, Any] = {"unit": unit}
    for name, value in _pairs(given, "--set", known, "gap_after=1800"):
        try:
            chosen[name] = int(value) if known[name] == "int" else float(value)
        except ValueError:
            kind = "a whole number" if known[name] == "int" else "a number"
            raise UsageError(f"--set {name}={value}: {kind} is expected") from None
    try:
        return Settings(**chosen)
    except SettingsError as error:
        raise UsageError(error.problem, error.hint or None) from None


def _types(given: str | None) -> set[str]:
    """The types that are asked for; `stop` stands for start and end of it."""
    if given is None:
        return set(ARITY)
    found = set()
    for name in filter(None, given.replace(" ", "").split(",")):
        both = {name, f"{name}_start", f"{name}_end"} & set(ARITY)
        if not both:
            near = did_you_mean(name, list(ARITY))
            hint = f"did you mean {near}?" if near else f"there are {', '.join(ARITY)}"
            raise UsageError(f"--only: there are no items {name}", hint)
        found |= both
    return found


def _columns(given: Sequence[str]) -> dict[str, str]:
    return dict(_pairs(given, "--column", ALIASES, "entity=ship_id"))


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


@contextmanager
def _telling(quiet: bool) -> Iterator[Callable[[str], None]]:
    """What is being done, on a terminal, until it is done."""
    if quiet or not console.is_watched():
        yield lambda text: None
        return
    with console.stderr().status("reading areas") as status:
        yield status.update
