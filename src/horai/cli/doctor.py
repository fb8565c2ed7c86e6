"""`horai doctor`: what is absent, and how to get it."""

from __future__ import annotations

import typer

from horai.cli import console
from horai.cli.guard import FAILED, guarded
from horai.errors import counted
from horai.tools.doctor import examine


@guarded
def command() -> None:
    """Tell what Horai can use on this machine, what is absent, and how to get it."""
    findings = examine()
    width = max(len(finding.name) for finding in findings)
    for one in findings:
        typer.echo(
            f"{'ok     ' if one.found else 'absent '} {one.name:<{width}}  {one.found or ''}"
        )
        if one.found is None:
            typer.echo(f"        for {one.use}: {one.advice}")
    absent = [finding for finding in findings if finding.found is None]
    if absent:
        console.warning(f"{counted(len(absent), 'thing')} absent")
        raise typer.Exit(FAILED)
