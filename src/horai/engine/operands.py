"""Interval lists that are computed inside a rule and looked at as intervals.

A duration or an Allen relation asks for whole intervals. Those of a fluent keep their true starts
when windows pass; those of a list computed on the way would lose them with what made them.
So the part of such a list that reaches over the cut is remembered by the bindings of its row.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from horai.engine.columns import codes_of
from horai.engine.frames import Frame
from horai.engine.hashing import build, first
from horai.engine.memory import known_rows
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent
from horai.lang.core.terms import Term, Var
from horai.plan import operators as op
from horai.temporal.algebra import union
from horai.temporal.spans import Spans

Remembered = tuple[Fluent, Relation]  # the lists by row, and all rows there were


class Operands:
    """The lists of one rule: what is remembered of them, and what they are now."""

    def __init__(
        self,
        steps: tuple[op.Operator, ...],
        held: Mapping[int, Remembered],
        cut: int,
        symbols: Symbols,
    ) -> None:
        self.held = held
        self.cut = cut
        self.symbols = symbols
        self.now: dict[int, Remembered] = {}
        self._direct = {
            step.result.name
            for step in steps
            if isinstance(step, op.Lookup) and isinstance(step.result, Var)
        }
        spans = [step.literal for step in steps if isinstance(step, op.SpanOperation)]
        self._place = {id(literal): 2 * number for number, literal in enumerate(spans)}

    def whole(self, literal: object, side: int, term: Term, frame: Frame, spans: Spans) -> Spans:
        """The list as whole intervals, also where windows have passed."""
        place = self._place.get(id(literal))
        if place is None or (isinstance(term, Var) and term.name in self._direct):
            return spans
        names = sorted(name for name in frame.columns if name[0] not in "#@")
        rows = Relation(tuple(frame.columns[name] for name in names), frame.rows)
        known = self.held.get(place + side)
        if known is not None:
            spans = self._joined(rows, spans, known)
        self.now[place + side] = (Fluent(rows, spans), rows)
        return spans

    def _joined(self, rows: Relation, spans: Spans, known: Remembered) -> Spans:
        before, seen = known
        free = ~known_rows(rows, seen, self.symbols)  # what is new has no past to be cut off
        later = after_cut(spans, free, self.cut)
        keys = [codes_of(column, self.symbols) for column in rows.columns]
        if not before.pairs.rows:
            return later
        if keys:
            table = build([codes_of(c, self.symbols) for c in before.pairs.columns])
            place = first(keys, table)
        else:
            place = np.zeros(rows.rows, np.int64)
        return union(later, before.lists(place))


def after_cut(spans: Spans, free: np.ndarray[tuple[int], np.dtype[np.bool_]], cut: int) -> Spans:
    """The part of spans after a cut; rows that are free are left whole."""
    start = np.where(free[spans.key], spans.start, np.maximum(spans.start, cut + 1))
    there = start < spans.end
    return Spans(spans.key[there], start[there], spans.end[there])
