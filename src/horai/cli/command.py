"""What all commands have in common: options in groups, help, errors in words, exit status.

0 fine, 1 it ran but something failed, 2 wrong use or wrong input, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from horai.cli import console
from horai.cli.interrupt import leave
from horai.errors import CaseError, RunError, RunFailed, UsageError, counted
from horai.settings import GROUPS, LANGUAGES, OPTIONS, Language, nearest

DEBUG = "HORAI_DEBUG"
FAILED = 1
WRONG = 2
INTERRUPTED = 130
SUFFIX = ".lars"
"""The names of LARS programs end so."""
NAMED = ("rules", "background", "input", "predicates", "severity")
"""The parameters that say what a command works on: those of `horai.cli.workload.choose`."""

__all__ = [
    "FAILED",
    "SUFFIX",
    "WRONG",
    "Choice",
    "Command",
    "Exit",
    "GroupedOption",
    "option",
    "takes",
]

Choice = click.Choice
TITLES: dict[str, str] = {
    "": "Options",
    "input": "Input",
    "positions": "Raw positions",
    **{str(group): group.capitalize() for group in GROUPS},
    "page": "Page",
    "metrics": "Page of metrics",
    "other": "Other",
}
WIDE: dict[str, Any] = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


_JSON_LOG = re.compile(r"(?:^|\0)--log-format[=\0]json(?:\0|$)")


class GroupedOption(click.Option):
    """An option that stands in a group of the help, if the language of the rules has it."""

    def __init__(
        self,
        *args: Any,
        group: str = "",
        languages: Iterable[str] = LANGUAGES,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.group, self.languages = group, frozenset(languages)


def option(*names: str, group: str = "", **attributes: Any) -> GroupedOption:
    """An option of a command; one that is given several times has `multiple`."""
    return GroupedOption(names, group=group, **attributes)


class Command(click.Command):
    """A command whose help has groups, and whose errors are said in words."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Help needs to know which rules were named."""
        ctx.meta["horai.words"] = list(args)
        # Before options are read, for what is wrong with them is a message, too.
        before = ctx.find_root().params.get("log_format", "text")
        console.log_as("json" if _JSON_LOG.search("\0".join(args)) else before)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as wrong:
            wrong.ctx = wrong.ctx or ctx
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options by group, for the language of the rules."""
        language: str = ctx.meta.get("horai.language") or _language(ctx.meta["horai.words"])
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in TITLES.values()}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None and language in getattr(param, "languages", LANGUAGES):
                groups[TITLES[getattr(param, "group", "other")]].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def invoke(self, ctx: click.Context) -> None:
        """Run the command; what goes wrong becomes a message and an exit status."""
        values = {name: list(v) if isinstance(v, tuple) else v for name, v in ctx.params.items()}
        if "background" in values:
            values["named"] = {name: values.pop(name) for name in NAMED if name in values}
        ours = [n for n, option in OPTIONS.items() if option.written and n in values]
        given = {name: values.pop(name) for name in ours}
        if given:
            values["given"] = {name: v for name, v in given.items() if v not in (None, [])}
        assert self.callback is not None
        try:
            if signal.getsignal(signal.SIGINT) is leave:  # from here on there is work to end
                signal.signal(signal.SIGINT, signal.default_int_handler)
            spare_pandas()
            self.callback(**values)
            sys.stdout.flush()
        except (Exit, click.ClickException):
            raise
        except KeyboardInterrupt:
            console.error("interrupted")
            raise Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever reads our output has seen enough. Python flushes once more when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Exit(0) from None
        except Exception as problem:
            if os.environ.get(DEBUG):
                raise
            raise Exit(explain(problem)) from None


def takes(*params: click.Parameter) -> Callable[[Callable[..., None]], Command]:
    """Makes a command of a function.

    It takes the options of a run together as `given`, and what it is to work on as `named`.
    """

    def made(function: Callable[..., None]) -> Command:
        more = []
        if any(one.languages != set(LANGUAGES) for one in params if isinstance(one, GroupedOption)):
            more = [
                option(
                    "--help-lars",
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_help_lars,
                    group="other",
                    help="Show the options for LARS programs, and exit.",
                )
            ]
        log = option(
            "--log-format",
            type=Choice(["text", "json"]),
            default="text",
            expose_value=False,
            hidden=True,  # one of all commands: `horai --help` has it
            help="Messages for people, or one JSON object on a line each.",
        )
        return Command(None, callback=function, params=[*params, *more, log], context_settings=WIDE)

    return made


def _help_lars(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if asked:
        ctx.meta["horai.language"] = "lars"
        click.echo(ctx.get_help())
        ctx.exit()


def spare_pandas() -> None:
    """Keep Arrow from loading pandas, which no command needs and which takes a third of a second.

    Arrow looks for pandas once, at its first array. Predicates may still import it themselves.
    """
    if "pandas" in sys.modules:
        return
    from types import ModuleType
    from warnings import catch_warnings, simplefilter

    import pyarrow as pa

    too_old = ModuleType("pandas")
    vars(too_old)["__version__"] = "0.0.0"
    sys.modules["pandas"] = too_old
    try:
        with catch_warnings():
            simplefilter("ignore")
            pa.array([0])
    finally:
        del sys.modules["pandas"]


def language_of(rules: Iterable[Path]) -> Language:
    """The language of files of rules, by their names."""
    kinds = {path.suffix.lower() == SUFFIX for path in rules}
    if kinds == {True, False}:
        return "combined"
    return "lars" if kinds == {True} else "ec"


def _language(words: list[str]) -> Language:
    """The language of the rules that a command line names, or the project we are in."""
    from horai.tools.project import find_project

    files = [Path(word) for word in words if Path(word).suffix.lower() in (SUFFIX, ".ec", ".pl")]
    try:
        project = None if files else find_project()
    except UsageError:
        project = None
    return language_of(files or (project.rules if project else []))


# --- errors --------------------------------------------------------------------------------------


_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def explain(problem: Exception) -> int:
    """Say what is wrong; the exit status."""
    from horai.io.letters import InputError
    from horai.io.shown import shortened
    from horai.lang.core.diagnostics import RulesError, Severity

    match problem:
        case RulesError():
            console.show_findings(problem.diagnostics)
            errors = sum(d.severity is Severity.ERROR for d in problem.diagnostics)
            console.error(f"the rules have {counted(errors, 'error')}")
            assert errors
        case UsageError():
            console.error(problem.problem, problem.hint)
        case click.ClickException():
            console.error(*_of_words(problem))
        case CaseError():
            for line, text in problem.problems:
                console.error(f"{problem.file}:{line}: {text}")
        case InputError():
            place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
            row = f"\n  row: {shortened(problem.text)}" if problem.text else ""
            console.error(f"{place}: {problem.reason}{row}", problem.hint or None)
        case RunError():
            console.error(str(problem))
            return FAILED if isinstance(problem, RunFailed) else WRONG
        case OSError():
            name = f"{problem.filename}: " if problem.filename else ""
            console.error(f"{name}{problem.strerror or problem}")
            return FAILED if problem.errno in _NO_ROOM else WRONG
        case RuntimeError() if str(problem).startswith("Symlink loop"):  # Python's way to say it
            console.error(str(problem), "name a file that is there")
        case MemoryError():
            hint = "give less at a time: a shorter stream, or one with a --window"
            console.error("there is not enough memory", hint)
            return FAILED
        case _:
            console.error(
                f"{type(problem).__name__}: {problem}",
                f"this is a fault of Horai; {DEBUG}=1 shows where it happened",
            )
            return FAILED
    return WRONG


def _of_words(problem: click.ClickException) -> tuple[str, str | None]:
    """What is wrong with the words of a command line, and what to do."""
    context = getattr(problem, "ctx", None)
    shows = f"`{context.command_path if context else 'horai'} --help` shows all there are"
    if isinstance(problem, click.NoSuchOption):
        params = context.command.params if context else []
        known = [name for one in params for name in (*one.opts, *one.secondary_opts)]
        near = nearest(problem.option_name, known)
        return f"there is no option {problem.option_name}", near or shows
    return problem.format_message().rstrip("."), shows
