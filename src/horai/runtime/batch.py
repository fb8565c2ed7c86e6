"""Whole runs, round by round: read and send, meet, run the engine, send on, and so forth.

Several runs can share the rounds, each with rules and settings of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import pyarrow.compute as pc

from horai.io.items.blocks import Options
from horai.io.items.read import Piece, read_piece
from horai.io.items.tables import Narrative, extent
from horai.io.letters import UNREADABLE, DeadLetter, InputError
from horai.runtime.bucket import run_bucket
from horai.runtime.grid import Exchanger, Read, Work
from horai.runtime.records import DRIVER, BlobLabel, Record, plain
from horai.runtime.routes import Routes
from horai.runtime.subscriptions import forward, subscriptions_in
from horai.runtime.tasks import Clockwork, RunTask

H = TypeVar("H")
Extent = tuple[int, int]
Schedule = Callable[[Extent | None], Clockwork | None]
Send = Callable[[int, Narrative], Iterator[Record]]  # items of a place in the order of all


@dataclass(slots=True)
class Outcome:
    """The outcome of a run beside its answers; `problem` is the error that ended it."""

    letters: list[DeadLetter] = field(default_factory=list)
    counted: list[Any] = field(default_factory=list)
    found: dict[str, int] = field(default_factory=dict)  # rows of fluents and events
    problem: tuple[int, str] | None = None
    unreadable: InputError | None = None
    extent: Extent | None = None
    arrival: int | None = None  # the last one
    engine_seconds: float = 0.0  # of all buckets together

    def hear(self, what: str, content: Any) -> None:
        """Take in what a worker has to say."""
        match what:
            case "extent":
                first, last = self.extent or content
                self.extent = min(first, content[0]), max(last, content[1])
            case "arrival":
                self.arrival = content if self.arrival is None else max(self.arrival, content)
            case "letters":
                self.letters.extend(DeadLetter(*letter) for letter in content)
            case "counted":
                self.counted.append(content)
            case "took":
                self.engine_seconds += content
            case "found":
                for kind, number in content.items():
                    self.found[kind] = self.found.get(kind, 0) + number
            case "error":
                found = (content["query"], content["text"])
                self.problem = min(self.problem or found, found)
            case "unreadable":
                file, reason, line, text, hint = content
                again = InputError(file, reason, line=line, text=text, hint=hint)
                self.unreadable = self.unreadable or again


@dataclass(slots=True)
class BatchRun(Generic[H]):
    """Runs that are over: how each ended, and all records, with the rounds they are for."""

    outcomes: list[Outcome]
    records: list[tuple[H, set[int]]]

    def of(self, round: int) -> list[H]:
        """Where records of a round are."""
        return [some for some, rounds in self.records if round in rounds]

    @property
    def all(self) -> list[H]:
        """All records there are."""
        return [some for some, _ in self.records]


def packed(routes: Routes, run: int, seq: int, narrative: Narrative) -> Iterator[Record]:
    """Items on their way to the buckets that read them, and what is to be said about them."""
    rounds: set[int] = set()
    for table in narrative.tables:
        for record in routes.send(run, seq, table.key, table.table, "items", -1):
            rounds.add(record.round)
            yield record
    yield message(run, seq, "rounds", sorted(rounds))
    yield from told_of(run, seq, narrative)


def told_of(run: int, seq: int, narrative: Narrative) -> Iterator[Record]:
    """The messages about items: the times they cover, and dead letters."""
    found = extent(narrative.tables)
    if found is not None:
        yield message(run, seq, "extent", found)
        arrived = [pc.max(t.table.column("arrival")).as_py() for t in narrative.tables if len(t)]
        yield message(run, seq, "arrival", max(arrived))
    if narrative.dead_letters:
        yield message(run, seq, "letters", narrative.dead_letters)


def sender(run: RunTask) -> Send:
    """Sends items to the buckets of a run."""
    return partial(packed, run.plan.routes, run.number)


def reader(send: Send, pieces: Sequence[Piece], options: Options) -> Read:
    """Reads pieces of files; what cannot be read is told, not raised."""

    def read(number: int) -> Iterator[Record]:
        try:
            narrative = read_piece(pieces[number], options)
            yield from send(number, narrative)
        except InputError as error:
            yield unreadable(number, error)

    return read


def patient_reader(send: Send, pieces: Sequence[Piece], options: Options) -> Read:
    """Reads pieces of files of a stream; a file that cannot be read is a dead letter."""

    def read(number: int) -> Iterator[Record]:
        try:
            narrative = read_piece(pieces[number], options)
        except InputError as error:
            if options.strict:
                yield unreadable(number, error)
                return
            letter = DeadLetter(error.file, error.line or 0, error.text, error.reason, UNREADABLE)
            narrative = Narrative((), [letter])
        yield from send(number, narrative)

    return read


def unreadable(seq: int, error: InputError) -> Record:
    """The message that ends a run because its input cannot be read."""
    fields = (error.file, error.reason, error.line, error.text, error.hint)
    return message(0, seq, "unreadable", fields)


def execute(
    grid: Exchanger[H],
    runs: Sequence[RunTask],
    items: Sequence[H],
    schedules: Sequence[Schedule],
    most: int | None = None,
) -> BatchRun[H]:
    """Run over items that have been read.

    Each schedule turns the extent of the items into query times, or None if there is nothing to
    run over. Every bucket has a slot of its own, unless these are `most`.
    """
    ran: BatchRun[H] = BatchRun([Outcome() for _ in runs], [])
    for some in items:
        ran.records.append((some, _listen(grid.collect(some, [DRIVER]), runs, ran.outcomes)))
    for run, outcome, schedule in zip(runs, ran.outcomes, schedules, strict=True):
        if outcome.unreadable is None:
            run.clock = schedule(outcome.extent)
    rounds = sorted({round for run in runs for round in run.plan.rounds})
    for round in rounds:
        active = [r for r, o in zip(runs, ran.outcomes, strict=True) if _goes_on(r, o, round)]
        if active:
            slots = max(run.plan.routes.slot(run.number + 1, 0) for run in active)
            slots = min(slots, most or slots)
            name = f"stage {round // 2}: " + ("run the engine" if round % 2 else "join on entities")
            found = grid.step(ran.of(round), [round], slots, _work(active, round, slots), name)
            said = grid.collect(found, [DRIVER])
            ran.records.append((found, _listen(said, runs, ran.outcomes)))
    return ran


def _goes_on(run: RunTask, outcome: Outcome, round: int) -> bool:
    if run.clock is None or outcome.problem is not None or outcome.unreadable is not None:
        return False
    return round in run.plan.rounds


def _work(runs: Sequence[RunTask], round: int, slots: int) -> Work:
    """The work of a round in one slot: all buckets of all runs that belong to it."""
    if round % 2 == 0:
        return _meeting({run.number: run.plan.routes for run in runs})
    stage = round // 2
    lean = [run.only(stage) for run in runs]

    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        groups = grouped(records)
        for run in lean:
            for bucket in range(run.plan.routes.buckets):
                if run.plan.routes.slot(run.number, bucket) % slots == slot:
                    group = groups.get((run.number, bucket), [])
                    yield from run_bucket(run, run.plan.stages[0], bucket, group)

    return work


def _meeting(routes: dict[int, Routes]) -> Work:
    """The work of meeting points in a slot; where there is nothing, nothing goes on."""

    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        for (run, bucket), group in grouped(records).items():
            sent = False
            for record in forward(routes[run], *subscriptions_in(group)):
                sent = True
                yield record
            if sent:
                yield message(run, bucket, "rounds", [group[0].round + 1])

    return work


def grouped(records: Sequence[Record]) -> dict[tuple[int, int], list[Record]]:
    """Records by run and bucket."""
    groups: dict[tuple[int, int], list[Record]] = {}
    for record in records:
        groups.setdefault((record.run, record.bucket), []).append(record)
    return groups


def _listen(
    records: Sequence[Record], runs: Sequence[RunTask], outcomes: list[Outcome]
) -> set[int]:
    """Take in what workers have to say; the rounds for which they sent something come back."""
    rounds: set[int] = set()
    places = {run.number: place for place, run in enumerate(runs)}
    for record in sorted(records, key=lambda record: record.seq):
        if record.run not in places:
            continue
        place, label = places[record.run], BlobLabel.load(record.label)
        content = json.loads(record.blob)
        outcomes[place].hear(label.what, content)
        if label.what == "rounds":
            rounds.update(content)
        elif label.what == "reach":
            _remember(runs[place], label.number, content)
    return rounds


def _remember(run: RunTask, stage: int, far: int) -> None:
    """Changes of a stage may lie so far back: those after it must not be final before."""
    for later in run.plan.stages:
        if later.number > stage:
            run.reaches[later.number] = max(run.reaches.get(later.number, 0), far)


def message(run: int, seq: int, what: str, content: object) -> Record:
    """A message for the driver."""
    return Record(DRIVER, 0, run, 0, seq, BlobLabel(what).dump(), plain(content))
