"""The commands of `horai`, one file each. Only that of the command that runs is loaded."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from horai import __version__

if TYPE_CHECKING:
    # Newer typers bring their own click; then no other one needs to be there.
    Context = Any
    Command = Any

COMMANDS = (
    *("new", "check", "run", "signals", "report", "query", "test", "graph", "plan", "tune"),
    *("stream", "state", "translate", "equiv", "explain", "doctor", "trust"),
)
DEBUG = "HORAI_DEBUG"


class Commands(TyperGroup):
    """Commands that are loaded when they are asked for."""

    def list_commands(self, ctx: Context) -> list[str]:
        """All commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """The command of a name. An unknown one is compared with all the others."""
        for name in (cmd_name,) if cmd_name in COMMANDS else COMMANDS:
            if name not in self.commands:
                self.commands[name] = _loaded(name)
        return super().get_command(ctx, cmd_name)


def _loaded(name: str) -> Command:
    alone = typer.Typer(add_completion=False)
    alone.command(name)(import_module(f"horai.cli.{name}").command)
    return typer.main.get_command(alone)


app = typer.Typer(
    name="horai",
    cls=Commands,
    help="Event Calculus rules and LARS programs over event streams.",
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
    """Event Calculus rules and LARS programs over event streams."""
    if debug:
        os.environ[DEBUG] = "1"
