"""The rounds of a run, or of a step of a stream: read and send, meet, run the engine, send on.

A whole run is a step that keeps no state. What workers have to say is heard after each round.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import pyarrow.compute as pc

from horai.io.items.read import Piece, read_piece
from horai.io.items.rows import RowReader
from horai.io.items.tables import Narrative, extent
from horai.io.letters import UNREADABLE, DeadLetter, InputError
from horai.runtime.bucket import advance_bucket, meet_bucket, refresh_bucket
from horai.runtime.checkpoint import ItemFile
from horai.runtime.records import (
    ANSWERS,
    DRIVER,
    BlobLabel,
    BucketWork,
    Exchanger,
    Read,
    Record,
    Work,
    message,
    over_buckets,
)
from horai.runtime.routes import Routes, engine_round, meeting_round
from horai.runtime.tasks import RunTask, StageTask, earliest

H = TypeVar("H")
Extent = tuple[int, int]
Send = Callable[[int, Narrative], Iterator[Record]]  # items of a place in the order of all
StageWork = Callable[[RunTask, StageTask, int, Sequence[Record]], Iterator[Record]]


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


def packed(routes: Routes, seq: int, narrative: Narrative) -> Iterator[Record]:
    """Items on their way to the buckets that read them, and what is to be said about them."""
    rounds: set[int] = set()
    for table in narrative.tables:
        for record in routes.send(0, seq, table.key, table.table, "items", -1):
            rounds.add(record.round)
            yield record
    yield message(seq, "rounds", sorted(rounds))
    yield from told_of(seq, narrative)


def told_of(seq: int, narrative: Narrative) -> Iterator[Record]:
    """The messages about items: the times they cover, and dead letters."""
    found = extent(narrative.tables)
    if found is not None:
        yield message(seq, "extent", found)
        arrived = [pc.max(t.table.column("arrival")).as_py() for t in narrative.tables if len(t)]
        yield message(seq, "arrival", max(arrived))
    if narrative.dead_letters:
        yield message(seq, "letters", narrative.dead_letters)


def sender(run: RunTask) -> Send:
    """Sends items to the buckets of a run."""
    return partial(packed, run.plan.routes)


def reader(send: Send, pieces: Sequence[Piece], options: RowReader, patient: bool = False) -> Read:
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
        yield message(number, "read", (pieces[number].file, has_rows))
        yield from send(number, narrative)

    return read


def letter_of(error: InputError) -> DeadLetter:
    """The dead letter of a file that cannot be read."""
    return DeadLetter(error.file, error.line or 0, error.text, error.reason, UNREADABLE)


def unreadable(seq: int, error: InputError) -> Record:
    """The message that ends a run because its input cannot be read."""
    fields = (error.file, error.reason, error.line, error.text, error.hint)
    return message(seq, "unreadable", fields)


# --- round by round ------------------------------------------------------------------------------


class Rounds(Generic[H]):
    """The rounds of a run on a grid, all buckets together or in fewer slots; what came of them.

    Answers are brought here if that is wanted, and otherwise stay where they are.
    """

    def __init__(
        self, grid: Exchanger[H], slots: int, name: str = "", brings_answers: bool = False
    ) -> None:
        self.grid, self.slots, self.name, self.brings_answers = grid, slots, name, brings_answers
        self.outcome = Outcome()
        self.records: list[
            tuple[H, set[int]]
        ] = []  # wherever they are, and the rounds they are for
        self.answers: list[Record] = []
        self.state_bytes = 0

    def of(self, rounds: Collection[int]) -> list[H]:
        """Where records of some rounds are."""
        return [some for some, its in self.records if not its.isdisjoint(rounds)]

    def forget(self) -> None:
        """None of the records is needed any more."""
        self.grid.forget([some for some, _ in self.records])

    def listen(self, records: H) -> Heard:
        """Take in what workers have to say, and answers with it."""
        heard = Heard()
        wanted = [DRIVER, ANSWERS] if self.brings_answers else [DRIVER]
        for record in sorted(self.grid.collect(records, wanted), key=lambda record: record.seq):
            if record.round == ANSWERS:
                self.answers.append(record)
                continue
            what, content = BlobLabel.load(record.label).what, json.loads(record.blob)
            heard[what].append(content)
            self.outcome.hear(what, content)
        self.records.append((records, heard.rounds))
        return heard

    def work(self, rounds: Collection[int], work: Work, name: str) -> Heard:
        """Work on the records for some rounds."""
        found = self.grid.step(self.of(rounds), rounds, self.slots, work, self.name + name)
        return self.listen(found)

    def buckets(self, rounds: Collection[int], number: int, work: BucketWork, name: str) -> Heard:
        """The same bucket by bucket."""
        return self.work(rounds, over_buckets([(0, number, work)], self.slots), name)

    def advance(self, task: RunTask, rounds: set[int]) -> list[ItemFile]:
        """All buckets, stage after stage, to the query times; files of items they stored come back.

        `rounds` are those for which there are records.
        """
        plan, stored = task.plan, list[ItemFile]()

        def stage(number: int, do: StageWork, rounds: Collection[int], name: str) -> Heard:
            mine = task.only(number)
            work = partial(do, mine, mine.plan.stages[0])
            return self.buckets(rounds, plan.routes.buckets, work, f"stage {number}: {name}")

        for number in (one.number for one in plan.stages):
            meets = {meeting_round(number)}
            if task.refreshes and plan.routes.meetings_of(number):
                rounds |= stage(number, refresh_bucket, (), "refresh subscriptions").rounds
            if meets & rounds:
                stage(number, meet_bucket, meets, "join on entities")
            heard = stage(number, advance_bucket, {engine_round(number)}, "run the engine")
            if self.outcome.problem is not None:
                break
            rounds |= heard.rounds
            if heard["frontiers"]:  # of use to later stages
                task.frontiers[number] = earliest(heard["frontiers"])
            self.state_bytes += sum(heard["state"])
            stored += map(tuple, heard["stored"])
        return stored
