"""The run of one stage in one bucket: a session over its entities, and the tables that it finds.

In a stream the session is saved in a file between two steps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from horai.engine.admission import Dropped, Reason
from horai.engine.answer import (
    Answer,
    EventTable,
    FluentTable,
    Part,
    rows_of_event,
    rows_of_fluent,
)
from horai.engine.columns import concat
from horai.engine.symbols import Symbols
from horai.io.items.tables import ItemTable, by_arrival
from horai.io.letters import DeadLetter
from horai.io.schema import TableKey
from horai.lang.ec.errors import EngineError, heard_by
from horai.lang.ec.syntax import EventDescription
from horai.runtime.answers import item_table
from horai.runtime.findings import RunFindings, found_of, look_for
from horai.runtime.hashing import Hashes, combined, hash_column
from horai.runtime.inputs import letters_of
from horai.runtime.metrics import Counting
from horai.runtime.records import (
    ANSWERS,
    BlobLabel,
    Record,
    Rows,
    by_content,
    joined,
    message,
    pick,
    table_key,
    unpacked,
)
from horai.runtime.routes import Entity, Routes, engine_round, meeting_round
from horai.runtime.subscriptions import (
    SUBSCRIPTIONS,
    TRANSFER,
    WAITED,
    Subscriptions,
    drop_unsubscribed,
    forward,
    forward_new,
    needed_by,
    refresh,
    subscriptions_in,
    take_state,
)
from horai.runtime.tasks import Ownership, Parcel, RunTask, StageTask
from horai.settings import Schedule

if TYPE_CHECKING:
    from horai.engine.core.staged import CompiledStage

Table = FluentTable | EventTable
FEW = 10_000  # items that may as well wait in a session
Owned = Callable[[Table], Rows | None]
"""The rows of a table that a bucket owns, None for all."""


def entity_of(table: Table) -> Entity:
    kind = "fluent" if isinstance(table, FluentTable) else "event"
    return kind, table.name, len(table.args)


def only(part: Part, owned: Owned) -> Part:
    """The rows of a part of an answer that a bucket owns."""
    fluents = [(table, owned(table)) for table in part.fluents]
    events = [(table, owned(table)) for table in part.events]
    return Part(
        [t if own is None else rows_of_fluent(t, own) for t, own in fluents if _any(own)],
        [t if own is None else rows_of_event(t, own) for t, own in events if _any(own)],
    )


def _any(rows: Rows | None) -> bool:
    return rows is None or len(rows) > 0


def starts(table: Table) -> Rows:
    """The times at which events happen or intervals start."""
    return table.start if isinstance(table, FluentTable) else table.time


@dataclass(slots=True)
class Collected:
    """Parts of several query times, put together entity by entity."""

    symbols: Symbols
    rows: dict[Entity, list[tuple[int, int, Table]]] = field(default_factory=dict)

    def add(self, part: Part, query: int, op: int = 1) -> None:
        """The rows of a part at a query time; `op` is -1 for those that are gone."""
        tables: list[Table] = [*part.fluents, *part.events]
        for table in tables:
            self.rows.setdefault(entity_of(table), []).append((query, op, table))

    def tables(self) -> Iterator[ItemTable]:
        """One table of items for each entity; they arrive at the query times."""
        for (_, name, arity), rows in self.rows.items():
            tables = [table for _, _, table in rows]
            times = [starts(table) for table in tables]
            lengths = [len(some) for some in times]
            op = np.repeat([op for _, op, _ in rows], lengths)
            arrival = np.repeat([query for query, _, _ in rows], lengths)
            key, end, value = TableKey(name, arity, "event", "points"), None, None
            fluents = [table for table in tables if isinstance(table, FluentTable)]
            if fluents:
                key = TableKey(name, arity, "fluent", "intervals")
                end = np.concatenate([table.end for table in fluents])
                value = concat((table.value for table in fluents), self.symbols)
            args = [concat((t.args[i] for t in tables), self.symbols) for i in range(arity)]
            columns = (op, arrival, np.concatenate(times), end)
            yield item_table(key, "", columns, args, value, self.symbols)


REPLICA = "\0replica"  # as a file: that of replicas


@dataclass(frozen=True)
class Replica(ItemTable):
    """Items that their owner judges and counts. Those that wait are known by their file."""

    @classmethod
    def of(cls, items: ItemTable) -> Replica:
        rows = len(items)
        file = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [REPLICA])
        place = items.table.schema.get_field_index("file")
        table = items.table.set_column(place, items.table.schema.field(place), file)
        return cls(*items.key, table)


def tables_of(records: Sequence[Record]) -> list[ItemTable]:
    """The items of records, in the order of the stream; replicas apart from what is owned."""
    groups: dict[tuple[TableKey, bool], list[Record]] = {}
    for record in sorted(records, key=lambda record: record.seq):
        label = BlobLabel.load(record.label)
        groups.setdefault((label.key, label.owned), []).append(record)
    found: list[ItemTable] = []
    for (key, is_owned), some in groups.items():
        table = joined(key, [unpacked(record.blob) for record in some])
        found.append(table if is_owned else Replica.of(table))
    return found


@lru_cache(maxsize=8)  # the engine keeps plans for as many
def _known(description: Parcel, predicates: tuple[str, ...]) -> EventDescription:
    """The description that a worker has met before, for which the engine has a plan."""
    return description.open()


def session_of(task: RunTask, stage: StageTask, schedule: Schedule) -> CompiledStage:
    """A session of a stage that knows nothing yet."""
    settings: dict[str, Any] = {
        "given": [(kind, (name, arity)) for kind, name, arity in stage.given],
        "start": schedule.start,
        "window": schedule.window,
        "tick": schedule.tick,
        "allen_memory": schedule.allen_memory,
        "predicates": task.predicates,
        "archive": "final" in task.forms,
    }
    from horai.engine.core.staged import CompiledStage
    from horai.runtime.compiled import told_as_wrong_use

    description = _known(stage.description, tuple(sorted(task.predicates)))
    with told_as_wrong_use():
        session = CompiledStage(description, **settings)
    if not task.include_input:
        session.hide_input()
    return session


class BucketRun:
    """A session of a stage in a bucket, that goes on from its state if it has one; its results."""

    def __init__(self, task: RunTask, stage: StageTask, bucket: int) -> None:
        assert task.schedule is not None
        self.task, self.stage, self.bucket = task, stage, bucket
        self.queries = task.schedule.queries
        self.findings = RunFindings()
        with heard_by(self.findings.undefined):  # facts may be worked out now
            self.session = session_of(task, stage, task.schedule)
        self.counting = Counting()
        self.letters: list[DeadLetter] = []
        self.sought = [replace(one) for one in task.sought]
        self.seconds = 0.0  # that the engine was at work
        self.found = {form: Collected(self.session.symbols) for form in task.forms}
        self.sent = Collected(self.session.symbols)
        self.frontiers: list[int] = []  # of what is sent on, at each query time
        self.subscriptions = Subscriptions().dump()  # to what this bucket owns
        self._owned = partial(owned, stage, self.session.symbols, task.plan.routes, bucket)
        if task.store is not None and task.state is not None:
            _, parts = task.store.read_state(stage.number, bucket, task.state)
            self.session.restore(parts["session"])
            self.counting.wait_for(np.frombuffer(parts["waiting"], "<i8").reshape(3, -1))
            self.subscriptions = parts["subscriptions"]

    def needs(self) -> Subscriptions:
        """The subscriptions that the bucket still needs, after the step before."""
        number = self.stage.number
        waiting = tables_of(self.task.waiting(engine_round(number), self.bucket))
        return needed_by(self.task.plan.routes, number, self.bucket, self.session, waiting)

    def take_state(self, subscriptions: Sequence[Record], transfers: Sequence[Record]) -> None:
        """Take in who has subscribed, and the past of entities to which this bucket just has."""
        routes, number = self.task.plan.routes, self.stage.number
        if self.task.refreshes and routes.meetings_of(number):
            drop_unsubscribed(routes, number, self.bucket, self.session, self.needs())
        take_state(routes, self.session, transfers)
        for record in subscriptions:  # one at most, with all of them
            self.subscriptions = record.blob

    def advance(self, tables: Sequence[ItemTable]) -> None:
        """Answer at all query times."""
        session, given = self.session, self.task.given_final
        previous = None if session.query == session.start else session.query
        arriving = by_arrival(tables, self.queries)
        for place, (query, new) in enumerate(zip(self.queries, arriving, strict=True)):
            session.given_final = None if given is None else given[place]
            self._answer(query, new, previous)
            if self.stage.sends:
                self.frontiers.append(session.final_of(self.stage.sends))
            previous = query
        if self.task.ends:
            left_over = self._judged_here(session.finish())
            self.counting.finish(len(left_over))
            self.letters += letters_of(left_over)

    def _answer(self, query: int, new: Sequence[ItemTable], previous: int | None) -> None:
        """Answer at a query time, with items that are new since the one before."""
        began = time.perf_counter()
        with heard_by(self.findings.undefined):
            answer = self.session.advance(query, new)
        if self.findings.is_looking:
            self.findings.look(new)
        dropped = self._judged_here(answer.dropped)
        own = [table for table in new if not isinstance(table, Replica)]
        look_for(self.sought, own)
        self.counting.judge(own, dropped, query, previous)
        self.letters += letters_of(dropped)
        self._collect(answer)
        self.seconds += time.perf_counter() - began

    def _judged_here(self, dropped: Sequence[Dropped]) -> list[Dropped]:
        """The dropped items that this bucket owns: it may have had others in an earlier layout."""
        mine = [one for one in dropped if one.file != REPLICA]
        if self.task.store is None or not self.stage.is_split:
            return mine
        owners = self.task.plan.routes.item_owners
        own = (int(owners(table_key(one.origin), one.item.table)[0]) for one in mine)
        return [one for one, bucket in zip(mine, own, strict=True) if bucket == self.bucket]

    def _collect(self, answer: Answer) -> None:
        """Collect an answer in the forms that the run gives, and for later stages."""
        query = answer.query
        if "final" in self.found and query == self.queries[-1]:
            self.found["final"].add(only(answer.part("all"), self._owned), query)
        if "windows" in self.found:
            self.found["windows"].add(only(answer.part("window"), self._owned), query)
        if "changelog" in self.found or self.stage.sends:
            for op, part in ((-1, answer.part("gone")), (1, answer.part("new"))):
                own = only(part, self._owned)
                if "changelog" in self.found:
                    self.found["changelog"].add(own, query, op)
                self.sent.add(only(own, self._sends), query, op)

    def _sends(self, table: Table) -> Rows | None:
        return None if entity_of(table) in self.stage.sends else np.zeros(0, np.int64)

    def results(self) -> Iterator[Record]:
        """Answers, rows for later stages, and messages for the driver."""
        routes, bucket = self.task.plan.routes, self.bucket
        rounds: set[int] = set()
        rows: dict[str, int] = {}
        for form, collected in self.found.items():
            for table in collected.tables():
                rounds.add(ANSWERS)
                rows[table.kind] = rows.get(table.kind, 0) + len(table)
                label = BlobLabel(form, *table.key)
                yield routes.record(ANSWERS, 0, bucket, bucket, label, table.table)
        after = engine_round(self.stage.number)
        for table in self.sent.tables():
            for record in routes.send(0, bucket, table.key, table.table, "given", after):
                rounds.add(record.round)
                yield record
        yield self.message("rounds", sorted(rounds))
        yield self.message("found", rows)
        if self.stage.sends:
            yield self.message("frontiers", self.frontiers)
        if self.letters:
            yield self.message("letters", self.letters)
        if told := [one.to_json() for one in self.findings.told()]:
            yield self.message("without value", told)
        if found := found_of(self.sought):
            yield self.message("spellings", found)
        yield self.message("counted", self.counting.counted())
        yield self.message("took", self.seconds)

    def save(self) -> Iterator[Record]:
        """Write the state after a step, and tell its size."""
        task = self.task
        if task.store is not None:
            about = {"query": self.session.query}
            parts = {
                "session": self.session.save(),
                "waiting": self.counting.waiting().astype("<i8").tobytes(),
                "subscriptions": self.subscriptions,
            }
            number = self.stage.number
            size = task.store.write_state(number, self.bucket, task.number, about, parts)
            yield self.message("state", size)

    def message(self, what: str, content: object) -> Record:
        return message(self.bucket, what, content, self.stage.number)


def owned(
    stage: StageTask, symbols: Symbols, routes: Routes, bucket: int, table: Table
) -> Rows | None:
    """The rows of a table that belong to a bucket, None for all."""
    entity = entity_of(table)
    owner = stage.owners.get(entity)
    if owner is None and stage.known is not None and entity not in stage.known:
        owner = Ownership(whole=routes.rest.whole)
    if owner is None:
        return np.zeros(0, np.int64)
    if not owner.is_split:
        return None
    found = np.flatnonzero(routes.bucket(_hashes(owner, symbols, table)) == bucket)
    return None if len(found) == len(starts(table)) else found


def _hashes(owner: Ownership, symbols: Symbols, table: Table) -> Hashes:
    if owner.place is not None:
        return hash_column(table.args[owner.place[0]], symbols, owner.place[1:])
    hashes = [hash_column(column, symbols) for column in table.args]
    return combined(hashes, len(starts(table)))


def advance_bucket(
    task: RunTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """The results of a stage in a bucket: answers, changes for later stages, messages, state."""
    if not stage.is_split and bucket:
        return
    work = BucketRun(task, stage, bucket)
    found = by_content(records)
    work.take_state(found[SUBSCRIPTIONS], found[TRANSFER])
    waited = [*found[WAITED], *task.waiting(engine_round(stage.number), bucket)]
    tables = tables_of(_in_order(waited, [*found["items"], *found["given"]]))
    later: list[Record] = []
    if not task.ends:
        tables, later = apart(task, stage, bucket, tables)
    try:
        work.advance(tables)
    except EngineError as error:
        yield work.message("error", {"query": work.session.query, "text": str(error)})
        return
    yield from work.results()
    yield from work.save()
    yield from store_items(task, engine_round(stage.number), bucket, later)


def apart(
    task: RunTask, stage: StageTask, bucket: int, tables: Sequence[ItemTable]
) -> tuple[list[ItemTable], list[Record]]:
    """Items of this step, and those that arrive after its last query time, if there are many.

    A session would keep these too, several times over: to be judged, counted and sent on. What
    others may subscribe to stays with the session all the same, from which their state comes.
    """
    assert task.schedule is not None
    routes = task.plan.routes
    shared = {meeting.entity for meeting in routes.meetings_of(stage.number).values()}
    now: list[ItemTable] = []
    later: list[Record] = []
    for table in tables:
        ahead = np.zeros(0, np.bool_)
        if task.schedule.queries and (str(table.kind), table.name, table.arity) not in shared:
            ahead = table.table.column("arrival").to_numpy() > task.schedule.queries[-1]
        if np.count_nonzero(ahead) < FEW:
            now.append(table)
            continue
        key, is_owned = table.key, not isinstance(table, Replica)
        label = BlobLabel("items", *key, is_owned)
        rest = pick(table.table, np.flatnonzero(ahead))
        round, seq = engine_round(stage.number), len(later)
        later.append(routes.record(round, 0, bucket, seq, label, rest))
        now.append(table.where(~ahead))
    return [table for table in now if len(table)], later


def refresh_bucket(
    task: RunTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """The subscription refresh of a bucket: what it still needs of others."""
    routes = task.plan.routes
    needs = BucketRun(task, stage, bucket).needs()
    yield from refresh(routes, stage.number, bucket, needs)
    yield message(bucket, "rounds", [meeting_round(stage.number)])


def meet_bucket(
    task: RunTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Forward what comes to a stage by joins from its owner to the subscribers."""
    routes, state = task.plan.routes, task.state
    records = _in_order(task.waiting(meeting_round(stage.number), bucket), records)
    if not records and not task.refreshes:
        return
    if task.store is None:
        yield from forward(routes, *subscriptions_in(records))
    else:
        known = Subscriptions()
        if state is not None:
            _, parts = task.store.read_state(stage.number, bucket, state, ("subscriptions",))
            known = Subscriptions.load(parts["subscriptions"])

        def session() -> CompiledStage | None:
            return None if state is None else BucketRun(task, stage, bucket).session

        yield from forward_new(
            routes, stage.number, bucket, records, known, task.refreshes, session
        )
    yield message(bucket, "rounds", [engine_round(stage.number)])


def store_items(
    task: RunTask, round: int, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Store the items of a step without query times for a later one."""
    if records and task.store is not None:
        task.store.write_items(round, bucket, task.number, _in_order([], records))
        yield message(bucket, "stored", [round, bucket, task.number])


def refuse_items(
    task: RunTask, round: int, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Items that come after the end of the stream."""
    assert task.schedule is not None
    end, counting = task.schedule.queries[-1], Counting()
    text = f"it comes after the end of the stream, {end}"
    for table in tables_of(by_content(records)["items"]):
        if not isinstance(table, Replica):
            rows = range(len(table))
            dropped = [Dropped(table, row, Reason.OUTSIDE_RUN, end, text) for row in rows]
            yield message(bucket, "letters", letters_of(dropped))
            counting.beyond(len(table))
    yield message(bucket, "counted", counting.counted())


def _in_order(before: Sequence[Record], records: Sequence[Record]) -> list[Record]:
    """Records of earlier steps and those of this one, numbered anew."""
    listed = [*before, *sorted(records, key=lambda record: record.seq)]
    return [record._replace(seq=number) for number, record in enumerate(listed)]
