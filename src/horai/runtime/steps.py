"""A stream step by step: what came since the last step in, what has changed out.

A step takes the items of a micro-batch. They drive the clock: a query time is due once an item has
arrived that is later. If some are due, every bucket of every stage goes on from its state to all of
them, stage after stage as in a whole run; if none is, items are kept for a later step. A step has
happened when its manifest is written. Until then it can be done again and gives the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from horai.runtime import subscriptions
from horai.runtime.batch import Heard, Outcome, RoundRecords, StageWork, stage_work
from horai.runtime.bucket import (
    StepTask,
    advance_bucket,
    meet_bucket,
    refresh_bucket,
    refuse_items,
    store_items,
)
from horai.runtime.checkpoint import Checkpoint, Manifest, Seen
from horai.runtime.grid import BucketWork, Exchanger, Work, over_buckets
from horai.runtime.records import ANSWERS, DRIVER, BlobLabel, Record
from horai.runtime.routes import engine_round, meeting_round
from horai.runtime.tasks import RunTask, StagePlan, StageTask, earliest
from horai.runtime.tracks import Front
from horai.settings import Schedule


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


def add_up(manifest: Manifest, outcome: Outcome) -> None:
    """Add the counts of a step to those of all steps."""
    totals = Counter(manifest.totals)
    totals.update(dead_letters=len(outcome.letters), changes=sum(outcome.found.values()))
    for counted in outcome.counted:
        totals.update(items=counted["items"], outside_run=counted["left_over"])
        for window in counted["windows"]:
            totals.update(window)
    manifest.totals = dict(totals)


H = TypeVar("H")


@dataclass(slots=True)
class Due:
    """The query times of a step, and whether they are the last ones of the stream."""

    schedule: Schedule
    ends: bool = False


# From what is known, what items have named, and whether no more will come.
Timing = Callable[[Manifest, Seen | None, bool], Due | None]
ItemWork = Callable[[StepTask, int, int, list[Record]], Iterable[Record]]


@dataclass(slots=True)
class StreamStep(Generic[H]):
    """A step that was done, and has not happened yet: `manifest` is what will be known then."""

    manifest: Manifest
    outcome: Outcome
    queries: list[int] = field(default_factory=list)
    records: RoundRecords[H] = field(default_factory=RoundRecords)
    answers: list[Record] = field(default_factory=list)  # where they are wanted here
    state_bytes: int = 0
    came: bool = False  # something was read, whether it could be used or not

    @property
    def number(self) -> int:
        """Steps have growing numbers; the one that ends a run is odd."""
        return self.manifest.number


class Steps(Generic[H]):
    """A stream whose steps are done on a grid, in no more than so many slots."""

    def __init__(
        self,
        grid: Exchanger[H],
        task: RunTask,
        checkpoint: Checkpoint,
        timing: Timing,
        slots: int,
    ) -> None:
        self.grid, self.task, self.checkpoint = grid, task, checkpoint
        self.timing, self.slots = timing, min(slots, task.plan.routes.buckets)
        self.front: Front | None = None  # where positions come in the place of items
        self.brings_answers = True  # to the driver; otherwise they stay where they are

    def has_happened(self, batch: int) -> bool:
        """Is the step of a micro-batch known already?"""
        return _number(batch) <= self.checkpoint.last.number

    def take(self, batch: int, items: H) -> StreamStep[H]:
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
        self.grid.forget(step.records.all)

    def _do(self, step: StreamStep[H], items: H | None, finishing: bool) -> StreamStep[H]:
        manifest, outcome = step.manifest, step.outcome
        heard = Heard() if items is None else self._collect(step, items)
        if outcome.unreadable is not None:
            return step
        step.came = bool(heard["latest"] or outcome.letters) or outcome.arrival is not None
        rounds = heard.rounds
        if self.front is not None:
            rounds = self._derive(self.front, step, heard, finishing)
        manifest.seen = seen_after(outcome, manifest)
        due = self.timing(manifest, manifest.seen, finishing)
        if due is None:  # nothing has come that could be used
            add_up(manifest, outcome)
            return step
        manifest.start = due.schedule.start
        task = StepTask(
            replace(self.task, schedule=due.schedule, frontiers={}),
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
        elif due.schedule.queries or due.ends:
            self._advance(step, task, rounds)
        elif rounds:
            heard = self._items(step, task, rounds, store_items, "store items")
            manifest.items += sorted(map(tuple, heard["stored"]))
        add_up(manifest, outcome)
        return step

    def _derive(self, front: Front, step: StreamStep[H], heard: Heard, finishing: bool) -> set[int]:
        """Turn positions into items; the rounds that these are for come back."""

        def do(round: int, work: Work, name: str) -> Heard:
            found = self._round(step, {round}, work, name)
            step.state_bytes += sum(found["tracks"])
            return found

        return front.step(step.manifest, heard["latest"], self.slots, finishing, do)

    def _advance(self, step: StreamStep[H], task: StepTask, rounds: set[int]) -> None:
        """All buckets, stage after stage, to the query times that are due."""
        assert task.run.schedule is not None
        step.queries = [*task.run.schedule.queries]
        stored: list[tuple[int, int, int]] = []
        stages = task.run.plan.stages
        rounds |= {file[0] for file in task.items}
        for stage in stages:
            number, meets = stage.number, {meeting_round(stage.number)}
            if task.refreshes and task.run.plan.routes.meetings_of(number):
                heard = self._stage(
                    step, task, stage, refresh_bucket, set(), "refresh subscriptions"
                )
                rounds |= heard.rounds
            if meets & rounds:
                self._stage(step, task, stage, meet_bucket, meets, "join on entities")
            ready = {engine_round(number)}
            heard = self._stage(step, task, stage, advance_bucket, ready, "run the engine")
            if step.outcome.problem is not None:
                return
            rounds |= heard.rounds
            if heard["frontiers"]:
                task.run.frontiers[number] = earliest(heard["frontiers"])
            step.state_bytes += sum(heard["state"])
            stored += map(tuple, heard["stored"])
        manifest = step.manifest
        manifest.state, manifest.items = manifest.number, sorted(stored)
        manifest.query = step.queries[-1] if step.queries else manifest.query
        manifest.ended = task.ends
        manifest.refreshed = manifest.number if task.refreshes else manifest.refreshed

    def _after_the_end(self, step: StreamStep[H], task: StepTask, rounds: set[int]) -> None:
        assert task.run.schedule is not None and step.manifest.query is not None
        task.run.schedule = replace(task.run.schedule, queries=[step.manifest.query])
        if rounds:
            self._items(step, task, rounds, refuse_items, "after the end")

    def _stage(
        self,
        step: StreamStep[H],
        task: StepTask,
        stage: StageTask,
        do: StageWork,
        rounds: set[int],
        name: str,
    ) -> Heard:
        work = self._over_buckets(stage_work(task.only(stage.number), do))
        return self._round(step, rounds, work, f"stage {stage.number}: {name}")

    def _items(
        self, step: StreamStep[H], task: StepTask, rounds: set[int], do: ItemWork, name: str
    ) -> Heard:
        """Work on items that no stage runs over."""
        plan = StagePlan([], task.run.plan.routes)
        lean = replace(task, run=replace(task.run, plan=plan))

        def work(bucket: int, records: list[Record]) -> Iterable[Record]:
            for round in sorted({record.round for record in records}):
                yield from do(lean, round, bucket, [r for r in records if r.round == round])

        return self._round(step, rounds, self._over_buckets(work), name)

    def _over_buckets(self, work: BucketWork) -> Work:
        return over_buckets([(self.task.number, self.task.plan.routes.buckets, work)], self.slots)

    def _round(self, step: StreamStep[H], rounds: set[int], work: Work, name: str) -> Heard:
        name, before = f"step {step.number}, {name}", step.records.of(rounds)
        return self._collect(step, self.grid.step(before, rounds, self.slots, work, name))

    def _collect(self, step: StreamStep[H], records: H) -> Heard:
        """Take in the messages of workers, and answers with them."""
        heard = Heard()
        wanted = [DRIVER, ANSWERS] if self.brings_answers else [DRIVER]
        for record in sorted(self.grid.collect(records, wanted), key=lambda record: record.seq):
            if record.round == ANSWERS:
                step.answers.append(record)
                continue
            what, content = BlobLabel.load(record.label).what, json.loads(record.blob)
            heard[what].append(content)
            step.outcome.hear(what, content)
        step.records.append((records, heard.rounds))
        return heard


def _number(batch: int) -> int:
    return 2 * batch + 2
