"""How the answers of a run are written: the formats, and which one is meant."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from horai.errors import UsageError
from horai.io import AnswerFormat, write_answers
from horai.io.write import SUFFIXES
from horai.result import Result

if TYPE_CHECKING:
    from horai.both_result import TogetherResult


class Format(StrEnum):
    """How answers are written."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    text = "text"
    timeline = "timeline"


_FORMATS: dict[Format, AnswerFormat] = {
    Format.jsonl: "jsonl",
    Format.csv: "csv",
    Format.parquet: "parquet",
    Format.text: "text",
}


def format_of(given: str | None, output: Path | None) -> Format:
    """The format asked for, else that of the file name, else what suits the reader."""
    if given is not None:
        if given not in list(Format):
            raise UsageError(f"there is no format {given}", f"use one of {', '.join(Format)}")
        form = Format(given)
    elif output is not None:
        found = SUFFIXES.get(output.suffix.lower())
        if found is None:
            known = ", ".join(SUFFIXES)
            raise UsageError(f"{output}: the file name does not tell its format", f"use {known}")
        form = Format(found)
    else:
        form = Format.text if sys.stdout.isatty() else Format.jsonl
    if form is Format.parquet and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "name a file: -o answers.parquet")
    return form


def write(result: Result | TogetherResult, form: Format, output: Path | None) -> None:
    """Write answers to a file, to standard output, or as a timeline."""
    if form is Format.timeline and isinstance(result, Result):
        from horai.cli.timeline import draw_run

        draw_run(result, output)
        return
    people = form is Format.text and result.unit is not None
    write_answers(
        result.table(),
        "-" if output is None else output,
        format=_FORMATS[form],
        unit=result.unit,
        times="iso" if people else "points",
    )
