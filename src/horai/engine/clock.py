"""Components with cycles or delays, settled by the compiled clockwork for all entities together.

Candidates of all rules are made set-at-a-time; what they ask of the component's own past becomes
tests on numbered fluents and values, and delayed effects become a table. The kernel does the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from horai.engine.clock_candidates import Block, blocks_of, in_time_order, spelled
from horai.engine.clock_results import Points, fluent_of
from horai.engine.clockstate import ClockState, Owner, Pending
from horai.engine.columns import Column, codes, codes_of
from horai.engine.effects import EffectTable, Numbered, Pairs, find_effects
from horai.engine.heads import EVERY, Heads, Said, together
from horai.engine.owners import Owners, Values, by_fluent, numbers_of
from horai.engine.simple import Held
from horai.engine.world import Fluent
from horai.lang.ec.errors import NotSettled
from horai.plan.ec.settling import Tests
from horai.plan.program import Plan, PointPlan, Stratum
from horai.temporal import clockwork
from horai.temporal.clockwork import INITIATE, NEVER, NONE
from horai.temporal.spans import Ints

Key = tuple[str, int]


@dataclass(slots=True)
class Outcome:
    """The spans of each fluent, the points that counted, and what is carried over."""

    fluents: dict[Key, Fluent]
    initiated: dict[Key, Said]
    terminated: dict[Key, list[Said]]
    state: ClockState


class Clock:
    """Settles one component."""

    def __init__(
        self,
        program: Plan,
        stratum: Stratum,
        heads: Heads,
        tests: dict[int, list[Tests]],
        held: dict[Key, Held],
        state: ClockState,
    ) -> None:
        self.program = program
        self.stratum = stratum
        self.heads = heads
        self.tests = tests
        self.held = held
        self.state = state
        self.world = heads.world
        self.symbols = heads.symbols

    def run(self, low: int, cut: int) -> Outcome:
        """Settle everything after `low`; the state that is carried over is that of the cut."""
        blocks = [
            block
            for place, plan in enumerate(self.stratum.points)
            for block in self._blocks(plan, self.tests[place])
        ]
        effects = find_effects(self.program, self.stratum, self.heads, self._begun(blocks))
        blocks = self._spelled(blocks, effects)
        owners = self._owners(blocks, effects)
        values = self._values(blocks, effects)
        table = effects.numbered(owners, values)
        candidates, guards, place = in_time_order(blocks, owners, values)
        settled = clockwork.settle(
            candidates,
            guards,
            table.effects,
            self._begin(owners, values, table, low),
            low,
            self.world.query,
            self.world.tick,
            cut,
        )
        if settled.unsettled is not None:
            raise NotSettled(
                f"at {settled.unsettled} these rules are true if, and only if, they are not"
            )
        met = np.zeros(len(place), np.bool_)
        met[place] = settled.met
        points = Points(self.program, self.stratum)
        points.add_candidates(blocks, met)
        points.add_effects(table, settled, owners, values)
        return Outcome(
            {key: fluent_of(key, settled.spans, owners, values) for key in self.stratum.fluents},
            {
                key: together(parts, key[1], True, self.symbols)
                for key, parts in points.initiated.items()
            },
            points.terminated,
            self._carried(settled.snapshot, table, owners, values),
        )

    # --- candidates ------------------------------------------------------------------------------

    def _blocks(self, plan: PointPlan, alternatives: list[Tests]) -> list[Block]:
        return blocks_of(plan, alternatives, self.heads)

    def _begun(self, blocks: list[Block]) -> dict[Key, list[Pairs]]:
        """Pairs that may be initiated, before any delay has acted."""
        found: dict[Key, list[Pairs]] = {key: [] for key in self.stratum.fluents}
        for block in blocks:
            mask = block.kind == INITIATE
            said = block.said if mask.all() else block.said.where(mask)
            if len(said) and said.value is not None:
                found[block.key].append((said.args, said.value))
        for key, held in self.held.items():
            if len(held):
                found[key].append((held.args, held.value))
        for key, pairs in self._waiting():
            found[key].append(pairs)
        return found

    def _waiting(self) -> Iterator[tuple[Key, Pairs]]:
        """The pairs of attempts that are carried over."""
        waiting = [(pending.owner, pending.value) for pending in self.state.pending]
        for key, (_, columns, value) in by_fluent(waiting).items():
            yield key, (columns, value)

    def _spelled(self, blocks: list[Block], effects: EffectTable) -> list[Block]:
        values = [held.value for held in self.held.values()]
        values += [block.said.value for block in blocks if block.said.value is not None]
        return spelled(blocks, [*values, *effects.values], self.symbols)

    def _owners(self, blocks: list[Block], effects: EffectTable) -> Owners:
        tables: dict[Key, list[tuple[tuple[Column, ...], int]]] = {
            key: [] for key in self.stratum.fluents
        }
        for block in blocks:
            if len(block.said):
                tables[block.key].append((block.said.args, len(block.said)))
        for key, held in self.held.items():
            if len(held):
                tables[key].append((held.args, len(held)))
        for key, args, rows in effects.owners():
            tables[key].append((args, rows))
        for key, parts in tables.items():
            if not parts:
                parts.append((tuple(codes(np.empty(0, np.int64)) for _ in range(key[1])), 0))
        return Owners(tables, self.symbols)

    def _values(self, blocks: list[Block], effects: EffectTable) -> Values:
        parts = [block.said.value for block in blocks if block.said.value is not None]
        parts += [held.value for held in self.held.values()]
        found = [part[part != EVERY] for part in [*parts, *effects.values]]
        return Values(found)

    # --- state -----------------------------------------------------------------------------------

    def _begin(
        self,
        owners: Owners,
        values: Values,
        table: Numbered,
        low: int,
    ) -> clockwork.State:
        # One instance more, which never has a value, stands for all that nothing initiates.
        held_value = np.full(owners.total + 1, NONE, np.int64)
        held_since = np.zeros(owners.total + 1, np.int64)
        for key, held in self.held.items():
            number = owners.numbers(key, held.args, len(held))
            held_value[number] = values.numbers(held.value)
            held_since[number] = held.start
        return clockwork.State(held_value, held_since, *self._attempts(owners, values, table, low))

    def _attempts(
        self, owners: Owners, values: Values, table: Numbered, low: int
    ) -> tuple[clockwork.Attempts, Ints]:
        """Attempts that are carried over, and when each effect last acted."""
        attempts: list[tuple[int, int, int]] = []
        acted = np.full(len(table.effects.rule), NEVER, np.int64)
        waiting = self._pending(low)
        numbers = numbers_of([(one.owner, one.value) for one in waiting], owners, values)
        for pending, (fluent, value) in zip(waiting, numbers, strict=True):
            for effect in table.of(pending.rule, fluent, value):
                deadline = pending.since + int(table.effects.delay[effect])
                attempts.append((effect, pending.since, deadline))
        done = list(self.state.acted.items())
        numbers = numbers_of([(owner, code) for (_, owner, code), _ in done], owners, values)
        for ((rule, _, _), time), (fluent, value) in zip(done, numbers, strict=True):
            for effect in table.of(rule, fluent, value):
                acted[effect] = max(acted[effect], time)
        rows = np.array(attempts, np.int64).reshape(len(attempts), 3)
        return clockwork.Attempts(*rows.T.copy()), acted

    def _pending(self, low: int) -> list[Pending]:
        """Attempts carried over; at the start of the run, those of the values that hold then."""
        if low != self.world.start or not self.stratum.delays:
            return self.state.pending
        tick, start = self.world.tick, self.world.start
        before = start - (start % tick or tick)
        found: list[Pending] = []
        for key, held in self.held.items():
            columns = [codes_of(column, self.symbols).tolist() for column in held.args]
            rows = zip(*columns, strict=True) if columns else [()] * len(held)
            for args, value in zip(rows, held.value.tolist(), strict=True):
                for plan in self.stratum.delays:
                    if plan.origin_key == key:
                        found.append(Pending(plan.number, (key, tuple(args)), value, before))
        return found

    def _carried(
        self,
        snapshot: clockwork.State,
        table: Numbered,
        owners: Owners,
        values: Values,
    ) -> ClockState:
        oldest: dict[tuple[int, Owner, int], int] = {}
        waiting: dict[Pending, None] = {}
        attempts = snapshot.attempts
        sources = table.sources(attempts.effect, owners, values, self.symbols)
        for source, since in zip(sources, attempts.since.tolist(), strict=True):
            oldest[source] = min(oldest.get(source, since), since)
            waiting[Pending(*source, since)] = None
        found = ClockState(list(waiting))
        acted = np.flatnonzero(snapshot.acted != NEVER)
        sources = table.sources(acted, owners, values, self.symbols)
        for source, time in zip(sources, snapshot.acted[acted].tolist(), strict=True):
            if source in oldest and oldest[source] < time:
                found.acted[source] = max(found.acted.get(source, time), time)
        return found
