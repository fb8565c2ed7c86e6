"""`horai whatif`: what would come and go with other rows, or with other rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from horai import io
from horai.cli.command import ON_STREAM, QUIET, form, option, path, run_options, takes
from horai.cli.why import TO_EXPLAIN, run_to_explain
from horai.cli.workload import choose
from horai.explain.proof import Time, time_in
from horai.rules import load
from horai.testing import table_key


@takes(
    *ON_STREAM,
    option("--with", "added", metavar="ROW", multiple=True, help="A row more: 'win|15|15|eve'."),
    option("--without", metavar="ROW", multiple=True, help="A row less: its text, or FILE:LINE."),
    path("--instead", multiple=True, help="Rules in the place of those of the run."),
    *run_options("run", only=TO_EXPLAIN),
    form("text", "jsonl", default="text", help="For people, or for machines."),
    QUIET,
)
def command(
    named: dict[str, Any],
    added: list[str],
    without: list[str],
    instead: list[Path],
    given: dict[str, Any],
    format: str,
    quiet: bool,
) -> None:
    chosen = choose(**named)
    result = run_to_explain(chosen, given, quiet)
    others = load(instead, chosen.background, chosen.predicates) if instead else None
    time = time_in(result.unit)
    rows = result.what_if(added, without, others)
    if not rows and not quiet:
        click.echo("nothing would change", err=True)
    for row in rows:
        click.echo(io.json_line(row.as_dict()) if format == "jsonl" else _line(row, time))


def _line(row: io.AnswerRow, time: Time) -> str:
    when = f"at {time(row.time)}" if row.time is not None else ""
    if row.start is not None:
        when = f"from {time(row.start)} " + ("on" if row.end is None else f"until {time(row.end)}")
    what = table_key(row._replace(op=None)).removeprefix("happens ")
    return f"{row.op} {what} {when}"
