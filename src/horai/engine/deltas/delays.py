"""Delayed effects by change: the clock of an entity goes on from the query before, or from the last
time before a late point at which no attempt was open.

An effect concerns the entity of its origin alone, so entities are settled apart from each other.
Those without new points and without an attempt that is due stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from horai.engine.clock import Outcome
from horai.engine.clockstate import ClockState
from horai.engine.columns import codes_of
from horai.engine.components import Components, held_by_both
from horai.engine.deltas.changes import Changed
from horai.engine.deltas.quiet import chained, restarts
from horai.engine.deltas.reading import Name
from horai.engine.deltas.rules import Logs, RuleDelta
from horai.engine.deltas.store import FluentStore, SpanChange, in_regions, moved, since
from horai.engine.deltas.waiting import (
    ByEntity,
    ByPoints,
    Numbers,
    Waiting,
    all_waiting,
    at_start,
    from_state,
    no_waiting,
)
from horai.engine.findings import Findings
from horai.engine.heads import Said, together
from horai.engine.memory import Memory, later
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import merged
from horai.plan.ec.settling import Tests
from horai.plan.program import Key, Plan, Stratum
from horai.temporal.spans import INF, Ints, Mask

SOON = 4  # times the longest delay: so far back a quiet time is looked for first


@dataclass
class DelayDelta:
    """One component: its rules, its fluents, and its clock at the last query."""

    program: Plan
    stratum: Stratum
    rules: list[RuleDelta]
    tests: dict[int, list[Tests]]
    symbols: Symbols
    stores: dict[Key, FluentStore] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = Numbers(self.stratum.fluents[0][1], self.symbols)
        self._waiting = no_waiting()
        # Beyond it no attempt is open; effects of effects may go on for ever.
        self._longest = INF if chained(self.stratum) else 0
        self._owners: dict[Key, Ints] = {}  # the entity of each pair
        self._remembered: tuple[Memory, Waiting] | None = None  # what was open at its cut

    @property
    def reads(self) -> set[Name]:
        """All relations whose changes matter."""
        return {name for rule in self.rules for name in rule.driven.relations}

    def build(self, components: Components, logs: Logs, memory: Memory) -> None:
        """Everything after the cut from scratch, beside what is remembered."""
        components.heads.low = memory.cut
        for rule in self.rules:
            rule.build(components.heads, logs)
        points = self._after(memory.cut, components.world.query)
        held, waiting = self._at_cut(components, memory)
        begins = np.full(self._numbers.count, memory.cut)
        outcome = self._run(components, points, held, waiting, begins, memory.cut)
        for key, fluent in outcome.fluents.items():
            before = [memory.fluents[key]] if key in memory.fluents else []
            self.stores[key] = FluentStore(merged([fluent, *before], self.symbols), self.symbols)
            self._owner(key)

    def from_cut(self, components: Components, memory: Memory, cut: int) -> Outcome:
        """All entities from the cut of the memory on, with the state at a later cut."""
        held = components.held(self.stratum, memory, Findings())
        state = memory.clock or ClockState()
        clock = ByPoints(self.program, self.stratum, components.heads, self.tests, held, state)
        clock.points = self._by_plan(self._after(memory.cut, cut))
        return clock.run(memory.cut, cut)

    def step(
        self, components: Components, logs: Logs, changed: Changed, before: int, memory: Memory
    ) -> dict[Name, SpanChange]:
        """How the fluents change with what their rules read, and as time goes on."""
        components.heads.low = memory.cut
        said = [rule.step(components.heads, logs, changed) for rule in self.rules]
        first = self._touched([part for both in said for part in both], before, components)
        touched = first < INF
        if not touched.any():
            return {}
        begins = self._begins(first, before, memory.cut)
        parts = zip(self.rules, said, strict=True)
        points = [self._points(rule, new, first, begins, before) for rule, (_, new) in parts]
        goes_on = touched & (begins > memory.cut)
        held = self._held(goes_on, begins)
        waiting = self._waiting.where((first > before)[self._waiting.who])
        waiting = waiting.where(touched[waiting.who])
        if not goes_on[touched].all():
            given, open_then = self._at_cut(components, memory)
            others = np.zeros(self._numbers.count, np.bool_)
            others[: len(first)] = touched & ~goes_on
            held = {key: self._both(one, given[key], others) for key, one in held.items()}
            waiting = all_waiting([waiting, open_then.where(others[open_then.who])])
        self._waiting = self._waiting.where(~touched[self._waiting.who])
        low = int(begins[touched].min())
        outcome = self._run(components, points, held, waiting, begins, low)
        found: dict[Name, SpanChange] = {}
        for key in self.stores:
            change = self._exchange(key, outcome, touched, begins)
            if change:
                found["fluent", key] = change
        return found

    def forget(self, cut: int) -> None:
        """Drop the points that the memory of the component stands for."""
        for rule in self.rules:
            rule.forget(cut)

    # --- who is touched, and since when ----------------------------------------------------------

    def _touched(self, parts: list[Said], before: int, components: Components) -> Ints:
        """When each entity is first touched, INF for those that stay as they are."""
        who = [self._numbers.of(part.args, len(part)) for part in parts]
        first = np.full(self._numbers.count, INF)
        for numbers, part in zip(who, parts, strict=True):
            np.minimum.at(first, numbers, part.time)
        due = self._waiting.who[self._waiting.due <= components.world.query]
        first[due] = np.minimum(first[due], before + 1)
        return first

    def _begins(self, first: Ints, before: int, cut: int) -> Ints:
        """Up to when nothing of an entity has changed, and no attempt was open then."""
        begins = np.where(first > before, before, cut)
        late = np.flatnonzero(first <= before)
        rules = [rule for rule in self.rules if rule.driven.plan.kind == "initiated"]
        reach = min(self._longest, INF // SOON) * SOON
        for far in (reach, INF):
            if not len(late) or self._longest == INF:
                break
            high = first[late]
            low = np.maximum(high - np.minimum(far, high - cut - 1), cut + 1)
            columns = list(self._numbers.args(late))
            found = [rule.between(columns, low, high) for rule in rules]
            asked = np.concatenate([one for one, _ in found])
            time = np.concatenate([one.time for _, one in found])
            quiet = restarts(asked, time, low, high, self._longest)
            begins[late] = np.maximum(quiet, cut)
            late = late[(quiet < cut) & (low > cut + 1)]
        return begins

    def _points(self, rule: RuleDelta, new: Said, first: Ints, begins: Ints, before: int) -> Said:
        """What a rule says of those who are touched, after they begin."""
        there = first[self._numbers.of(new.args, len(new))] > before
        fresh = new if there.all() else new.where(there)
        late = np.flatnonzero(first <= before)
        if not len(late):
            return fresh
        low, high = begins[late] + 1, np.full(len(late), INF)
        again = rule.between(list(self._numbers.args(late)), low, high)[1]
        return together([fresh, again], rule.arity, rule.has_value, self.symbols)

    def _after(self, low: int, until: int) -> list[Said]:
        """What all rules say after a time, up to another."""
        return [rule.said(later(rule.points.after(low), low, until)) for rule in self.rules]

    # --- what holds and is open ------------------------------------------------------------------

    def _held(self, who: Mask, begins: Ints) -> dict[Key, Held]:
        """The values of some entities when they begin."""
        found: dict[Key, Held] = {}
        for key, store in self.stores.items():
            owner = self._owner(key)
            pair = np.flatnonzero(who[owner])
            there, start = since(store.fluent, pair, begins[owner[pair]] + 1)
            *args, value = store.fluent.pairs.where(pair[there]).columns
            found[key] = Held(tuple(args), codes_of(value, self.symbols), start[there])
        return found

    def _at_cut(self, components: Components, memory: Memory) -> tuple[dict[Key, Held], Waiting]:
        """The values of all entities at the cut, and their attempts."""
        held = components.held(self.stratum, memory, Findings())
        for one in held.values():
            self._numbers.of(one.args, len(one))
        start = components.world.start
        if memory.cut == start:
            return held, at_start(held, self.stratum, self._numbers, start - 1)
        if self._remembered is None or self._remembered[0] is not memory:
            state = memory.clock or ClockState()
            self._remembered = memory, from_state(state, self.stratum, self._numbers)
        return held, self._remembered[1]

    def _both(self, held: Held, given: Held, who: Mask) -> Held:
        """Values of those who go on, and of some others as they were at the cut."""
        rows = np.flatnonzero(who[self._numbers.of(given.args, len(given))])
        args = tuple(column.take(rows) for column in given.args)
        more = Held(args, given.value[rows], given.start[rows])
        return held_by_both(held, more, self.symbols)

    def _owner(self, key: Key) -> Ints:
        """The entity of each pair of a fluent."""
        pairs = self.stores[key].fluent.pairs
        known = self._owners.get(key, np.empty(0, np.int64))
        if len(known) < pairs.rows:
            new = pairs.where(np.arange(len(known), pairs.rows))
            known = np.concatenate((known, self._numbers.of(new.columns[:-1], new.rows)))
            self._owners[key] = known
        return known

    # --- what changes ----------------------------------------------------------------------------

    def _by_plan(self, points: list[Said]) -> dict[int, Said]:
        return {id(rule.driven.plan): said for rule, said in zip(self.rules, points, strict=True)}

    def _run(
        self,
        components: Components,
        points: list[Said],
        held: dict[Key, Held],
        waiting: Waiting,
        begins: Ints,
        low: int,
    ) -> Outcome:
        """Let the clock go on, and take over what it carries on."""
        heads = components.heads
        clock = ByEntity(self.program, self.stratum, heads, self.tests, held, ClockState())
        clock.points = self._by_plan(points)
        clock.numbers, clock.waiting, clock.begins = self._numbers, waiting, begins
        outcome = clock.run(low, components.world.query)
        self._waiting = all_waiting([self._waiting, clock.waiting])
        self._longest = max(self._longest, clock.longest)
        return outcome

    def _exchange(self, key: Key, outcome: Outcome, touched: Mask, begins: Ints) -> SpanChange:
        store, fluent = self.stores[key], outcome.fluents[key]
        rows = store.added(fluent.pairs)
        new = moved(fluent.spans, rows) if len(fluent.spans) else fluent.spans
        owner = self._owner(key)
        pair = np.flatnonzero(touched[owner])
        low, high = begins[owner[pair]] + 1, np.full(len(pair), INF)
        drop = in_regions(store.fluent, pair, low, high)
        return store.exchange(np.flatnonzero(drop), new)
