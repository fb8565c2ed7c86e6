"""Talking to people: on standard error, in colour only on a terminal; or to programs, as JSON.

Rich is loaded when there is something to say, for most runs say nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from horai.lang.core.diagnostics import Diagnostic

LONGEST = 10_000  # characters of a message
_STYLE = {"error": "bold red", "warning": "bold yellow"}  # by severity
_PLACE = re.compile(r"(\s*)(-->)( .*)")
_GUTTER = re.compile(r"(\s*\d* \|)(.*)")
_ADVICE = re.compile(r"(\s*= )(note|help)(: .*)")


_form = "text"


def log_as(form: str) -> None:
    """From now on messages are `text`, or one object of `json` on a line each."""
    global _form
    _form = form


def _is_logged(level: str, message: str, **more: object) -> bool:
    """Write a message as JSON, if that is wanted."""
    if _form == "json":
        entry = {"level": level, "message": message, **more}
        entry.pop("severity", None)  # the level says it
        from horai.io.shown import json_text

        click.echo(json_text(entry), err=True)
    return _form == "json"


def is_watched() -> bool:
    """Does a person see what goes to standard error?"""
    return _form == "text" and sys.stderr.isatty() and stderr().is_terminal


def stderr() -> Console:
    """Standard error as it is now; rich obeys NO_COLOR and leaves pipes without colour."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False, markup=False)


def stdout() -> Console:
    """Standard output as it is now."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True, emoji=False, markup=False)


@contextmanager
def bar(what: str, quiet: bool = False) -> Iterator[Callable[[int, int], None] | None]:
    """Takes how much is done, and of how much; None where nobody can see it."""
    if quiet or not is_watched():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = [TextColumn(what), BarColumn(), MofNCompleteColumn()]
    with Progress(*columns, console=stderr(), transient=True) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, all: shown.update(task, completed=done, total=all)


@contextmanager
def busy(doing: str, quiet: bool = False) -> Iterator[None]:
    """Says what goes on, and for how long already, where somebody can see it."""
    if quiet or not is_watched():
        yield
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(_clean(doing), markup=False), TimeElapsedColumn())
    with Progress(*columns, console=stderr(), transient=True) as shown:
        shown.add_task(doing, total=None)
        yield


def show(format: str, plain: object, lines: Iterable[str]) -> None:
    """Print what a command has found: `plain` values as JSON, or lines for people."""
    from horai.io.shown import json_text, printable

    if format == "json":
        click.echo(json_text(plain, 1))
        return
    for line in lines:
        click.echo(printable(line))


def put(text: Text) -> None:
    """A text with styles on standard output; nothing in it steers a terminal."""
    from rich.text import Text

    from horai.io.shown import STEERS, printable

    ends = {end for found in STEERS.finditer(text.plain) for end in found.span()}
    parts = text.divide(sorted(ends))
    tame = [Text(printable(one.plain)) if STEERS.match(one.plain) else one for one in parts]
    stdout().print(Text().join(tame))


def say(text: str, style: str = "") -> None:
    """A line for people."""
    if _is_logged("info", _clean(text).strip()):
        return
    from rich.text import Text

    stderr().print(Text(_clean(text), style=style))


def error(text: str, hint: str | None = None) -> None:
    """An error that is no finding about rules."""
    if _is_logged("error", _clean(text), hint=_clean(hint) if hint else None):
        return
    from rich.text import Text

    line = Text.assemble(("error", "bold red"), (f": {_clean(text)}", "bold"))
    if hint:
        line.append_text(Text.assemble("\n  = ", ("help", "bold cyan"), f": {_clean(hint)}"))
    stderr().print(line)


def warning(text: str) -> None:
    """A warning that is no finding about rules."""
    if _is_logged("warning", _clean(text)):
        return
    from rich.text import Text

    stderr().print(Text.assemble(("warning", "bold yellow"), f": {_clean(text)}"))


def _clean(text: str) -> str:
    """Strangers wrote some of it, and a few of them a lot."""
    from horai.io.shown import printable, redacted

    some = printable(redacted(text))
    return some if len(some) <= LONGEST else f"{some[:LONGEST]}…"


def show_findings(findings: Iterable[Diagnostic]) -> None:
    """Findings about rules, each with its line underlined."""
    findings = list(findings)
    if not findings:
        return
    if _form == "json":
        for finding in findings:
            _is_logged(str(finding.severity), **finding.as_json())
        return
    console = stderr()
    for finding in findings:
        console.print(coloured(finding))
        console.print()


def coloured(finding: Diagnostic) -> Text:
    """A finding with the colours compilers use."""
    from rich.text import Text

    from horai.io.shown import printable

    style = _STYLE[finding.severity]
    head, *rest = printable(finding.render()).split("\n")
    mark, _, message = head.partition(": ")
    text = Text.assemble((mark, style), (f": {message}", "bold"))
    for line in rest:
        text.append("\n")
        if found := _PLACE.fullmatch(line):
            text.append_text(Text.assemble(found[1], (found[2], "bold blue"), found[3]))
        elif found := _GUTTER.fullmatch(line):
            inner = style if found[2].strip(" ^") == "" else ""
            text.append_text(Text.assemble((found[1], "bold blue"), (found[2], inner)))
        elif found := _ADVICE.fullmatch(line):
            text.append_text(Text.assemble(found[1], (found[2], "bold cyan"), found[3]))
        else:
            text.append(line)
    return text
