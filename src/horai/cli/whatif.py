"""`horai whatif`: what would come and go with other rows, or with other rules."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import click

from horai import io
from horai.cli.command import ON_STREAM, Quiet, option, run_options, takes, writes
from horai.cli.why import TO_EXPLAIN, run_to_explain
from horai.cli.workload import choose
from horai.explain.proof import Time, time_in
from horai.io.shown import json_text
from horai.rules import load
from horai.testing import table_key


@takes(*ON_STREAM, *run_options("run", only=TO_EXPLAIN))
def command(
    named: dict[str, Any],
    given: dict[str, Any],
    added: Annotated[list[str], option("A row more: 'win|15|15|eve'.", "--with", metavar="ROW")],
    without: Annotated[list[str], option("A row less: its text, or FILE:LINE.", metavar="ROW")],
    instead: Annotated[list[Path], option("Rules in the place of those of the run.")],
    quiet: Quiet,
    format: Annotated[Literal["text", "jsonl"], writes("For people, or for machines.")] = "text",
) -> None:
    chosen = choose(**named)
    result = run_to_explain(chosen, given, quiet)
    others = load(instead, chosen.background, chosen.predicates) if instead else None
    time = time_in(result.unit)
    rows = result.what_if(added, without, others)
    if not rows and not quiet:
        click.echo("nothing would change", err=True)
    for row in rows:
        click.echo(json_text(row.as_dict()) if format == "jsonl" else _line(row, time))


def _line(row: io.AnswerRow, time: Time) -> str:
    when = f"at {time(row.time)}" if row.time is not None else ""
    if row.start is not None:
        when = f"from {time(row.start)} " + ("on" if row.end is None else f"until {time(row.end)}")
    what = table_key(row._replace(op=None)).removeprefix("happens ")
    return f"{row.op} {what} {when}"
