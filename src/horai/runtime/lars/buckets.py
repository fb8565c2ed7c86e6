"""LARS programs in buckets: signals go to the parts that read them, and each bucket is asked apart.

The parts of a program need nothing of each other, so one round is enough. In a part that is split,
a bucket may derive atoms about entities of other buckets, out of background facts alone. So each
bucket tells of its own, and each predicate is told of by one part.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import pyarrow as pa

from horai.io.items.tables import ItemTable, Narrative
from horai.io.letters import DeadLetter
from horai.io.schema import TableKey
from horai.lang.lars.predicates import background, head_predicates
from horai.lang.lars.syntax import Atom, Predicate, Program
from horai.plan.split.lars import Parts, ProgramPart
from horai.runtime.batch import Extent, Outcome, grouped, message, told_of
from horai.runtime.grid import Exchanger, Work
from horai.runtime.hashing import combined, hash_terms
from horai.runtime.records import ANSWERS, DRIVER, BlobLabel, Record, joined, packed, unpacked
from horai.runtime.routes import Entity, Route, Routes, engine_round

H = TypeVar("H")
ROUND = engine_round(0)


@dataclass(frozen=True, slots=True)
class PartTask:
    """A part as buckets run it: its rules, which signals it gets, and what it tells of.

    Without `reads` it gets all signals but those in `others`, and tells of all but them.
    """

    number: int
    program: Program
    routes: Routes
    is_split: bool
    reads: frozenset[Predicate] | None = None
    tells: frozenset[Predicate] | None = None
    others: frozenset[Predicate] = frozenset()

    def gets(self, key: TableKey) -> bool:
        """Are signals of a kind for this part?"""
        predicate = (key.name, key.arity)
        return predicate not in self.others if self.reads is None else predicate in self.reads

    def owns(self, bucket: int, atom: Atom) -> bool:
        """Does a bucket tell of an atom?"""
        told = self.tells
        if atom.predicate in self.others if told is None else atom.predicate not in told:
            return False
        if not self.is_split:
            return True
        (route,) = self.routes.routes.get(_entity(atom.predicate), [self.routes.rest])
        places = range(len(atom.args)) if route.place is None else route.place
        numbers = [hash_terms([atom.args[place]]) for place in places]
        hashes = combined(numbers, 1) if route.place is None else numbers[0]
        return int(self.routes.bucket(hashes)[0]) == bucket


class BucketAnswer(NamedTuple):
    """What a bucket found: its answers as a table, rows that were not used, or what went wrong."""

    answers: pa.Table
    letters: Sequence[DeadLetter] = ()
    problem: str | None = None


class Ask(Protocol):
    """Runs the rules of a part over the signals of a bucket."""

    def __call__(
        self, part: PartTask, bucket: int, tables: Sequence[ItemTable], queries: range
    ) -> BucketAnswer: ...


def tasks_of(program: Program, parts: Parts, buckets: int) -> list[PartTask]:
    """The parts of a program in some number of buckets, and one for what no rule reads."""
    if not parts.are_split:
        return [PartTask(0, program, Routes(buckets, rest=Route(ROUND, None)), False)]
    known = background(program)
    homes: dict[Predicate, int] = dict.fromkeys(known, len(parts.parts))
    for number, part in enumerate(parts.parts):
        homes.update(dict.fromkeys(part.makes, number))
    for number, part in enumerate(parts.parts):
        for predicate in part.reads:
            homes.setdefault(predicate, number)
    found = [
        PartTask(
            number,
            part.program(program),
            _routes(part, known, buckets),
            part.unsplit is None,
            None if part.counts else part.reads,
            frozenset(one for one, home in homes.items() if home == number),
        )
        for number, part in enumerate(parts.parts)
    ]
    facts = [rule for rule in program.rules if head_predicates(rule) & known]
    rest = Routes(buckets, rest=Route(ROUND, None, whole=True))
    others = frozenset(one for one, home in homes.items() if home < len(parts.parts))
    left = Program(tuple(facts), program.sources)
    return [*found, PartTask(len(found), left, rest, True, others=others)]


def _routes(part: ProgramPart, known: set[Predicate], buckets: int) -> Routes:
    """Signals go to the bucket of their key; those about background may matter in all of them."""
    found = Routes(buckets, rest=Route(ROUND, None))
    if part.unsplit is None:
        for predicate in part.reads:
            place = part.places.get(predicate)
            route = Route(ROUND, None if place is None else (place,), everywhere=predicate in known)
            found.routes[_entity(predicate)] = [route]
    return found


def _entity(predicate: Predicate) -> Entity:
    return ("event", *predicate)


def sent(tasks: Sequence[PartTask], seq: int, narrative: Narrative) -> Iterator[Record]:
    """Signals on their way to the parts and buckets that read them."""
    for table in narrative.tables:
        for task in tasks:
            if task.gets(table.key):
                yield from task.routes.send(task.number, seq, table.key, table.table, "items", -1)
    yield from told_of(0, seq, narrative)


@dataclass(slots=True)
class LarsRun(Generic[H]):
    """A run that is over: how it ended, and where its records are."""

    outcome: Outcome
    records: list[H]


def execute(
    grid: Exchanger[H], tasks: Sequence[PartTask], items: H, schedule: QueryTimes, ask: Ask
) -> LarsRun[H]:
    """Ask all buckets, once it is known what the signals cover."""
    ran = LarsRun(Outcome(), [items])
    _listen(grid.collect(items, [DRIVER]), ran.outcome)
    if ran.outcome.unreadable is None:
        queries = schedule(ran.outcome.extent)
        buckets = tasks[0].routes.buckets if any(task.is_split for task in tasks) else 1
        work = _work(tasks, queries, ask, buckets)
        ran.records.append(grid.step([items], (ROUND,), buckets, work, "run the program"))
        _listen(grid.collect(ran.records[-1], [DRIVER]), ran.outcome)
    return ran


class QueryTimes(Protocol):
    """Turns what signals cover into query times."""

    def __call__(self, extent: Extent | None) -> range: ...


def _work(tasks: Sequence[PartTask], queries: range, ask: Ask, slots: int) -> Work:
    def work(slot: int, records: list[Record]) -> Iterator[Record]:
        groups = grouped(records)
        for task in tasks:
            if task.is_split or not slot:
                tables = _tables(groups.get((task.number, slot), []))
                yield from _asked(task, slot, tables, queries, ask)

    return work


def _tables(records: Sequence[Record]) -> list[ItemTable]:
    """The signals of records; their order is that of files and lines."""
    groups: dict[TableKey, list[Record]] = {}
    for record in sorted(records, key=lambda record: record.seq):
        groups.setdefault(BlobLabel.load(record.label).key, []).append(record)
    return [joined(key, [unpacked(r.blob) for r in some]) for key, some in groups.items()]


def _asked(
    task: PartTask, bucket: int, tables: Sequence[ItemTable], queries: range, ask: Ask
) -> Iterator[Record]:
    began = time.perf_counter()
    found = ask(task, bucket, tables, queries)
    if found.problem is not None:
        yield message(0, bucket, "error", {"query": queries[-1], "text": found.problem})
        return
    if found.answers.num_rows:
        label, blob = BlobLabel("lars").dump(), packed(found.answers)
        yield Record(ANSWERS, bucket, task.number, bucket, bucket, label, blob)
    if found.letters:
        yield message(0, bucket, "letters", [tuple(letter) for letter in found.letters])
    yield message(0, bucket, "took", time.perf_counter() - began)


def _listen(records: Sequence[Record], outcome: Outcome) -> None:
    for record in sorted(records, key=lambda record: record.seq):
        outcome.hear(BlobLabel.load(record.label).what, json.loads(record.blob))
