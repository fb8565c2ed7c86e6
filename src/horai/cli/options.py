"""The options of commands: those of a run as its settings have them, and those of files beside."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from horai.cli.command import Choice, GroupedOption, option
from horai.errors import UsageError
from horai.lang.core.reader import clean
from horai.lang.core.source import SourceText
from horai.settings import (
    MODES,
    OPTIONS,
    Option,
    amount,
    columns,
    distance,
    flag,
    length,
    options_for,
)

FILE = "horai.toml"
PATH: Any = click.Path(path_type=Path)


def argument(name: str, metavar: str, **more: Any) -> click.Argument:
    """What is given without a name."""
    return click.Argument([name], metavar=metavar, type=more.pop("type", PATH), **more)


def path(*names: str, help: str, group: str = "", **more: Any) -> GroupedOption:
    """An option that names a file."""
    metavar = more.pop("metavar", "FILE")
    return option(*names, type=PATH, metavar=metavar, help=help, group=group, **more)


def run_options(
    *modes: str, without: Collection[str] = (), only: Collection[str] = OPTIONS
) -> Iterator[GroupedOption]:
    """The options of runs of some kinds, for all languages."""
    for name, setting in options_for(None, *(modes or MODES)).items():
        if setting.written and name in only and name not in without:
            yield _of_setting(setting, modes or MODES)
            if name == "reasoning":
                yield from (_short_for(word) for word in ("brave", "cautious"))


def _of_setting(setting: Option, modes: Iterable[str]) -> GroupedOption:
    common: dict[str, Any] = {
        "group": setting.group,
        "languages": [one for one in setting.languages if setting.is_for(one, *modes)],
        "help": setting.help,
        "default": None,
    }
    if setting.check is flag:
        return GroupedOption([f"--{setting.label}/--no-{setting.label}"], **common)
    if setting.check is columns:
        return GroupedOption(
            [f"--{setting.label}"], multiple=True, metavar=setting.metavar, **common
        )
    return GroupedOption(
        [f"--{setting.label}"],
        metavar=setting.metavar,
        callback=_number if setting.check in (length, distance, amount) else None,
        **common,
    )


def _number(ctx: click.Context, param: click.Parameter, given: str | None) -> int | str | None:
    """A number where one is written; what else is given is told with all that is wrong."""
    is_number = given is not None and re.fullmatch(r"\s*[+-]?[0-9]+\s*", given) is not None
    return int(given) if is_number and given is not None else given


def _short_for(word: str) -> GroupedOption:
    """`--brave` is `--reasoning brave`; two that say different things are an error."""

    def chosen(ctx: click.Context, param: click.Parameter, given: bool) -> None:
        before = ctx.params.get("reasoning")
        if not given:
            return
        if before not in (None, word):
            problem = f"the reasoning cannot be {before} and {word} at once"
            raise UsageError(problem, "choose one of them")
        ctx.params["reasoning"] = word

    return GroupedOption(
        [f"--{word}"],
        is_flag=True,
        expose_value=False,
        callback=chosen,
        group="engine",
        languages=OPTIONS["reasoning"].languages,
        help=f"--reasoning {word}.",
    )


def flagged(setting: str) -> str:
    """A setting as the command line spells it."""
    return f"--{setting.replace('_', '-')}"


# --- options beside those of a run ---------------------------------------------------------------

RULES = argument("rules", "[RULES]...", nargs=-1)
BACKGROUND = path(
    "--background", "-b", multiple=True, group="input", help="Facts and helper rules."
)
INPUT = option(
    "--input",
    "-i",
    metavar="FILE",
    multiple=True,
    group="input",
    help="The stream: narrative, CSV, JSON lines, Parquet, kafka://HOST:PORT/TOPIC.",
)
PREDICATES = path(
    "--predicates", group="input", help="Python file with functions marked @horai.predicate."
)
SEVERITY = option(
    "--severity",
    metavar="CODE=LEVEL",
    multiple=True,
    group="output",
    help="Make findings of a code an error, a warning, or turn them off: H206=off.",
)
TIMES = option(
    "--times",
    type=Choice(["iso", "epoch"]),
    group="output",
    help="How times are written: iso (for people the default with --unit), epoch (time-points).",
)
QUIET = option("--quiet", "-q", is_flag=True, group="output", help="Only errors and lost rows.")
DEAD_LETTERS = path("--dead-letters", group="output", help="Rows that were not used, with reasons.")
ON_RULES = (RULES, BACKGROUND, PREDICATES)
ON_STREAM = (RULES, BACKGROUND, INPUT, PREDICATES)
"""What a command works on; its function takes them together, as `named`."""

_about_positions: Any = partial(option, group="positions", languages=["ec"])
POSITIONS = _about_positions(
    "--positions",
    "-p",
    metavar="FILE",
    multiple=True,
    help="Raw positions: CSV, JSON lines, Parquet or Arrow; - is stdin.",
)
ABOUT_POSITIONS: tuple[GroupedOption, ...] = (
    _about_positions("--areas", "-a", type=PATH, metavar="FILE", help="Polygons as GeoJSON."),
    _about_positions("--speed-in", metavar="UNIT", help="kn, m/s, km/h or mph."),
    _about_positions(
        "--column",
        metavar="PART=NAME",
        multiple=True,
        help="Which column is which: entity=ship_id.",
    ),
    _about_positions(
        "--set", metavar="NAME=VALUE", multiple=True, help="A limit: gap_after=1800, turn=10, ..."
    ),
)


def output(help: str = "Where answers go.", **more: Any) -> GroupedOption:
    """`--output FILE`, or `-o FILE`."""
    return path("--output", "-o", help=help, group="output", **more)


def form(*known: str, help: str, **more: Any) -> GroupedOption:
    """`--format NAME`."""
    return option("--format", type=Choice(list(known)), group="output", help=help, **more)


STDIN_NAME = path(
    "--stdin-name",
    metavar="NAME",
    group="input",
    help="What rules from standard input (-) are called; .lars says that they are LARS.",
)


def standard_input(rules: list[Path], name: Path | None) -> SourceText | None:
    """Rules from standard input, if `-` stands in the place of files."""
    if rules != [Path("-")]:
        if Path("-") in rules:
            raise UsageError("- stands beside files", "name files, or standard input alone")
        if name is not None:
            raise UsageError("--stdin-name names what is read from -", "give - in place of files")
        return None
    read = sys.stdin.buffer.read()
    try:
        return SourceText(str(name or "<stdin>"), clean(read.decode("utf-8")))
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 at byte {error.start}") from error


FOR_PEOPLE = form("text", "json", default="text", help="For people, or for machines.")
