"""What a page says about a run beside its intervals: counts, findings, letters, what needs what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from horai.io import DeadLetter
from horai.io.shown import shortened
from horai.plan.lars.dependencies import readings_of
from horai.report.graph import Drawing, dependency_graph, program_graph
from horai.report.pack import Pack
from horai.result import Result

if TYPE_CHECKING:
    from horai.rules import Rules

MOST_LETTERS = 10_000
"""Of more dead letters the first ones are listed; all are counted."""
_COUNTS = ("on_time", "late", "too_late", "retracted", "outside_run", "revised")


def about(result: Result, rules: Sequence[str], command: str) -> dict[str, Any]:
    """Which rules ran how, and what became of the items."""
    run = asdict(result.metrics.run)
    return {
        "rules": list(rules),
        "language": result.rules.language,
        "engine": result.engine,
        "reasons": result.reasons,
        "command": command,
        "items": {**run, "judged": result.metrics.run.judged, "unused": result.metrics.run.unused},
    }


def queries(pack: Pack, result: Result, base: int) -> dict[str, Any]:
    """The query times, and what became of items at each."""
    windows = result.metrics.windows
    times = [window.query for window in windows] or [answer.query for answer in result.answers]
    found: dict[str, Any] = {"time": pack.column(np.array(times, np.int64) - base, delta=True)}
    for name in _COUNTS:
        counts = [getattr(window, name) for window in windows]
        if counts and None not in counts:
            found[name] = pack.column(np.array(counts, np.int64))
    return found


def diagnostics(result: Result) -> list[dict[str, Any]]:
    """The findings about the rules, and those of the run."""
    return [finding.as_json() for finding in [*result.rules.warnings, *result.warnings]]


def letters(dead: Sequence[DeadLetter]) -> dict[str, Any]:
    """The rows that were not used, and why."""
    return {
        "number": len(dead),
        "codes": Counter(letter.code for letter in dead),
        "rows": [
            [letter.file, letter.line, letter.code, letter.reason, shortened(letter.text)]
            for letter in dead[:MOST_LETTERS]
        ],
    }


def graphs(rules: Rules) -> list[dict[str, Any]]:
    """What depends on what: in the description, and in the program."""
    drawings = []
    if rules.language != "lars":
        drawings.append(dependency_graph(rules.description, True))
    if rules.language != "ec":
        drawings.append(program_graph(readings_of(rules.program, True)))
    return [_drawn(drawing) for drawing in drawings if drawing.nodes or drawing.boxes]


def _drawn(drawing: Drawing) -> dict[str, Any]:
    return {
        "nodes": [asdict(node) for node in drawing.nodes],
        "boxes": [asdict(box) for box in drawing.boxes],
        "arrows": [asdict(arrow) for arrow in drawing.arrows],
        "legend": list(drawing.legend),
    }
