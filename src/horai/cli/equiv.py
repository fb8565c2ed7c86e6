"""`horai equiv`: whether two LARS programs say the same, and a stream on which they do not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from horai.cli import console
from horai.cli.guard import FAILED, guarded
from horai.cli.lars import SUFFIX
from horai.cli.options import Clock, Input
from horai.errors import UsageError
from horai.lars import load
from horai.runtime.lars.job import DEFAULT_CLOCK
from horai.tools.equivalence.programs import equivalence
from horai.tools.equivalence.search import Progress
from horai.tools.equivalence.verdicts import Counterexample, Notion, Verdict


class EquivFormat(StrEnum):
    """For people or for programs."""

    text = "text"
    json = "json"


@guarded
def command(
    first: Annotated[Path, typer.Argument(metavar="A.lars", help="A program.")],
    second: Annotated[Path, typer.Argument(metavar="B.lars", help="Another one.")],
    notion: Annotated[
        Notion,
        typer.Option(
            help="Same answers on the given stream, on all streams, with all facts, or all rules."
        ),
    ] = Notion.data,
    points: Annotated[
        int | None, typer.Option(metavar="N", help="The last time point of streams to try.")
    ] = None,
    signals: Annotated[
        int, typer.Option(metavar="N", help="The most signals, or facts, to try.")
    ] = 3,
    constants: Annotated[
        int, typer.Option(metavar="N", help="Constants beside those of the programs.")
    ] = 1,
    tries: Annotated[
        int, typer.Option(metavar="N", help="How many streams and contexts to try at most.")
    ] = 20_000,
    filter: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Only these predicates count: a,b")
    ] = None,
    clock: Clock = None,
    input: Input = None,
    end: Annotated[
        str | None, typer.Option(metavar="TIME", help="The last time, for --notion ordinary.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="NAME", help="Write what differs to NAME.csv and NAME.lars."
        ),
    ] = None,
    format: Annotated[
        EquivFormat, typer.Option(help="For people, or for programs.")
    ] = EquivFormat.text,
) -> None:
    """Compare two LARS programs; exit status 1 if they differ."""
    for file in (first, second):
        if file.suffix.lower() != SUFFIX:
            hint = f"the names of LARS programs end in {SUFFIX}"
            raise UsageError(f"{file} is no LARS program", hint)
    if notion is not Notion.ordinary and (input or end):
        given = "--input" if input else "--end"
        hint = "use --notion ordinary, or leave it out: the others try all streams"
        raise UsageError(f"{given} is for the ordinary notion", hint)
    with _watched(tries) as progress:
        verdict = equivalence(
            load(first),
            load(second),
            notion=str(notion),
            clock=clock or DEFAULT_CLOCK,
            points=points,
            signals=signals,
            constants=constants,
            tries=tries,
            filter=None if filter is None else [name.strip() for name in filter.split(",")],
            input=input or (),
            end=end,
            progress=progress,
        )
    if output is not None and verdict.counterexample is not None:
        _write(verdict.counterexample, output)
    if format is EquivFormat.json:
        typer.echo(json.dumps(_as_json(verdict), ensure_ascii=False, indent=1))
    else:
        for line in _lines(verdict, first, second, output):
            typer.echo(line)
    if verdict.is_equal is False:
        raise typer.Exit(FAILED)


def _lines(verdict: Verdict, first: Path, second: Path, output: str | None) -> Iterator[str]:
    found = verdict.counterexample
    if found is None:
        said = "equivalent" if verdict.is_equal else "no difference found"
        yield f"{said} ({verdict.notion}): {verdict.reason}"
        return
    yield f"not equivalent ({verdict.notion}): {verdict.reason} at {found.time}"
    if found.signals:
        yield "with the stream"
        yield from (f"  {row}" for row in found.narrative())
    if found.context:
        yield "with these rules added to both"
        yield from (f"  {rule}" for rule in found.rules())
    for which, file in enumerate((first, second)):
        answers = found.answer_texts(which)
        yield f"{file} has {'these answers alone' if answers else 'no other answers'}"
        yield from (f"  {answer}" for answer in answers)
    if output is not None:
        yield "to see it, run"
        for file in (first, second):
            yield f"  {_replay(found, file, output)}"


def _replay(found: Counterexample, file: Path, output: str) -> str:
    rules = f"{file} {output}{SUFFIX}" if found.context else str(file)
    stream = f" --input {output}.csv" if found.signals else ""
    shown = "--answers final --models all --filter none"
    return f"horai run {rules}{stream} --start 0 --end {found.time} {shown}"


def _write(found: Counterexample, name: str) -> None:
    if found.signals:
        rows = "".join(f"{row}\n" for row in found.narrative())
        Path(f"{name}.csv").write_text(rows, encoding="utf-8")
    if found.context:
        rules = "".join(f"{rule}\n" for rule in found.rules())
        Path(f"{name}{SUFFIX}").write_text(rules, encoding="utf-8")


def _as_json(verdict: Verdict) -> dict[str, object]:
    told: dict[str, object] = {
        "notion": str(verdict.notion),
        "equivalent": verdict.is_equal,
        "reason": verdict.reason,
    }
    found = verdict.counterexample
    if found is not None:
        told["time"] = found.time
        told["stream"] = found.narrative()
        told["rules"] = found.rules()
        told["answers"] = [found.answer_texts(which) for which in (0, 1)]
    return told


@contextmanager
def _watched(tries: int) -> Iterator[Progress | None]:
    """A bar where somebody can see it."""
    if not console.is_watched():
        yield None
        return
    from rich.progress import Progress as Bar

    with Bar(console=console.stderr(), transient=True) as bar:
        task = bar.add_task("comparing", total=tries)
        yield lambda done: bar.update(task, completed=done)
