"""The reference engine with columns at both ends: items from tables, answers to tables."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np

from horai import io
from horai.engine.answer import Answer, EventTable, FluentTable, Part, Which
from horai.engine.columns import Column, column_of
from horai.engine.errors import EngineError
from horai.engine.origins import Dropped, Reason
from horai.engine.symbols import Symbols
from horai.lang.ec.syntax import EventDescription
from horai.lang.terms import Term, children, functor, make
from horai.oracle import items as oracle_items
from horai.oracle.errors import OracleError
from horai.oracle.session import Happening, Span
from horai.oracle.session import Session as Oracle
from horai.predicates import Predicate
from horai.temporal.spans import INF
from horai.values import to_term

_Row = TypeVar("_Row", Span, Happening)


class Session:
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
        incremental: str = "auto",  # everything is worked out from scratch, whatever is said here
    ) -> None:
        self.tick = tick
        self.archive = archive
        self._symbols = Symbols()
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
        items = [item for table in tables for item in engine_items(table, self.tick)]
        try:
            found = self._oracle.advance(until, items)
        except OracleError as error:
            raise EngineError(str(error)) from error
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
        """All that the session knows."""
        return pickle.dumps(self._oracle.state())

    def restore(self, saved: bytes) -> None:
        """Take up the run that was saved."""
        try:
            state = pickle.loads(saved)
        except Exception as error:  # a damaged pickle may raise anything
            raise EngineError("this is no saved session that can be read") from error
        self._oracle.restore(state)

    def _part(self, spans: Iterable[Span], events: Iterable[Happening]) -> Part:
        fluents = [
            FluentTable(
                name,
                self._args([fluent for fluent, _, _ in rows], arity),
                column_of([value for _, value, _ in rows], self._symbols),
                np.array([start for _, _, (start, _) in rows], np.int64),
                np.array([_end(end) for _, _, (_, end) in rows], np.int64),
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


def engine_items(table: io.ItemTable, tick: int) -> Iterator[oracle_items.Item]:
    """The rows of a table as the reference engine takes them, each marked with its place."""
    for place, row in enumerate(table.items()):
        entity = make(row.name, *(to_term(arg) for arg in row.args))
        value = None if row.value is None else to_term(row.value)
        end: float = float("inf") if row.end is None else row.end
        if row.form == "points":
            # A value at a point holds until the next point; an event has no length.
            end = row.start if value is None else row.start + tick - row.start % tick
        mark = (table, place)
        yield oracle_items.Item(entity, value, row.start, end, row.arrival, row.op < 0, mark)


def _dropped(found: Iterable[oracle_items.Dropped]) -> list[Dropped]:
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


def _end(end: int | float) -> int:
    return INF if end >= INF else int(end)
