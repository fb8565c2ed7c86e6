"""Statically determined fluents by change: all rules of a component, and what they say together."""

from __future__ import annotations

import numpy as np

from horai.engine.deltas.static_delta import Changes, StaticDelta, by_row
from horai.engine.deltas.static_links import moved, together
from horai.engine.deltas.static_outline import only_lists, possible_stratum, refuse_stratum
from horai.engine.deltas.static_rows import Stores
from horai.engine.deltas.store import FluentStore, SpanChange, no_change
from horai.engine.deltas.store import moved as reordered
from horai.engine.findings import Findings
from horai.engine.memory import Memory, union
from horai.engine.static import Remembered, Static
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, Key, no_fluent
from horai.plan.program import StaticPlan, Stratum
from horai.temporal.changes import Change
from horai.temporal.spans import Ints, Spans
from horai.temporal.sweeps import Lists as RowLists
from horai.temporal.sweeps import swept

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
        changed = [delta.changed(static, stores, changes, cut) for delta in self.deltas]
        if not any(map(len, changed)):
            return no_change(self.store.fluent.pairs)
        self._know_places()
        if len(self.deltas) == 1 and self.deltas[0].rows.count == self.heads.fluent.pairs.rows:
            [delta], [where] = self.deltas, changed
            return self._take(self._alone(delta, where, stores, static))
        return self._take(self._among(changed, stores, static))

    def _alone(self, delta: StaticDelta, where: Spans, stores: Stores, static: Static) -> Change:
        """How the heads change if each has only one grounding."""
        fluent, heads = self.store.fluent, delta.rows.heads
        old = RowLists(fluent.spans, fluent.offsets, self._place[heads])
        gone, new = delta.swept(where, delta.result, stores, static.world, old)
        return Change(*(Spans(heads[one.key], one.start, one.end) for one in (gone, new)))

    def _among(self, changed: list[Spans], stores: Stores, static: Static) -> Change:
        """How the heads change if others may tell of the same one."""
        parts = zip(changed, self.deltas, strict=True)
        where = together([moved(part, delta.rows.heads) for part, delta in parts])
        fresh = together([delta.lists(where, stores, static.world) for delta in self.deltas])
        fluent = self.store.fluent
        old = RowLists(fluent.spans, fluent.offsets, self._place)
        new = by_row(fresh, self.heads.fluent.pairs.rows)
        return swept(where, [new], np.array([False, True]), old)

    def forget(self, until: int) -> None:
        """Drop spans that were over by then."""
        fluent = self.store.fluent
        self.store.fluent = Fluent(fluent.pairs, fluent.spans.where(fluent.spans.end > until))

    def _take(self, change: Change) -> SpanChange:
        """Take in how heads change."""
        holding = np.unique(change.new.key[self._place[change.new.key] < 0])
        if len(holding):  # for the first time
            self._place[holding] = self.store.added(self.heads.fluent.pairs.where(holding))
        gone, new = (reordered(one, self._place) for one in change)
        return self.store.change(Change(gone, new))

    def _know_places(self) -> None:
        """Find new heads in the store."""
        pairs = self.heads.fluent.pairs
        if pairs.rows > len(self._place):
            new = pairs.where(np.arange(len(self._place), pairs.rows))
            self._place = np.concatenate((self._place, self.store.rows_of(new)))


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
