"""The clock of a component with delayed effects as columns, entity by entity.

An effect concerns the entity of its origin alone, so each entity may begin at a time of its own:
whatever happens to one before then is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from horai.engine.clock import Clock
from horai.engine.clock_candidates import Block
from horai.engine.clockstate import ClockState
from horai.engine.columns import Column, codes
from horai.engine.deltas.store import FluentStore
from horai.engine.effects import Numbered, Pairs
from horai.engine.hashing import build, probe
from horai.engine.heads import Said
from horai.engine.owners import Owners, Values
from horai.engine.relations import Relation, different
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import no_fluent
from horai.plan.ec.settling import Tests
from horai.plan.program import Key, PointPlan, Stratum
from horai.temporal import clockwork
from horai.temporal.clockwork import GHOST, INITIATE, NEVER, TERMINATE
from horai.temporal.spans import INF, Ints, Mask


class Waiting(NamedTuple):
    """Open attempts: rule, fluent by its place in the component, entity, value, when they were made
    and are due, and when an effect of the same rule and pair last acted."""

    rule: Ints
    fluent: Ints
    who: Ints
    value: Ints
    since: Ints
    due: Ints
    acted: Ints

    def where(self, rows: Mask | Ints) -> Waiting:
        """Some of them."""
        return Waiting(*(column[rows] for column in self))


def no_waiting() -> Waiting:
    """No attempts."""
    return Waiting(*(np.empty(0, np.int64) for _ in Waiting._fields))


def all_waiting(parts: list[Waiting]) -> Waiting:
    """Attempts of several places."""
    return Waiting(*map(np.concatenate, zip(*parts, strict=True)))


class Numbers:
    """Entities by number, in the order in which they came to be known."""

    def __init__(self, arity: int, symbols: Symbols) -> None:
        self._symbols = symbols
        self._store = FluentStore(no_fluent(arity), symbols)

    @property
    def count(self) -> int:
        """How many there are."""
        return self._store.fluent.pairs.rows

    def of(self, args: tuple[Column, ...], rows: int) -> Ints:
        """The numbers of those that some rows are about; new ones get one."""
        table = Relation(args, rows)
        found = self._store.rows_of(table)
        new = np.flatnonzero(found < 0)
        if len(new):
            fresh = table.where(new)
            self._store.added(different(fresh, self._symbols))
            found[new] = self._store.rows_of(fresh)
        return found

    def args(self, numbers: Ints) -> tuple[Column, ...]:
        """The arguments that name some of them."""
        return tuple(column.take(numbers) for column in self._store.fluent.pairs.columns)


def from_state(state: ClockState, stratum: Stratum, numbers: Numbers) -> Waiting:
    """What a memory carries over; when attempts are due is found out by the clock."""
    fluents = list(stratum.fluents)
    rows = [
        (
            one.rule,
            fluents.index(one.owner[0]),
            one.value,
            one.since,
            state.acted.get((one.rule, one.owner, one.value), NEVER),
        )
        for one in state.pending
    ]
    rule, fluent, value, since, acted = np.array(rows, np.int64).reshape(len(rows), 5).T.copy()
    arity = fluents[0][1]
    args = np.array([one.owner[1] for one in state.pending], np.int64).reshape(len(rows), arity)
    who = numbers.of(tuple(codes(args[:, place].copy()) for place in range(arity)), len(rows))
    return Waiting(rule, fluent, who, value, since, np.full(len(rows), INF), acted)


def at_start(held: dict[Key, Held], stratum: Stratum, numbers: Numbers, since: int) -> Waiting:
    """Attempts of the values that hold when the run starts."""
    parts = [no_waiting()]
    for place, key in enumerate(stratum.fluents):
        one = held[key]
        who, size = numbers.of(one.args, len(one)), len(one)
        for plan in stratum.delays:
            if plan.origin_key == key:
                rule, fluent, made, due, acted = (
                    np.full(size, number) for number in (plan.number, place, since, INF, NEVER)
                )
                parts.append(Waiting(rule, fluent, who, one.value, made, due, acted))
    return all_waiting(parts)


class ByPoints(Clock):
    """A clock that is given what rules say."""

    points: dict[int, Said]

    def _blocks(self, plan: PointPlan, alternatives: list[Tests]) -> list[Block]:
        said = self.points[id(plan)]
        if plan.kind == "terminated":
            return [Block(plan.key, said, np.full(len(said), TERMINATE), [])]
        kind = np.where(self.heads.allowed(plan.key, said), INITIATE, GHOST)
        return [Block(plan.key, said, kind, [])]


class ByEntity(ByPoints):
    """A clock whose attempts are columns; `begins` has when each entity begins.

    Afterwards `waiting` is what is carried over, and `longest` the longest delay it has met.
    """

    numbers: Numbers
    waiting: Waiting
    begins: Ints
    longest: int = 0

    def _waiting(self) -> Iterator[tuple[Key, Pairs]]:
        for place, key in enumerate(self.stratum.fluents):
            mine = self.waiting.where(self.waiting.fluent == place)
            if len(mine.who):
                yield key, (self.numbers.args(mine.who), mine.value)

    def _attempts(
        self, owners: Owners, values: Values, table: Numbered, low: int
    ) -> tuple[clockwork.Attempts, Ints]:
        effects, waiting = table.effects, self.waiting
        self.longest = int(effects.delay.max(initial=0))
        acted = np.full(len(effects.rule), NEVER, np.int64)
        fluent = np.empty(len(waiting.who), np.int64)
        for place, key in enumerate(self.stratum.fluents):
            rows = np.flatnonzero(waiting.fluent == place)
            fluent[rows] = owners.numbers(key, self.numbers.args(waiting.who[rows]), len(rows))
        asked = [waiting.rule, fluent, values.numbers(waiting.value)]
        index = build([effects.rule, effects.origin_fluent, effects.origin_value])
        row, effect = probe(asked, index)
        np.maximum.at(acted, effect, waiting.acted[row])
        since, delay = waiting.since[row], effects.delay[effect]
        due = np.minimum(since, INF - delay) + delay
        open_still = due > self.begins[waiting.who[row]]
        columns = (column[open_still] for column in (effect, since, due))
        return clockwork.Attempts(*columns), acted

    def _carried(
        self, snapshot: clockwork.State, table: Numbered, owners: Owners, values: Values
    ) -> ClockState:
        effects, attempts = table.effects, snapshot.attempts
        rows = attempts.effect
        number = effects.origin_fluent[rows]
        offsets = [owners.offset[key] for key in self.stratum.fluents]
        fluent = np.searchsorted(offsets, number, "right") - 1
        who = np.empty(len(rows), np.int64)
        for place, key in enumerate(self.stratum.fluents):
            mine = np.flatnonzero(fluent == place)
            who[mine] = self.numbers.of(owners.owned(key, number[mine]), len(mine))
        value = values.codes[effects.origin_value[rows]]
        self.waiting = Waiting(
            effects.rule[rows],
            fluent,
            who,
            value,
            attempts.since,
            attempts.deadline,
            snapshot.acted[rows],
        )
        return ClockState()
