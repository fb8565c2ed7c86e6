"""Starts and ends of spans as points, by change."""

from __future__ import annotations

import numpy as np

from horai.engine.columns import ints
from horai.engine.deltas.changes import PointChange, exchanged, replaced, unmatched
from horai.engine.deltas.log import Log
from horai.engine.deltas.store import SpanChange
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import World
from horai.plan.program import Key
from horai.temporal.spans import INF, Ints, Mask, Spans, previous_point


class EdgeLog:
    """The starts, or the ends, of the spans of a fluent that lie in the run."""

    def __init__(self, kind: str, key: Key, symbols: Symbols) -> None:
        self.kind, self.key = kind, key
        empty = np.empty(0, np.int64)
        nothing = Relation((*(ints(empty) for _ in range(key[1] + 1)), ints(empty)), 0)
        self.log = Log(nothing, symbols)
        self._waiting = False  # some edges lie after the query time

    def build(self, world: World) -> PointChange:
        """All edges of a fluent."""
        fluent = world.fluent(self.key)
        time, there = self._times(fluent.spans, world)
        self._waiting = bool((time[time != INF] > world.query).any())
        return replaced(self.log, _rows(fluent.pairs, fluent.spans.key, time, there))

    def step(self, change: SpanChange | None, world: World) -> PointChange | None:
        """The edges that came and went with a change of the spans."""
        if self._waiting:
            return self.build(world)
        if change is None:
            return None
        old = self._edges(change.gone, change, world)
        new = self._edges(change.new, change, world)
        left, right = unmatched(old, new, self.log.symbols)
        gone = self.log.numbers_of(old.where(left))
        return exchanged(self.log, gone, new.where(right))

    def _edges(self, spans: Spans, change: SpanChange, world: World) -> Relation:
        time, there = self._times(spans, world)
        if spans is change.new:
            self._waiting |= bool((time[time != INF] > world.query).any())
        return _rows(change.pairs, spans.key, time, there)

    def _times(self, spans: Spans, world: World) -> tuple[Ints, Mask]:
        at = spans.start if self.kind == "start" else spans.end
        time = previous_point(at, world.tick)
        return time, (at != INF) & (time > world.start) & (time <= world.query)


def _rows(pairs: Relation, key: Ints, time: Ints, there: Mask) -> Relation:
    rows = np.flatnonzero(there)
    columns = tuple(column.take(key[rows]) for column in pairs.columns)
    return Relation((*columns, ints(time[rows])), len(rows))
