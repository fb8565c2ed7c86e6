"""Answers as a folder of files, which workers of Spark write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from horai.cli.answers import Format
from horai.cli.dead_letters import tell_dead_letters
from horai.cli.lars import Files
from horai.cli.metrics import write_metrics
from horai.cli.options import Chosen
from horai.engines import SPARK
from horai.errors import UsageError
from horai.io import write_dead_letters


def is_folder(output: Path | None, settings: dict[str, Any]) -> bool:
    """Workers of Spark can write a folder of files each; its name has no ending."""
    return settings.get("engine") == SPARK and output is not None and not output.suffix


def write_folder(
    chosen: Chosen, settings: dict[str, Any], format: str | None, files: Files, quiet: bool
) -> None:
    """Parquet in folders of names and days, written by the workers."""
    if format not in (None, Format.parquet):
        raise UsageError(
            f"{files.output}: a folder is written as Parquet", "name a file such as answers.csv"
        )
    if not chosen.input:
        raise UsageError("no input given", "name the stream: --input FILE")
    asked = {name: value for name, value in settings.items() if name != "engine"}
    found = chosen.load().spark(chosen.input, **asked)
    letters = sorted(found.letters, key=lambda letter: (letter.file, letter.line))
    found.write_parquet(str(files.output))
    if files.dead_letters is not None:
        write_dead_letters(files.dead_letters, letters)
    if files.metrics is not None:
        write_metrics(files.metrics, found.metrics)
    tell_dead_letters(letters, files.dead_letters, quiet)
