"""The options of `horai run` that are about LARS programs only."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
Reasoning = Annotated[
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
