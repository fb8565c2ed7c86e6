"""Streams in steps without Spark, and the same streams in a plain session, to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from horai.inputs import read_input, row_text
from horai.io import AnswerRow, DeadLetter
from horai.rules import Rules
from horai.session import Answer
from horai.spark.batch import packed
from horai.spark.grid import LocalGrid
from horai.spark.records import Record
from horai.spark.savepoint import save
from horai.spark.steps import Step, Steps
from horai.spark_jobs import job_of
from horai.spark_results import check, raw_answers
from horai.streams import StreamJob, Timing, enter


class Told(NamedTuple):
    """What a stream says."""

    changes: list[AnswerRow]
    letters: list[DeadLetter]
    queries: list[int]
    totals: dict[str, int]


class Driver:
    """Does what the streaming query of Spark does: micro-batches in, and again after a restart."""

    def __init__(
        self, rules: Rules, folder: Path, settings: dict[str, Any], buckets: int, delay: int = 0
    ) -> None:
        self.rules, self.folder, self.buckets = rules, folder, buckets
        self.settings, self.delay = settings, delay
        self.told = Told([], [], [], {})
        self.restart()

    def restart(self, saved: Path | None = None) -> None:
        """Nothing is known but what the folder says, or that of a savepoint."""
        job = job_of(self.rules, None, answers="changelog", **self.settings)
        stream = StreamJob(job, Timing(job.settings, self.delay))
        found = enter(self.folder, stream, self.buckets, self.buckets, saved)
        self.job = job
        self.steps: Steps[list[Record]] = stream.steps(LocalGrid(), found)

    def resize(self, buckets: int) -> None:
        """Go on in another number of buckets, from a savepoint."""
        saved = self.folder.with_name(f"{self.folder.name}-saved")
        save(self.folder, saved)
        self.folder, self.buckets = self.folder.with_name(f"{self.folder.name}+"), buckets
        self.restart(saved)

    def take(self, batch: int, lines: Sequence[str], crash: bool = False) -> None:
        """A micro-batch; with a crash it is done and has not happened."""
        if self.steps.has_happened(batch):
            return
        narrative = read_input(list(lines), self.rules.schema, self.job.clock)
        routes = self.steps.task.plan.routes
        step = self.steps.take(batch, list(packed(routes, 0, batch, narrative)))
        check(step.outcome)
        if not crash:
            self._commit(step)

    def finish(self) -> None:
        """No more will come."""
        step = self.steps.finish()
        if step is not None:
            check(step.outcome)
            self._commit(step)

    def _commit(self, step: Step[list[Record]]) -> None:
        for raw in raw_answers(step.queries, ("changelog",), step.answers):
            self.told.changes.extend(Answer(raw, lambda *_: True).changes)
        self.told.letters.extend(step.outcome.letters)
        self.told.queries.extend(step.queries)
        self.steps.commit(step)
        self.told.totals.clear()
        self.told.totals.update(step.manifest.totals)


def plain(
    rules: Rules,
    chunks: Sequence[Sequence[str]],
    settings: dict[str, Any],
    delay: int = 0,
    start: int | None = None,
) -> Told:
    """The same stream in one session that gets items when they come: no buckets and no state."""
    names = ("window", "tick", "allen_memory", "include_input", "incremental", "unit")
    start = settings["start"] if start is None else start
    given = {name: settings[name] for name in names if name in settings}
    session = rules.session(start=start, answers="changelog", **given)
    step, end = settings.get("step") or settings["window"], settings.get("end")
    told = Told([], [], [], {})
    waiting: list[str] = []
    asked = start
    latest: int | None = None
    beyond: list[str] = []

    def ask(query: int) -> None:
        nonlocal asked, waiting
        answer = session.advance(query, waiting)
        told.changes.extend(answer.changes)
        told.queries.append(query)
        asked, waiting = query, []

    for chunk in chunks:
        read = read_input(list(chunk), rules.schema, session.clock)
        if asked == end:
            beyond += map(row_text, read.items())
            told.letters.extend(read.dead_letters)
            continue
        waiting = [*waiting, *chunk]
        arrivals = [item.arrival for item in read.items()]
        latest = max(arrivals + ([] if latest is None else [latest]), default=None)
        while latest is not None and asked != end:
            query = start + ((asked - start) // step + 1) * step
            query = query if end is None else min(query, end)
            if query >= latest - delay:
                break
            ask(query)
    while asked != end and end is not None:
        ask(min(start + ((asked - start) // step + 1) * step, end))
    result = session.finish()
    told.letters.extend(result.dead_letters)
    text = f"it comes after the end of the stream, {end}"
    told.letters.extend(DeadLetter("", 0, line, text, "outside-run") for line in beyond)
    told.totals.update(_totals(session))
    for name in ("items", "outside_run"):
        told.totals[name] += len(beyond)
    return told


def _totals(session: Any) -> dict[str, int]:
    run = session.metrics.run
    names = ["items", "on_time", "late", "too_late", "retracted", "unknown_retractions"]
    names += ["outside_run", "partly_too_late"]
    return {name: getattr(run, name) for name in names}
