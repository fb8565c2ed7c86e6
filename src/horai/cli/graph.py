"""`horai graph`: what depends on what, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from horai.cli.combined import speaks_both
from horai.cli.guard import guarded
from horai.cli.lars import is_lars
from horai.cli.options import Background, Predicates, RulesArgument, choose
from horai.cli.output import check_outputs
from horai.errors import UsageError
from horai.plan.lars.dependencies import readings_of
from horai.report.graph import GraphError, dependency_graph, program_graph, to_mermaid, write_graph


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
        bool, typer.Option("--with-input", help="Draw input events, fluents and signals too.")
    ] = False,
    predicates: Predicates = None,
) -> None:
    """Draw what depends on what in rules."""
    chosen = choose(rules, background, predicates, runs=False)
    check_outputs({"--output": output}, chosen.files(predicates))
    if speaks_both(chosen.rules):
        raise UsageError("rules of two languages are drawn apart", "name files of one of them")
    if is_lars(chosen.rules):
        from horai import lars

        program = lars.load(chosen.rules, chosen.background).program
        drawing = program_graph(readings_of(program, with_input))
    else:
        drawing = dependency_graph(chosen.load().description, with_input)
    if output is None:
        typer.echo(to_mermaid(drawing), nl=False)
        return
    try:
        write_graph(drawing, output)
    except GraphError as error:
        raise UsageError(str(error)) from error
