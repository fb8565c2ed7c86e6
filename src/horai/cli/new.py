"""`horai new`: a small project that runs and is tested, to change into your own."""

from __future__ import annotations

import os
import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import click

from horai.cli.command import argument, takes
from horai.errors import UsageError

_NAME = re.compile(r"[^\W\d][\w .-]*")


@takes()
def command(folder: Annotated[Path, argument("NAME")]) -> None:
    name = folder.resolve().name
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} is no name for a project", "start it with a letter")
    # `x/..` is no folder before `x` is made, and then it is one that was there all the time.
    target = Path(os.path.abspath(folder))  # noqa: PTH100
    if target.exists() and not target.is_dir():
        raise UsageError(f"{folder} is a file")
    if target.is_dir() and any(target.iterdir()):
        raise UsageError(f"{folder} exists and is not empty", "choose another name")
    made = sorted(_copy(files("horai.cli").joinpath("template"), target, name))
    click.echo(f"Made {folder} with")
    for path in made:
        click.echo(f"  {path.relative_to(target)}")
    click.echo(f"\nTry\n  cd {folder}\n  horai run\n  horai test")


def _copy(source: Traversable, target: Path, name: str) -> list[Path]:
    """Copy the template; `NAME` in its texts becomes the name of the project."""
    target.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    for entry in source.iterdir():
        if entry.name.startswith("__"):
            continue
        if entry.is_dir():
            made.extend(_copy(entry, target / entry.name, name))
        else:
            text = entry.read_text(encoding="utf-8").replace("NAME", name)
            with (target / entry.name).open("x", encoding="utf-8") as new:  # never replaces a file
                new.write(text)
            made.append(target / entry.name)
    return made
