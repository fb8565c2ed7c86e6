"""`horai equiv`: whether two LARS programs say the same, and a stream on which they do not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from horai.cli import console
from horai.cli.command import (
    FAILED,
    INPUT,
    SUFFIX,
    Exit,
    ForPeople,
    argument,
    option,
    run_options,
    takes,
    writes,
)
from horai.cli.output import check_outputs
from horai.errors import UsageError
from horai.rules import load
from horai.runtime.inputs import DEFAULT_CLOCK
from horai.settings import RunSettings
from horai.tools.equivalence import Counterexample, Notion, Verdict, equivalence


@takes(INPUT, *run_options("run", only=("end", "clock", "filter")))
def command(
    input: list[str],
    given: dict[str, str],
    first: Annotated[Path, argument("A.lars")],
    second: Annotated[Path, argument("B.lars")],
    points: Annotated[int | None, option("The last time point of streams to try.", metavar="N")],
    output: Annotated[
        str | None, writes("Write what differs to NAME.csv and NAME.lars.", "-o", metavar="NAME")
    ],
    notion: Annotated[
        Notion,
        option("Same answers on the given stream, on all streams, with all facts, or all rules."),
    ] = Notion.data,
    signals: Annotated[int, option("The most signals, or facts, to try.", metavar="N")] = 3,
    constants: Annotated[int, option("Constants beside those of the programs.", metavar="N")] = 1,
    tries: Annotated[
        int, option("How many streams and contexts to try at most.", metavar="N")
    ] = 20_000,
    format: ForPeople = "text",
) -> None:
    for file in (first, second):
        if file.suffix.lower() != SUFFIX:
            hint = f"the names of LARS programs end in {SUFFIX}"
            raise UsageError(f"{file} is no LARS program", hint)
    if notion != Notion.ordinary and (input or "end" in given):
        wrong = "--input" if input else "--end"
        hint = "use --notion ordinary, or leave it out: the others try all streams"
        raise UsageError(f"{wrong} is for the ordinary notion", hint)
    settings = RunSettings.of("lars", "run", given)
    for ending in (".csv", SUFFIX) if output is not None else ():
        check_outputs({"--output": Path(f"{output}{ending}")}, [first, second, *input])
    with console.bar("comparing") as progress:
        verdict = equivalence(
            load(first),
            load(second),
            notion=notion,
            clock=settings.clock or DEFAULT_CLOCK,
            points=points,
            signals=signals,
            constants=constants,
            tries=tries,
            filter=settings.filter.split(",") if "filter" in given else None,
            input=input,
            end=settings.end,
            progress=None if progress is None else lambda done: progress(done, tries),
        )
    if output is not None and verdict.counterexample is not None:
        _write(verdict.counterexample, output)
    console.show(format, _as_json(verdict), _lines(verdict, first, second, output))
    if verdict.is_equal is False:
        raise Exit(FAILED)


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
