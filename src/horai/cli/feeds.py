"""Options about raw positions, for all commands that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from horai.errors import UsageError
from horai.inputs import checked_clock
from horai.lang.diagnostics import did_you_mean
from horai.signals import (
    SPEED_UNITS,
    Feed,
    Layout,
    Pipeline,
    Settings,
    SettingsError,
    SpeedUnit,
    no_areas,
    read_areas,
)
from horai.signals.columns import ALIASES

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
UNIT = "s"
KNOTS = "kn"


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
        settings = Settings(**chosen)
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


def _chosen(unit: str, given: Sequence[str]) -> dict[str, Any]:
    known = {field.name: field.type for field in fields(Settings) if field.name != "unit"}
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
