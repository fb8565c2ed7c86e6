"""LARS programs on the command line: files whose names end in `.lars`.

`horai plan` of a LARS program: in words, or as JSON.
Answers of LARS programs as lines: to standard output, a file, or whoever is connected.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from horai.cli import console
from horai.cli.output import (
    fail_on,
    places_named,
    tell_dead_letters,
    tell_of_rules,
    tell_of_run,
    write_metrics,
)
from horai.cli.workload import arguments
from horai.errors import UsageError, counted
from horai.io import AnswerRow, DeadLetter, write_dead_letters
from horai.io.shown import csv_line, printable
from horai.io.sources.lines import endpoints_of, sink_of
from horai.io.terms import text_cell
from horai.plan.lars.check import place_of
from horai.settings import SPARK, RunSettings

if TYPE_CHECKING:
    from horai.cli.run import Files
    from horai.cli.workload import Workload
    from horai.lang.core.diagnostics import Diagnostic
    from horai.plan.lars.fragments import Classification
    from horai.result import Result
    from horai.rules import Rules
    from horai.runtime.lars.engines import EngineChoice
    from horai.runtime.lars.outline import LarsOutline, LarsRuleOutline, PredicateLayer

Row = dict[str, Any]

_LIVE = {
    True: "from tick to tick: at the cost of what changes",
    False: "from tick to tick: each query from the signals that windows still reach",
}


def kind_lines(kind: Classification) -> Iterator[str]:
    """The fragment, what is used, and why it is not a smaller one."""
    uses = f" ({', '.join(sorted(kind.features))})" if kind.features else ""
    yield f"fragment: {kind.fragment}{uses}"
    for reason in kind.reasons[:3]:
        place = None if reason.rule is None else place_of(reason.rule)
        yield f"  because {reason.text}{f' ({place})' if place else ''}"


def engine_lines(together: EngineChoice, stepwise: EngineChoice) -> Iterator[str]:
    """Who runs the program over whole streams, and who one query time after the other, and why."""
    yield f"engine: {together.name}"
    yield from (f"  because {why}" for why in together.reasons)
    if stepwise != together:
        yield f"engine live, with --allowed-lateness and in sessions: {stepwise.name}"
        yield from (f"  because {why}" for why in stepwise.reasons)


def outline_lines(found: LarsOutline) -> Iterator[str]:
    """The whole outline, for people."""
    yield from kind_lines(found.kind)
    yield from engine_lines(found.engine, found.stepwise)
    if found.is_live is not None:
        yield f"  {_LIVE[found.is_live]}"
    for number, layer in enumerate(found.layers, 1):
        yield ""
        yield f"{number}. {_title(layer)}"
        for rule in layer.rules:
            yield from _rule_lines(rule)


def _title(layer: PredicateLayer) -> str:
    if not layer.predicates:
        return f"{counted(len(layer.rules), 'constraint')}: no answer where one is broken"
    how = ", in rounds until nothing is new" if layer.recursive else ""
    return f"{', '.join(layer.predicates)}{how}"


def _rule_lines(rule: LarsRuleOutline) -> Iterator[str]:
    place = f"  [{rule.place}]" if rule.place else ""
    yield f"   {rule.text}{place}"
    width = max((len(operator) for operator, _ in rule.steps), default=0)
    yield from (f"     {operator:{width}}  {text}" for operator, text in rule.steps)


def outline_json(found: LarsOutline) -> dict[str, Any]:
    """The same as plain values."""
    return {
        "fragment": str(found.kind.fragment),
        "features": sorted(found.kind.features),
        "reasons": [reason.text for reason in found.kind.reasons],
        "engine": found.engine.name,
        "why": found.engine.reasons,
        "stepwise": {"engine": found.stepwise.name, "why": found.stepwise.reasons},
        "live": found.is_live,
        "layers": [asdict(layer) for layer in found.layers],
    }


_FORMATS = ("jsonl", "csv", "text", "parquet", "timeline")
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv"}
_SUFFIXES |= {".txt": "text", ".parquet": "parquet", ".pq": "parquet"}
_COLUMNS = ("kind", "query", "model", "name", "args", "op", "arrived", "signals")


def checked_format(given: str | None, output: Path | None) -> str:
    """The format asked for, else that of the file name, else what suits the reader."""
    if given is None and output is not None and endpoints_of(places_named(output)) is None:
        given = _SUFFIXES.get(output.suffix.lower())
        if given is None:
            raise UsageError(f"{output}: the file name does not tell its format", "use --format")
    if given is None:
        given = "text" if output is None and sys.stdout.isatty() else "jsonl"
    if given not in _FORMATS:
        hint = f"use one of {', '.join(_FORMATS)}"
        raise UsageError(f"answers of LARS programs are not written as {given}", hint)
    if given == "parquet" and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is no text for a terminal", "name a file: -o answers.parquet")
    return given


def check_lines(form: str) -> None:
    """Refuse what a run that goes on cannot write line by line."""
    if not has_lines(form):
        hint = f"use one of {', '.join(_LINES)}"
        raise UsageError(f"a run that goes on writes lines, and {form} has none", hint)


def has_lines(form: str) -> bool:
    """Is this a format that can be written line by line?"""
    return form in _LINES


def write_whole(result: Result, answers: str, form: str, output: Path | None) -> None:
    """All answers of a run that is over, in a format without lines."""
    if form == "timeline":
        _draw(result, output)
    else:
        _write_parquet(result.rows(answers), output)


def _draw(result: Result, output: Path | None) -> None:
    from horai.cli.timeline import on_screen

    on_screen(result.rows("spans"), output, until=result.extent[1])


def _write_parquet(answers: Sequence[AnswerRow], output: Path | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from horai.io import to_source

    rows = [row.as_dict() for row in answers]
    wide = [{**row, "args": [to_source(arg) for arg in row.get("args", [])]} for row in rows]
    whole = ("query", "model", "arrived", "signals")
    kinds = {name: pa.int64() if name in whole else pa.string() for name in _COLUMNS}
    kinds["args"] = pa.list_(pa.string())
    used = [
        n for n in _COLUMNS if n in ("kind", "query", "name", "args") or any(n in r for r in wide)
    ]
    table = pa.Table.from_pylist(wide, pa.schema([(name, kinds[name]) for name in used]))
    pq.write_table(table, sys.stdout.buffer if output is None else str(output))


class Target:
    """Where answers go, in a format; several places if they are no files."""

    def __init__(self, form: str, output: Path | None) -> None:
        self._lines = _LINES[form]
        self._file = None
        places = ["-"] if output is None else endpoints_of(places_named(output))
        if places is not None:
            self._sinks = [sink_of(place, console.say) for place in places]
        else:
            assert output is not None
            self._file = output.open("w", encoding="utf-8")
        if form == "csv":
            self._put(",".join(_COLUMNS) + "\n")

    def write(self, rows: Sequence[AnswerRow]) -> None:
        """Write rows; who waits for them has them at once."""
        if rows:
            self._put("".join(f"{line}\n" for line in self._lines([r.as_dict() for r in rows])))

    def _put(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text)
            self._file.flush()
        else:
            for sink in self._sinks:
                sink.write(text)

    def close(self) -> None:
        """Nothing more is written."""
        if self._file is not None:
            self._file.close()


def _json_lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _csv_lines(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        cells = {**row, "args": json.dumps(row.get("args", []), ensure_ascii=False)}
        cells |= {"name": text_cell(str(row["name"]))} if "name" in row else {}
        yield csv_line(cells.get(column, "") for column in _COLUMNS)


def _text_lines(rows: Sequence[Row]) -> Iterator[str]:
    """One line per query time and model: `3: busy(ada), free(bob)`."""
    lines: dict[str, list[str]] = {}
    for row in rows:
        lines.setdefault(_place(row), []).extend(_words(row))
    for place, words in lines.items():
        shown = printable(", ".join(words)).replace("\n", "\\n")
        yield f"{place}: {shown or '-'}"


def _place(row: Row) -> str:
    """What a line is about: `5, 3 model 1 +` is a change at 5 of the answer at 3."""
    arrived = f"{row['arrived']}, " if "arrived" in row else ""
    model = f" model {row['model']}" if "model" in row else ""
    signals = f" signal {row['signals']}" if "signals" in row else ""
    op = f" {row['op']}" if "op" in row else ""
    return f"{arrived}{row['query']}{signals}{model}{op}"


def _words(row: Row) -> list[str]:
    if row["kind"] == "none":
        return ["no answer"]
    if row["kind"] == "empty":
        return []
    args = ",".join(map(str, row["args"]))
    return [f"{row['name']}({args})" if args else row["name"]]


_LINES: dict[str, Callable[[Sequence[Row]], Iterator[str]]] = {
    "jsonl": _json_lines,
    "csv": _csv_lines,
    "text": _text_lines,
}


class Said(NamedTuple):
    """What became of a run: who ran it, and why, how often it was asked, and what was not used."""

    engine: str
    reasons: list[str]
    queries: int
    dead_letters: list[DeadLetter]


def run_lars(
    chosen: Workload,
    settings: RunSettings,
    wanted: str | None,
    files: Files,
    quiet: bool,
    interactive: bool = False,
) -> None:
    """Run a program over the chosen input, and write or ask for what was found."""
    output, dead_letters, metrics = files
    flows = settings.live or settings.real_time or settings.state is not None
    flows = flows or settings.output_every not in (None, "time")
    if flows and settings.engine == SPARK:
        problem = "Spark runs over whole streams, and gives answers at all query times"
        raise UsageError(problem, "leave out --live, --real-time, --state and --output-every")
    is_folder = settings.engine == SPARK and output is not None and not output.suffix
    form = "parquet" if is_folder else checked_format(wanted, output)
    answers = settings.answers or "windows"
    program = chosen.load()
    _tell_warnings(program, settings, quiet)
    _tell_strange_names(program, settings.filter, quiet)
    if settings.end is None and not flows:
        chosen.demand_input("name the stream: --input FILE, or give --end TIME")
    asked = arguments(settings)
    for ours in ("answers", "live", "real_time", "state"):
        asked.pop(ours, None)
    if is_folder:
        assert output is not None
        _write_folder(program, chosen, asked, answers, wanted, output, dead_letters, quiet)
        return
    if flows:
        check_lines(form)
        if interactive:
            raise UsageError("questions come after a run over whole files", "use horai query")
    writes = has_lines(form) and not interactive
    target = Target(form, output) if writes else None  # who cannot write is told at once
    began = time.perf_counter()
    warnings: list[Diagnostic] = []
    if flows:
        from horai.cli.live import run_flow

        if metrics is not None:
            hint = "leave out --live, --real-time, --state and --output-every"
            raise UsageError("--metrics is about a run over whole files", hint)
        assert target is not None
        said = run_flow(program, chosen.input, settings, asked, target)
    else:
        asked.pop("output_every", None)
        result = program.run(chosen.input or (), **asked)
        if interactive:
            pass
        elif target is None:
            write_whole(result, answers, form, output)
        else:
            target.write(result.rows(answers))
        said = Said(result.engine, result.reasons, len(result.answers), result.dead_letters)
        warnings = result.warnings
        if metrics is not None:
            write_metrics(metrics, result.metrics)
    if target is not None:
        target.close()
    if dead_letters is not None:
        write_dead_letters(dead_letters, said.dead_letters)
    tell_dead_letters(said.dead_letters, dead_letters, quiet)
    tell_of_run(warnings, quiet)
    if not quiet and console.is_watched():
        times = counted(said.queries, "query time")
        console.say(f"{times} in {time.perf_counter() - began:.1f} s by the engine {said.engine}")
        for reason in said.reasons:
            console.say(f"  because {reason}", "dim")
    if interactive:
        from horai.cli.query import converse

        converse(result, "lars")
    fail_on(warnings)


def _write_folder(
    program: Rules,
    chosen: Workload,
    asked: dict[str, Any],
    answers: str,
    format: str | None,
    output: Path,
    dead_letters: Path | None,
    quiet: bool,
) -> None:
    """Parquet in folders of names and days, written by the workers of Spark."""
    if format not in (None, "parquet"):
        hint = "name a file such as answers.csv"
        raise UsageError(f"{output}: a folder is written as Parquet", hint)
    asked = {n: v for n, v in asked.items() if n not in ("engine", "output_every")}
    found = program.spark(chosen.input or (), answers=answers, **asked)
    found.write_parquet(output)
    if dead_letters is not None:
        write_dead_letters(dead_letters, found.letters)
    tell_dead_letters(found.letters, dead_letters, quiet)


def check_lars(chosen: Workload, settings: RunSettings) -> tuple[list[Diagnostic], str]:
    """All findings about a program, and a line about what it is."""
    from horai.lang.core.diagnostics import has_errors, sort_key
    from horai.lang.lars.reader import read_files
    from horai.rules import Rules
    from horai.runtime.inputs import clock_for

    program, read = read_files([*chosen.rules, *chosen.background])
    found, clock = Rules(program=program), str(clock_for(settings.clock, settings.unit))
    findings = sorted([*read, *found.check(clock)], key=sort_key)
    counts = [counted(len(program.sources), "file"), counted(len(program.rules), "rule")]
    if has_errors(read):
        return findings, ", ".join(counts)
    lines = list(kind_lines(found.classification))
    if not has_errors(findings):
        both = (found.engine(clock, together=one) for one in (True, False))
        lines += engine_lines(*both)
    return findings, "\n".join([*lines, ", ".join(counts)])


def _tell_warnings(program: Rules, settings: RunSettings, quiet: bool) -> None:
    from horai.lang.core.diagnostics import has_errors

    findings = program.check(settings.clock, settings.unit)
    if not has_errors(findings):  # the run tells of errors
        tell_of_rules(findings, program.severities, quiet)


def _tell_strange_names(program: Rules, filter: str, quiet: bool) -> None:
    """Warn about names in a filter that the program does not have: nothing will be shown of them.

    Signals that no rule reads may have such names.
    """
    from horai.lang.core.diagnostics import did_you_mean

    if quiet or filter in ("inferences", "none"):
        return
    known = sorted({name for name, _ in program.predicates_of_program})
    for name in filter.split(","):
        if name.strip() and name.strip() not in known:
            near = did_you_mean(name.strip(), known)
            hint = f": did you mean {near}?" if near else ""
            console.warning(f"no rule has the predicate {name.strip()} of the filter{hint}")
