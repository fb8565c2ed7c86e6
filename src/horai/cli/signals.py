"""`horai signals`: from raw positions to the events that rules read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from horai.cli import console
from horai.cli.command import option, takes
from horai.cli.options import ABOUT_POSITIONS, DEAD_LETTERS, POSITIONS, QUIET, path, run_options
from horai.cli.options import output as output_option
from horai.cli.output import check_outputs, tell_dead_letters, writing
from horai.cli.positions import UNIT, AboutPositions
from horai.errors import UsageError, counted
from horai.io import InputError, write_dead_letters
from horai.io.shown import printable
from horai.settings import RunSettings, nearest, point_in
from horai.signals import read_positions, write_items
from horai.signals.items import ARITY, FORMATS, csv_of, only_types


@takes(
    POSITIONS,
    *ABOUT_POSITIONS,
    *run_options("run", only=("time_in", "strict", "unit")),
    option("--until", metavar="TIME", group="time", help="Until when all positions are there."),
    output_option("Where items go: .csv or .parquet."),
    path("--facts", group="output", help="Where areaType(Area, Kind) of all areas goes."),
    DEAD_LETTERS,
    option(
        "--only",
        metavar="NAMES",
        group="output",
        help="Items of some types only: velocity,stop,proximity.",
    ),
    QUIET,
)
def command(
    positions: list[str],
    areas: Path | None,
    given: dict[str, Any],
    output: Path | None,
    facts: Path | None,
    dead_letters: Path | None,
    only: str | None,
    until: str | None,
    quiet: bool,
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
