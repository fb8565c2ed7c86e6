"""`horai run`: rules over a stream, answers to a file or a pipe."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from horai.cli import console
from horai.cli.command import (
    ABOUT_POSITIONS,
    FAILED,
    ON_STREAM,
    POSITIONS,
    SEVERITY,
    DeadLetters,
    Exit,
    Quiet,
    Times,
    run_options,
    takes,
    writes,
)
from horai.cli.output import (
    OutputFormat,
    Target,
    check_folder,
    check_outputs,
    format_of,
    iso_unit,
    summary,
    tell_dead_letters,
    tell_findings,
    tell_of_rules,
    tell_of_run,
    write_metrics,
    writing,
)
from horai.cli.report import PageOrder
from horai.cli.workload import arguments, choose, run_rules, with_positions
from horai.errors import UsageError, counted
from horai.io.answers import AnswerKind
from horai.io.letters import DeadLetter, write_dead_letters
from horai.lang.core.diagnostics import has_errors
from horai.result import Result
from horai.settings import SPARK, RunSettings, nearest

if TYPE_CHECKING:
    from horai.rules import Rules
    from horai.runtime.spark.batch import SparkAnswers


@takes(*ON_STREAM, *run_options("run", "live"), POSITIONS, *ABOUT_POSITIONS, SEVERITY)
def command(
    named: dict[str, Any],
    positions: list[str],
    given: dict[str, Any],
    format: Annotated[
        OutputFormat | None, writes("text on a terminal, jsonl otherwise, or as -o says.")
    ],
    output: Annotated[Path | None, writes("Where answers go.", "-o")],
    times: Times,
    report: Annotated[Path | None, writes("A page for people: timeline, map, tables (HTML).")],
    dead_letters: DeadLetters,
    metrics: Annotated[Path | None, writes("How late items were, in numbers (JSON).")],
    interactive: Annotated[bool, writes("Ask questions after the run.")],
    quiet: Quiet,
    **raw: Any,
) -> None:
    chosen = choose(**named | {"input": named["input"] or positions})
    if named["input"] and positions:
        hint = "derive items with `horai signals`, and give them with the others as --input"
        raise UsageError("--input names items and --positions positions: a run reads one", hint)
    order = None
    if report is not None:
        order = PageOrder(report, chosen, raw, bool(positions))
    elif chosen.language == "ec":  # a page also tells of revisions
        given.setdefault("answers", chosen.of_project("answers") or "final")
    about = raw if order is None else order.about_items
    settings = with_positions(chosen, ("run", "live"), given, bool(positions), about)
    goes_on = chosen.language == "lars" and _goes_on(settings)
    is_folder = settings.engine == SPARK and output is not None and not output.suffix
    if interactive and ("-" in chosen.input or goes_on):
        problem = "--interactive asks on standard input, which is already the stream"
        if goes_on:
            problem = "questions come after a run over whole files"
        raise UsageError(problem, "use horai query")
    if order is not None and (goes_on or is_folder):
        problem = "--report shows a run over a whole input, whose answers are known here"
        raise UsageError(problem, "leave it out, or run over files and to a file")
    check_outputs(
        {
            "--report": report,
            "--output": None if is_folder else output,
            "--dead-letters": dead_letters,
            "--metrics": metrics,
            "--state": settings.state,
        },
        chosen.files(raw["areas"]),
    )
    if is_folder and output is not None:
        check_folder(output, chosen.files(raw["areas"]))
    wanted = format or chosen.of_project("format")
    if is_folder and wanted not in (None, OutputFormat.parquet):
        hint = "name a file such as answers.csv"
        raise UsageError(f"{output}: a folder is written as Parquet", hint)
    if is_folder and times == "iso":
        hint = "write a file such as answers.parquet"
        raise UsageError("--times iso: a folder has time-points only", hint)
    form = OutputFormat.parquet if is_folder else format_of(wanted, output)
    iso = iso_unit(times, settings.unit, form in (OutputFormat.text, OutputFormat.timeline))
    began = time.perf_counter()
    loaded = chosen.load()
    tell_of_rules(loaded.check(settings.clock, settings.unit), quiet)
    _tell_of_strange_names(loaded, settings.filter, quiet)
    if is_folder:
        chosen.demand_input()
        asked = {name: value for name, value in arguments(settings).items() if name != "engine"}
        folder = loaded.spark(chosen.input, **asked)
        folder.write_parquet(str(output))
        _write_beside(folder.letters, folder, dead_letters, metrics)
        tell_dead_letters(folder.letters, dead_letters, quiet)
        tell_findings(folder.warnings, quiet)
        if has_errors(folder.warnings):
            raise Exit(FAILED)
        return
    target = None if interactive else Target(form, output, at_once=goes_on, iso=iso)
    if goes_on and target is not None:
        from horai.cli.live import run_live

        result, number = run_live(loaded, chosen.input, settings, target)
        target.close()
        # What has not come so far may come later.
        result.warnings = [one for one in result.warnings if one.code == "H550"]
    else:
        items = None if order is None else order.read(loaded, settings)
        result = run_rules(loaded, chosen, settings, quiet, items)
        number = len(result.answers)
        if target is not None:
            with console.busy("writing answers", quiet or output is None):
                target.finish(result)
        if order is not None:
            with console.busy(f"drawing {report}", quiet):
                order.write(result, settings, items, given)
    _write_beside(result.dead_letters, result, dead_letters, metrics)
    if loaded.language == "combined" and not quiet:
        _tell_of_gaps(result)
    tell_of_run(result, quiet, dead_letters)
    if not quiet and console.is_watched():
        _tell_of_the_end(result, number, time.perf_counter() - began)
    if interactive:
        from horai.cli.query import converse

        converse(result, iso_unit(times, settings.unit, True))
    if has_errors(result.warnings):
        raise Exit(FAILED)


def _goes_on(settings: RunSettings) -> bool:
    """Is the input taken as it comes, and not as a whole?"""
    found = settings.live or settings.real_time or settings.state is not None
    found = found or settings.output_every not in (None, "time")
    if found and settings.engine == SPARK:
        problem = "Spark runs over whole streams, and gives answers at all query times"
        raise UsageError(problem, "leave out --live, --real-time, --state and --output-every")
    return found


def _write_beside(
    letters: list[DeadLetter],
    found: Result | SparkAnswers,
    dead_letters: Path | None,
    metrics: Path | None,
) -> None:
    """Files beside the answers: rows that were not used, and numbers about the run."""
    if dead_letters is not None:
        with writing(dead_letters):
            write_dead_letters(dead_letters, letters)
    if metrics is not None:
        write_metrics(metrics, found.metrics)


def _tell_of_strange_names(rules: Rules, filter: str, quiet: bool) -> None:
    """Warn about names in a filter that the program does not have: nothing will be shown of them.

    Signals that no rule reads may have such names.
    """
    if quiet or filter in ("inferences", "none"):
        return
    known = sorted({name for name, _ in rules.predicates_of_program})
    for name in filter.split(","):
        if name not in known:
            hint = nearest(name, known)
            more = f": {hint}" if hint else ""
            console.warning(f"no rule has the predicate {name} of the filter{more}")


def _tell_of_gaps(result: Result) -> None:
    """Say at which time points a program that is combined with others has no answer."""
    if not result.unanswered:
        return
    points = sum(end - start for start, end in result.unanswered)
    where = ", ".join(_span_text(*span) for span in result.unanswered[:5])
    more = ", ..." if len(result.unanswered) > 5 else ""
    text = f"{counted(points, 'time point')}: {where}{more}"
    console.warning(f"the program has no answer at {text}")


def _span_text(start: int, end: int) -> str:
    """A span in words. Its end is the first point after it, as in answers.

    >>> _span_text(14, 20), _span_text(3, 4)
    ('from 14 until 20', '3')
    """
    return str(start) if end == start + 1 else f"from {start} until {end}"


def _tell_of_the_end(result: Result, queries: int, seconds: float) -> None:
    """What was found, how long that took, who did it and why, and how late the stream was."""
    found = ""
    if result.rules.language != "lars":
        kinds: dict[AnswerKind, str] = {"fluent": "interval", "event": "event", "atom": "atom"}
        some = [
            counted(result.count(kind), word) for kind, word in kinds.items() if result.count(kind)
        ]
        found = f"{' and '.join(some) or 'nothing'} at "
    times = counted(queries, "query time")
    console.say(f"{found}{times} in {seconds:.1f} s by the engine {result.engine}", "dim")
    for reason in result.reasons:
        console.say(f"  because {reason}", "dim")
    if result.rules.language != "lars":
        console.say(summary(result.metrics.run), "dim")
