"""`horai report`: a page of what rules find in a stream, for people."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from horai.cli import console
from horai.cli.command import takes
from horai.cli.options import ABOUT_POSITIONS, ON_STREAM, POSITIONS, QUIET, run_options
from horai.cli.options import output as output_option
from horai.cli.output import check_outputs, tell_of_run
from horai.cli.page import ABOUT_PAGES, PageOrder
from horai.cli.workload import choose, run_rules, with_positions
from horai.errors import UsageError

_SETTINGS = [
    *("window", "step", "start", "end", "tick", "unit", "time_in", "input_format", "strict"),
    *("allen_memory", "engine", "include_input", "columns", "clock", "filter"),
    *("models", "reasoning", "least_change", "allowed_lateness"),
]


@takes(
    *ON_STREAM,
    *run_options("run", only=_SETTINGS),
    POSITIONS,
    *ABOUT_POSITIONS,
    output_option("The page.", default=Path("report.html")),
    *ABOUT_PAGES,
    QUIET,
)
def command(
    named: dict[str, Any],
    positions: list[str],
    given: dict[str, Any],
    output: Path,
    track: list[str],
    coordinates: list[str],
    proofs: int | None,
    title: str | None,
    quiet: bool,
    **raw: Any,
) -> None:
    if named["input"] and positions:
        hint = "to show where entities of --input were, name positions as --track"
        raise UsageError("--input names items and --positions positions: a run reads one", hint)
    chosen = choose(**named | {"input": named["input"] or positions})
    order = PageOrder(output, chosen, raw, bool(positions), track, coordinates, title, proofs)
    check_outputs({"--output": output}, chosen.files(raw["areas"], *map(Path, track)))
    settings = with_positions(
        chosen, "run", given, bool(positions), order.about_items, known=_SETTINGS
    )
    chosen.demand_input()
    rules = chosen.load()
    items = order.read(rules, settings)
    result = run_rules(rules, chosen, settings, quiet, items)
    order.write(result, settings, items, given)
    tell_of_run(result, quiet)
    if not quiet:
        console.say(f"{output} is written")
