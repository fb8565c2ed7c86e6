"""A stream step by step: what came since the last step in, what has changed out.

A step takes the items of a micro-batch. They drive the clock: a query time is due once an item has
arrived that is later. If some are due, every bucket of every stage goes on from its state to all of
them, stage after stage as in a whole run; if none is, items are kept for a later step. A step has
happened when its manifest is written. Until then it can be done again and gives the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from horai.runtime import subscriptions
from horai.runtime.batch import Outcome, grouped
from horai.runtime.bucket_steps import (
    StepTask,
    advance_bucket,
    meet_bucket,
    refresh_bucket,
    refuse_items,
    store_items,
)
from horai.runtime.checkpoint import Checkpoint, Manifest, Seen
from horai.runtime.grid import Exchanger, Work
from horai.runtime.records import ANSWERS, DRIVER, BlobLabel, Record
from horai.runtime.routes import engine_round, meeting_round
from horai.runtime.tasks import Clockwork, RunTask, StagePlan, StageTask
from horai.runtime.tracks import Front

Bucket = Callable[[StepTask, StageTask, int, Sequence[Record]], Iterator[Record]]
Items = Callable[[StepTask, int, int, Sequence[Record]], Iterator[Record]]


@dataclass(slots=True)
class WorkerReport:
    """The messages of workers about a round."""

    rounds: set[int] = field(default_factory=set)
    frontiers: list[list[int]] = field(default_factory=list)
    stored: list[tuple[int, int, int]] = field(default_factory=list)
    latest: list[int] = field(default_factory=list)
    known: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    state_bytes: int = 0


def work_of(task: StepTask, slots: int, bucket: Bucket) -> Work:
    """The work of a stage in one slot: all buckets that belong to it, with records or without."""
    routes, stage = task.run.plan.routes, task.run.plan.stages[0]

    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        groups = grouped(records)
        for number in range(slot, routes.buckets, slots):
            yield from bucket(task, stage, number, groups.get((task.run.number, number), []))

    return work


def items_work(task: StepTask, slots: int, items: Items) -> Work:
    """Work on items that no stage runs over, in one slot."""
    routes = task.run.plan.routes
    lean = replace(task, run=replace(task.run, plan=StagePlan([], routes)))

    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        for bucket in range(slot, routes.buckets, slots):
            mine = [record for record in records if record.bucket == bucket]
            for round in sorted({record.round for record in mine}):
                yield from items(lean, round, bucket, [r for r in mine if r.round == round])

    return work


def seen_after(outcome: Outcome, known: Manifest) -> Seen | None:
    """The times that items have named so far, those of the step among them."""
    seen = known.seen
    if outcome.extent is not None and outcome.arrival is not None:
        seen = Seen(*outcome.extent, outcome.arrival) | seen
    if seen is not None and known.tracks is not None:
        # All that happens up to here has been told, as far as it can be; something of the first
        # position may be told in hindsight.
        first, arrival = known.tracks.first, max(seen.arrival, known.tracks.until + 1)
        first = seen.first if first is None else min(seen.first, first)
        seen = replace(seen, first=first, arrival=arrival)
    return seen


def least(frontiers: Sequence[Sequence[int]]) -> list[int]:
    """At each query time the frontier of all: the earliest."""
    return [min(column) for column in zip(*frontiers, strict=True)]


def add_up(manifest: Manifest, outcome: Outcome) -> None:
    """Add the counts of a step to those of all steps."""
    totals = dict(manifest.totals)

    def add(name: str, number: int) -> None:
        totals[name] = totals.get(name, 0) + number

    add("dead_letters", len(outcome.letters))
    add("changes", sum(outcome.found.values()))
    for counted in outcome.counted:
        add("items", counted["items"])
        add("outside_run", counted["left_over"])
        for window in counted["windows"]:
            for name, number in window.items():
                add(name, number)
    manifest.totals = totals


H = TypeVar("H")


@dataclass(slots=True)
class Due:
    """The query times of a step, and whether they are the last ones of the stream."""

    clock: Clockwork
    ends: bool = False


# From what is known, what items have named, and whether no more will come.
Schedule = Callable[[Manifest, Seen | None, bool], Due | None]


@dataclass(slots=True)
class StreamStep(Generic[H]):
    """A step that was done, and has not happened yet: `manifest` is what will be known then."""

    manifest: Manifest
    outcome: Outcome
    queries: list[int] = field(default_factory=list)
    records: list[tuple[H, set[int]]] = field(default_factory=list)  # with the rounds they are for
    answers: list[Record] = field(default_factory=list)  # where they are wanted here
    state_bytes: int = 0
    came: bool = False  # something was read, whether it could be used or not

    @property
    def number(self) -> int:
        """Steps have growing numbers; the one that ends a run is odd."""
        return self.manifest.number

    def of(self, rounds: Collection[int]) -> list[H]:
        """Where records of some rounds are."""
        return [some for some, its in self.records if not its.isdisjoint(rounds)]


class Steps(Generic[H]):
    """A stream whose steps are done on a grid, in no more than so many slots."""

    def __init__(
        self,
        grid: Exchanger[H],
        task: RunTask,
        checkpoint: Checkpoint,
        schedule: Schedule,
        slots: int,
    ) -> None:
        self.grid, self.task, self.checkpoint = grid, task, checkpoint
        self.schedule, self.slots = schedule, slots
        self.front: Front | None = None  # where positions come in the place of items
        self.brings_answers = True  # to the driver; otherwise they stay where they are

    def has_happened(self, batch: int) -> bool:
        """Is the step of a micro-batch known already?"""
        return _number(batch) <= self.checkpoint.last.number

    def take(self, batch: int, items: H) -> StreamStep[H]:
        """The step of a micro-batch."""
        last = self.checkpoint.last
        manifest = replace(last, number=_number(batch), batch=batch, items=list(last.items))
        return self._do(StreamStep(manifest, Outcome()), items, False)

    def finish(self) -> StreamStep[H] | None:
        """The step after the last micro-batch, None if there is nothing left to ask."""
        last = self.checkpoint.last
        if last.ended or last.number % 2:
            return None
        manifest = replace(last, number=last.number + 1, items=list(last.items))
        step: StreamStep[H] = self._do(StreamStep(manifest, Outcome()), None, True)
        return step if step.queries else None

    def commit(self, step: StreamStep[H]) -> None:
        """The step has happened: from now on the stream goes on from there."""
        self.checkpoint.commit(step.manifest, step.outcome.letters)
        self.grid.forget([some for some, _ in step.records])

    def _do(self, step: StreamStep[H], items: H | None, finishing: bool) -> StreamStep[H]:
        manifest, outcome = step.manifest, step.outcome
        report = WorkerReport() if items is None else self._collect(step, items)
        if outcome.unreadable is not None:
            return step
        step.came = bool(report.latest or outcome.letters) or outcome.arrival is not None
        rounds = report.rounds
        if self.front is not None:
            rounds = self._derive(self.front, step, report, finishing)
        manifest.seen = seen_after(outcome, manifest)
        due = self.schedule(manifest, manifest.seen, finishing)
        if due is None:  # nothing has come that could be used
            add_up(manifest, outcome)
            return step
        manifest.start = due.clock.start
        task = StepTask(
            replace(self.task, clock=due.clock),
            self.checkpoint.store,
            manifest.number,
            manifest.state,
            manifest.items,
            due.ends,
            manifest.state is not None
            and manifest.number - manifest.refreshed >= 2 * subscriptions.STEPS,
        )
        if manifest.ended:
            self._after_the_end(step, task, rounds)
        elif due.clock.queries or due.ends:
            self._advance(step, task, rounds)
        else:
            self._store(step, task, rounds)
        add_up(manifest, outcome)
        return step

    def _derive(
        self, front: Front, step: StreamStep[H], report: WorkerReport, finishing: bool
    ) -> set[int]:
        """Turn positions into items; the rounds that these are for come back."""

        def do(round: int, work: Work, name: str) -> WorkerReport:
            return self._round(step, {round}, work, name)

        return front.step(step.manifest, report.latest, self._slots, finishing, do)

    def _advance(self, step: StreamStep[H], task: StepTask, rounds: set[int]) -> None:
        """All buckets, stage after stage, to the query times that are due."""
        assert task.run.clock is not None
        step.queries = task.run.clock.queries
        frontiers: dict[int, list[int]] = {}
        stored: list[tuple[int, int, int]] = []
        stages = task.run.plan.stages
        rounds |= {file[0] for file in task.items}
        for stage in stages:
            if task.refreshes and task.run.plan.routes.meetings_of(stage.number):
                work = work_of(task.only(stage.number), self._slots, refresh_bucket)
                name = f"stage {stage.number}: refresh subscriptions"
                rounds |= self._round(step, set(), work, name).rounds
            if meeting_round(stage.number) in rounds:
                self._stage(step, task, stage, meet_bucket, meeting_round, "join on entities")
            makers = [s.number for s in stages if s.sends.intersection(stage.given)]
            if makers:
                task.frontiers[stage.number] = least([frontiers[number] for number in makers])
            report = self._stage(step, task, stage, advance_bucket, engine_round, "run the engine")
            if step.outcome.problem is not None:
                return
            rounds |= report.rounds
            frontiers[stage.number] = least(report.frontiers)
            step.state_bytes += report.state_bytes
            stored += report.stored
        manifest = step.manifest
        manifest.state, manifest.items = manifest.number, sorted(stored)
        manifest.query = step.queries[-1] if step.queries else manifest.query
        manifest.ended = task.ends
        manifest.refreshed = manifest.number if task.refreshes else manifest.refreshed

    def _store(self, step: StreamStep[H], task: StepTask, rounds: set[int]) -> None:
        if rounds:
            report = self._round(
                step, rounds, items_work(task, self._slots, store_items), "store items"
            )
            step.manifest.items += sorted(report.stored)

    def _after_the_end(self, step: StreamStep[H], task: StepTask, rounds: set[int]) -> None:
        assert task.run.clock is not None and step.manifest.query is not None
        task.run.clock.queries = [step.manifest.query]
        if rounds:
            work = items_work(task, self._slots, refuse_items)
            self._round(step, rounds, work, "after the end")

    @property
    def _slots(self) -> int:
        return min(self.task.plan.routes.buckets, self.slots)

    def _stage(
        self,
        step: StreamStep[H],
        task: StepTask,
        stage: StageTask,
        bucket: Bucket,
        round: Callable[[int], int],
        name: str,
    ) -> WorkerReport:
        work = work_of(task.only(stage.number), self._slots, bucket)
        return self._round(step, {round(stage.number)}, work, f"stage {stage.number}: {name}")

    def _round(self, step: StreamStep[H], rounds: set[int], work: Work, name: str) -> WorkerReport:
        name = f"step {step.number}, {name}"
        return self._collect(step, self.grid.step(step.of(rounds), rounds, self._slots, work, name))

    def _collect(self, step: StreamStep[H], records: H) -> WorkerReport:
        """Take in the messages of workers, and answers with them."""
        report = WorkerReport()
        step.records.append((records, report.rounds))
        wanted = [DRIVER, ANSWERS] if self.brings_answers else [DRIVER]
        for record in sorted(self.grid.collect(records, wanted), key=lambda record: record.seq):
            if record.round == ANSWERS:
                step.answers.append(record)
                continue
            label, content = BlobLabel.load(record.label), json.loads(record.blob)
            match label.what:
                case "rounds":
                    report.rounds.update(content)
                case "frontiers":
                    report.frontiers.append(content)
                case "state":
                    report.state_bytes += content
                case "tracks":
                    step.state_bytes += content
                case "latest":
                    report.latest.append(content)
                case "known":
                    report.known.append(content)
                case "first":
                    report.first.append(content)
                case "stored":
                    stage, bucket, number = content
                    report.stored.append((stage, bucket, number))
                case _:
                    step.outcome.hear(label.what, content)
        return report


def _number(batch: int) -> int:
    return 2 * batch + 2
