"""Whole runs, round by round: read and send, meet, run the engine, send on, and so forth.

Several runs can share the rounds, each with rules and query times of its own, and so do the parts
of a program of LARS.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import pyarrow.compute as pc

from horai.io.items.read import Piece, read_piece
from horai.io.items.tables import Narrative, Options, extent
from horai.io.letters import UNREADABLE, DeadLetter, InputError
from horai.runtime.bucket import StepTask, advance_bucket, meet_bucket
from horai.runtime.records import (
    DRIVER,
    BlobLabel,
    BucketWork,
    Exchanger,
    Read,
    Record,
    message,
    over_buckets,
)
from horai.runtime.routes import Routes
from horai.runtime.tasks import RunTask, StageTask, earliest
from horai.settings import Schedule

H = TypeVar("H")
Extent = tuple[int, int]
Send = Callable[[int, Narrative], Iterator[Record]]  # items of a place in the order of all
StageWork = Callable[[StepTask, StageTask, int, Sequence[Record]], Iterator[Record]]


@dataclass(slots=True)
class Outcome:
    """The outcome of a run beside its answers; `problem` is the error that ended it."""

    letters: list[DeadLetter] = field(default_factory=list)
    counted: list[Any] = field(default_factory=list)
    without_value: list[Any] = field(default_factory=list)
    spellings: list[Any] = field(default_factory=list)
    came: dict[tuple[str, int], int] = field(default_factory=dict)  # rows of signals
    files: dict[str, bool] = field(default_factory=dict)  # have they rows?
    found: dict[str, int] = field(default_factory=dict)  # rows of fluents and events
    problem: tuple[int, str] | None = None
    unreadable: InputError | None = None
    extent: Extent | None = None
    arrival: int | None = None  # the last one
    engine_seconds: float = 0.0  # of all buckets together

    @property
    def empty(self) -> list[str]:
        """Files without rows."""
        return [file for file, has_rows in self.files.items() if not has_rows]

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
            case "without value":
                self.without_value += content
            case "spellings":
                self.spellings += content
            case "came":
                for name, arity, rows in content:
                    self.came[name, arity] = self.came.get((name, arity), 0) + rows
            case "read":
                file, has_rows = content
                self.files[file] = has_rows or self.files.get(file, False)
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


class Heard(defaultdict[str, list[Any]]):
    """The messages of workers about a round, by what they are about."""

    def __init__(self) -> None:
        super().__init__(list)

    @property
    def rounds(self) -> set[int]:
        """The rounds for which they sent something."""
        return {round for some in self["rounds"] for round in some}


# --- items on their way --------------------------------------------------------------------------


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


def reader(send: Send, pieces: Sequence[Piece], options: Options, patient: bool = False) -> Read:
    """Reads pieces of files; what cannot be read is told, not raised.

    Who is patient, as streams are, takes a file that cannot be read for a dead letter.
    """

    def read(number: int) -> Iterator[Record]:
        try:
            narrative = read_piece(pieces[number], options)
        except InputError as error:
            if options.strict or not patient:
                yield unreadable(number, error)
                return
            narrative = Narrative((), [letter_of(error)])
        has_rows = bool(len(narrative) or narrative.dead_letters)
        yield message(0, number, "read", (pieces[number].file, has_rows))
        yield from send(number, narrative)

    return read


def letter_of(error: InputError) -> DeadLetter:
    """The dead letter of a file that cannot be read."""
    return DeadLetter(error.file, error.line or 0, error.text, error.reason, UNREADABLE)


def unreadable(seq: int, error: InputError) -> Record:
    """The message that ends a run because its input cannot be read."""
    fields = (error.file, error.reason, error.line, error.text, error.hint)
    return message(0, seq, "unreadable", fields)


# --- round by round ------------------------------------------------------------------------------


class Run(ABC):
    """A run over buckets: all rules of a description, or a part of a program.

    Runs that share `rounds` are told apart by their numbers.
    """

    rounds: Collection[int]  # in which something happens

    def __init__(self, number: int, buckets: int, outcome: Outcome) -> None:
        self.number, self.buckets, self.outcome = number, buckets, outcome

    @abstractmethod
    def begin(self) -> bool:
        """Make query times of what the items cover; False if there is nothing to run over."""

    @abstractmethod
    def work(self, round: int) -> BucketWork:
        """What is done in a bucket in a round."""

    def hear(self, stage: int, what: str, content: Any) -> None:
        """Take in what a worker has to say."""
        self.outcome.hear(what, content)


class StagedRun(Run):
    """A run of a description, stage by stage."""

    def __init__(self, task: RunTask, schedule: Callable[[Extent | None], Schedule | None]) -> None:
        super().__init__(task.number, task.plan.routes.buckets, Outcome())
        self.task, self.schedule, self.rounds = task, schedule, task.plan.rounds
        self._frontiers: dict[int, list[list[int]]] = {}

    def begin(self) -> bool:
        self.task.schedule = self.schedule(self.outcome.extent)
        return self.task.schedule is not None

    def work(self, round: int) -> BucketWork:
        self.task.frontiers = {n: earliest(some) for n, some in self._frontiers.items()}
        task = StepTask(self.task.only(round // 2))
        return stage_work(task, advance_bucket if round % 2 else meet_bucket)

    def hear(self, stage: int, what: str, content: Any) -> None:
        if what == "frontiers":  # of use to later stages
            self._frontiers.setdefault(stage, []).append(content)
        super().hear(stage, what, content)


def stage_work(task: StepTask, do: StageWork) -> BucketWork:
    """What is done in a bucket of the only stage of a task."""
    return partial(do, task, task.run.plan.stages[0])


class RoundRecords(list[tuple[H, set[int]]]):
    """All records so far, wherever they are, with the rounds they are for."""

    def of(self, rounds: Collection[int]) -> list[H]:
        """Where records of some rounds are."""
        return [some for some, its in self if not its.isdisjoint(rounds)]

    @property
    def all(self) -> list[H]:
        """All records there are."""
        return [some for some, _ in self]


def execute(
    grid: Exchanger[H], runs: Sequence[Run], items: Sequence[H], most: int | None = None
) -> RoundRecords[H]:
    """Run over items that have been read.

    Every bucket has a slot of its own, unless these are `most`.
    """
    ran: RoundRecords[H] = RoundRecords()
    for some in items:
        ran.append((some, _listen(grid, some, runs)))
    begun = [run for run in runs if run.outcome.unreadable is None and run.begin()]
    for round in sorted({round for run in begun for round in run.rounds}):
        active = [run for run in begun if run.outcome.problem is None and round in run.rounds]
        if active:
            slots = max((run.number + 1) * run.buckets for run in active)
            slots = min(slots, most or slots)
            work = over_buckets([(r.number, r.buckets, r.work(round)) for r in active], slots)
            name = f"stage {round // 2}: " + ("run the engine" if round % 2 else "join on entities")
            found = grid.step(ran.of([round]), [round], slots, work, name)
            ran.append((found, _listen(grid, found, runs)))
    return ran


def _listen(grid: Exchanger[H], records: H, runs: Sequence[Run]) -> set[int]:
    """Take in what workers have to say; the rounds for which they sent something come back."""
    heard = Heard()
    by_number = {run.number: run for run in runs}
    for record in sorted(grid.collect(records, [DRIVER]), key=lambda record: record.seq):
        if record.run in by_number:
            label, content = BlobLabel.load(record.label), json.loads(record.blob)
            heard[label.what].append(content)
            by_number[record.run].hear(label.number, label.what, content)
    return heard.rounds
