"""The steps of a bucket in a stream: its session is saved in a file in between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from horai.engine.memory import FOREVER
from horai.engine.origins import Dropped, Reason
from horai.engine.session import Session
from horai.io.items.tables import ItemTable, by_arrival
from horai.io.schema import TableKey
from horai.lang.ec.errors import EngineError
from horai.runtime.batch import message
from horai.runtime.bucket import Replica, StageRun, first_changes, tables_of
from horai.runtime.checkpoint import Store
from horai.runtime.records import BlobLabel, Record, pick
from horai.runtime.routes import engine_round, meeting_round
from horai.runtime.savepoint import table_key
from horai.runtime.subscriptions import (
    Subscriptions,
    drop_unsubscribed,
    forward_new,
    has_waited,
    is_state,
    needed_by,
    refresh,
    subscriptions_of,
    take_state,
)
from horai.runtime.tasks import RunTask, StageTask

FEW = 10_000  # items that may as well wait in a session


@dataclass(slots=True)
class StepTask:
    """A step of a stream, as buckets have to know it.

    `number` is that of the step, `state` that of the one whose state it goes on from. `frontiers`
    tell, stage by stage, before which time its input at each query time cannot change any more.
    """

    run: RunTask
    store: Store
    number: int
    state: int | None
    items: list[tuple[int, int, int]]
    ends: bool = False
    refreshes: bool = False  # are subscriptions refreshed?
    frontiers: dict[int, list[int]] = field(default_factory=dict)

    def only(self, stage: int) -> StepTask:
        """The task of the buckets of one stage."""
        items = [file for file in self.items if file[0] // 2 == stage]
        return replace(self, run=self.run.only(stage), items=items)

    def waiting(self, round: int, bucket: int) -> list[Record]:
        """The items of a bucket that no query time has asked for yet, in their order."""
        files = [file for file in self.items if file[:2] == (round, bucket)]
        return [record for file in sorted(files) for record in self.store.read_items(*file)]


class BucketStep(StageRun):
    """A session that goes on from its saved state, and its results in a step."""

    def __init__(self, task: StepTask, stage: StageTask, bucket: int) -> None:
        assert task.run.clock is not None
        super().__init__(task.run, stage, task.run.clock, bucket)
        self.task = task
        self.subscriptions = Subscriptions().dump()  # to what this bucket owns
        self.frontiers = [self.session.start]  # of what is sent on, at each query time
        if task.state is not None:
            about, parts = task.store.read_state(stage.number, bucket, task.state)
            self.session.restore(parts["session"])
            self.tally.wait_for(np.frombuffer(parts["waiting"], "<i8").reshape(3, -1))
            self.subscriptions = parts["subscriptions"]
            self.frontiers = [about["frontier"]]

    def needs(self) -> Subscriptions:
        """The subscriptions that the bucket still needs, after the step before."""
        number = self.stage.number
        waiting = tables_of(self.task.waiting(engine_round(number), self.bucket))
        return needed_by(self.run.plan.routes, number, self.bucket, self.session, waiting)

    def drop_unsubscribed(self) -> None:
        """Drop the replicas that the bucket does not need any longer."""
        routes, number = self.run.plan.routes, self.stage.number
        drop_unsubscribed(routes, number, self.bucket, self.session, self.needs())

    def take_state(self, records: Sequence[Record]) -> None:
        """Take in the past of entities to which this bucket has just subscribed."""
        take_state(self.run.plan.routes, self.session, records)
        self.subscriptions = subscriptions_of(records) or self.subscriptions

    def advance(self, tables: Sequence[ItemTable]) -> None:
        """Answer at the query times of the step."""
        session, queries = self.session, self.clock.queries
        given = self.task.frontiers.get(self.stage.number)
        previous = None if session.query == session.start else session.query
        for place, (query, new) in enumerate(
            zip(queries, by_arrival(tables, queries), strict=True)
        ):
            session.given_final = None if given is None else given[place]
            self.answer(query, new, previous)
            self.frontiers.append(session.final_of(self.stage.sends))
            previous = query
        if self.task.ends:
            self.finish()

    def judged_here(self, dropped: Sequence[Dropped]) -> list[Dropped]:
        """The dropped items that this bucket owns: it may have had others in an earlier layout."""
        routes = self.run.plan.routes
        return [
            one
            for one in super().judged_here(dropped)
            if not self.stage.is_split
            or int(routes.item_owners(table_key(one.origin), one.item.table)[0]) == self.bucket
        ]

    def save(self) -> int:
        """Write the state after the step; returns its size."""
        about = {"query": self.session.query, "frontier": self.frontiers[-1]}
        parts = {
            "session": self.session.save(),
            "waiting": self.tally.waiting().astype("<i8").tobytes(),
            "subscriptions": self.subscriptions,
        }
        task = self.task
        return task.store.write_state(self.stage.number, self.bucket, task.number, about, parts)

    def reach(self, key: TableKey, table: pa.Table) -> int:
        """Zero: the frontier tells later stages how far back changes may lie; see that it holds."""
        start = self.session.start
        before = np.array([FOREVER if f <= start else f for f in self.frontiers[:-1]], np.int64)
        arrival, first = first_changes(key, table)
        wrong = first <= before[np.searchsorted(self.clock.queries, arrival)]
        if wrong.any():
            raise AssertionError(f"{key.name}/{key.arity} changed before its frontier")
        return 0


def advance_bucket(
    task: StepTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """The results of a stage in a bucket in a step; its new state is saved."""
    if not stage.is_split and bucket:
        return
    work = BucketStep(task, stage, bucket)
    if task.refreshes and task.run.plan.routes.meetings_of(stage.number):
        work.drop_unsubscribed()
    work.take_state([record for record in records if is_state(record)])
    items = [record for record in records if not is_state(record)]
    waited = [record for record in items if has_waited(record)]
    waited += task.waiting(engine_round(stage.number), bucket)
    tables = tables_of(_in_order(waited, [r for r in items if not has_waited(r)]))
    later: list[Record] = []
    if not task.ends:
        tables, later = apart(task.run, stage, bucket, tables)
    try:
        work.advance(tables)
    except EngineError as error:
        yield work.message("error", {"query": work.session.query, "text": str(error)})
        return
    yield from work.results()
    yield work.message("frontiers", work.frontiers[1:])
    yield work.message("state", work.save())
    yield from store_items(task, engine_round(stage.number), bucket, later)


def apart(
    run: RunTask, stage: StageTask, bucket: int, tables: Sequence[ItemTable]
) -> tuple[list[ItemTable], list[Record]]:
    """Items of this step, and those that arrive after its last query time, if there are many.

    A session would keep these too, several times over: to be judged, counted and sent on. What
    others may subscribe to stays with the session all the same, from which their state comes.
    """
    assert run.clock is not None
    routes = run.plan.routes
    shared = {meeting.entity for meeting in routes.meetings_of(stage.number).values()}
    now: list[ItemTable] = []
    later: list[Record] = []
    for table in tables:
        ahead = np.zeros(0, np.bool_)
        if run.clock.queries and (str(table.kind), table.name, table.arity) not in shared:
            ahead = table.table.column("arrival").to_numpy() > run.clock.queries[-1]
        if np.count_nonzero(ahead) < FEW:
            now.append(table)
            continue
        key, is_owned = table.key, not isinstance(table, Replica)
        label = BlobLabel("items", key.name, key.arity, str(key.kind), str(key.form), is_owned)
        rest = pick(table.table, np.flatnonzero(ahead))
        round, seq = engine_round(stage.number), len(later)
        later.append(routes.record(round, run.number, bucket, seq, label, rest))
        now.append(replace(table, table=table.table.filter(pa.array(~ahead))))
    return [table for table in now if len(table)], later


def refresh_bucket(
    task: StepTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """The subscription refresh of a bucket: what it still needs of others."""
    routes, run = task.run.plan.routes, task.run.number
    needs = BucketStep(task, stage, bucket).needs()
    yield from refresh(routes, run, stage.number, bucket, needs)
    yield message(run, bucket, "rounds", [meeting_round(stage.number)])


def meet_bucket(
    task: StepTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Forward what comes to a stage by joins from its owner to the subscribers."""
    routes, state = task.run.plan.routes, task.state
    records = _in_order(task.waiting(meeting_round(stage.number), bucket), records)
    if not records and not task.refreshes:
        return
    known = Subscriptions()
    if state is not None:
        _, parts = task.store.read_state(stage.number, bucket, state, ("subscriptions",))
        known = Subscriptions.load(parts["subscriptions"])

    def session() -> Session | None:
        return None if state is None else BucketStep(task, stage, bucket).session

    yield from forward_new(
        routes, stage.number, bucket, task.run.number, records, known, task.refreshes, session
    )
    yield message(task.run.number, bucket, "rounds", [engine_round(stage.number)])


def store_items(
    task: StepTask, round: int, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Store the items of a step without query times for a later one."""
    if records:
        task.store.write_items(round, bucket, task.number, _in_order([], records))
        yield message(task.run.number, bucket, "stored", [round, bucket, task.number])


def refuse_items(
    task: StepTask, round: int, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Items that come after the end of the stream."""
    assert task.run.clock is not None
    end, hooks, tally = task.run.clock.queries[-1], task.run.hooks, task.run.hooks.tally()
    text = f"it comes after the end of the stream, {end}"
    for table in tables_of([r for r in records if BlobLabel.load(r.label).what == "items"]):
        if not isinstance(table, Replica):
            rows = range(len(table))
            dropped = [Dropped(table, row, Reason.OUTSIDE_RUN, end, text) for row in rows]
            yield message(task.run.number, bucket, "letters", hooks.letters(dropped))
            tally.beyond(len(table))
    yield message(task.run.number, bucket, "counted", tally.counted())


def _in_order(before: Sequence[Record], records: Sequence[Record]) -> list[Record]:
    """Records of earlier steps and those of this one, numbered anew."""
    listed = [*before, *sorted(records, key=lambda record: record.seq)]
    return [record._replace(seq=number) for number, record in enumerate(listed)]
