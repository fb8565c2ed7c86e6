"""`horai run`: rules over a stream, answers to a file or a pipe."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from horai.cli import console
from horai.cli.command import option, takes
from horai.cli.options import (
    ABOUT_POSITIONS,
    BACKGROUND,
    DEAD_LETTERS,
    INPUT,
    NO_POSITIONS,
    POSITIONS,
    PREDICATES,
    QUIET,
    RULES,
    SEVERITY,
    form,
    path,
    run_options,
)
from horai.cli.options import output as output_option
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
from horai.cli.workload import Workload, arguments, choose, run_rules
from horai.errors import UsageError, counted
from horai.io.letters import write_dead_letters
from horai.result import Result
from horai.settings import SPARK, RunSettings


class Files(NamedTuple):
    """Where answers go, rows that were not used, and numbers about the run."""

    output: Path | None = None
    dead_letters: Path | None = None
    metrics: Path | None = None


@takes(
    RULES,
    BACKGROUND,
    INPUT,
    PREDICATES,
    *run_options("run", "live"),
    POSITIONS,
    *ABOUT_POSITIONS,
    form(*OutputFormat, help="text on a terminal, jsonl otherwise, or as -o says."),
    output_option(),
    DEAD_LETTERS,
    path("--metrics", group="output", help="How late items were, in numbers (JSON)."),
    SEVERITY,
    option(
        "--interactive",
        is_flag=True,
        group="output",
        help="Ask questions after the run.",
    ),
    QUIET,
)
def command(
    rules: list[Path],
    background: list[Path],
    input: list[str],
    predicates: Path | None,
    severity: list[str],
    positions: list[str],
    given: dict[str, Any],
    format: str | None,
    output: Path | None,
    dead_letters: Path | None,
    metrics: Path | None,
    interactive: bool,
    quiet: bool,
    **raw: Any,
) -> None:
    chosen = choose(rules, background, predicates, input or positions, severity)
    if input and positions:
        hint = "derive items with `horai signals`, and give them with the others as --input"
        raise UsageError("--input names items and --positions positions: a run reads one", hint)
    if positions:
        given.setdefault("unit", chosen.of_project("unit") or "s")
    if chosen.language == "ec":
        given.setdefault("answers", chosen.of_project("answers") or "final")
    settings = chosen.settings(("run", "live"), given)
    files = Files(output, dead_letters, metrics)
    check_outputs(
        {
            "--output": None if _is_folder(output, settings) else output,
            "--dead-letters": dead_letters,
            "--metrics": metrics,
            "--state": settings.state,
        },
        chosen.files(predicates, raw["areas"]),
    )
    if interactive and "-" in chosen.input:
        raise UsageError("--interactive asks on standard input, which is already the stream")
    if chosen.language != "ec":
        chosen.refuse_options(positions=positions)
    wanted = format or chosen.of_project("format")
    if chosen.language == "combined":
        from horai.cli.combined import run_both

        run_both(chosen, settings, wanted, files, quiet, interactive)
        return
    if chosen.language == "lars":
        from horai.cli.lars import run_lars

        run_lars(chosen, settings, wanted, files, quiet, interactive)
        return
    if _is_folder(output, settings):
        _write_folder(chosen, settings, wanted, files, quiet, _feed(positions, raw, settings))
        return
    shape = format_of(wanted, output)
    began = time.perf_counter()
    loaded = chosen.load()
    tell_of_rules(loaded.warnings, {}, quiet)
    feed = _feed(positions, raw, settings)
    if feed is None:
        result = run_rules(loaded, chosen, settings, quiet)
    else:
        from horai.cli.positions import run_positions

        result = run_positions(loaded, chosen, settings, feed, quiet)
    if dead_letters is not None:
        write_dead_letters(dead_letters, result.dead_letters)
    if metrics is not None:
        write_metrics(metrics, result.metrics)
    if not interactive:
        write(result, shape, output)
    tell_dead_letters(result.dead_letters, dead_letters, quiet)
    tell_of_run(result.warnings, quiet)
    if not quiet and console.is_watched():
        console.say(_summary(result, time.perf_counter() - began), "dim")
        console.say(summary(result.metrics.run), "dim")
    if interactive:
        from horai.cli.query import converse

        converse(result)
    fail_on(result.warnings)


def _feed(positions: Sequence[str], raw: dict[str, Any], settings: RunSettings) -> Any:
    """How positions are read, if there are any; most runs need not load what that takes."""
    if not positions and raw == NO_POSITIONS:
        return None
    from horai.cli.positions import AboutPositions

    about = AboutPositions(**raw)
    if positions:
        return about.feed(settings.scale)
    about.refuse("the input has items")
    return None


def _is_folder(output: Path | None, settings: RunSettings) -> bool:
    """Workers of Spark can write a folder of files each; its name has no ending."""
    return settings.engine == SPARK and output is not None and not output.suffix


def _write_folder(
    chosen: Workload,
    settings: RunSettings,
    format: str | None,
    files: Files,
    quiet: bool,
    feed: Any,
) -> None:
    """Parquet in folders of names and days, written by the workers."""
    if format not in (None, OutputFormat.parquet):
        hint = "name a file such as answers.csv"
        raise UsageError(f"{files.output}: a folder is written as Parquet", hint)
    chosen.demand_input()
    asked = {name: value for name, value in arguments(settings).items() if name != "engine"}
    found = chosen.load().spark(chosen.input, **asked, positions=feed)
    letters = sorted(found.letters, key=lambda letter: (letter.file, letter.line))
    found.write_parquet(str(files.output))
    if files.dead_letters is not None:
        write_dead_letters(files.dead_letters, letters)
    if files.metrics is not None:
        write_metrics(files.metrics, found.metrics)
    tell_dead_letters(letters, files.dead_letters, quiet)


def _summary(result: Result, seconds: float) -> str:
    return (
        f"{counted(result.count('fluent'), 'interval')} and "
        f"{counted(result.count('event'), 'event')} at "
        f"{counted(len(result.answers), 'query time')}, {seconds:.1f} s"
    )
