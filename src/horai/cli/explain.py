"""`horai explain`: what a code means, with an example."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from horai.cli import console
from horai.cli.guard import guarded
from horai.errors import UsageError
from horai.lang.core.diagnostics import CodeInfo, did_you_mean
from horai.tools.codes import all_codes, letter_codes


@guarded
def command(
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="Such as H103; without it, all are listed.")
    ] = None,
) -> None:
    """Explain the code of a finding or of a dead letter."""
    codes, letters = all_codes(), letter_codes()
    if code is None:
        for info in codes.values():
            typer.echo(f"{info.code}  {info.severity:7}  {info.title}")
        for letter, meaning in letters.items():
            typer.echo(f"{letter}: {meaning}")
        return
    if code.upper() in codes:
        console.stdout().print(_explanation(codes[code.upper()]))
    elif code.lower() in letters:
        typer.echo(f"{code.lower()}: {letters[code.lower()]}")
    else:
        near = did_you_mean(code, [*codes, *letters])
        hint = f"did you mean {near}?" if near else "`horai explain` lists all codes"
        raise UsageError(f"there is no code {code}", hint)


def _explanation(info: CodeInfo) -> Text:
    style = "bold red" if info.severity == "error" else "bold yellow"
    text = Text.assemble((f"{info.severity}[{info.code}]", style), (f": {info.title}", "bold"))
    text.append(f"\n\n{info.explanation}\n\nExample:\n\n")
    for line in info.example.rstrip("\n").split("\n"):
        text.append(f"    {line}\n", style="cyan")
    return text
