"""`horai report`: a page with a timeline of what rules find in a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from horai.cli import console
from horai.cli.command import option, takes
from horai.cli.options import ON_STREAM, QUIET, run_options
from horai.cli.options import output as output_option
from horai.cli.output import check_outputs, tell_of_run
from horai.cli.workload import choose, run_rules
from horai.errors import UsageError

_SETTINGS = [
    *("window", "step", "start", "end", "tick", "unit", "time_in", "input_format", "strict"),
    *("allen_memory", "engine", "incremental", "include_input", "columns", "clock", "filter"),
]


@takes(
    *ON_STREAM,
    *run_options("run", only=_SETTINGS),
    output_option("The page.", default=Path("report.html")),
    option("--title", metavar="TEXT", group="output", help="What it is called."),
    QUIET,
)
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    output: Path,
    title: str | None,
    quiet: bool,
) -> None:
    from horai.report.results import title_of, write_page

    if output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{output}: a page is HTML", "name a file such as report.html")
    chosen = choose(**named)
    check_outputs({"--output": output}, chosen.files())
    settings = chosen.settings("run", given, _SETTINGS)
    chosen.demand_input()
    result = run_rules(chosen.load(), chosen, settings, quiet)
    name = title or (chosen.project.name if chosen.project else title_of(chosen.rules))
    write_page(result, output, name, settings.unit)
    tell_of_run(result, quiet)
    if not quiet:
        console.say(f"{output} is written")
