"""Streams in steps without Spark, and the same streams in a plain session, to be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from horai.io import AnswerRow, DeadLetter, ItemTable, Narrative, TimeScale
from horai.result import Answer
from horai.rules import Rules
from horai.runtime.inputs import read_input, row_text
from horai.runtime.jobs import raw_answers
from horai.runtime.records import LocalGrid, Record
from horai.runtime.rounds import packed
from horai.runtime.savepoint import save
from horai.runtime.spark.batch import check
from horai.runtime.streams import Steps, StreamJob, StreamStep, open_or_create_checkpoint
from horai.session import Session
from horai.settings import RunSettings, before


class Told(NamedTuple):
    """What a stream says."""

    changes: list[AnswerRow]
    letters: list[DeadLetter]
    queries: list[int]
    totals: dict[str, int]


class Driver:
    """Does what the streaming query of Spark does: micro-batches in, and again after a restart."""

    def __init__(
        self,
        rules: Rules,
        folder: Path,
        settings: dict[str, Any],
        buckets: int,
        delay: int = 0,
    ) -> None:
        self.rules, self.folder, self.buckets = rules, folder, buckets
        self.settings, self.delay = settings, delay
        self.told = Told([], [], [], {})
        self.restart()

    def restart(self, saved: Path | None = None) -> None:
        """Nothing is known but what the folder says, or that of a savepoint."""
        asked = RunSettings.of("ec", "stream", self.settings | {"watermark_delay": self.delay})
        stream = StreamJob.of(self.rules, None, replace(asked, answers="changelog"))
        found = open_or_create_checkpoint(self.folder, stream, self.buckets, self.buckets, saved)
        self.job = stream
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
        step = self.steps.take(batch, list(packed(routes, batch, narrative)))
        check(step.outcome)
        if not crash:
            self._commit(step)

    def finish(self, crash: bool = False) -> None:
        """Nothing more is there for now."""
        step = self.steps.finish()
        if step is not None:
            check(step.outcome)
            if not crash:
                self._commit(step)

    def _commit(self, step: StreamStep[list[Record]]) -> None:
        for raw in raw_answers(step.queries, ("changelog",), step.answers):
            self.told.changes.extend(Answer(raw, lambda *_: True).changes)
        self.told.letters.extend(step.outcome.letters)
        self.told.queries.extend(step.queries)
        self.steps.commit(step)
        self.told.totals.clear()
        self.told.totals.update(step.manifest.totals)


class Plain:
    """The same stream in one session that gets items when they come: no buckets and no state."""

    def __init__(self, rules: Rules, settings: dict[str, Any], delay: int = 0) -> None:
        self.rules, self.settings, self.delay = rules, settings, delay
        self.step, self.end = settings.get("step") or settings["window"], settings.get("end")
        self.clock = TimeScale(settings.get("unit"))
        self.told = Told([], [], [], {})
        self.session: Session | None = None
        self.asked = 0
        self.waiting: list[ItemTable] = []
        self.seen: list[tuple[int, int, int]] = []  # first occurrence, last time, last arrival
        self.beyond: list[str] = []
        if settings.get("start") is not None:
            self._begin(settings["start"])

    def _begin(self, start: int) -> None:
        names = ("window", "tick", "allen_memory", "include_input", "unit")
        given = {name: self.settings[name] for name in names if name in self.settings}
        self.session = self.rules.session(start=start, answers="changelog", **given)
        self.asked = start

    @property
    def _is_over(self) -> bool:
        return self.session is not None and self.asked == self.end

    def take(self, lines: Sequence[str]) -> None:
        """What comes together. The first items say when a stream begins that has no start."""
        read = read_input(list(lines), self.rules.schema, self.clock)
        self.told.letters.extend(read.dead_letters)
        items = list(read.items())
        if self._is_over:
            self.beyond += map(row_text, items)
            return
        self.waiting += read.tables
        if items:
            last = max(max(i.arrival, i.start, i.end or i.start) for i in items)
            first, arrival = min(i.start for i in items), max(i.arrival for i in items)
            self.seen.append((first, last, arrival))
            if self.session is None:
                self._begin(before(first, self.settings.get("tick", 1)))
            self._ask_before(max(arrival for _, _, arrival in self.seen) - self.delay)

    def finish(self) -> None:
        """Nothing more is there for now: ask once more, at the end or at the last time named."""
        if self.session is None:
            return
        last = max((last for _, last, _ in self.seen), default=self.asked)
        last = last if self.end is None else self.end
        self._ask_before(last)
        if last > self.asked:
            self._ask(last)

    def over(self) -> Told:
        """All that was said."""
        told, session = self.told, self.session
        if session is not None:
            told.letters.extend(session.finish().dead_letters)
            told.totals.update(_totals(session))
            for name in ("items", "outside_run"):
                told.totals[name] += len(self.beyond)
        text = f"it comes after the end of the stream, {self.end}"
        told.letters.extend(DeadLetter("", 0, line, text, "outside-run") for line in self.beyond)
        return told

    def _ask_before(self, limit: int) -> None:
        while not self._is_over:
            assert self.session is not None
            start = self.session.start
            query = start + ((self.asked - start) // self.step + 1) * self.step
            query = query if self.end is None else min(query, self.end)
            if query >= limit:
                return
            self._ask(query)

    def _ask(self, query: int) -> None:
        assert self.session is not None
        answer = self.session.advance(query, Narrative(tuple(self.waiting), []))
        self.told.changes.extend(answer.changes)
        self.told.queries.append(query)
        self.asked, self.waiting = query, []


def plain(
    rules: Rules, chunks: Sequence[Sequence[str]], settings: dict[str, Any], delay: int = 0
) -> Told:
    """A whole stream in one session."""
    stream = Plain(rules, settings, delay)
    for chunk in chunks:
        stream.take(chunk)
    stream.finish()
    return stream.over()


def _totals(session: Session) -> dict[str, int]:
    run = session.metrics.run
    names = ["items", "on_time", "late", "too_late", "retracted", "unknown_retractions"]
    names += ["outside_run", "partly_too_late"]
    return {name: getattr(run, name) for name in names}
