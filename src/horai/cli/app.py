"""The commands of `horai`, one file each. Only that of the command that runs is loaded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click
from click.exceptions import Exit

from horai import __version__
from horai.cli import console
from horai.cli.command import DEBUG, INTERRUPTED, WIDE, WRONG, explain
from horai.errors import UsageError
from horai.settings import nearest

COMMANDS = {
    "new": "Start a project: rules, background, a narrative, settings and a test.",
    "check": "Check rules; exit status 2 if there are errors.",
    "fmt": "Put the layout of rules right; what they say stays as it is.",
    "run": "Run rules over a stream of events.",
    "signals": "Derive events from raw positions: stops, turns, gaps, areas, who is close to whom.",
    "report": "Draw what rules find in a stream, on a page for a browser.",
    "serve": "Show what rules find while a stream goes on, on a page for a browser.",
    "query": "Run rules over a stream, then answer queries.",
    "why": "Run rules over a stream, then prove why something holds or happens at a time.",
    "whatif": "Run rules over a stream, then say what other rows or rules would change.",
    "score": "Compare what rules find with intervals that people marked: precision, recall, F1.",
    "test": "Run given/expect cases; exit status 1 if one fails.",
    "graph": "Draw what depends on what in rules.",
    "plan": "Show how rules are worked out, operator by operator, and what that costs.",
    "tune": "Propose a window: try some on a sample and see what each loses.",
    "stream": "Run rules over a stream that goes on, on Spark.",
    "state": "Show what a stream keeps: how far it has come, its state bucket by bucket.",
    "translate": "Translate a CQL query, ETALIS patterns or past LTL to LARS.",
    "equiv": "Compare two LARS programs; exit status 1 if they differ.",
    "lsp": "Serve editors: findings, help, completion, names, layout.",
    "rule": "Explain the code of a finding or of a dead letter.",
    "doctor": "Tell what Horai can use on this machine, what is absent, and how to get it.",
    "trust": "Let the Python predicates of a project run, until they change.",
}
"""What each command does, in the order of the help."""


class Commands(click.Group):
    """Commands that are loaded when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        if cmd_name not in COMMANDS:
            if cmd_name.startswith("-"):
                return None  # an option, which is none of these
            hint = nearest(cmd_name, COMMANDS) or f"there are {', '.join(COMMANDS)}"
            raise UsageError(f"there is no command {cmd_name}", hint)
        if cmd_name not in self.commands:
            found: click.Command = import_module(f"horai.cli.{cmd_name}").command
            found.name, found.help = cmd_name, COMMANDS[cmd_name]
            self.commands[cmd_name] = found
        return self.commands[cmd_name]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """What each command does; none of them needs to be loaded for that."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, args: Sequence[str] | None = None, *_: Any, **more: Any) -> NoReturn:
        """Run the command line, and leave with its exit status."""
        try:
            asked = {"prog_name": "horai", **more, "standalone_mode": False}
            status = super().main(args, **asked)
        except click.exceptions.NoArgsIsHelpError as shown:
            click.echo(shown.format_message())
            status = WRONG
        except (click.ClickException, UsageError) as wrong:
            status = explain(wrong)
        except click.Abort:
            status = INTERRUPTED
        sys.exit(status or 0)


def _show_completion(ctx: click.Context, param: click.Parameter, shell: str | None) -> None:
    if shell is not None:
        from click.shell_completion import get_completion_class

        made = get_completion_class(shell)
        assert made is not None
        click.echo(made(app, {}, "horai", "_HORAI_COMPLETE").source())
        raise Exit(0)


@click.group(
    name="horai",
    cls=Commands,
    help="Event Calculus rules and LARS programs over event streams.",
    no_args_is_help=True,
    context_settings=WIDE,
)
@click.version_option(__version__, message="horai %(version)s", help="Show the version.")
@click.option("--debug", is_flag=True, help="Show where an error came from.")
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    is_eager=True,
    help="Messages for people, or one JSON object on a line each.",
)
@click.option(
    "--show-completion",
    type=click.Choice(["bash", "zsh", "fish"]),
    is_eager=True,
    expose_value=False,
    callback=_show_completion,
    help="Print what lets a shell complete commands and options.",
)
def app(debug: bool, log_format: str) -> None:
    """Event Calculus rules and LARS programs over event streams."""
    console.log_as(log_format)
    if debug:
        os.environ[DEBUG] = "1"
