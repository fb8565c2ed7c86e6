"""`horai trust`: let the Python predicates of a project run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click

from horai.cli.command import argument, option, takes
from horai.errors import UsageError
from horai.tools.project import FILE, forget, read_project, trust


@takes()
def command(
    no_longer: Annotated[bool, option("Trust it no longer, however it was.", "--forget")],
    folder: Annotated[Path, argument("[FOLDER]")] = Path(),
) -> None:
    file = folder if folder.name == FILE else folder / FILE
    if not file.is_file():
        raise UsageError(f"there is no {file}", "name the folder of a project")
    predicates = read_project(file.resolve()).predicates
    if predicates is None:
        click.echo(f"{file} names no Python predicates: there is nothing to trust")
    elif no_longer:
        forget(predicates)
        click.echo(f"{predicates} is not trusted")
    else:
        trust(predicates)
        click.echo(f"{predicates} is trusted until it changes")
