"""One component after the other: each is worked out from the relations of those before it."""

from __future__ import annotations

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import Column, codes, codes_of, ints
from horai.engine.errors import blaming
from horai.engine.groundings import Groundings
from horai.engine.hashing import dense
from horai.engine.heads import EVERY, Heads, Said, together
from horai.engine.relations import Relation
from horai.engine.simple import Held, held_nothing, settle
from horai.engine.static import Static
from horai.engine.stepwise import Stepwise
from horai.engine.world import Fluent, Terminations, World
from horai.plan.program import PointPlan, Program, Stratum

Key = tuple[str, int]


class Components:
    """Works out the strata of a program in a world."""

    def __init__(
        self, program: Program, world: World, evaluator: Evaluator, groundings: Groundings
    ) -> None:
        self.program = program
        self.world = world
        self.evaluator = evaluator
        self.groundings = groundings
        self.heads = Heads(world, evaluator, groundings)
        self.static = Static(world, evaluator, groundings)

    def run(self, stratum: Stratum) -> None:
        """Work out one component."""
        for plan in stratum.static:
            self.world.add_fluent(plan.key, self.static.evaluate(plan))
        if not stratum.points and not stratum.initially and not stratum.delays:
            return
        if stratum.delays or any(plan.split is not None for plan in stratum.points):
            Stepwise(self.program, stratum, self.heads, self.initial(stratum)).run()
            return
        for key in stratum.events:
            self._events(key, [plan for plan in stratum.points if plan.key == key])
        for key in stratum.fluents:
            plans = [p for p in stratum.points if p.key == key and p.kind != "event"]
            self._fluent(key, plans, self.initial(stratum)[key])

    # --- events ----------------------------------------------------------------------------------

    def _events(self, key: Key, plans: list[PointPlan]) -> None:
        said = together([self.heads.run(plan) for plan in plans], key[1], False, self.world.symbols)
        said = said.where(self.heads.allowed(key, said))
        self.world.add_points("event", key, event_rows(said))

    # --- simple fluents --------------------------------------------------------------------------

    def _fluent(self, key: Key, plans: list[PointPlan], held: Held) -> None:
        symbols, arity = self.world.symbols, key[1]
        begun = [self.heads.run(plan) for plan in plans if plan.kind == "initiated"]
        initiated = together(begun, arity, True, symbols)
        ended = [self.heads.run(plan) for plan in plans if plan.kind == "terminated"]
        ended = [said.where(self.heads.allowed(key, said)) for said in ended]
        fluent = settle(arity, initiated, ended, held, self.world.tick, symbols)
        self.world.add_fluent(key, self.shown(key, fluent))
        inside = initiated.where(self.heads.allowed(key, initiated))
        self.add_changes(key, inside, ended)

    def add_changes(self, key: Key, initiated: Said, ended: list[Said]) -> None:
        """Let later rules see the points themselves."""
        if key in self.program.initiations_read:
            self.world.add_points("initiated", key, fluent_rows(initiated))
        if key in self.program.terminations_read:
            found = self.world.terminations.setdefault(key, [])
            found.extend(termination_rows(said) for said in ended)

    def shown(self, key: Key, fluent: Fluent) -> Fluent:
        """The pairs in the domain of the fluent; the others hold nowhere."""
        if not self.groundings.restricts(key) or not fluent.pairs.rows:
            return fluent
        columns = fluent.pairs.columns
        allowed = self.groundings.allows(key, columns[:-1], columns[-1], fluent.pairs.rows)
        return fluent.where(allowed)

    def initial(self, stratum: Stratum) -> dict[Key, Held]:
        """The values that hold from the start of the run."""
        found = {key: held_nothing(key[1]) for key in stratum.fluents}
        for key in found:
            plans = [plan for plan in stratum.initially if plan.key == key]
            if plans:
                found[key] = self._initially(key, plans)
        return found

    def _initially(self, key: Key, plans: list[PointPlan]) -> Held:
        symbols = self.world.symbols
        parts = []
        for plan in plans:
            with blaming(plan.clause):
                parts.append(self.heads.run(plan))
        said = together(parts, key[1], True, symbols)
        if not len(said) or said.value is None:
            return held_nothing(key[1])
        keys = [codes_of(column, symbols) for column in said.args]
        _, once = dense([*keys, said.value], len(said))
        said = said.where(once)
        owner, firsts = dense([key[once] for key in keys], len(said))
        # Initiated together, two values cancel each other.
        alone = np.bincount(owner, minlength=len(firsts))[owner] == 1
        said = said.where(alone & self.heads.allowed(key, said))
        assert said.value is not None
        return Held(said.args, said.value, np.full(len(said), self.world.start))


def event_rows(said: Said) -> Relation:
    """Points of an event as a relation."""
    return Relation((*said.args, ints(said.time)), len(said))


def fluent_rows(said: Said) -> Relation:
    """Points of a fluent as a relation: arguments, value, time."""
    assert said.value is not None
    value: Column = codes(said.value)
    return Relation((*said.args, value, ints(said.time)), len(said))


def termination_rows(said: Said) -> Terminations:
    """Terminations as rules see them."""
    if len(said) and said.value is not None and said.value[0] == EVERY:
        return Terminations(event_rows(said), said.form, True)
    return Terminations(fluent_rows(said), None, False)
