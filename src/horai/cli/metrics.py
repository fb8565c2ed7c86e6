"""How late the stream of a run was: a line for people, and all numbers in a file."""

from __future__ import annotations

import json
from pathlib import Path

from horai.metrics import Metrics, RunMetrics
from horai.words import counted

_TOLD = ("on_time", "late", "too_late", "partly_too_late", "retracted", "unknown_retractions")


def write_metrics(path: Path, metrics: Metrics) -> None:
    """One JSON object, with `run` and `windows`."""
    path.write_text(json.dumps(metrics.to_dict(), indent=2) + "\n", encoding="utf-8")


def summary(run: RunMetrics) -> str:
    """What became of the items, in one line; what did not happen is not mentioned.

    >>> summary(RunMetrics(items=5, on_time=3, late=1, too_late=1, revised=2))
    '5 items: 3 on time, 1 late, 1 too late; 2 answers revised'
    """
    counts = {name: getattr(run, name) for name in (*_TOLD, "outside_run", "waiting")}
    told = [f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items() if number]
    items = f"{run.items:,} {'item' if run.items == 1 else 'items'}"
    line = f"{items}: {', '.join(told)}" if told else items
    return f"{line}; {counted(run.revised, 'answer')} revised" if run.revised else line
