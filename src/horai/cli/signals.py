"""`horai signals`: from raw positions to the events that rules read."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from horai.cli import console
from horai.cli.guard import guarded
from horai.cli.options import (
    KNOTS,
    AreasFile,
    Columns,
    Limits,
    Positions,
    Quiet,
    SpeedIn,
    Strict,
    TimeIn,
    feed_from,
)
from horai.cli.output import check_outputs, tell_dead_letters
from horai.errors import UsageError, counted
from horai.io import InputError, write_dead_letters
from horai.lang.core.diagnostics import did_you_mean
from horai.runtime.inputs import checked_clock, time_point
from horai.signals import read_positions, write_items
from horai.signals.items import ARITY, FORMATS, csv_of, only_types

if TYPE_CHECKING:
    from collections.abc import Iterator


@guarded
def command(
    positions: Positions = None,
    areas: AreasFile = None,
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
    speed_in: SpeedIn = KNOTS,
    column: Columns = None,
    set: Limits = None,
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
    check_outputs(
        {"--output": output, "--facts": facts, "--dead-letters": dead_letters},
        [*positions, *([] if areas is None else [areas])],
    )
    wanted = _types(only)
    end = time_point(until, checked_clock(unit, time_in).unit, "until")
    began = time.perf_counter()
    with _telling(quiet) as tell:
        feed = feed_from(unit, time_in, areas, speed_in, column, set)
        tell("reading positions")
        rows = read_positions(positions, feed.layout)
        tell(f"deriving events from {len(rows):,} positions")
        found = feed.pipeline.run(rows, end)
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
            facts.write_text(f"% From {areas}.\n{feed.pipeline.areas.facts()}", encoding="utf-8")
    if dead_letters is not None:
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
            near = did_you_mean(name, list(ARITY))
            hint = f"did you mean {near}?" if near else f"there are {', '.join(ARITY)}"
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
