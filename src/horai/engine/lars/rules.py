"""One rule for all query times at once: a join of what its literals read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from horai.engine.columns import Column, ints
from horai.engine.frames import Frame, unit
from horai.engine.lars.plain import (
    Compare,
    Counted,
    Literal,
    Negative,
    PlainRule,
    Positive,
    Reading,
    Total,
    assigned,
)
from horai.engine.lars.values import Values, evaluate, holds, together, totals, whole_numbers
from horai.engine.relations import join
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, fluent_of, no_fluent
from horai.lang.core.terms import Term, Var, is_anonymous
from horai.temporal.algebra import difference, intersection
from horai.temporal.coalesce import sort_spans
from horai.temporal.spans import Mask, Spans

QUERIES = "@queries"  # the list of query times of every row
OUTER = "@outer"  # for which row of the frame something is counted
NOWHERE = -1  # literals of aggregates have no place in the body
Read = Callable[[int, Reading], Fluent]  # what a literal of the body reads


@dataclass(slots=True)
class Running:
    """Rules over the query times from `first` to `last`, on a timeline that begins at `start`."""

    symbols: Symbols
    start: int
    first: int
    last: int

    def said(self, rule: PlainRule, read: Read) -> Fluent:
        """What the head says: arguments, the point if it names one, and the query times."""
        frame = self._begin()
        for place, literal in enumerate(rule.body):
            if not frame.rows:
                return self._nothing(rule)  # later literals would have bound more variables
            frame = self._step(frame, literal, place, read)
        return self._head(rule, frame)

    def _nothing(self, rule: PlainRule) -> Fluent:
        none = np.empty(0, np.int64)
        width = (0 if rule.head is None else len(rule.head.args)) + (rule.time is not None)
        return fluent_of(tuple(ints(none) for _ in range(width)), none, none, 0, self.symbols)

    def _begin(self) -> Frame:
        frame = unit()
        zero = np.zeros(1, np.int64)
        frame.lists[QUERIES] = Spans(zero, zero + self.first, zero + self.last + 1)
        return frame

    def _step(self, frame: Frame, literal: Literal, place: int, read: Read) -> Frame:
        match literal:
            case Positive(reading=reading):
                return self._with(frame, reading, read(place, reading))
            case Negative(reading=reading):
                return self._without(frame, reading, read(place, reading))
            case Compare():
                return self._compared(frame, literal)
            case Total():
                return self._totalled(frame, literal, read)

    def _with(self, frame: Frame, reading: Reading, known: Fluent) -> Frame:
        found = join(frame, known.pairs, reading.terms, self.symbols)
        new = found.to_frame(_is_named)
        there = known.lists(found.source_rows())
        return _at(new, intersection(new.lists[QUERIES], there))

    def _without(self, frame: Frame, reading: Reading, known: Fluent) -> Frame:
        found = join(frame, known.pairs, reading.terms, self.symbols)
        there = known.lists(found.source_rows())
        gone = sort_spans(found.left[there.key], there.start, there.end)
        return _at(frame, difference(frame.lists[QUERIES], gone))

    def _compared(self, frame: Frame, literal: Compare) -> Frame:
        one = literal.comparison
        given = assigned(literal, frame.columns)
        if given is not None:
            variable, term = given
            values = evaluate(term, frame.columns, frame.rows, self.symbols)
            return frame.with_columns({variable.name: values.column}).where(values.valid)
        sides = (
            evaluate(side, frame.columns, frame.rows, self.symbols)
            for side in (one.left, one.right)
        )
        left, right = sides
        true = holds(one.sign, left, right, self.symbols)
        return frame.where(~true & left.valid & right.valid if literal.negated else true)

    def _totalled(self, frame: Frame, literal: Total, read: Read) -> Frame:
        """The rows whose aggregate compares as it should, at the query times at which it does."""
        parts = [self._counted(frame.numbered(OUTER), row, read) for row in literal.rows]
        queries = frame.lists[QUERIES]
        pieces = totals(literal.function, together(parts, self.symbols), queries, self.symbols)
        inner = frame.take(pieces.spans.key)
        given = literal.gives(frame.columns)
        value = Values(pieces.value, pieces.valid)
        if given is not None:
            places = np.arange(inner.rows)
            inner = inner.with_columns({given: pieces.value})
            alone = Spans(places, pieces.spans.start, pieces.spans.end)
            inner = Frame(inner.rows, inner.columns, {**inner.lists, QUERIES: alone})
            return inner.where(pieces.valid)
        bound = evaluate(literal.bound, inner.columns, inner.rows, self.symbols)
        true = holds(literal.sign, value, bound, self.symbols)
        kept = ~true & bound.valid if literal.negated else true
        spans = pieces.spans.where(kept)
        return _at(frame, sort_spans(spans.key, spans.start, spans.end))

    def _counted(self, frame: Frame, row: Counted, read: Read) -> Fluent:
        """The rows of terms of an element: which row of the frame each is for, and when."""
        for literal in row.body:
            if not frame.rows:
                break
            frame = self._step(frame, literal, NOWHERE, read)
        if not frame.rows:
            return no_fluent(1 + len(row.terms))
        columns, valid = self._columns(row.terms, frame)
        spans = frame.lists[QUERIES].where(valid[frame.lists[QUERIES].key])
        taken = tuple(column.take(spans.key) for column in (frame.columns[OUTER], *columns))
        return fluent_of(taken, spans.start, spans.end, len(spans), self.symbols)

    def _head(self, rule: PlainRule, frame: Frame) -> Fluent:
        terms = () if rule.head is None else rule.head.args
        columns, valid = self._columns(terms, frame)
        spans = frame.lists[QUERIES]
        keep = valid[spans.key]
        low, high, rows = spans.start[keep], spans.end[keep], spans.key[keep]
        if rule.time is not None:
            points, good = self._columns((rule.time,), frame)
            time, whole = whole_numbers(points[0].take(rows))
            # A head can speak of points of the timeline only.
            there = good[rows] & whole & (time >= self.start)
            low, high, rows = low[there], high[there], rows[there]
            taken = (*(column.take(rows) for column in columns), ints(time[there]))
            return fluent_of(taken, low, high, len(rows), self.symbols)
        taken = tuple(column.take(rows) for column in columns)
        return fluent_of(taken, low, high, len(rows), self.symbols)

    def _columns(self, terms: tuple[Term, ...], frame: Frame) -> tuple[list[Column], Mask]:
        values = [evaluate(term, frame.columns, frame.rows, self.symbols) for term in terms]
        valid = np.ones(frame.rows, np.bool_)
        for value in values:
            valid &= value.valid
        return [value.column for value in values], valid


def _is_named(name: str) -> bool:
    """Nobody asks again for anonymous variables and parts of patterns."""
    return not name.startswith("#") and not is_anonymous(Var(name))


def _at(frame: Frame, queries: Spans) -> Frame:
    """The rows that hold at some of the query times."""
    frame = Frame(frame.rows, frame.columns, {**frame.lists, QUERIES: queries})
    used = np.zeros(frame.rows, np.bool_)
    used[queries.key] = True
    return frame.where(used)
