"""`horai graph`: what depends on what, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from horai.cli.guard import guarded
from horai.cli.options import Background, Predicates, RulesArgument, choose
from horai.errors import UsageError
from horai.report.graph import GraphError, dependency_graph, to_mermaid, write_graph


@guarded
def command(
    rules: RulesArgument = None,
    background: Background = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Ends in .svg, .png, .dot or .mmd; without it, Mermaid text on standard output.",
        ),
    ] = None,
    with_input: Annotated[
        bool, typer.Option("--with-input", help="Draw input events and fluents too.")
    ] = False,
    predicates: Predicates = None,
) -> None:
    """Draw what depends on what in rules."""
    loaded = choose(rules, background, predicates).load()
    drawing = dependency_graph(loaded.description, with_input)
    if output is None:
        typer.echo(to_mermaid(drawing), nl=False)
        return
    try:
        write_graph(drawing, output)
    except GraphError as error:
        raise UsageError(str(error)) from error
