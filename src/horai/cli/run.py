"""`horai run`: rules over a stream, answers to a file or a pipe.

Answers as a folder of files, which workers of Spark write.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from horai.cli import console
from horai.cli.combined import SETTINGS as BOTH_SETTINGS
from horai.cli.combined import run_both, speaks_both
from horai.cli.guard import guarded
from horai.cli.lars import SETTINGS as LARS_SETTINGS
from horai.cli.lars import Files, Flowing, is_lars, refuse_lars_options, run_lars
from horai.cli.options import (
    KNOTS,
    AllenMemory,
    AreasFile,
    Background,
    Brave,
    Buckets,
    Cautious,
    Clock,
    Columns,
    ColumnsOption,
    End,
    Engine,
    Filter,
    Incremental,
    Input,
    InputFormat,
    Lateness,
    LeastChange,
    Limits,
    Live,
    Master,
    Models,
    OutputEvery,
    Positions,
    Predicates,
    Quiet,
    RealTime,
    ReasoningOption,
    RulesArgument,
    Severity,
    SpeedIn,
    Start,
    State,
    Step,
    Strict,
    Tick,
    TimeIn,
    Unit,
    Window,
    Workload,
    check_spark,
    choose,
    columns_given,
    merged,
    reasoning_of,
    run_rules,
)
from horai.cli.output import (
    OutputFormat,
    check_outputs,
    fail_on,
    format_of,
    summary,
    tell_dead_letters,
    tell_of_rules,
    tell_of_run,
    write,
    write_metrics,
)
from horai.errors import UsageError, counted
from horai.io import write_dead_letters
from horai.result import Result
from horai.runtime.engines import SPARK


def is_folder(output: Path | None, settings: dict[str, Any]) -> bool:
    """Workers of Spark can write a folder of files each; its name has no ending."""
    return settings.get("engine") == SPARK and output is not None and not output.suffix


def write_folder(
    chosen: Workload, settings: dict[str, Any], format: str | None, files: Files, quiet: bool
) -> None:
    """Parquet in folders of names and days, written by the workers."""
    if format not in (None, OutputFormat.parquet):
        raise UsageError(
            f"{files.output}: a folder is written as Parquet", "name a file such as answers.csv"
        )
    if not chosen.input:
        raise UsageError("no input given", "name the stream: --input FILE")
    check_spark(settings)
    asked = {name: value for name, value in settings.items() if name != "engine"}
    found = chosen.load().spark(chosen.input, **asked)
    letters = sorted(found.letters, key=lambda letter: (letter.file, letter.line))
    found.write_parquet(str(files.output))
    if files.dead_letters is not None:
        write_dead_letters(files.dead_letters, letters)
    if files.metrics is not None:
        write_metrics(files.metrics, found.metrics)
    tell_dead_letters(letters, files.dead_letters, quiet)


SETTINGS = frozenset(
    {
        "window",
        "step",
        "start",
        "end",
        "tick",
        "unit",
        "time_in",
        "input_format",
        "answers",
        "columns",
    }
    | {"strict", "include_input", "allen_memory", "engine", "incremental", "master", "buckets"}
)
"""The options of a run of an event description."""
RAW = frozenset({"positions", "areas", "speed_in", "column", "set"})
"""Those about raw positions."""


class AnswerForm(StrEnum):
    """Which answers are written."""

    final = "final"
    windows = "windows"
    changelog = "changelog"


@guarded
def command(
    rules: RulesArgument = None,
    background: Background = None,
    input: Input = None,
    positions: Positions = None,
    areas: AreasFile = None,
    speed_in: SpeedIn = KNOTS,
    column: Columns = None,
    set: Limits = None,
    window: Window = None,
    step: Step = None,
    start: Start = None,
    end: End = None,
    tick: Tick = None,
    unit: Unit = None,
    time_in: TimeIn = None,
    input_format: InputFormat = None,
    columns: ColumnsOption = None,
    answers: Annotated[
        AnswerForm | None,
        typer.Option(help="All at the end, per query time, or what changes at each."),
    ] = None,
    format: Annotated[
        OutputFormat | None,
        typer.Option(help="text on a terminal, jsonl otherwise, or as -o says."),
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
    severity: Severity = None,
    clock: Clock = None,
    models: Models = None,
    reasoning: ReasoningOption = None,
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
    chosen = choose(rules, background, predicates, input, severity)
    given: dict[str, Any] = {
        "input": input,
        "positions": positions,
        "areas": areas,
        "speed_in": None if speed_in == KNOTS else speed_in,
        "column": column,
        "set": set,
        "window": window,
        "step": step,
        "start": start,
        "end": end,
        "tick": tick,
        "unit": unit,
        "time_in": time_in,
        "input_format": input_format,
        "columns": columns_given(columns),
        "answers": answers and str(answers),
        "strict": strict,
        "include_input": include_input,
        "allen_memory": allen_memory,
        "engine": engine,
        "incremental": incremental,
        "master": master,
        "buckets": buckets,
        "predicates": predicates,
        "clock": clock,
        "models": models,
        "reasoning": reasoning_of(reasoning, brave, cautious),
        "least_change": least_change,
        "filter": filter,
        "lateness": lateness,
        "output_every": output_every,
        "live": live or None,
        "real_time": real_time or None,
        "state": state,
        "interactive": interactive or None,
    }
    files = Files(output, dead_letters, metrics)
    is_file = output if output is None or output.suffix or not _on_spark(chosen, engine) else None
    check_outputs(
        {
            "--output": is_file,
            "--dead-letters": dead_letters,
            "--metrics": metrics,
            "--state": state,
        },
        [*chosen.files(predicates, areas), *(positions or ())],
    )
    if speaks_both(chosen.rules):
        _run_both(chosen, given, format, files, quiet)
    elif is_lars(chosen.rules):
        settings = merged(chosen, **_only(given, LARS_SETTINGS))
        # Settings that have no meaning there are told, not passed over.
        strange = _but(given, {*LARS_SETTINGS, "input", "answers", "live", "real_time", "state"})
        form = given["answers"] or chosen.run.get("answers")
        flow = Flowing(live, real_time, state)
        run_lars(chosen, settings, strange, form, format, files, quiet, flow)
    else:
        _run_rules(chosen, given, format, files, quiet)


def _on_spark(chosen: Workload, engine: str | None) -> bool:
    """Workers of Spark may write a folder."""
    return (engine or chosen.run.get("engine")) == SPARK


def _only(given: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name in names}


def _but(given: dict[str, Any], names: Collection[str]) -> dict[str, Any]:
    """The other options, spelled as on the command line."""
    return {n.replace("_", "-"): value for n, value in given.items() if n not in names}


def _run_both(
    chosen: Workload, given: dict[str, Any], format: str | None, files: Files, quiet: bool
) -> None:
    """Run rules of two languages together."""
    settings = merged(chosen, **_only(given, BOTH_SETTINGS))
    form = format_of(format or settings.pop("format", None), files.output)
    if form is OutputFormat.timeline:
        raise UsageError("a timeline shows one language", "use another --format")
    strange = _but(given, {*BOTH_SETTINGS, "input", "predicates", "state"})
    result = run_both(chosen, settings, strange, files.dead_letters, given["state"], quiet)
    if files.metrics is not None:
        write_metrics(files.metrics, result.metrics)
    write(result, form, files.output)
    fail_on(result.warnings)


def _run_rules(
    chosen: Workload, given: dict[str, Any], format: str | None, files: Files, quiet: bool
) -> None:
    """Run an event description."""
    refused = _but(given, {*SETTINGS, *RAW, "input", "predicates", "interactive"})
    refuse_lars_options(**{name: value or chosen.run.get(name) for name, value in refused.items()})
    settings = {"answers": "final"} | merged(chosen, **_only(given, SETTINGS))
    chosen, settings, run = _input_of(chosen, given, settings)
    interactive = bool(given["interactive"])
    if interactive and "-" in chosen.input:
        raise UsageError("--interactive asks on standard input, which is already the stream")
    of_project = settings.pop("format", None)
    wanted = format or of_project
    if is_folder(files.output, settings):
        write_folder(chosen, settings, wanted, files, quiet)
        return
    form = format_of(wanted, files.output)
    began = time.perf_counter()
    loaded = chosen.load()
    tell_of_rules(loaded.warnings, {}, quiet)
    result = run(loaded, chosen, settings, quiet)
    if files.dead_letters is not None:
        write_dead_letters(files.dead_letters, result.dead_letters)
    if files.metrics is not None:
        write_metrics(files.metrics, result.metrics)
    if not interactive:
        write(result, form, files.output)
    tell_dead_letters(result.dead_letters, files.dead_letters, quiet)
    tell_of_run(result.warnings, quiet)
    if not quiet and console.is_watched():
        console.say(_summary(result, time.perf_counter() - began), "dim")
        console.say(summary(result.metrics.run), "dim")
    if interactive:
        from horai.cli.query import converse

        converse(result)
    fail_on(result.warnings)


def _input_of(
    chosen: Workload, given: dict[str, Any], settings: dict[str, Any]
) -> tuple[Workload, dict[str, Any], Callable[..., Result]]:
    """What is read, and how rules run over it; most runs need not load what positions take."""
    if not any(given[name] for name in RAW):
        return chosen, settings, run_rules
    from horai.cli.options import positions_of_run, run_positions

    run = run_positions if given["positions"] else run_rules
    return *positions_of_run(chosen, given, settings), run


def _summary(result: Result, seconds: float) -> str:
    return (
        f"{counted(result.count('fluent'), 'interval')} and "
        f"{counted(result.count('event'), 'event')} at "
        f"{counted(len(result.answers), 'query time')}, {seconds:.1f} s"
    )
