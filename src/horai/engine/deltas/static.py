"""Statically determined fluents by change: all rules of a component, and what they say together."""

from __future__ import annotations

import numpy as np

from horai.engine.deltas.static_delta import Changes, StaticDelta
from horai.engine.deltas.static_links import moved, ranges, together
from horai.engine.deltas.static_outline import only_lists, possible_stratum, refuse_stratum
from horai.engine.deltas.static_rows import Stores
from horai.engine.deltas.store import FluentStore, SpanChange, no_change
from horai.engine.findings import Findings
from horai.engine.memory import Memory, union
from horai.engine.operands import Remembered
from horai.engine.static import Static
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, Key, no_fluent
from horai.plan.program import StaticPlan, Stratum
from horai.temporal.changes import difference, either, except_for
from horai.temporal.spans import Ints, Spans
from horai.temporal.touched import touching, within

__all__ = [
    "StaticComponent",
    "StaticDelta",
    "StaticFluent",
    "only_lists",
    "possible_stratum",
    "refuse_stratum",
]


class StaticFluent:
    """All rules for one fluent, and what they say together."""

    def __init__(self, key: Key, symbols: Symbols) -> None:
        self.symbols = symbols
        # Pairs that some grounding speaks of; readers know only those that have come to hold.
        self.heads = FluentStore(no_fluent(key[1] + 1), symbols)
        self.deltas: list[StaticDelta] = []
        self.store = FluentStore(no_fluent(key[1] + 1), symbols)
        self._place: Ints = np.empty(0, np.int64)  # of heads in the store

    def add(self, plan: StaticPlan) -> StaticDelta:
        """One more rule."""
        delta = StaticDelta(plan, self.heads)
        self.deltas.append(delta)
        return delta

    def begin(self, fluent: Fluent) -> None:
        """Take over what was worked out from scratch."""
        self.store = FluentStore(fluent, self.symbols)
        self._place = self.store.rows_of(self.heads.fluent.pairs)

    def step(self, static: Static, stores: Stores, changes: Changes, cut: int) -> SpanChange:
        """What has changed since the last query."""
        changed = [
            moved(delta.changed(static, stores, changes, cut), delta.rows.heads)
            for delta in self.deltas
        ]
        where = together(changed)
        if not len(where):
            return no_change(self.store.fluent.pairs)
        # The same pair may be told of by other groundings and other rules.
        fresh = together([delta.lists(where, stores, static.world) for delta in self.deltas])
        return self._exchange(where, fresh)

    def forget(self, until: int) -> None:
        """Drop spans that were over by then."""
        fluent = self.store.fluent
        self.store.fluent = Fluent(fluent.pairs, fluent.spans.where(fluent.spans.end > until))

    def _exchange(self, where: Spans, fresh: Spans) -> SpanChange:
        self._give_places(fresh)
        mine, fresh = (together([moved(spans, self._place)]) for spans in (where, fresh))
        spans = self.store.fluent.spans
        change = difference(within(spans, mine), fresh)
        if not len(change):
            return no_change(self.store.fluent.pairs)
        rows = ranges(*touching(spans, change.region()))
        drop = np.zeros(len(spans), np.bool_)
        drop[rows] = True
        touched = Spans(spans.key[rows], spans.start[rows], spans.end[rows])
        instead = either(except_for(touched, change.gone), change.new)
        return self.store.exchange(drop, instead)

    def _give_places(self, fresh: Spans) -> None:
        """Put pairs that hold for the first time into the store."""
        pairs = self.heads.fluent.pairs
        if pairs.rows > len(self._place):
            new = pairs.where(np.arange(len(self._place), pairs.rows))
            self._place = np.concatenate((self._place, self.store.rows_of(new)))
        holding = np.unique(fresh.key[self._place[fresh.key] < 0])
        if len(holding):
            self._place[holding] = self.store.added(pairs.where(holding))


class StaticComponent:
    """A component of statically determined fluents; see `possible_stratum`."""

    def __init__(self, stratum: Stratum, symbols: Symbols) -> None:
        self.stratum = stratum
        self.symbols = symbols
        self._begin()

    @property
    def stores(self) -> dict[Key, FluentStore]:
        """What each fluent is now, pairs outside their domain included."""
        return {key: fluent.store for key, fluent in self.fluents.items()}

    @property
    def reads(self) -> set[Key]:
        """The fluents whose stores it needs."""
        return {lookup.key for delta in self._deltas for lookup in delta.outline.lookups}

    def build(self, static: Static, stores: Stores, memory: Memory, found: Findings) -> None:
        """Begin from what was found from scratch, with the memory it was found from."""
        self._begin()
        for place, delta in enumerate(self._deltas):
            delta.build(static, stores, found.operands.get(place, {}))
        for key, fluent in self.fluents.items():
            parts = [part[key] for part in (memory.fluents, found.fluents) if key in part]
            fluent.begin(union(parts, key[1] + 1, self.symbols))

    def step(
        self, static: Static, stores: Stores, changes: Changes, cut: int
    ) -> dict[Key, SpanChange]:
        """How the fluents changed. `stores` and the world of `static` are those of now."""
        return {
            key: fluent.step(static, stores, changes, cut) for key, fluent in self.fluents.items()
        }

    @property
    def compares(self) -> bool:
        """Does it look at intervals that were over before those they are compared with?"""
        return any(delta.compares for delta in self._deltas)

    def operands(self) -> dict[int, dict[int, Remembered]]:
        """Lists inside rules, as findings have them."""
        return {place: delta.operands() for place, delta in enumerate(self._deltas)}

    def forget(self, until: int) -> None:
        """Drop intervals that were over by then, which is not after the cut; pairs stay."""
        for delta in self._deltas:
            delta.forget(until)
        for fluent in self.fluents.values():
            fluent.forget(until)

    def _begin(self) -> None:
        plans = self.stratum.static
        self.fluents = {plan.key: StaticFluent(plan.key, self.symbols) for plan in plans}
        self._deltas = [self.fluents[plan.key].add(plan) for plan in plans]
