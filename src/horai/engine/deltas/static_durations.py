"""Duration filters by change: only intervals that have changed, or grown long enough, are measured.

An interval that has not ended lasts longer at each query. Of each row at most the last one is of
that sort, so that it is enough to know when it will be as long as its bound.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from horai.engine.arithmetic import evaluate
from horai.engine.frames import Frame
from horai.engine.numbers import full
from horai.engine.symbols import Symbols
from horai.engine.world import World
from horai.lang.core.terms import Term
from horai.lang.ec.syntax import DurationFilter
from horai.temporal.changes import Change, difference, either, ranges
from horai.temporal.durations import by_duration
from horai.temporal.spans import INF, Ints, Mask, Spans, no_spans
from horai.temporal.toggled import toggled
from horai.temporal.touched import spliced, touching

Bounds = npt.NDArray[Any]
FAR = 2.0**61  # beyond it no interval comes to be as long


def limits(bound: Term, frame: Frame, symbols: Symbols) -> tuple[Bounds, Mask]:
    """The bound of every row, and the rows that have one."""
    found = evaluate(bound, frame.columns, frame.rows, symbols)
    whole = found.whole.all() and found.exact is None
    return full(found.ints if whole else found.real, frame.rows), found.valid


class Measured:
    """A list that a duration filter looks at, row by row: all of it, and what passes."""

    def __init__(self, literal: DurationFilter) -> None:
        self.literal = literal
        self.whole = no_spans()
        self.chosen = no_spans()
        self.bounds: Bounds = np.empty(0, np.int64)
        self._due: Ints = np.empty(0, np.int64)  # the query at which to measure an open one again
        self._next = INF

    def grow(self, frame: Frame, symbols: Symbols) -> None:
        """Take in the bounds of more rows."""
        self.bounds = limits(self.literal.bound, frame, symbols)[0]
        more = np.full(frame.rows - len(self._due), INF)
        self._due = np.concatenate((self._due, more))

    def build(self, whole: Spans, query: int) -> None:
        """Begin with lists of whole intervals."""
        self.whole = whole
        self.chosen = self._measured(whole, query)

    def update(self, changes: list[Change], world: World) -> Spans:
        """Take in how the list changed; where has what passes changed?"""
        [change], query = changes, world.query
        self.whole, _, new = toggled(self.whole, change)
        grown = self._grown(query)
        again = either(change.region(), grown)
        if not len(again):
            return no_spans()
        if len(grown):
            new = _touched(self.whole, again)
        passing = self._measured(new, query)
        first, after = touching(self.chosen, again)
        rows = ranges(first, after)
        old = Spans(*(column[rows] for column in self.chosen))
        self.chosen = spliced(self.chosen, first, after, passing)
        return difference(old, passing).region()

    def forget(self, until: int) -> None:
        """Drop intervals that were over by then."""
        self.whole = self.whole.where(self.whole.end > until)
        self.chosen = self.chosen.where(self.chosen.end > until)

    def _measured(self, spans: Spans, query: int) -> Spans:
        bounds = self.bounds[spans.key]
        one = self.literal
        if one.open_counts:
            still = spans.end == INF
            self._watch(spans.key[still], spans.start[still], bounds[still], query)
        return by_duration(spans, one.op, bounds, query, one.open_counts)

    def _watch(self, rows: Ints, start: Ints, bounds: Bounds, query: int) -> None:
        """Note when open intervals are to be measured again."""
        if not len(rows):
            return
        # All comparisons change at the bound or at the point after it.
        length = np.nan_to_num(np.clip(np.floor(bounds), -FAR, FAR), nan=-FAR).astype(np.int64)
        reached = np.clip(start, -int(FAR), int(FAR)) + length
        due = np.where(reached >= query, np.maximum(reached, query + 1), INF)
        self._due[rows] = due
        self._next = min(self._next, int(due.min()))

    def _grown(self, query: int) -> Spans:
        """The ends of open intervals that may have come to be as long as their bound."""
        if query < self._next:
            return no_spans()
        rows = np.flatnonzero(self._due <= query)
        self._due[rows] = INF
        self._next = int(self._due.min()) if len(self._due) else INF
        return Spans(rows, np.full(len(rows), INF - 1), np.full(len(rows), INF))


def _touched(spans: Spans, where: Spans) -> Spans:
    """Whole spans that meet a region."""
    rows = ranges(*touching(spans, where))
    return Spans(spans.key[rows], spans.start[rows], spans.end[rows])
