"""Options about raw positions. What they need is loaded only by who uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
