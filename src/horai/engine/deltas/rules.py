"""Rules for points, by change: what a rule says because of which point of its driver.

When something else that a rule reads has changed, the points of the driver within reach of it are
asked again: what they said before is taken out (deletion), what they say now is put in (addition).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from horai.engine.bindings import keeps
from horai.engine.columns import Column, codes, ints
from horai.engine.deltas.changes import (
    Changed,
    PointChange,
    Touched,
    touched,
    unmatched,
    within_reach,
)
from horai.engine.deltas.log import Log
from horai.engine.deltas.reading import Asked, Driven, Name
from horai.engine.frames import Frame, unit
from horai.engine.heads import Heads, Said
from horai.engine.relations import Relation, join, joined
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Term, Var
from horai.lang.ec.errors import blaming
from horai.temporal.among import among
from horai.temporal.coalesce import sort_spans
from horai.temporal.spans import Ints

Logs = Mapping[Name, Log]


class RuleDelta:
    """The points that a rule gives, each with the number of the point that drove it."""

    def __init__(self, driven: Driven, symbols: Symbols) -> None:
        self.driven = driven
        self.symbols = symbols
        plan = driven.plan
        self.arity = plan.key[1]
        self.has_value = plan.kind != "event"
        self.form: Term | None = None
        width = self.arity + self.has_value
        nothing = np.empty(0, np.int64)
        columns = (*(codes(nothing) for _ in range(width)), ints(nothing), ints(nothing))
        self._nothing = Relation(columns, 0)
        self.points = Log(self._nothing, symbols)

    def build(self, heads: Heads, logs: Logs) -> Said:
        """Everything, from scratch."""
        whole = logs[self.driven.drives].whole()
        self.points = Log(self._nothing, self.symbols)
        derived = self._say(heads, whole.table, whole.numbers)
        self.points.add(derived)
        return self.said(derived)

    def step(self, heads: Heads, logs: Logs, changed: Changed) -> tuple[Said, Said]:
        """What the rule no longer says, and what it says now and did not before."""
        gone, new = self.exchange(heads, logs, changed)
        return self.said(gone), self.said(new)

    def exchange(self, heads: Heads, logs: Logs, changed: Changed) -> tuple[Relation, Relation]:
        """Take out the points that went and put in those that came; both."""
        driver = changed.get(self.driven.drives)
        log = logs[self.driven.drives]
        again = self._again(log, driver, changed)
        new, numbers = log.rows(again), again
        gone = again
        if isinstance(driver, PointChange):
            gone = np.concatenate((again, driver.gone_numbers))
            if driver.new.rows:
                new, numbers = _both(new, numbers, driver.new, driver.new_numbers, self.symbols)
        heads.asked(len(numbers), len(again))
        old = self._take_out(gone)
        derived = self._say(heads, new, numbers)
        self.points.add(derived)
        # Only points that were asked again can say the same as before.
        return self._without_common(old, derived) if len(again) else (old, derived)

    def said(self, table: Relation) -> Said:
        """Points as heads say them."""
        args, time = table.columns[: self.arity], table.columns[-1].data
        value = table.columns[self.arity].data if self.has_value else None
        return Said(args, time, value, self.form)

    def between(self, keys: list[Column], low: Ints, high: Ints) -> tuple[Ints, Said]:
        """Points of some fluents between two times, each with the question it answers."""
        asked, rows = self.points.between(tuple(range(self.arity)), keys, low, high)
        return asked, self.said(self.points.at(rows)[0])

    def forget(self, until: int) -> None:
        """Drop what lies at or before a time."""
        self.points.forget(until)

    # --- one rule --------------------------------------------------------------------------------

    def _say(self, heads: Heads, table: Relation, numbers: Ints) -> Relation:
        """What the rule says because of some points of its driver."""
        plan = self.driven.plan
        if not table.rows:
            return self._nothing
        with blaming(plan.clause):
            frame, said = heads.points_of(plan, self._solutions(heads, table, numbers))
        if not len(said):
            return self._nothing
        allowed = self._allowed(heads, said)
        self.form = said.form
        value = () if said.value is None else (codes(said.value),)
        columns = (*said.args, *value, frame.columns["@driver"], ints(said.time))
        whole = Relation(columns, len(said))
        return whole if allowed is None else whole.where(allowed)

    def _solutions(self, heads: Heads, table: Relation, numbers: Ints) -> Frame:
        """The solutions of the body for some points of the driver, with their numbers."""
        driver, evaluator = self.driven.driver, heads.evaluator
        frame, terms = evaluator.plain(evaluator.run(self.driven.before, unit()), driver.terms)
        if not frame.rows:
            return Frame(0)
        found = join(frame, table, (*terms, driver.time), self.symbols)
        frame = found.to_frame(keeps(self.driven.needed))
        number = numbers[found.source_rows()]
        frame = Frame(frame.rows, {**frame.columns, "@driver": ints(number)}, frame.lists)
        return evaluator.run(self.driven.rest, frame)

    def _allowed(self, heads: Heads, said: Said) -> Ints | None:
        """Initiations outside of the domain end other values, so they stay."""
        if self.driven.plan.kind == "initiated":
            return None
        allowed = heads.allowed(self.driven.plan.key, said)
        return None if allowed.all() else np.flatnonzero(allowed)

    def _take_out(self, drivers: Ints) -> Relation:
        """Take out what some points of the driver led to."""
        if not len(drivers):
            return self._nothing
        return self.points.remove(self.points.where_driven(drivers))

    def _without_common(self, old: Relation, derived: Relation) -> tuple[Relation, Relation]:
        """What was said before and is not now, and the other way round."""
        if not old.rows or not derived.rows:
            return old, derived
        again = among(derived.columns[-2].data, old.columns[-2].data)
        rows = np.flatnonzero(again)
        left, right = unmatched(old, derived.where(rows), self.symbols)
        new = ~again
        new[rows[right]] = True
        return old.where(left), derived.where(np.flatnonzero(new))

    # --- deletion and addition -------------------------------------------------------------------

    def _again(self, log: Log, driver: object, changed: Changed) -> Ints:
        """The points of the driver that were there before and may now lead to something else."""
        last = driver.last if isinstance(driver, PointChange) else log.last
        found = []
        for asked in self.driven.asked:
            change = changed.get(asked.relation)
            if change:
                found.append(self._within_reach(log, asked, touched(change, self.symbols), last))
        if not found:
            return np.empty(0, np.int64)
        again = np.unique(np.concatenate(found))
        if isinstance(driver, PointChange) and len(driver.new_numbers):
            again = again[again < driver.new_numbers[0]]
        return again

    def _within_reach(self, log: Log, asked: Asked, change: Touched, last: int) -> Ints:
        low, high = within_reach(change, asked.back, asked.ahead)
        old = low <= last
        if not old.any():
            return np.empty(0, np.int64)
        if not old.all():
            change, low, high = change.where(old), low[old], high[old]
        found = join(unit(), change.rows, asked.terms, self.symbols)
        frame = found.to_frame(lambda name: not name.startswith("#"))
        rows = found.source_rows()
        low, high = low[rows], high[rows]
        positions, keys = self._shared(frame)
        if not positions:
            low, high = _coalesced(low, high)
        if not len(low):
            return np.empty(0, np.int64)
        _, rows = log.between(positions, keys, low, high)
        return log.at(rows)[1]

    def _shared(self, frame: Frame) -> tuple[tuple[int, ...], list[Column]]:
        """Columns of the driver that the changed rows give a value to, and the values."""
        positions: list[int] = []
        columns: list[Column] = []
        for position, term in enumerate(self.driven.driver.terms):
            if isinstance(term, Var) and term.name in frame.columns:
                positions.append(position)
                columns.append(frame.columns[term.name])
        return tuple(positions), columns


def _both(
    one: Relation, mine: Ints, other: Relation, theirs: Ints, symbols: Symbols
) -> tuple[Relation, Ints]:
    if not one.rows:
        return other, theirs
    return joined([one, other], symbols), np.concatenate((mine, theirs))


def _coalesced(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Overlapping times as one: without an entity to share, each point is asked once."""
    if not len(low):
        return low, high
    spans = sort_spans(np.zeros(len(low), np.int64), low, high)
    return spans.start, spans.end
