"""`horai graph`: what depends on what, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click

from horai.cli.command import ON_RULES, takes, writes
from horai.cli.output import check_outputs
from horai.cli.workload import choose
from horai.errors import UsageError
from horai.report.graph import GraphError, to_mermaid, write_graph


@takes(*ON_RULES)
def command(
    named: dict[str, Any],
    output: Annotated[
        Path | None,
        writes("Ends in .svg, .png, .dot or .mmd; else Mermaid text on standard output.", "-o"),
    ],
    with_input: Annotated[bool, writes("Draw input events, fluents and signals too.")],
) -> None:
    chosen = choose(**named, runs=False)
    check_outputs({"--output": output}, chosen.files())
    drawing = chosen.load().graph(inputs=with_input).drawing
    if output is None:
        click.echo(to_mermaid(drawing), nl=False)
        return
    try:
        write_graph(drawing, output)
    except GraphError as error:
        raise UsageError(str(error)) from error
