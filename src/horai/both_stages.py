"""Stages of a run in two languages: each takes items and what stages before it have found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from horai import io
from horai.both_evaluate import evaluator
from horai.both_log import Log, joined
from horai.both_points import (
    TRUE,
    changed,
    clipped,
    item_table,
    moved,
    points_of,
    span_table,
)
from horai.engine.answer import Part
from horai.engine.columns import bits, constant, terms_of
from horai.engine.deltas.store import FluentStore
from horai.engine.lars.signals import Key, Rows
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of, merged, no_fluent
from horai.io.schema import TableKey
from horai.lang.lars.predicates import derived
from horai.lang.lars.syntax import Program
from horai.lars_wanted import Which
from horai.plan.both import Passing
from horai.plan.lars import classify
from horai.session import Answer, Session
from horai.temporal.spans import INF, Ints
from horai.values import show

_AFTER_ROWS = 1 << 40  # what a description says comes after all rows of its time point


@dataclass(slots=True)
class AtomChange:
    """How the answer of a program has changed at a query time: spans of one predicate."""

    name: str
    fluent: Fluent  # all of it, as known now
    gone: Fluent
    new: Fluent


class ProgramStage:
    """A LARS program at growing query times.

    At each of them, every point of the window is judged by all that is known. Only points that may
    have changed are worked out.
    """

    def __init__(
        self, program: Program, start: int, window: int | None, engine: str, which: Which
    ) -> None:
        self.program = program
        self.symbols = Symbols()
        self.first = self.last = start
        self.first += 1
        self.window = window
        self.evaluator = evaluator(program, self.first, self.symbols, engine, which)
        self.log = Log(self.first, self.symbols)
        self.counts = bool(classify(program).features & {"tuple", "partition"})
        self.feeds: dict[Key, FluentStore] = {}
        self.stores = {
            key: FluentStore(no_fluent(key[1]), self.symbols) for key in sorted(derived(program))
        }
        self.unanswered: list[tuple[int, int]] = []
        self.region = (self.first, start)
        self.before: dict[Key, Fluent] = {}
        self.is_restored = False  # then its engine knows nothing yet

    def advance(
        self, query: int, tables: Iterable[io.ItemTable], feeds: dict[Key, Fluent]
    ) -> list[AtomChange]:
        """Take in rows of events and what a description says, and tell what has changed."""
        border = self.first - 1 if self.window is None else query - self.window
        change = min((self.log.take(table, border, query) for table in tables), default=INF)
        change = min(change, self._fed(feeds, query))
        low = min(change, self.last + 1)
        if self.evaluator.looks_ahead and change < INF:
            low = self.first
        low = max(low, self.first, border + 1)
        goes_on = low > self.last and not self.is_restored
        found = self.evaluator.evaluate(self._rows(low), low, query, goes_on)
        self.is_restored = False
        self.region = (low, query)
        self.last = query
        self.unanswered = [
            *((start, min(end, low)) for start, end in self.unanswered if start < low),
            *found.unanswered,
        ]
        if self.evaluator.reach is not None and self.window is not None:
            self.log.forget(border + 1 - self.evaluator.reach)
        return [
            self._changed(key, found.atoms.get(key, no_fluent(key[1])), low) for key in self.stores
        ]

    def _fed(self, feeds: dict[Key, Fluent], query: int) -> int:
        """Take over what a description says; gives the first point that has changed."""
        change = INF
        for key, fluent in feeds.items():
            store = self.feeds.setdefault(key, FluentStore(no_fluent(key[1]), self.symbols))
            pieces = store.replace(clipped(fluent, self.first, query + 1)).pieces
            change = min(change, int(pieces.start.min(initial=INF)))
        return change

    def _rows(self, low: int) -> dict[Key, Rows]:
        """Rows of the stream and points of what the description says, as far as windows reach."""
        rows = dict(self.log.rows)
        reach = self.evaluator.reach
        for key, store in self.feeds.items():
            seen = clipped(store.public(), self.first if reach is None else low - reach, INF)
            points = points_of(seen)
            size = len(points)
            more = Rows(
                points.args,
                points.time,
                np.full(size, self.first),
                np.full(size, INF),
                self._order(key, seen),
            )
            rows[key] = joined(rows[key], more, self.symbols) if key in rows else more
        return rows

    def _order(self, key: Key, fluent: Fluent) -> Ints:
        """The order of what holds at one point, which only windows that count ask for."""
        spans = fluent.spans
        count = spans.end - spans.start
        if not self.counts:
            return np.full(int(count.sum()), _AFTER_ROWS)
        columns = [terms_of(column, self.symbols) for column in fluent.pairs.columns]
        rows = list(zip(*columns, strict=True)) if columns else [()] * fluent.pairs.rows
        texts = [tuple(map(show, row)) for row in rows]
        ranks = np.empty(len(texts), np.int64)
        ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        names = sorted(self.feeds).index(key)
        return np.repeat(_AFTER_ROWS + (names << 30) + ranks[spans.key], count)

    def _changed(self, key: Key, found: Fluent, low: int) -> AtomChange:
        store = self.stores[key]
        whole = store.public()
        self.before[key] = clipped(whole, low, INF)
        parts = [clipped(whole, self.first, low), found]
        change = store.replace(merged(parts, self.symbols))
        sides = (Fluent(change.pairs, spans) for spans in (change.gone, change.new))
        return AtomChange(key[0], store.public(), *sides)

    def items(self, passing: Iterable[Passing], single: bool) -> list[io.ItemTable]:
        """What has changed, as items of a description; in a single query, whole spans."""
        tables = []
        for one in passing:
            entity, key = one.entity, one.predicate
            kind: io.Kind = "fluent" if one.is_fluent else "event"
            now = clipped(self.stores[key].public(), *self.region_span)
            if single and one.is_fluent:
                form = TableKey(entity.name, entity.arity, kind, "intervals")
                table = span_table(form, now, self.last, self.symbols)
            else:
                old, new = points_of(self.before[key]), points_of(now)
                points, sign = changed(old, new, self.symbols)
                form = TableKey(entity.name, entity.arity, kind, "points")
                table = item_table(form, points, sign, self.last, self.symbols)
            if len(table):
                tables.append(table)
        return tables

    @property
    def region_span(self) -> tuple[int, int]:
        """The points that were worked out last."""
        return self.region[0], self.region[1] + 1


class DescriptionStage:
    """An event description at growing query times."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def advance(self, query: int, tables: Sequence[io.ItemTable]) -> Answer:
        """The answer with more items known than before."""
        return self.session.take(query, tables)

    def feeds(self, passing: Iterable[Passing], symbols: Symbols) -> dict[Key, Fluent]:
        """What it says, as spans of points in the symbols of a program."""
        raw = self.session.answers[-1].raw
        part = raw.part("all")
        found: dict[Key, list[Fluent]] = {}
        for one in passing:
            taken = _of_events(part, one, raw.symbols, symbols)
            if one.is_fluent:
                taken = _of_fluents(part, one, raw.symbols, symbols)
            found.setdefault(one.predicate, []).append(taken)
        return {key: merged(parts, symbols) for key, parts in found.items()}


def _of_events(part: Part, one: Passing, old: Symbols, new: Symbols) -> Fluent:
    parts = [no_fluent(one.entity.arity)]
    for table in part.events:
        if (table.name, len(table.args)) == one.entity.key:
            columns = tuple(moved(column, old, new) for column in table.args)
            parts.append(fluent_of(columns, table.time, table.time + 1, len(table.time), new))
    return merged(parts, new)


def _of_fluents(part: Part, one: Passing, old: Symbols, new: Symbols) -> Fluent:
    parts = [no_fluent(one.entity.arity + one.with_value)]
    for table in part.fluents:
        if (table.name, len(table.args)) != one.entity.key:
            continue
        value = moved(table.value, old, new)
        columns = tuple(moved(column, old, new) for column in table.args)
        there = np.ones(len(table.start), np.bool_)
        if one.with_value:
            columns = (*columns, value)
        else:
            true = constant(TRUE, 1, new)
            there = (bits(value) == true.data[0]) & (value.kind == true.kind)
        kept = tuple(column.take(there) for column in columns)
        start, end = table.start[there], table.end[there]
        parts.append(fluent_of(kept, start, end, int(there.sum()), new))
    return merged(parts, new)
