"""A bucket from one step of a stream to the next: its session rests in a file in between."""

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
from horai.runtime.bucket import Guest, Work, first_changes, tables_of
from horai.runtime.checkpoint import Store
from horai.runtime.records import BlobLabel, Record, pick
from horai.runtime.routes import engine_round, meeting_round
from horai.runtime.savepoint import table_key
from horai.runtime.subscriptions import (
    Subscriptions,
    asked_of,
    forget_others,
    gather,
    has_waited,
    is_state,
    needs_of,
    say,
    take_over,
)
from horai.runtime.tasks import RunTask, StageTask

FEW = 10_000  # items that may as well wait in a session


@dataclass(slots=True)
class StepTask:
    """A step of a stream, as buckets have to know it.

    `number` is that of the step, `state` that of the one whose state it goes on from. `finals`
    tell, stage by stage, up to where what is given to it at each query time is final.
    """

    run: RunTask
    store: Store
    number: int
    state: int | None
    items: list[tuple[int, int, int]]
    ends: bool = False
    renews: bool = False  # do buckets say whom they still ask for?
    finals: dict[int, list[int]] = field(default_factory=dict)

    def only(self, stage: int) -> StepTask:
        """What the buckets of one stage have to know."""
        items = [file for file in self.items if file[0] // 2 == stage]
        return replace(self, run=self.run.only(stage), items=items)

    def waiting(self, round: int, bucket: int) -> list[Record]:
        """The items of a bucket that no query time has asked for yet, in their order."""
        files = [file for file in self.items if file[:2] == (round, bucket)]
        return [record for file in sorted(files) for record in self.store.read_items(*file)]


class Resident(Work):
    """A session that goes on, and what comes of it in a step."""

    def __init__(self, task: StepTask, stage: StageTask, bucket: int) -> None:
        assert task.run.clock is not None
        super().__init__(task.run, stage, task.run.clock, bucket)
        self.task = task
        self.asked = Subscriptions().dump()  # who has asked for what is at home here
        self.finals = [self.session.start]  # what was said at each query time to be final
        if task.state is not None:
            about, parts = task.store.read_state(stage.number, bucket, task.state)
            self.session.restore(parts["session"])
            self.tally.wait_for(np.frombuffer(parts["waiting"], "<i8").reshape(3, -1))
            self.asked = parts["asked"]
            self.finals = [about["final"]]

    def needs(self) -> Subscriptions:
        """Whom the bucket still asks for, after the step before."""
        number = self.stage.number
        waiting = tables_of(self.task.waiting(engine_round(number), self.bucket))
        return needs_of(self.run.plan.routes, number, self.bucket, self.session, waiting)

    def forget_others(self) -> None:
        """Forget those whom the bucket does not ask for any longer."""
        routes, number = self.run.plan.routes, self.stage.number
        forget_others(routes, number, self.bucket, self.session, self.needs())

    def take_over(self, records: Sequence[Record]) -> None:
        """Know what others have known of those that this bucket asks for from now on."""
        take_over(self.run.plan.routes, self.session, records)
        self.asked = asked_of(records) or self.asked

    def advance(self, tables: Sequence[ItemTable]) -> None:
        """Ask at the query times of the step."""
        session, queries = self.session, self.clock.queries
        given = self.task.finals.get(self.stage.number)
        previous = None if session.query == session.start else session.query
        for place, (query, new) in enumerate(
            zip(queries, by_arrival(tables, queries), strict=True)
        ):
            session.given_final = None if given is None else given[place]
            self.ask(query, new, previous)
            self.finals.append(session.final_of(self.stage.sends))
            previous = query
        if self.task.ends:
            self.finish()

    def at_home(self, dropped: Sequence[Dropped]) -> list[Dropped]:
        """What is judged here. What waits came here when there were fewer groups, maybe."""
        routes = self.run.plan.routes
        return [
            one
            for one in super().at_home(dropped)
            if not self.stage.is_split
            or int(routes.homes(table_key(one.origin), one.item.table)[0]) == self.bucket
        ]

    def keep(self) -> int:
        """Write the state after the step; returns its size."""
        about = {"query": self.session.query, "final": self.finals[-1]}
        parts = {
            "session": self.session.save(),
            "waiting": self.tally.waiting().astype("<i8").tobytes(),
            "asked": self.asked,
        }
        task = self.task
        return task.store.write_state(self.stage.number, self.bucket, task.number, about, parts)

    def reach(self, key: TableKey, table: pa.Table) -> int:
        """Nothing: later stages know how far back changes may lie. Here that is looked after."""
        start = self.session.start
        before = np.array([FOREVER if f <= start else f for f in self.finals[:-1]], np.int64)
        arrival, first = first_changes(key, table)
        wrong = first <= before[np.searchsorted(self.clock.queries, arrival)]
        if wrong.any():
            raise AssertionError(f"{key.name}/{key.arity} changed before what was final")
        return 0


def advance_bucket(
    task: StepTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """What a stage finds in a bucket in a step; its new state is kept."""
    if not stage.is_split and bucket:
        return
    work = Resident(task, stage, bucket)
    if task.renews and task.run.plan.routes.meetings_of(stage.number):
        work.forget_others()
    work.take_over([record for record in records if is_state(record)])
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
    yield work.message("finals", work.finals[1:])
    yield work.message("state", work.keep())
    yield from keep_items(task, engine_round(stage.number), bucket, later)


def apart(
    run: RunTask, stage: StageTask, bucket: int, tables: Sequence[ItemTable]
) -> tuple[list[ItemTable], list[Record]]:
    """Items of this step, and those that arrive after its last query time, if there are many.

    A session would keep these too, several times over: to be judged, counted and told. What others
    may begin to ask for stays with the session all the same, which is who answers.
    """
    assert run.clock is not None
    routes = run.plan.routes
    lent = {meeting.entity for meeting in routes.meetings_of(stage.number).values()}
    now: list[ItemTable] = []
    later: list[Record] = []
    for table in tables:
        ahead = np.zeros(0, np.bool_)
        if run.clock.queries and (str(table.kind), table.name, table.arity) not in lent:
            ahead = table.table.column("arrival").to_numpy() > run.clock.queries[-1]
        if np.count_nonzero(ahead) < FEW:
            now.append(table)
            continue
        key, home = table.key, not isinstance(table, Guest)
        label = BlobLabel("items", key.name, key.arity, str(key.kind), str(key.form), home)
        rest = pick(table.table, np.flatnonzero(ahead))
        round, seq = engine_round(stage.number), len(later)
        later.append(routes.record(round, run.number, bucket, seq, label, rest))
        now.append(replace(table, table=table.table.filter(pa.array(~ahead))))
    return [table for table in now if len(table)], later


def ask_anew(
    task: StepTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """A bucket says whom it still asks for."""
    routes, run = task.run.plan.routes, task.run.number
    needs = Resident(task, stage, bucket).needs()
    yield from say(routes, run, stage.number, bucket, needs)
    yield message(run, bucket, "rounds", [meeting_round(stage.number)])


def meet_bucket(
    task: StepTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """What comes to a stage by joins goes on from the bucket where it is at home."""
    routes, state = task.run.plan.routes, task.state
    records = _in_order(task.waiting(meeting_round(stage.number), bucket), records)
    if not records and not task.renews:
        return
    known = Subscriptions()
    if state is not None:
        _, parts = task.store.read_state(stage.number, bucket, state, ("asked",))
        known = Subscriptions.load(parts["asked"])

    def session() -> Session | None:
        return None if state is None else Resident(task, stage, bucket).session

    yield from gather(
        routes, stage.number, bucket, task.run.number, records, known, task.renews, session
    )
    yield message(task.run.number, bucket, "rounds", [engine_round(stage.number)])


def keep_items(
    task: StepTask, round: int, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Items of a step without query times wait for a later one."""
    if records:
        task.store.write_items(round, bucket, task.number, _in_order([], records))
        yield message(task.run.number, bucket, "kept", [round, bucket, task.number])


def refuse_items(
    task: StepTask, round: int, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """Items that come after the end of the stream."""
    assert task.run.clock is not None
    end, hooks, tally = task.run.clock.queries[-1], task.run.hooks, task.run.hooks.tally()
    text = f"it comes after the end of the stream, {end}"
    for table in tables_of([r for r in records if BlobLabel.load(r.label).what == "items"]):
        if not isinstance(table, Guest):
            rows = range(len(table))
            dropped = [Dropped(table, row, Reason.OUTSIDE_RUN, end, text) for row in rows]
            yield message(task.run.number, bucket, "letters", hooks.letters(dropped))
            tally.beyond(len(table))
    yield message(task.run.number, bucket, "counted", tally.counted())


def _in_order(before: Sequence[Record], records: Sequence[Record]) -> list[Record]:
    """Records of earlier steps and those of this one, numbered anew."""
    listed = [*before, *sorted(records, key=lambda record: record.seq)]
    return [record._replace(seq=number) for number, record in enumerate(listed)]
