"""The run of one stage in one bucket: a session over its entities, and the tables that it finds."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa

from horai.engine.answer import Answer, EventTable, FluentTable, Part
from horai.engine.columns import Column, concat
from horai.engine.origins import Dropped
from horai.engine.staged import StagedSession, rows_of_event, rows_of_fluent
from horai.engine.symbols import Symbols
from horai.io.items.tables import ItemTable, by_arrival
from horai.io.letters import DeadLetter
from horai.io.schema import TableKey
from horai.io.terms import META, SYMBOLS
from horai.lang.core.printer import show
from horai.lang.core.terms import Constant
from horai.lang.ec.errors import EngineError
from horai.lang.ec.syntax import EventDescription
from horai.runtime.hashing import Hashes, combined, hash_column
from horai.runtime.records import ANSWERS, DRIVER, BlobLabel, Record, Rows, joined, plain, unpacked
from horai.runtime.routes import Entity, Routes, engine_round
from horai.runtime.tasks import Clockwork, Ownership, RunTask, StageTask

Table = FluentTable | EventTable
OPEN = np.iinfo(np.int64).max
# The rows of a table that a bucket owns, None for all.
Owned = Callable[[Entity, Table], Rows | None]


def entity_of(table: Table) -> Entity:
    """The entity of a table."""
    kind = "fluent" if isinstance(table, FluentTable) else "event"
    return kind, table.name, len(table.args)


def only(part: Part, owned: Owned) -> Part:
    """The rows of a part of an answer that a bucket owns."""
    fluents: list[FluentTable] = []
    events: list[EventTable] = []
    for fluent in part.fluents:
        rows = owned(entity_of(fluent), fluent)
        if rows is None or len(rows):
            fluents.append(fluent if rows is None else rows_of_fluent(fluent, rows))
    for event in part.events:
        rows = owned(entity_of(event), event)
        if rows is None or len(rows):
            events.append(event if rows is None else rows_of_event(event, rows))
    return Part(fluents, events)


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

    def tables(self) -> Iterator[tuple[TableKey, pa.Table]]:
        """One table of items for each entity; they arrive at the query times."""
        for (kind, name, arity), rows in self.rows.items():
            if kind == "fluent":
                yield TableKey(name, arity, "fluent", "intervals"), self._table(arity, rows)
            else:
                yield TableKey(name, arity, "event", "points"), self._table(arity, rows)

    def _table(self, arity: int, rows: list[tuple[int, int, Table]]) -> pa.Table:
        tables = [table for _, _, table in rows]
        starts = [t.start if isinstance(t, FluentTable) else t.time for t in tables]
        lengths = [len(start) for start in starts]
        columns: list[tuple[pa.Field, pa.Array]] = []

        def number(name: str, type_: pa.DataType, data: object) -> None:
            columns.append((pa.field(name, type_), pa.array(data, type_)))

        number("op", pa.int8(), np.repeat([op for _, op, _ in rows], lengths))
        number("arrival", pa.int64(), np.repeat([query for query, _, _ in rows], lengths))
        number("start", pa.int64(), np.concatenate(starts))
        fluents = [table for table in tables if isinstance(table, FluentTable)]
        if fluents:
            ends = np.concatenate([table.end for table in fluents])
            array = pa.array(ends, pa.int64(), mask=ends == OPEN)
            columns.append((pa.field("end", pa.int64()), array))
            columns.append(self._terms("value", concat((t.value for t in fluents), self.symbols)))
        for place in range(arity):
            column = concat((table.args[place] for table in tables), self.symbols)
            columns.append(self._terms(f"a{place}", column))
        nowhere = pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(sum(lengths), np.int32)), pa.array([""], pa.string())
        )
        columns.append((pa.field("file", SYMBOLS), nowhere))
        number("line", pa.int64(), np.zeros(sum(lengths), np.int64))
        schema = pa.schema([field for field, _ in columns])
        return pa.Table.from_arrays([array for _, array in columns], schema=schema)

    def _terms(self, name: str, column: Column) -> tuple[pa.Field, pa.Array]:
        kind, array = term_array(column, self.symbols)
        return pa.field(name, array.type, metadata={META: kind}), array


def term_array(column: Column, symbols: Symbols) -> tuple[bytes, pa.Array]:
    """A column of an engine as one of items, with its kind."""
    if column.kind != "term":
        return column.kind.encode(), pa.array(column.data)
    codes, places = np.unique(column.data, return_inverse=True)
    terms = [symbols.term(code) for code in codes.tolist()]
    atoms = [term.name for term in terms if isinstance(term, Constant)]
    is_atoms = len(atoms) == len(terms)
    texts = atoms if is_atoms else [show(term) for term in terms]
    array = pa.DictionaryArray.from_arrays(
        pa.array(places.astype(np.int32)), pa.array(texts, pa.string())
    )
    return b"atom" if is_atoms else b"term", array


def reach(key: TableKey, table: pa.Table) -> int:
    """How far before its query time a change lies, at most."""
    arrival, first = first_changes(key, table)
    return int((arrival - first).max(initial=0)) + 1


def first_changes(key: TableKey, table: pa.Table) -> tuple[Rows, Rows]:
    """For every row its query time, and the first time-point that it changes.

    An interval that is given again with another end has changed only from the earlier of the two
    ends on.
    """
    arrival, start = (table.column(name).to_numpy() for name in ("arrival", "start"))
    if key.kind == "fluent" and table.num_rows > 1:
        return arrival, _first_differences(key, table, arrival, start)
    return arrival, start


def _first_differences(key: TableKey, table: pa.Table, arrival: Rows, start: Rows) -> Rows:
    end = table.column("end").fill_null(OPEN).to_numpy()
    names = [*(f"a{place}" for place in range(key.arity)), "value"]
    codes = [_codes(table.column(name)) for name in names]
    order = np.lexsort((table.column("op").to_numpy(), *codes, start, arrival))
    same = np.ones(len(order) - 1, np.bool_)
    for column in (*codes, start, arrival):
        same &= column[order[1:]] == column[order[:-1]]
    # At one query time there is one interval that begins at a point before, and one after.
    first = start.copy()
    both = np.flatnonzero(same)
    shorter = np.minimum(end[order[both]], end[order[both + 1]])
    first[order[both]] = shorter
    first[order[both + 1]] = shorter
    return np.minimum(first, arrival)


def _codes(column: pa.ChunkedArray) -> Rows:
    array = column.chunk(0)
    if pa.types.is_dictionary(array.type):
        found: Rows = array.indices.to_numpy(zero_copy_only=False)
        return found
    encoded: Rows = array.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    return encoded


REPLICA = "\0replica"  # as a file: that of replicas


@dataclass(frozen=True)
class Replica(ItemTable):
    """Items that their owner judges and counts. Those that wait are known by their file."""

    @classmethod
    def of(cls, items: ItemTable) -> Replica:
        """Items as replicas."""
        rows = len(items)
        file = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), [REPLICA])
        place = items.table.schema.get_field_index("file")
        table = items.table.set_column(place, items.table.schema.field(place), file)
        return cls(*items.key, table)


def run_bucket(
    run: RunTask, stage: StageTask, bucket: int, records: Sequence[Record]
) -> Iterator[Record]:
    """The results of a stage in a bucket: answers, changes for later stages, dead letters."""
    assert run.clock is not None
    if not stage.is_split and bucket:
        return
    work = StageRun(run, stage, run.clock, bucket)
    try:
        work.advance(tables_of(records))
    except EngineError as error:
        query = work.session.query
        yield work.message("error", {"query": query, "text": str(error)})
        return
    yield from work.results()


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


_descriptions: OrderedDict[tuple[str, ...], EventDescription] = OrderedDict()
MOST_DESCRIPTIONS = 8  # descriptions that a worker knows; the engine keeps plans for as many


def _known(stage: StageTask, predicates: Mapping[str, object]) -> EventDescription:
    """The description that a worker has met before, for which the engine has a plan."""
    key = (stage.fingerprint, *sorted(predicates))
    if key not in _descriptions:
        _descriptions[key] = stage.description.open()
    found = _descriptions[key]
    _descriptions.move_to_end(key)
    if len(_descriptions) > MOST_DESCRIPTIONS:
        _descriptions.popitem(last=False)
    return found


def session_of(run: RunTask, stage: StageTask, clock: Clockwork) -> StagedSession:
    """A session of a stage that knows nothing yet."""
    session = StagedSession(
        _known(stage, run.predicates),
        given=[(kind, (name, arity)) for kind, name, arity in stage.given],  # type: ignore[misc]
        memory=run.reaches.get(stage.number, 0),
        start=clock.start,
        window=clock.window,
        tick=clock.tick,
        allen_memory=clock.allen_memory,
        predicates=run.predicates,
        archive="final" in run.forms,
        incremental=run.incremental,
    )
    if not run.include_input:
        session.hide_input()
    return session


class StageRun:
    """A session of a stage in a bucket, and its results."""

    def __init__(self, run: RunTask, stage: StageTask, clock: Clockwork, bucket: int) -> None:
        self.run, self.stage, self.clock, self.bucket = run, stage, clock, bucket
        self.session = session_of(run, stage, clock)
        self.symbols: Symbols = self.session.symbols
        self.tally = run.hooks.tally()
        self.letters: list[DeadLetter] = []
        self.seconds = 0.0  # that the engine was at work
        self.found = {form: Collected(self.symbols) for form in run.forms}
        self.sent = Collected(self.symbols)
        self._owned = partial(owned, self.stage, self.symbols, run.plan.routes, bucket)

    def advance(self, tables: Sequence[ItemTable]) -> None:
        """Answer at all query times."""
        queries, previous = self.clock.queries, None
        for query, new in zip(queries, by_arrival(tables, queries), strict=True):
            self.answer(query, new, previous)
            previous = query
        self.finish()

    def answer(self, query: int, new: Sequence[ItemTable], previous: int | None) -> None:
        """Answer at a query time, with items that are new since the one before."""
        began = time.perf_counter()
        answer = self.session.advance(query, new)
        dropped = self.judged_here(answer.dropped)
        self.tally.judge([t for t in new if not isinstance(t, Replica)], dropped, query, previous)
        self.letters.extend(self.run.hooks.letters(dropped))
        self._take(answer)
        self.seconds += time.perf_counter() - began

    def finish(self) -> None:
        """The run is over."""
        left_over = self.judged_here(self.session.finish())
        self.tally.finish(len(left_over))
        self.letters.extend(self.run.hooks.letters(left_over))

    def judged_here(self, dropped: Sequence[Dropped]) -> list[Dropped]:
        """The dropped items that this bucket owns."""
        return [one for one in dropped if one.file != REPLICA]

    def _take(self, answer: Answer) -> None:
        """Collect an answer in the forms that the run gives, and for later stages."""
        query = answer.query
        if "final" in self.found and query == self.clock.queries[-1]:
            self.found["final"].add(self._own(answer.part("all")), query)
        if "windows" in self.found:
            part = self._own(answer.part("window"))
            self.found["windows"].add(self.session.in_window(part), query)
        if "changelog" in self.found or self.stage.sends:
            for op, part in ((-1, answer.part("gone")), (1, answer.part("new"))):
                own = self._own(part)
                if "changelog" in self.found:
                    self.found["changelog"].add(own, query, op)
                self.sent.add(only(own, self._wanted), query, op)

    def _own(self, part: Part) -> Part:
        return only(part, self._owned)

    def _wanted(self, entity: Entity, table: Table) -> Rows | None:
        return None if entity in self.stage.sends else np.zeros(0, np.int64)

    def results(self) -> Iterator[Record]:
        """Answers, rows for later stages, and messages for the driver."""
        routes, number = self.run.plan.routes, self.run.number
        rounds: set[int] = set()
        rows: dict[str, int] = {}
        for form, collected in self.found.items():
            for key, table in collected.tables():
                label = BlobLabel(form, key.name, key.arity, key.kind, key.form)
                rounds.add(ANSWERS)
                rows[key.kind] = rows.get(key.kind, 0) + table.num_rows
                yield routes.record(ANSWERS, number, self.bucket, self.bucket, label, table)
        far = 0
        for key, table in self.sent.tables():
            far = max(far, self.reach(key, table))
            after = engine_round(self.stage.number)
            for record in routes.send(number, self.bucket, key, table, "given", after):
                rounds.add(record.round)
                yield record
        yield self.message("rounds", sorted(rounds))
        yield self.message("found", rows)
        if far:
            yield self.message("reach", far)
        if self.letters:
            yield self.message("letters", self.letters)
        yield self.message("counted", self.tally.counted())
        yield self.message("took", self.seconds)

    def reach(self, key: TableKey, table: pa.Table) -> int:
        """How far before its query time a change lies that is sent to later stages."""
        return reach(key, table)

    def message(self, what: str, content: object) -> Record:
        """A message for the driver."""
        slot = self.run.plan.routes.slot(self.run.number, self.bucket)
        label = BlobLabel(what, number=self.stage.number).dump()
        return Record(
            DRIVER, slot, self.run.number, self.bucket, self.bucket, label, plain(content)
        )


def owned(
    stage: StageTask,
    symbols: Symbols,
    routes: Routes,
    bucket: int,
    entity: Entity,
    table: Table,
) -> Rows | None:
    """The rows of a table that belong to a bucket, None for all."""
    owner = stage.owners.get(entity)
    if owner is None and stage.known is not None and entity not in stage.known:
        owner = Ownership(whole=routes.rest.whole)
    if owner is None:
        return np.zeros(0, np.int64)
    if not owner.is_split:
        return None
    found = np.flatnonzero(routes.bucket(_hashes(owner, symbols, table)) == bucket)
    return None if len(found) == len(_times(table)) else found


def _times(table: Table) -> Rows:
    return table.start if isinstance(table, FluentTable) else table.time


def _hashes(owner: Ownership, symbols: Symbols, table: Table) -> Hashes:
    if owner.place is not None:
        return hash_column(table.args[owner.place[0]], symbols, owner.place[1:])
    hashes = [hash_column(column, symbols) for column in table.args]
    return combined(hashes, len(_times(table)))
