"""Raw positions as options name them, for all commands that read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, NamedTuple

from horai.errors import UsageError
from horai.io.times import TimeScale, Unit
from horai.settings import nearest
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
)
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
