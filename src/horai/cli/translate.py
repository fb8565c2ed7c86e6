"""`horai translate`: queries, patterns and formulas of related languages as LARS programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import click

from horai.cli.command import argument, option, takes, writes
from horai.cli.output import check_outputs
from horai.errors import UsageError
from horai.lang.core.diagnostics import RulesError
from horai.lang.core.reader import clean, read_file
from horai.lang.core.source import SourceText
from horai.lang.lars.printer import show_program
from horai.lang.translate.languages import ENDS, POINTS, SUFFIXES, translate

TEXT = "<text>"


@takes()
def command(
    file: Annotated[Path | None, argument("[FILE]")],
    language: Annotated[
        str | None,
        option(
            "The language; without it, the name of the file tells.",
            "--from",
            type=click.Choice(sorted(ENDS)),
        ),
    ],
    text: Annotated[str | None, option("The text itself.", "-e", metavar="TEXT")],
    points: Annotated[bool, option("ETALIS: events hold at the points of their intervals.")],
    output: Annotated[Path | None, writes("Where to write the program.", "-o")],
) -> None:
    if (file is None) == (text is None):
        raise UsageError("give either a file or -e TEXT", "for example: -e 'once[0,5] alarm'")
    check_outputs({"--output": output}, [] if file is None else [file])
    chosen = _language(file, language)
    source = _source(file, text, chosen)
    if not source.text.strip(f"{ENDS[chosen]} \n\t"):
        raise UsageError("there is nothing to translate", "for example: alarm := once[0,5] smoke.")
    if points and chosen != POINTS:
        raise UsageError("--points is for patterns of ETALIS", "leave it out")
    shown = show_program(translate(source, chosen, points))
    if output is None:
        click.echo(shown, nl=False)
    else:
        output.write_text(shown, encoding="utf-8")


def _language(file: Path | None, given: str | None) -> str:
    if given is not None:
        return given
    suffix = "" if file is None else file.suffix.lower()
    if suffix not in SUFFIXES:
        hint = "say --from cql, --from etalis or --from ltl"
        raise UsageError("which language is this?", hint)
    return SUFFIXES[suffix]


def _source(file: Path | None, text: str | None, language: str) -> SourceText:
    if text is not None:
        end = ENDS[language]
        return SourceText(TEXT, text if text.rstrip().endswith(end) else f"{text}\n{end}")
    assert file is not None
    if str(file) == "-":
        return SourceText("<stdin>", clean(sys.stdin.read()))
    source, findings = read_file(file)
    if findings:
        raise RulesError(findings)
    return source
