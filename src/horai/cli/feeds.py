"""Raw positions as options name them, for all commands that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from horai.cli.feed_options import KNOTS
from horai.cli.options import Chosen, run_rules
from horai.engines import SPARK
from horai.errors import UsageError
from horai.inputs import checked_clock, checked_format
from horai.io import InputError, Narrative
from horai.lang.diagnostics import did_you_mean
from horai.raw import check_format
from horai.result import Result
from horai.rules import Rules
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
    read_positions,
)
from horai.signals.columns import ALIASES
from horai.signals.letters import as_letters

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


def positions_of_run(
    chosen: Chosen, given: dict[str, Any], settings: dict[str, Any]
) -> tuple[Chosen, dict[str, Any]]:
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


def run_positions(rules: Rules, chosen: Chosen, settings: dict[str, Any], quiet: bool) -> Result:
    """Run over items that are derived from positions: here, or by workers of Spark."""
    if settings.get("engine") == SPARK:
        return run_rules(rules, chosen, settings, quiet)
    feed: Feed = settings["positions"]
    plain = {name: value for name, value in settings.items() if name != "positions"}
    return run_rules(rules, chosen, plain, quiet, _derived(feed, chosen, plain))


def _derived(feed: Feed, chosen: Chosen, settings: dict[str, Any]) -> Narrative:
    format = checked_format(settings.get("input_format"))
    rows = read_positions(chosen.input, feed.layout, format)
    if settings.get("strict") and rows.letters.num_rows:
        raise InputError.from_letter(as_letters(rows.letters)[0])
    return feed.pipeline.run(rows).narrative()


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
