"""What `horai stream` says of its steps: to people, to a file of metrics, to Prometheus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from horai.cli import console
from horai.cli.dead_letters import tell_dead_letters
from horai.errors import UsageError
from horai.io import DeadLetter
from horai.words import counted

if TYPE_CHECKING:
    from horai.monitoring import Monitor
    from horai.stream_reports import StepReport

PROMETHEUS = ".prom"


def monitor_of(folder: Path, file: Path | None, port: int | None) -> Monitor | None:
    """Who tells Prometheus, if somebody wants it."""
    text = file if file is not None and file.suffix == PROMETHEUS else None
    if text is None and port is None:
        return None
    from horai.monitoring import Monitor

    try:
        return Monitor(folder.resolve().name, text, port)
    except OSError as error:
        raise _unwritable(file, error) from error


def _unwritable(file: Path | None, error: OSError) -> UsageError:
    """Better said before the stream begins than after its first step."""
    problem = f"metrics cannot be written to {file}: {error.strerror or error}"
    return UsageError(problem, "name a file in a folder that is there, and that you may write to")


class Teller:
    """Says what steps do: to people, and to a file of metrics."""

    def __init__(self, metrics: Path | None, checkpoint: Path, quiet: bool) -> None:
        self.metrics, self.checkpoint, self.quiet = metrics, checkpoint, quiet
        self.letters: list[DeadLetter] = []
        self.lost = 0
        self.monitor: Monitor | None = None
        if metrics is not None and metrics.suffix != PROMETHEUS:
            try:
                metrics.open("a", encoding="utf-8").close()
            except OSError as error:
                raise _unwritable(metrics, error) from error

    def step(self, report: StepReport, letters: Sequence[DeadLetter]) -> None:
        """A step has happened."""
        self.lost += len(letters)
        self.letters += letters[: max(0, _FEW - len(self.letters))]
        if self.monitor is not None:
            self.monitor.step(report)
        if self.metrics is not None and self.metrics.suffix != PROMETHEUS:
            with self.metrics.open("a", encoding="utf-8") as out:
                out.write(json.dumps(report.to_dict()) + "\n")
        if not self.quiet and console.is_watched():
            console.say(line(report.to_dict()), "dim")

    def end(self) -> None:
        """The stream is over, or was stopped."""
        if self.lost:
            tell_dead_letters(self.letters, self.checkpoint / "dead-letters", self.quiet)
            if self.lost > len(self.letters):
                console.warning(f"{self.lost} rows in all were not used, or only in part")


_FEW = 1000


def line(report: dict[str, Any]) -> str:
    """A step in a line.

    >>> report = {"step": 4, "query": 60, "queries": 2, "changes": 1, "dead_letters": 0}
    >>> line({**report, "seconds": 0.5})
    'step 4: 2 query times up to 60, 1 change, 0.5 s'
    """
    asked = "no query time due"
    if report["queries"]:
        asked = f"{counted(report['queries'], 'query time')} up to {report['query']}"
    lost = f", {counted(report['dead_letters'], 'row')} not used" if report["dead_letters"] else ""
    changes = counted(report["changes"], "change")
    return f"step {report['step']}: {asked}, {changes}{lost}, {report['seconds']} s"
