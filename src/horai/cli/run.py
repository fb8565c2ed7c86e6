"""`horai run`: rules over a stream, answers to a file or a pipe."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from horai.cli import console
from horai.cli.both import run_both, speaks_both
from horai.cli.dead_letters import tell_dead_letters
from horai.cli.guard import guarded
from horai.cli.lars import Files, Flowing, is_lars, refuse_lars_options, run_lars
from horai.cli.lars_options import (
    Brave,
    Cautious,
    Clock,
    Filter,
    Lateness,
    LeastChange,
    Live,
    Models,
    OutputEvery,
    RealTime,
    Reasoning,
    State,
    reasoning_of,
)
from horai.cli.metrics import summary, write_metrics
from horai.cli.options import (
    AllenMemory,
    Background,
    Buckets,
    Chosen,
    End,
    Engine,
    Incremental,
    Input,
    InputFormat,
    Master,
    Predicates,
    Quiet,
    RulesArgument,
    Start,
    Step,
    Strict,
    Tick,
    TimeIn,
    Unit,
    Window,
    choose,
    merged,
    run_rules,
)
from horai.engines import SPARK
from horai.errors import UsageError
from horai.io import AnswerFormat, write_answers, write_dead_letters
from horai.io.write import SUFFIXES
from horai.result import Result
from horai.words import counted

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


class Answers(StrEnum):
    """Which answers are written."""

    final = "final"
    windows = "windows"
    changelog = "changelog"


@guarded
def command(
    rules: RulesArgument = None,
    background: Background = None,
    input: Input = None,
    window: Window = None,
    step: Step = None,
    start: Start = None,
    end: End = None,
    tick: Tick = None,
    unit: Unit = None,
    time_in: TimeIn = None,
    input_format: InputFormat = None,
    answers: Annotated[
        Answers | None,
        typer.Option(help="All at the end, per query time, or what changes at each."),
    ] = None,
    format: Annotated[
        Format | None, typer.Option(help="text on a terminal, jsonl otherwise, or as -o says.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where answers go.")
    ] = None,
    dead_letters: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Rows that were not used, with reasons.")
    ] = None,
    metrics: Annotated[
        Path | None, typer.Option(metavar="FILE", help="How late items were, in numbers (JSON).")
    ] = None,
    strict: Strict = None,
    include_input: Annotated[
        bool | None,
        typer.Option("--include-input/--no-include-input", help="Show the input too."),
    ] = None,
    allen_memory: AllenMemory = None,
    engine: Engine = None,
    incremental: Incremental = None,
    master: Master = None,
    buckets: Buckets = None,
    predicates: Predicates = None,
    clock: Clock = None,
    models: Models = None,
    reasoning: Reasoning = None,
    brave: Brave = None,
    cautious: Cautious = None,
    least_change: LeastChange = None,
    filter: Filter = None,
    lateness: Lateness = None,
    output_every: OutputEvery = None,
    live: Live = False,
    real_time: RealTime = False,
    state: State = None,
    interactive: Annotated[
        bool, typer.Option("--interactive", help="Ask questions after the run.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run rules over a stream of events."""
    chosen = choose(rules, background, predicates, input)
    if speaks_both(chosen.rules):
        lengths = {"window": window, "step": step, "start": start, "end": end}
        reading = {"unit": unit, "time_in": time_in, "input_format": input_format}
        shown = {"answers": answers and str(answers), "include_input": include_input}
        how = {"strict": strict, "engine": engine, "clock": clock, "filter": filter}
        how |= {"reasoning": reasoning_of(reasoning, brave, cautious)}
        kept = {"allen_memory": allen_memory, "incremental": incremental}
        strange: dict[str, object] = {"tick": tick, "master": master, "buckets": buckets}
        strange |= {"models": models, "least-change": least_change, "lateness": lateness}
        strange |= {"output-every": output_every, "live": live or None}
        strange |= {"real-time": real_time or None, "interactive": interactive or None}
        settings = merged(chosen, **lengths, **reading, **shown, **how, **kept)
        wanted = _format(format or settings.pop("format", None), output)
        if wanted is Format.timeline:
            raise UsageError("a timeline shows one language", "use another --format")
        both = run_both(chosen, settings, strange, dead_letters, state, quiet)
        if metrics is not None:
            write_metrics(metrics, both.metrics)
        _write(both, wanted, output)
        return
    if is_lars(chosen.rules):
        # Settings that have no meaning there are told, not passed over.
        strange = {
            "window": window,
            "tick": tick,
            "include-input": include_input,
            "allen-memory": allen_memory,
            "incremental": incremental,
            "predicates": predicates,
            "interactive": interactive or None,
        }
        settings = merged(
            chosen,
            step=step,
            start=start,
            end=end,
            unit=unit,
            time_in=time_in,
            input_format=input_format,
            strict=strict,
            engine=engine,
            master=master,
            buckets=buckets,
            clock=clock,
            models=models,
            reasoning=reasoning_of(reasoning, brave, cautious),
            least_change=least_change,
            filter=filter,
            lateness=lateness,
            output_every=output_every,
        )
        form = answers or chosen.run.get("answers")
        flow = Flowing(live, real_time, state)
        files = Files(output, dead_letters, metrics)
        run_lars(chosen, settings, strange, form, format, files, quiet, flow)
        return
    given = {
        "clock": clock,
        "models": models,
        "reasoning": reasoning_of(reasoning, brave, cautious),
        "least-change": least_change,
        "filter": filter,
        "lateness": lateness,
        "output-every": output_every,
        "live": live or None,
        "real-time": real_time or None,
        "state": state,
    }
    named = {name: value or chosen.run.get(name) for name, value in given.items()}
    refuse_lars_options(**named)
    if interactive and "-" in chosen.input:
        raise UsageError("--interactive asks on standard input, which is already the stream")
    settings = merged(
        chosen,
        window=window,
        step=step,
        start=start,
        end=end,
        tick=tick,
        unit=unit,
        time_in=time_in,
        input_format=input_format,
        answers=str(answers) if answers else chosen.run.get("answers", "final"),
        strict=strict,
        include_input=include_input,
        allen_memory=allen_memory,
        engine=engine,
        incremental=incremental,
        master=master,
        buckets=buckets,
    )
    if _is_folder(output, settings):
        _write_folder(chosen, settings, format, output, dead_letters, metrics, quiet)
        return
    form = _format(format or settings.pop("format", None), output)
    settings.pop("format", None)
    began = time.perf_counter()
    loaded = chosen.load()
    if loaded.warnings and not quiet:
        number = counted(len(loaded.warnings), "warning")
        console.warning(f"the rules have {number}; `horai check` shows them")
    result = run_rules(loaded, chosen, settings, quiet)
    if dead_letters is not None:
        write_dead_letters(dead_letters, result.dead_letters)
    if metrics is not None:
        write_metrics(metrics, result.metrics)
    if not interactive:
        _write(result, form, output)
    tell_dead_letters(result.dead_letters, dead_letters, quiet)
    if not quiet and console.is_watched():
        console.say(_summary(result, time.perf_counter() - began), "dim")
        console.say(summary(result.metrics.run), "dim")
    if interactive:
        from horai.cli.repl import converse

        converse(result)


def _is_folder(output: Path | None, settings: dict[str, Any]) -> bool:
    """Workers of Spark can write a folder of files each; its name has no ending."""
    return settings.get("engine") == SPARK and output is not None and not output.suffix


def _write_folder(
    chosen: Chosen,
    settings: dict[str, Any],
    format: str | None,
    output: Path | None,
    dead_letters: Path | None,
    metrics: Path | None,
    quiet: bool,
) -> None:
    """Parquet in folders of names and days, written by the workers."""
    if (format or settings.pop("format", None) or Format.parquet) != Format.parquet:
        raise UsageError(
            f"{output}: a folder is written as Parquet", "name a file such as answers.csv"
        )
    if not chosen.input:
        raise UsageError("no input given", "name the stream: --input FILE")
    asked = {name: value for name, value in settings.items() if name != "engine"}
    found = chosen.load().spark(chosen.input, **asked)
    letters = sorted(found.letters, key=lambda letter: (letter.file, letter.line))
    found.write_parquet(str(output))
    if dead_letters is not None:
        write_dead_letters(dead_letters, letters)
    if metrics is not None:
        write_metrics(metrics, found.metrics)
    tell_dead_letters(letters, dead_letters, quiet)


def _format(given: str | None, output: Path | None) -> Format:
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


def _write(result: Result | TogetherResult, form: Format, output: Path | None) -> None:
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


def _summary(result: Result, seconds: float) -> str:
    return (
        f"{counted(result.count('fluent'), 'interval')} and "
        f"{counted(result.count('event'), 'event')} at "
        f"{counted(len(result.answers), 'query time')}, {seconds:.1f} s"
    )
