"""Settling some entities of a component for some time, with candidates that are kept by change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from horai.engine.clock import Clock
from horai.engine.clock_candidates import Block
from horai.engine.clockstate import ClockState
from horai.engine.columns import codes
from horai.engine.components import Components
from horai.engine.deltas.candidates import Rows
from horai.engine.deltas.cycle_rules import CycleRules
from horai.engine.deltas.live_world import LiveWorld
from horai.engine.deltas.reasons import NotByChange
from horai.engine.heads import EVERY, Said
from horai.engine.machine import MachineRun
from horai.engine.machine_input import Inputs, NotHere
from horai.engine.machine_rows import Given
from horai.engine.memory import Memory
from horai.engine.relations import Relation
from horai.engine.simple import Held
from horai.engine.world import Fluent
from horai.lang.core.terms import Term, Var
from horai.plan.ec.machine import Machine
from horai.plan.ec.settling import Tests
from horai.plan.program import Key, Plan, PointPlan
from horai.temporal.clockwork import GHOST, INITIATE, TERMINATE
from horai.temporal.spans import Ints


@dataclass(slots=True)
class Part:
    """What some entities begin with, and what can happen: from the end of `low` up to `high`.

    `past` is what held before, if someone may look back.
    """

    low: int
    high: int
    held: dict[Key, Held]
    state: ClockState
    rows: list[Rows]  # of every rule that has candidates
    heard: dict[Key, Rows]
    past: dict[Key, Fluent]


@dataclass(slots=True)
class Course:
    """What became of them: spans, events, and the state at the end."""

    fluents: dict[Key, Fluent]
    events: dict[Key, Relation]
    state: ClockState


class Settler(ABC):
    """One of the ways to settle a component, by parts."""

    @abstractmethod
    def begin(self, components: Components) -> None:
        """Another query: what others have said may have changed."""

    @abstractmethod
    def settle(self, components: Components, part: Part) -> Course:
        """Settle a part; `NotByChange` if it takes more than this way."""


def settler_of(rules: CycleRules, program: Plan) -> Settler:
    """The way in which a component is settled."""
    if isinstance(rules.compiled, Machine):
        return MachineSettler(rules, rules.compiled, program)
    return ClockSettler(rules, rules.compiled, program)


@contextmanager
def as_it_was(components: Components, part: Part) -> Iterator[None]:
    """Let the world end with a part, and know of the component what was before it."""
    world = components.world
    assert isinstance(world, LiveWorld)
    before = world.query
    world.query = part.high
    for key, fluent in part.past.items():
        world.add_fluent(key, fluent)
    try:
        yield
    finally:
        world.query = before
        for key in part.past:
            world.take_out(key)


# --- the clockwork -------------------------------------------------------------------------------


class ClockSettler(Settler):
    """Tests of values and delayed effects, by the compiled clockwork."""

    def __init__(self, rules: CycleRules, tests: dict[int, list[Tests]], program: Plan) -> None:
        self.rules, self.tests, self.program = rules, tests, program

    def begin(self, components: Components) -> None:
        """Nothing is kept from one part to the next."""

    def settle(self, components: Components, part: Part) -> Course:
        """Settle a part."""
        heads, stratum = components.heads, self.rules.stratum
        clock = _Kept(self.program, stratum, heads, self.tests, part.held, part.state)
        plans = [id(one.driven.plan) for one in self.rules.candidates]
        clock.rows = dict(zip(plans, part.rows, strict=True))
        with as_it_was(components, part):
            outcome = clock.run(part.low, part.high)
        return Course(outcome.fluents, {}, outcome.state)


class _Kept(Clock):
    """A clock that is given the candidates of its rules."""

    rows: dict[int, Rows]

    def _blocks(self, plan: PointPlan, alternatives: list[Tests]) -> list[Block]:
        time, matrix = self.rows[id(plan)]
        said = _said(plan, time, matrix)
        kind = np.full(len(said), TERMINATE if plan.kind == "terminated" else INITIATE)
        allowed = self.heads.allowed(plan.key, said)
        if plan.kind == "terminated" and not allowed.all():
            said, kind, matrix = said.where(allowed), kind[allowed], matrix[allowed]
        elif plan.kind != "terminated":
            kind = np.where(allowed, INITIATE, GHOST)
        found: list[Block] = []
        at = plan.key[1] + (not plan.open_value)
        for tests in alternatives:
            asked = []
            for guard in tests:
                *args, value = (matrix[:, at + place] for place in range(len(guard.terms)))
                at += len(guard.terms)
                columns = tuple(codes(column) for column in args)
                asked.append((guard.key, columns, value, guard.positive))
            found.append(Block(plan.key, said, kind, asked))
        return found


def _said(plan: PointPlan, time: Ints, matrix: Ints) -> Said:
    """What the head of a rule says of each candidate."""
    arity = plan.key[1]
    args = tuple(codes(matrix[:, place].copy()) for place in range(arity))
    if not plan.open_value:
        return Said(args, time, matrix[:, arity].copy())
    form: Term | None = None if isinstance(plan.terms[-1], Var) else plan.terms[-1]
    return Said(args, time, np.full(len(time), EVERY), form)


# --- the machine ---------------------------------------------------------------------------------


class MachineSettler(Settler):
    """Events, starts, ends and numbers, by the compiled machine."""

    def __init__(self, rules: CycleRules, machine: Machine, program: Plan) -> None:
        self.rules, self.machine, self.program = rules, machine, program
        self._given: Given | None = None
        numbers = {id(rule.plan): number for number, rule in enumerate(machine.rules)}
        self._numbers = [numbers[id(one.driven.plan)] for one in rules.candidates]

    def begin(self, components: Components) -> None:
        """What the machine looks up is gathered once for all parts."""
        self._given = None

    def settle(self, components: Components, part: Part) -> Course:
        """Settle a part."""
        heads, stratum = components.heads, self.rules.stratum
        inputs = _KeptInputs(self.program, self.machine, heads)
        inputs.rows = dict(zip(self._numbers, part.rows, strict=True))
        inputs.heard = part.heard
        if self._given is None:
            try:
                self._given = inputs.given()
            except NotHere:
                raise NotByChange("its domain cannot be listed") from None
        memory = Memory(part.low, clock=part.state)
        run = MachineRun(self.program, stratum, self.machine, heads, part.held, memory)
        with as_it_was(components, part):
            settled = run.settle(inputs.candidates(), self._given, inputs.registers(), part.high)
        if settled is None:
            raise NotByChange("a value is not for a machine")
        state, live = settled
        return Course(run.fluents(live), run.events(live), state)


@dataclass(slots=True)
class _KeptInputs(Inputs):
    """What a machine takes, with candidates that are kept."""

    rows: dict[int, Rows] = field(default_factory=dict)
    heard: dict[Key, Rows] = field(default_factory=dict)

    def _parts(self) -> Iterator[tuple[int, int, Rows]]:
        rules = self.machine.rules
        for number, (key, (layer, _)) in enumerate(self.machine.heard.items(), len(rules)):
            if key in self.heard:
                yield number, layer, self.heard[key]
        for number, rule in enumerate(rules):
            if rule.timed:
                yield number, rule.layer, self.rows[number]
