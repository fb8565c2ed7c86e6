"""What all commands have in common: options in groups, help, errors in words, exit status.

0 fine, 1 it ran but something failed, 2 wrong use or wrong input, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from enum import StrEnum
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import click
from click.exceptions import Exit as Exit

from horai.cli import console
from horai.cli.interrupt import leave
from horai.errors import CaseError, RunError, RunFailed, UsageError, counted
from horai.settings import (
    GROUPS,
    LANGUAGES,
    MODES,
    OPTIONS,
    Language,
    Option,
    amount,
    columns,
    distance,
    flag,
    length,
    nearest,
    options_for,
)

if TYPE_CHECKING:
    from horai.lang.core.source import SourceText

DEBUG = "HORAI_DEBUG"
FAILED = 1
WRONG = 2
INTERRUPTED = 130
SUFFIX = ".lars"
"""The names of LARS programs end so."""
NAMED = ("rules", "background", "input", "predicates", "severity")
"""The parameters that say what a command works on: those of `horai.cli.workload.choose`."""


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


class Declared(NamedTuple):
    """What people are told of a parameter of a command."""

    kind: type[click.Parameter]
    names: tuple[str, ...]
    more: dict[str, Any]

    def parameter(self, name: str, type_: Any, default: Any = None) -> click.Parameter:
        """The option or argument of a name and type; without a default it may have to be given."""
        many, is_flag = get_origin(type_) is list, type_ is bool
        is_made_of = many or get_origin(type_) in (Union, UnionType)
        first, *rest = get_args(type_) if is_made_of else (type_,)
        more: dict[str, Any] = {"is_flag": True} if is_flag else {"type": _type_of(first)}
        more |= {"metavar": "FILE"} if first is Path and self.kind is GroupedOption else {}
        if many:
            more |= {"nargs": -1} if self.kind is click.Argument else {"multiple": True}
        elif default is None:
            more["required"] = not (rest or is_flag)
        else:
            more["default"] = default
        spelled = self.names
        if self.kind is GroupedOption and not any(one.startswith("--") for one in spelled):
            spelled = (f"--{name.replace('_', '-')}", *spelled)
        return self.kind([name, *spelled], **{**more, **self.more})


def option(help: str, *names: str, group: str = "", **more: Any) -> Declared:
    """An option, which is called like its parameter if no other name with `--` is given."""
    return Declared(GroupedOption, names, {"help": help, "group": group, **more})


def argument(metavar: str) -> Declared:
    """What is given without a name."""
    return Declared(click.Argument, (), {"metavar": metavar})


def _type_of(kind: Any) -> Any:
    if kind is Path:
        return click.Path(path_type=Path)
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    return click.Choice(list(kind)) if issubclass(kind, StrEnum) else kind


def parameters_of(function: Callable[..., None]) -> Iterator[click.Parameter]:
    """The options and arguments that the annotations of a function speak of."""
    defaults = signature(function).parameters
    for name, hint in get_type_hints(function, include_extras=True).items():
        if get_origin(hint) is Annotated:
            type_, asked = get_args(hint)
            default = defaults[name].default
            yield asked.parameter(name, type_, None if default is Parameter.empty else default)


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
    """Makes a command of a function, which takes these and what its own parameters say.

    It takes the options of a run together as `given`, and what it is to work on as `named`.
    """

    def made(function: Callable[..., None]) -> Command:
        every = [*params, *parameters_of(function), _LOG]
        if any(one.languages != set(LANGUAGES) for one in every if isinstance(one, GroupedOption)):
            every.append(_HELP_LARS)
        return Command(None, callback=function, params=every, context_settings=WIDE)

    return made


def _help_lars(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    if asked:
        ctx.meta["horai.language"] = "lars"
        click.echo(ctx.get_help())
        ctx.exit()


_LOG = GroupedOption(
    ["--log-format"],
    type=click.Choice(["text", "json"]),
    default="text",
    expose_value=False,
    hidden=True,  # one of all commands: `horai --help` has it
    help="Messages for people, or one JSON object on a line each.",
)
_HELP_LARS = GroupedOption(
    ["--help-lars"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_lars,
    group="other",
    help="Show the options for LARS programs, and exit.",
)


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


# --- options -------------------------------------------------------------------------------------

FILE = "horai.toml"


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

Files = list[Path]
RULES = argument("[RULES]...").parameter("rules", Files)
BACKGROUND = option("Facts and helper rules.", "-b", group="input").parameter("background", Files)


def input_option(help: str) -> click.Parameter:
    """`--input FILE`, or `-i FILE`, as often as there are files."""
    return option(help, "-i", metavar="FILE", group="input").parameter("input", list[str])


INPUT = input_option("The stream: narrative, CSV, JSON lines, Parquet, kafka://HOST:PORT/TOPIC.")
PREDICATES = option("Python file with functions marked @horai.predicate.", group="input").parameter(
    "predicates", Path | None
)
SEVERITY = option(
    "Make findings of a code an error, a warning, or turn them off: H206=off.",
    metavar="CODE=LEVEL",
    group="output",
).parameter("severity", list[str])
ON_RULES = (RULES, BACKGROUND, PREDICATES)
ON_STREAM = (RULES, BACKGROUND, INPUT, PREDICATES)
"""What a command works on; its function takes them together, as `named`."""

writes = partial(option, group="output")
about_time = partial(option, group="time")
Times = Annotated[
    Literal["iso", "epoch"] | None,
    writes("How times are written: iso (for people the default with --unit), epoch (time-points)."),
]
Quiet = Annotated[bool, writes("Only errors and lost rows.", "-q")]
DeadLetters = Annotated[Path | None, writes("Rows that were not used, with reasons.")]
ForPeople = Annotated[Literal["text", "json"], writes("For people, or for machines.")]
COORDINATES = "Items that say where their first argument is: coord=2,3 names two of its arguments."

_about_positions = partial(option, group="positions", languages=["ec"])
POSITIONS = _about_positions(
    "Raw positions: CSV, JSON lines, Parquet or Arrow; - is stdin.", "-p", metavar="FILE"
).parameter("positions", list[str])
ABOUT_POSITIONS = (
    _about_positions("Polygons as GeoJSON.", "-a").parameter("areas", Path | None),
    _about_positions("kn, m/s, km/h or mph.", metavar="UNIT").parameter("speed_in", str | None),
    _about_positions("Which column is which: entity=ship_id.", metavar="PART=NAME").parameter(
        "column", list[str]
    ),
    _about_positions("A limit: gap_after=1800, turn=10, ...", metavar="NAME=VALUE").parameter(
        "set", list[str]
    ),
)
StdinName = Annotated[
    Path | None,
    option(
        "What rules from standard input (-) are called; .lars says that they are LARS.",
        metavar="NAME",
        group="input",
    ),
]


def standard_input(rules: list[Path], name: Path | None) -> SourceText | None:
    """Rules from standard input, if `-` stands in the place of files."""
    # The readers of languages take longer to load than most commands need.
    from horai.lang.core.reader import clean
    from horai.lang.core.source import SourceText

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
