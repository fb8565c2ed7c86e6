"""The candidates of rules that read their own component, by change."""

from __future__ import annotations

import numpy as np

from horai.engine.columns import Column, codes, codes_of, ints
from horai.engine.deltas.changes import Changed, PointChange
from horai.engine.deltas.cycle_rules import Candidate
from horai.engine.deltas.entities import Entities
from horai.engine.deltas.log import Log
from horai.engine.deltas.rules import Logs, RuleDelta
from horai.engine.frames import Frame
from horai.engine.heads import Heads
from horai.engine.matching import build
from horai.engine.relations import Relation, joined
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term
from horai.lang.ec.errors import blaming
from horai.plan import operators as op
from horai.plan.ec.machine import Column as Brought
from horai.plan.program import Key
from horai.temporal.spans import Ints

Rows = tuple[Ints, Ints]  # times, and what candidates bring along: one row of codes for each


class CandidateDelta(RuleDelta):
    """The candidates of one rule: entity, what they bring along, number of the driver, time."""

    def __init__(self, candidate: Candidate, symbols: Symbols) -> None:
        super().__init__(candidate.driven, symbols)
        self.candidate = candidate
        self.width = len(candidate.entity)
        self._nothing = self._no_points = no_points(
            self.width + len(candidate.brought), driven=True
        )
        self.points = Log(self._nothing, symbols)
        self._asked_again: Ints = np.empty(0, np.int64)

    def begin(self, heads: Heads, logs: Logs) -> None:
        """Everything, from scratch."""
        whole = logs[self.driven.drives].whole()
        self.points = Log(self._nothing, self.symbols)
        self.points.add(self._say(heads, whole.table, whole.numbers))

    def changes(self, heads: Heads, logs: Logs, changed: Changed) -> list[Relation]:
        """Candidates that came, went, or may find something else when it is their turn."""
        self._asked_again = np.empty(0, np.int64)
        found = list(self.exchange(heads, logs, changed))
        if self.candidate.waits and len(self._asked_again):
            found.append(self.points.rows(self.points.where_driven(self._asked_again)))
        return found

    def rows(self, who: Entities | None, low: int, high: int) -> Rows:
        """The candidates of some entities, or of all, after one time and up to another."""
        return rows_of(self.points, self.width, who, low, high, 2)

    def _again(self, log: Log, driver: object, changed: Changed) -> Ints:
        self._asked_again = super()._again(log, driver, changed)
        return self._asked_again

    def _say(self, heads: Heads, table: Relation, numbers: Ints) -> Relation:
        if not table.rows:
            return self._nothing
        plan, evaluator = self.driven.plan, heads.evaluator
        with blaming(plan.clause):
            frame = self._solutions(heads, table, numbers)
            if not frame.rows or plan.time is None:
                return self._nothing
            time = build(plan.time, frame.columns, frame.rows, self.symbols)
            frame = evaluator.whole("#at", frame.with_columns({"#at": time}))
            at = frame.columns["#at"].data
            frame = frame.where((at > heads.low) & (at <= heads.world.query))
            wanted = (*self.candidate.entity, *self.candidate.brought)
            columns = [self._column(heads, one, frame) for one in wanted]
        if not frame.rows:
            return self._nothing
        return Relation((*columns, frame.columns["@driver"], frame.columns["#at"]), frame.rows)

    def _column(self, heads: Heads, wanted: Brought, frame: Frame) -> Column:
        """A term as it is in each row, or whether a condition is true in it."""
        if isinstance(wanted, Term):
            column = build(wanted, frame.columns, frame.rows, self.symbols)
            return codes(codes_of(column, self.symbols))
        chain = op.Chain((wanted,), (frozenset(),), frozenset())
        met = np.zeros(frame.rows, np.int64)
        if frame.rows:
            found = heads.evaluator.run(chain, frame.numbered("@candidate"))
            met[found.columns["@candidate"].data] = 1
        return codes(2 * met + 1)


class HeardDelta:
    """Events of a component that others tell of: candidates that are true already."""

    def __init__(self, key: Key, places: tuple[int, ...], symbols: Symbols) -> None:
        self.key = key
        self.places = places
        self.symbols = symbols
        self.points = Log(no_points(len(places) + key[1]), symbols)

    def begin(self, logs: Logs, cut: int) -> None:
        """All that others have told so far."""
        self.points = Log(no_points(len(self.places) + self.key[1]), self.symbols)
        self.points.add(self._coded(logs["event", self.key].after(cut)))

    def changes(self, changed: Changed) -> list[Relation]:
        """Events that came or went."""
        change = changed.get(("event", self.key))
        if not isinstance(change, PointChange):
            return []
        gone, new = self._coded(change.gone), self._coded(change.new)
        self.points.remove(self.points.numbers_of(gone))
        self.points.add(new)
        return [gone, new]

    def rows(self, who: Entities | None, low: int, high: int) -> Rows:
        """The events of some entities, or of all, after one time and up to another."""
        return rows_of(self.points, len(self.places), who, low, high, 1)

    def forget(self, until: int) -> None:
        """Drop what lies at or before a time."""
        self.points.forget(until)

    def _coded(self, points: Relation) -> Relation:
        *args, time = points.columns
        coded = [codes(codes_of(column, self.symbols)) for column in args]
        return Relation((*(coded[place] for place in self.places), *coded, time), points.rows)


def rows_of(log: Log, width: int, who: Entities | None, low: int, high: int, after: int) -> Rows:
    """What rows of a log bring along, between their entity and their last columns."""
    if who is None:
        whole = log.whole().table
        time = whole.columns[-1].data
        table = whole.where((time > low) & (time <= high))
    else:
        size = who.size
        bounds = np.full(size, low + 1), np.full(size, high + 1)
        _, rows = log.between(tuple(range(width)), who.columns(), *bounds)
        table, _ = log.at(rows)
    brought = [column.data for column in table.columns[width : len(table.columns) - after]]
    matrix = np.empty((table.rows, len(brought)), np.int64)
    for place, data in enumerate(brought):
        matrix[:, place] = data
    return table.columns[-1].data, matrix


def no_points(width: int, driven: bool = False) -> Relation:
    """No rows of so many codes, perhaps the number of a driver, and a time."""
    empty = np.empty(0, np.int64)
    numbers = (ints(empty),) if driven else ()
    return Relation((*(codes(empty) for _ in range(width)), *numbers, ints(empty)), 0)


def touched_times(
    points: list[Relation], stretches: list[Relation], width: int, symbols: Symbols
) -> tuple[list[Ints], Ints, Ints]:
    """The entities that some rows are about, and from when to when.

    The last column of `points` is a time, the last two of `stretches` are the first and the last.
    """
    tables = [
        Relation((*part.columns[:width], part.columns[-1], part.columns[-1]), part.rows)
        for part in points
    ]
    if not tables and not stretches:
        nobody = np.empty(0, np.int64)
        return [nobody] * width, nobody, nobody
    columns = [column.data for column in joined([*tables, *stretches], symbols).columns]
    return columns[:width], columns[width], columns[width + 1]
