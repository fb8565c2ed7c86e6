"""`horai trust`: let the Python predicates of a project run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from horai.cli.guard import guarded
from horai.errors import UsageError
from horai.tools.project import FILE, forget, read_project, trust


@guarded
def command(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help=f"A folder with {FILE}; this one without it.")
    ] = Path(),
    no_longer: Annotated[
        bool, typer.Option("--forget", help="Trust it no longer, however it was.")
    ] = False,
) -> None:
    """Let the Python predicates of a project run, until they change."""
    file = folder if folder.name == FILE else folder / FILE
    if not file.is_file():
        raise UsageError(f"there is no {file}", "name the folder of a project")
    predicates = read_project(file.resolve()).predicates
    if predicates is None:
        typer.echo(f"{file} names no Python predicates: there is nothing to trust")
    elif no_longer:
        forget(predicates)
        typer.echo(f"{predicates} is not trusted")
    else:
        trust(predicates)
        typer.echo(f"{predicates} is trusted until it changes")
