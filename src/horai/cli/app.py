"""The commands of `horai`, one file each."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from horai import __version__
from horai.cli import check, explain, graph, new, plan, query, run, test
from horai.cli.guard import DEBUG

app = typer.Typer(
    name="horai",
    help="Event Calculus rules over event streams, answered as maximal intervals.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"horai {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option(help="Show where an error came from.")] = False,
) -> None:
    """Event Calculus rules over event streams, answered as maximal intervals."""
    if debug:
        os.environ[DEBUG] = "1"


for command in (new, check, run, query, test, graph, plan, explain):
    app.command(command.NAME)(command.command)
