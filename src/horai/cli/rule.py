"""`horai rule`: what a code means, with an example."""

from __future__ import annotations

from typing import Annotated

import click
from rich.text import Text

from horai.cli import console
from horai.cli.command import argument, takes
from horai.errors import UsageError
from horai.lang.core.diagnostics import CodeInfo, all_codes
from horai.settings import nearest
from horai.tools.codes import letter_codes


@takes()
def command(code: Annotated[str | None, argument("[CODE]")]) -> None:
    codes, letters = all_codes(), letter_codes()
    if code is None:
        for info in codes.values():
            click.echo(f"{info.code}  {info.severity:7}  {info.title}")
        for letter, meaning in letters.items():
            click.echo(f"{letter}: {meaning}")
        return
    if code.upper() in codes:
        console.stdout().print(_explanation(codes[code.upper()]))
    elif code.lower() in letters:
        click.echo(f"{code.lower()}: {letters[code.lower()]}")
    else:
        hint = nearest(code, [*codes, *letters]) or "`horai rule` lists all codes"
        raise UsageError(f"there is no code {code}", hint)


def _explanation(info: CodeInfo) -> Text:
    style = "bold red" if info.severity == "error" else "bold yellow"
    text = Text.assemble((f"{info.severity}[{info.code}]", style), (f": {info.title}", "bold"))
    text.append(f"\n\n{info.explanation}\n\nExample:\n\n")
    for line in info.example.rstrip("\n").split("\n"):
        text.append(f"    {line}\n", style="cyan")
    return text
