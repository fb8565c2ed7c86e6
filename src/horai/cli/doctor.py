"""`horai doctor`: what is absent, and how to get it."""

from __future__ import annotations

import click

from horai.cli import console
from horai.cli.command import FAILED, Exit, takes
from horai.errors import counted
from horai.tools.doctor import examine


@takes()
def command() -> None:
    findings = examine()
    width = max(len(finding.name) for finding in findings)
    for one in findings:
        click.echo(
            f"{'ok     ' if one.found else 'absent '} {one.name:<{width}}  {one.found or ''}"
        )
        if one.found is None:
            click.echo(f"        for {one.use}: {one.advice}")
    absent = [finding for finding in findings if finding.found is None]
    if absent:
        console.warning(f"{counted(len(absent), 'thing')} absent")
        raise Exit(FAILED)
