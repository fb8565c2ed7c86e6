"""The reference engine with columns at both ends: items from tables, answers to tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from horai import io
from horai.engine.admission import Dropped, Reason, source_of, source_state
from horai.engine.answer import Answer, EventTable, FluentTable, Part, Which
from horai.engine.columns import Column, column_of
from horai.engine.packing import Packer, Unpacker, readable
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term, children, functor, make
from horai.lang.ec.syntax import EventDescription
from horai.oracle.ec import session as oracle_items
from horai.oracle.ec.session import Happening, Span
from horai.oracle.ec.session import OracleSession as Oracle
from horai.predicates import Predicate
from horai.runtime.inputs import item_table_of
from horai.runtime.values import to_term
from horai.temporal.spans import INF

NAME = "horai reference session 1"
_Row = TypeVar("_Row", Span, Happening)


class ReferenceEngine:
    """A run of the reference engine."""

    def __init__(
        self,
        description: EventDescription,
        *,
        start: int,
        window: int | None,
        tick: int,
        allen_memory: int | None,
        predicates: Mapping[str, Predicate],
        archive: bool = True,
    ) -> None:
        self.tick = tick
        self.archive = archive
        self._symbols = Symbols()
        self._log: list[tuple[int, Sequence[io.ItemTable]]] = []  # query times, and what came
        self._answered = 0  # so many of them had an answer: a rule may fail
        self._oracle = Oracle(
            description,
            start=start,
            window=window,
            tick=tick,
            allen_memory=allen_memory,
            predicates=predicates,
        )

    def advance(self, until: int, tables: Sequence[io.ItemTable]) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        self._log.append((until, tables))
        found = self._oracle.advance(until, self._items(tables))
        self._answered = len(self._log)
        parts: dict[Which, Callable[[], Part]] = {
            "window": lambda: self._part(_spans(found.spans), _happenings(found.events)),
            "all": lambda: self._part(_spans(found.all_spans), _happenings(found.all_events)),
            "new": lambda: self._part(found.new_spans, found.new_events),
            "gone": lambda: self._part(found.gone_spans, found.gone_events),
        }
        if not self.archive:
            del parts["all"]
        return Answer(until, self._symbols, _dropped(found.dropped), parts)

    def finish(self) -> Sequence[Dropped]:
        """Items that never came to count."""
        return _dropped(self._oracle.finish())

    def save(self) -> bytes:
        """All that was ever given to the session: plain data, from which it is worked out again."""
        log = [(until, [source_state(table) for table in came]) for until, came in self._log]
        state = {"log": log, "answered": self._answered}
        return Packer(self._symbols).bytes(NAME, state)

    def restore(self, saved: bytes) -> None:
        """Take up the run that was saved: take in what came, and answer the last query again."""
        with readable():
            state = Unpacker(NAME, saved, self._symbols).whole()
            for until, came in state["log"]:
                tables = [item_table_of(source_of(table)) for table in came]
                self._log.append((until, tables))
            self._answered = state["answered"]
            self._replay()

    def _replay(self) -> None:
        oracle = self._oracle
        stream, known, query = oracle.state()
        for number, (until, tables) in enumerate(self._log, 1):
            query = until
            stream.admit(self._items(tables), until)
            if number == self._answered:
                known = oracle.interpreter.evaluate(stream.occurrences(), oracle.start, until)
        oracle.restore((stream, known, query))

    def _items(self, tables: Sequence[io.ItemTable]) -> list[oracle_items.OracleItem]:
        return [item for table in tables for item in engine_items(table, self.tick)]

    def _part(self, spans: Iterable[Span], events: Iterable[Happening]) -> Part:
        fluents = [
            FluentTable(
                name,
                self._args([fluent for fluent, _, _ in rows], arity),
                column_of([value for _, value, _ in rows], self._symbols),
                np.array([start for _, _, (start, _) in rows], np.int64),
                np.array([min(end, INF) for _, _, (_, end) in rows], np.int64),
            )
            for (name, arity), rows in _by_entity(spans)
        ]
        happenings = [
            EventTable(
                name,
                self._args([event for event, _ in rows], arity),
                np.array([time for _, time in rows], np.int64),
            )
            for (name, arity), rows in _by_entity(events)
        ]
        return Part(fluents, happenings)

    def _args(self, entities: Sequence[Term], arity: int) -> tuple[Column, ...]:
        rows = [children(entity) for entity in entities]
        return tuple(column_of([row[i] for row in rows], self._symbols) for i in range(arity))


def engine_items(table: io.ItemTable, tick: int) -> Iterator[oracle_items.OracleItem]:
    """The rows of a table as the reference engine takes them, each marked with its place."""
    for place, row in enumerate(table.items()):
        entity = make(row.name, *(to_term(arg) for arg in row.args))
        value = None if row.value is None else to_term(row.value)
        end: float = float("inf") if row.end is None else row.end
        if row.form == "points":
            # A value at a point holds until the next point; an event has no length.
            end = row.start if value is None else row.start + tick - row.start % tick
        mark = (table, place)
        yield oracle_items.OracleItem(entity, value, row.start, end, row.arrival, row.op < 0, mark)


def _dropped(found: Iterable[oracle_items.RefusedItem]) -> list[Dropped]:
    letters = []
    for dropped in found:
        assert isinstance(dropped.item.tag, tuple)
        table, row = dropped.item.tag
        reason = Reason(str(dropped.reason))
        letters.append(Dropped(table, row, reason, dropped.query, dropped.text))
    return letters


def _spans(spans: Mapping[tuple[Term, Term], Iterable[tuple[int, int | float]]]) -> Iterator[Span]:
    for (fluent, value), intervals in spans.items():
        yield from ((fluent, value, interval) for interval in intervals)


def _happenings(events: Mapping[Term, Iterable[int]]) -> Iterator[Happening]:
    for event, times in events.items():
        yield from ((event, time) for time in times)


def _by_entity(rows: Iterable[_Row]) -> Iterable[tuple[tuple[str, int], list[_Row]]]:
    """Rows by the name and arity of their first term."""
    groups: dict[tuple[str, int], list[_Row]] = {}
    for row in rows:
        key = functor(row[0])
        assert key is not None, f"{row[0]} is no event and no fluent"
        groups.setdefault(key, []).append(row)
    return groups.items()
