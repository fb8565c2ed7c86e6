"""One component after the other: each is worked out from the relations of those before it.

What a component said up to its cut is final and comes from its memory; only what lies after the cut
is worked out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import codes_of, concat
from horai.engine.domains import Groundings
from horai.engine.findings import Findings
from horai.engine.hashing import dense
from horai.engine.heads import Heads, Said, event_rows, fluent_rows, termination_rows, together
from horai.engine.memory import Memory, after, known_rows, union
from horai.engine.relations import Relation
from horai.engine.simple import Held, held_nothing, settle
from horai.engine.static import Static
from horai.engine.stepwise import Stepwise
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, World
from horai.plan.program import Plan, PointPlan, Stratum

Key = tuple[str, int]
CutFor = Callable[[], int]


class Components:
    """Works out the strata of a program in a world."""

    def __init__(
        self, program: Plan, world: World, evaluator: Evaluator, groundings: Groundings
    ) -> None:
        self.program = program
        self.world = world
        self.symbols = world.symbols
        self.evaluator = evaluator
        self.groundings = groundings
        self.heads = Heads(world, evaluator, groundings)
        self.static = Static(world, evaluator, groundings)

    def run(
        self,
        stratum: Stratum,
        memory: Memory,
        cut: CutFor,
    ) -> Findings:
        """Work out one component.

        `cut` tells, once everything below is known, up to where this component is final.
        """
        found = Findings()
        self.heads.low = memory.cut
        self._remembered(memory)
        if stratum.static:
            self._static(stratum, memory, found)
        if not stratum.points and not stratum.initially and not stratum.delays:
            return found
        found.simple = set(stratum.fluents)
        held = self.held(stratum, memory, found)
        if not stratum.delays and all(plan.split is None for plan in stratum.points):
            self._plain(stratum, held, found)
        else:
            step = Stepwise(self.program, stratum, self.heads, held, memory)
            step.run(cut(), found)
        self.heads.low = self.world.start
        return found

    def _remembered(self, memory: Memory) -> None:
        """Let readers see what is final."""
        for key, fluent in memory.fluents.items():
            self.world.add_fluent(key, self.shown(key, fluent))
        for (kind, key), points in memory.points.items():
            self.world.add_points(kind, key, points)
        for key, ended in memory.terminations.items():
            self.world.terminations.setdefault(key, []).extend(ended)

    # --- statically determined fluents -----------------------------------------------------------

    def _static(self, stratum: Stratum, memory: Memory, found: Findings) -> None:
        fresh: dict[Key, list[Fluent]] = {}
        for place, plan in enumerate(stratum.static):
            fluent, rows = self.static.evaluate(plan, memory.operands.get(place), memory.cut)
            found.operands[place] = self.static.operands.now
            free = None
            if rows is not None:
                # What was not looked at before has no past that could be final.
                found.rows[place] = rows
                free = ~known_rows(fluent.pairs, memory.rows.get(place), self.symbols)
            if memory.cut > self.world.start:
                fluent = after(fluent, memory.cut, free)
            fresh.setdefault(plan.key, []).append(fluent)
        for key, parts in fresh.items():
            fluent = union(parts, key[1] + 1, self.symbols)
            found.fluents[key] = fluent
            self.world.add_fluent(key, self.shown(key, fluent))

    # --- simple fluents and events ---------------------------------------------------------------

    def _plain(self, stratum: Stratum, held: dict[Key, Held], found: Findings) -> None:
        for key in stratum.events:
            parts = [self.heads.run(plan) for plan in stratum.points if plan.key == key]
            said = together(parts, key[1], False, self.symbols)
            self.add_points("event", key, event_rows(self._inside(key, said)), found)
        for key in stratum.fluents:
            plans = [p for p in stratum.points if p.key == key and p.kind != "event"]
            begun = [self.heads.run(plan) for plan in plans if plan.kind == "initiated"]
            initiated = together(begun, key[1], True, self.symbols)
            ended = [self.heads.run(plan) for plan in plans if plan.kind == "terminated"]
            ended = [self._inside(key, said) for said in ended]
            fluent = settle(key[1], initiated, ended, held[key], self.world.tick, self.symbols)
            self.add_fluent(key, fluent, found)
            self._add_changes(key, initiated, ended, found)

    def _inside(self, key: Key, said: Said) -> Said:
        allowed = self.heads.allowed(key, said)
        return said if allowed.all() else said.where(allowed)

    def add_fluent(self, key: Key, fluent: Fluent, found: Findings) -> None:
        """Publish the spans of a simple fluent."""
        found.fluents[key] = fluent
        self.world.add_fluent(key, self.shown(key, fluent))

    def add_points(self, kind: str, key: Key, table: Relation, found: Findings) -> None:
        """Publish points."""
        found.points[kind, key] = table
        self.world.add_points(kind, key, table)

    def _add_changes(self, key: Key, initiated: Said, ended: list[Said], found: Findings) -> None:
        """Let later rules see the points themselves."""
        if key in self.program.initiations_read:
            self.add_points("initiated", key, fluent_rows(self._inside(key, initiated)), found)
        if key in self.program.terminations_read:
            listed = [termination_rows(said) for said in ended]
            found.terminations[key] = listed
            self.world.terminations.setdefault(key, []).extend(listed)

    def shown(self, key: Key, fluent: Fluent) -> Fluent:
        """The pairs in the domain of the fluent; the others hold nowhere."""
        if not self.groundings.restricts(key) or not fluent.pairs.rows:
            return fluent
        columns = fluent.pairs.columns
        allowed = self.groundings.allows(key, columns[:-1], columns[-1], fluent.pairs.rows)
        return fluent.where(allowed)

    # --- the values a component begins with ------------------------------------------------------

    def held(self, stratum: Stratum, memory: Memory, found: Findings) -> dict[Key, Held]:
        """The values that hold at the cut; at the start of the run, the initial ones."""
        at_start = memory.cut == self.world.start
        held: dict[Key, Held] = {}
        for key in stratum.fluents:
            plans = [plan for plan in stratum.initially if plan.key == key]
            carried = held_nothing(key[1]) if at_start else memory.held.get(key)
            carried = carried or held_nothing(key[1])
            if plans and (at_start or self.program.dynamic):
                first = self._initially(key, plans)
                owners = Relation(first.args, len(first))
                if not at_start:
                    # A member that has only just come to be known begins its run here.
                    new = ~known_rows(owners, memory.owners.get(key), self.symbols)
                    first = Held(
                        tuple(c.take(new) for c in first.args), first.value[new], first.start[new]
                    )
                found.owners[key] = owners
                carried = held_by_both(carried, first, self.symbols)
            held[key] = carried
        return held

    def initial_owners(self, stratum: Stratum) -> dict[Key, Relation]:
        """Who has a value from the start of the run?"""
        found: dict[Key, Relation] = {}
        for key in stratum.fluents:
            plans = [plan for plan in stratum.initially if plan.key == key]
            if plans:
                first = self._initially(key, plans)
                found[key] = Relation(first.args, len(first))
        return found

    def _initially(self, key: Key, plans: list[PointPlan]) -> Held:
        said = together([self.heads.run(p) for p in plans], key[1], True, self.symbols)
        if not len(said) or said.value is None:
            return held_nothing(key[1])
        keys = [codes_of(column, self.symbols) for column in said.args]
        _, once = dense([*keys, said.value], len(said))
        said = said.where(once)
        owner, firsts = dense([key_column[once] for key_column in keys], len(said))
        # Initiated together, two values cancel each other.
        alone = np.bincount(owner, minlength=len(firsts))[owner] == 1
        said = said.where(alone & self.heads.allowed(key, said))
        assert said.value is not None
        return Held(said.args, said.value, np.full(len(said), self.world.start))


def held_by_both(one: Held, other: Held, symbols: Symbols) -> Held:
    """Values of different fluents together."""
    if not len(one) or not len(other):
        return one if len(one) else other
    args = tuple(concat(pair, symbols) for pair in zip(one.args, other.args, strict=True))
    return Held(
        args,
        np.concatenate((one.value, other.value)),
        np.concatenate((one.start, other.start)),
    )
