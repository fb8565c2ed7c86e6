"""Parts of a step: the work of a slot, what workers say of it, and what is added up afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from horai.spark.batch import Outcome, grouped
from horai.spark.checkpoint import Manifest, Seen
from horai.spark.grid import Work
from horai.spark.records import Record
from horai.spark.resident import StepTask
from horai.spark.tasks import Plan, StageTask

Bucket = Callable[[StepTask, StageTask, int, Sequence[Record]], Iterator[Record]]
Items = Callable[[StepTask, int, int, Sequence[Record]], Iterator[Record]]


@dataclass(slots=True)
class Heard:
    """What workers have to say about a round."""

    rounds: set[int] = field(default_factory=set)
    finals: list[list[int]] = field(default_factory=list)
    kept: list[tuple[int, int, int]] = field(default_factory=list)
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
    lean = replace(task, run=replace(task.run, plan=Plan([], routes)))

    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        for bucket in range(slot, routes.buckets, slots):
            mine = [record for record in records if record.bucket == bucket]
            for round in sorted({record.round for record in mine}):
                yield from items(lean, round, bucket, [r for r in mine if r.round == round])

    return work


def seen_after(outcome: Outcome, known: Manifest) -> Seen | None:
    """What items have named so far, those of the step among them."""
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


def least(finals: Sequence[Sequence[int]]) -> list[int]:
    """At each query time what is final for all."""
    return [min(column) for column in zip(*finals, strict=True)]


def add_up(manifest: Manifest, outcome: Outcome) -> None:
    """What became of the items of all steps."""
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
