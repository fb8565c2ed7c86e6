"""Delayed effects by change: the clock of an entity goes on from the query before, or back to the
cut if a late point touched it.

An effect concerns the entity of its origin alone, so entities are settled apart from each other.
Those without new points and without an open attempt stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from horai.engine.clock import Block, Clock, Outcome
from horai.engine.clockstate import ClockState
from horai.engine.columns import codes_of
from horai.engine.components import Components
from horai.engine.deltas.changes import Changed
from horai.engine.deltas.entities import Args, Entities, different, entities
from horai.engine.deltas.reading import Name
from horai.engine.deltas.rules import Logs, RuleDelta
from horai.engine.deltas.store import FluentStore, SpanChange, in_regions, moved
from horai.engine.findings import Findings
from horai.engine.hashing import probe
from horai.engine.heads import Said
from horai.engine.memory import Memory, holding, later
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import merged
from horai.plan.guards import Tests
from horai.plan.program import Key, PointPlan, Program, Stratum
from horai.temporal.clockwork import GHOST, INITIATE, TERMINATE
from horai.temporal.spans import INF, Ints, Spans


class _ByPoints(Clock):
    """A clock that is given what rules say."""

    points: dict[int, Said]

    def _blocks(self, plan: PointPlan, alternatives: list[Tests]) -> list[Block]:
        said = self.points[id(plan)]
        if plan.kind == "terminated":
            return [Block(plan.key, said, np.full(len(said), TERMINATE), [])]
        kind = np.where(self.heads.allowed(plan.key, said), INITIATE, GHOST)
        return [Block(plan.key, said, kind, [])]


@dataclass
class DelayDelta:
    """One component: its rules, its fluents, and its clock at the last query."""

    program: Program
    stratum: Stratum
    rules: list[RuleDelta]
    tests: dict[int, list[Tests]]
    symbols: Symbols
    stores: dict[Key, FluentStore] = field(default_factory=dict)
    now: ClockState = field(default_factory=ClockState)

    @property
    def reads(self) -> set[Name]:
        """All relations whose changes matter."""
        return {name for rule in self.rules for name in rule.driven.relations}

    def build(self, components: Components, logs: Logs, memory: Memory) -> None:
        """Everything after the cut from scratch, beside what is remembered."""
        components.heads.low = memory.cut
        for rule in self.rules:
            rule.build(components.heads, logs)
        outcome = self.from_cut(components, memory, components.world.query)
        self.now = outcome.state
        for key, fluent in outcome.fluents.items():
            before = [memory.fluents[key]] if key in memory.fluents else []
            self.stores[key] = FluentStore(merged([fluent, *before], self.symbols), self.symbols)

    def from_cut(self, components: Components, memory: Memory, cut: int) -> Outcome:
        """All entities from the cut of the memory on, with the state at a later cut."""
        points = [
            rule.said(later(rule.points.after(memory.cut), memory.cut, cut)) for rule in self.rules
        ]
        held = components.held(self.stratum, memory, Findings())
        return self._run(components, points, held, memory.clock or ClockState(), memory.cut, cut)

    def step(
        self, components: Components, logs: Logs, changed: Changed, before: int, memory: Memory
    ) -> dict[Name, SpanChange]:
        """How the fluents change with what their rules read, and as time goes on."""
        components.heads.low = memory.cut
        said = [rule.step(components.heads, logs, changed) for rule in self.rules]
        late, fresh = self._touched([part for both in said for part in both], before)
        exchanged: list[tuple[Entities, int, Outcome]] = []
        if late.size:
            exchanged.append((late, memory.cut, self._late(components, late, memory)))
        if fresh.size:
            new = [one for _, one in said]
            exchanged.append((fresh, before, self._fresh(components, fresh, new, before)))
        if not exchanged:
            return {}
        self._go_on(exchanged)
        found: dict[Name, SpanChange] = {}
        for key in self.stores:
            change = self._exchange(key, exchanged)
            if change:
                found["fluent", key] = change
        return found

    def forget(self, cut: int) -> None:
        """Drop the points that the memory of the component stands for."""
        for rule in self.rules:
            rule.forget(cut)

    # --- who is touched --------------------------------------------------------------------------

    def _touched(self, parts: list[Said], before: int) -> tuple[Entities, Entities]:
        """Entities with late changes, and others that have new points or open attempts."""
        arity = self.stratum.fluents[0][1]
        late: set[Args] = set()
        fresh = {pending.owner[1] for pending in self.now.pending}
        for part in parts:
            keys = [codes_of(column, self.symbols) for column in part.args]
            for mask, into in ((part.time <= before, late), (part.time > before, fresh)):
                into |= different([key[mask] for key in keys], int(mask.sum()))
        return entities(late, arity), entities(fresh - late, arity)

    def _late(self, components: Components, who: Entities, memory: Memory) -> Outcome:
        columns = who.columns()
        low, high = np.full(who.size, memory.cut + 1), np.full(who.size, INF)
        points = [rule.between(columns, low, high)[1] for rule in self.rules]
        held = {
            key: _only(one, who, self.symbols)
            for key, one in components.held(self.stratum, memory, Findings()).items()
        }
        state = _of(memory.clock or ClockState(), who.tuples())
        return self._run(components, points, held, state, memory.cut, components.world.query)

    def _fresh(
        self, components: Components, who: Entities, new: list[Said], before: int
    ) -> Outcome:
        points = [one.where(who.having(one.args, len(one), self.symbols)) for one in new]
        held = {
            key: _only(holding(store.fluent, before, self.symbols), who, self.symbols)
            for key, store in self.stores.items()
        }
        state = _of(self.now, who.tuples())
        return self._run(components, points, held, state, before, components.world.query)

    def _run(
        self,
        components: Components,
        points: list[Said],
        held: dict[Key, Held],
        state: ClockState,
        low: int,
        cut: int,
    ) -> Outcome:
        clock = _ByPoints(self.program, self.stratum, components.heads, self.tests, held, state)
        plans = [rule.driven.plan for rule in self.rules]
        clock.points = {id(plan): said for plan, said in zip(plans, points, strict=True)}
        return clock.run(low, cut)

    # --- what changes ----------------------------------------------------------------------------

    def _go_on(self, parts: list[tuple[Entities, int, Outcome]]) -> None:
        """The clock of those who were touched is what it has become."""
        touched = set().union(*(who.tuples() for who, _, _ in parts))
        pending = [one for one in self.now.pending if one.owner[1] not in touched]
        acted = {k: v for k, v in self.now.acted.items() if k[1][1] not in touched}
        for _, _, outcome in parts:
            pending += outcome.state.pending
            acted |= outcome.state.acted
        self.now = ClockState(pending, acted)

    def _exchange(self, key: Key, parts: list[tuple[Entities, int, Outcome]]) -> SpanChange:
        store = self.stores[key]
        placed: list[Spans] = []
        for _, _, outcome in parts:
            fluent = outcome.fluents[key]
            rows = store.added(fluent.pairs)
            placed.append(moved(fluent.spans, rows) if len(fluent.spans) else fluent.spans)
        drop = np.zeros(len(store.fluent.spans), np.bool_)
        for who, low, _ in parts:
            pair = self._pairs(store, who)
            size = len(pair)
            drop |= in_regions(store.fluent, pair, np.full(size, low + 1), np.full(size, INF))
        new = Spans(*(np.concatenate(columns) for columns in zip(*placed, strict=True)))
        return store.exchange(np.flatnonzero(drop), moved(new, np.arange(store.fluent.pairs.rows)))

    def _pairs(self, store: FluentStore, who: Entities) -> Ints:
        pairs = store.fluent.pairs
        if not who.keys:
            return np.arange(pairs.rows)
        positions = tuple((place, True) for place in range(len(who.keys)))
        return probe(who.keys, pairs.index(positions, self.symbols))[1]


def _only(held: Held, who: Entities, symbols: Symbols) -> Held:
    rows = np.flatnonzero(who.having(held.args, len(held), symbols))
    args = tuple(column.take(rows) for column in held.args)
    return Held(args, held.value[rows], held.start[rows])


def _of(state: ClockState, who: set[Args]) -> ClockState:
    """The part of a state that is about some entities."""
    return ClockState(
        [pending for pending in state.pending if pending.owner[1] in who],
        {source: time for source, time in state.acted.items() if source[1][1] in who},
    )
