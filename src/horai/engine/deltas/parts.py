"""Components that can be brought up to date by change, behind one face."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import ClassVar, NamedTuple

from horai.engine.components import Components
from horai.engine.deltas.changes import Changed
from horai.engine.deltas.cycle_rules import cycle_rules
from horai.engine.deltas.cycles import CycleDelta
from horai.engine.deltas.delay_rules import delay_rules
from horai.engine.deltas.delays import DelayDelta
from horai.engine.deltas.log import Log
from horai.engine.deltas.plain import PlainDelta, plain_rules
from horai.engine.deltas.reading import Name
from horai.engine.deltas.reasons import Kind, NotByChange, Update
from horai.engine.deltas.rules import Logs, RuleDelta
from horai.engine.deltas.static import StaticComponent, only_lists, refuse_stratum
from horai.engine.deltas.store import FluentStore, SpanChange
from horai.engine.findings import Findings
from horai.engine.memory import Memory, later
from horai.engine.symbols import Symbols
from horai.plan.ec.reach import Source
from horai.plan.program import Key, Plan, Stratum

Stores = dict[Key, FluentStore]
Bounds = Callable[[Source], int]


class Now(NamedTuple):
    """What a component finds at a query: all relations as they are, and how they changed.

    `before` is the query time at which nothing had changed.
    """

    components: Components
    logs: Logs
    stores: Stores
    changed: Changed
    before: int
    memory: Memory


class ByChange(ABC):
    """A component by change: the stores of its fluents and the logs of its events."""

    kind: ClassVar[Kind]
    stratum: Stratum
    reads: set[Name]  # the relations whose changes matter
    logs: dict[Key, Log]

    @property
    @abstractmethod
    def stores(self) -> Stores:
        """What its fluents are now, pairs outside their domain included."""

    @abstractmethod
    def step(self, now: Now) -> Changed:
        """How its relations change with what they read."""

    def settle(self, cut: int) -> None:  # noqa: B027 (most have nothing to do)
        """From now on nothing changes up to the cut."""

    @abstractmethod
    def forget(self, cut: int, bounds: Bounds) -> None:
        """Drop what the memory of the component stands for."""

    def findings(self, memory: Memory, cut: int, components: Components) -> Findings:
        """What it said after its cut, as if from scratch."""
        found = Findings(simple=set(self.stratum.fluents))
        for key, store in self.stores.items():
            found.fluents[key] = store.public()
        for key, log in self.logs.items():
            found.points["event", key] = later(log.whole().table, memory.cut)
        return found


class Points(ByChange):
    """Simple fluents and events without cycles."""

    kind = "points"

    def __init__(self, plain: PlainDelta) -> None:
        self.plain = plain
        self.stratum, self.reads, self.logs = plain.stratum, plain.reads, plain.logs

    @property
    def stores(self) -> Stores:
        """What its fluents are now."""
        return self.plain.stores

    def build(self, components: Components, logs: Logs, memory: Memory) -> None:
        """Everything from scratch, beside what is remembered."""
        held = components.held(self.stratum, memory, Findings())
        self.plain.build(components.heads, logs, memory, held)

    def step(self, now: Now) -> Changed:
        """How its relations change with what they read."""
        if not self.reads & now.changed.keys():
            return {}
        heads = now.components.heads
        return self.plain.step(heads, now.logs, now.changed, now.before, now.memory.cut)

    def settle(self, cut: int) -> None:
        """From now on nothing changes up to the cut."""
        self.plain.settle(cut)

    def forget(self, cut: int, bounds: Bounds) -> None:
        """Drop the points that the memory of the component stands for."""
        self.plain.forget(cut)


class Delays(ByChange):
    """Simple fluents with delayed effects."""

    kind = "delays"

    def __init__(self, delta: DelayDelta) -> None:
        self.delta = delta
        self.stratum, self.reads, self.logs = delta.stratum, delta.reads, {}

    @property
    def stores(self) -> Stores:
        """What its fluents are now."""
        return self.delta.stores

    def build(self, components: Components, logs: Logs, memory: Memory) -> None:
        """Everything from scratch, beside what is remembered."""
        self.delta.build(components, logs, memory)

    def step(self, now: Now) -> Changed:
        """How its relations change with what they read, and as time goes on."""
        found = self.delta.step(now.components, now.logs, now.changed, now.before, now.memory)
        return dict(found)

    def findings(self, memory: Memory, cut: int, components: Components) -> Findings:
        """What it said after its cut, as if from scratch, with its clock at a later one."""
        found = super().findings(memory, cut, components)
        found.clock = self.delta.from_cut(components, memory, cut).state
        return found

    def forget(self, cut: int, bounds: Bounds) -> None:
        """Drop the points that the memory of the component stands for."""
        self.delta.forget(cut)


class Cycles(ByChange):
    """Simple fluents and events that depend on themselves."""

    kind = "cycles"

    def __init__(self, delta: CycleDelta) -> None:
        self.delta = delta
        self.stratum, self.reads, self.logs = delta.stratum, delta.rules.reads, delta.logs

    @property
    def stores(self) -> Stores:
        """What its fluents are now."""
        return self.delta.stores

    def build(self, components: Components, logs: Logs, memory: Memory) -> None:
        """Everything from scratch, beside what is remembered."""
        self.delta.build(components, logs, memory)

    def step(self, now: Now) -> Changed:
        """How its relations change with what they read, and as time goes on."""
        return self.delta.step(now.components, now.logs, now.changed, now.memory)

    def findings(self, memory: Memory, cut: int, components: Components) -> Findings:
        """What it said after its cut, as if from scratch, with its clock at a later one."""
        found = super().findings(memory, cut, components)
        found.clock = self.delta.state_at(components, cut)
        return found

    def forget(self, cut: int, bounds: Bounds) -> None:
        """Drop the candidates that the memory of the component stands for."""
        self.delta.forget(cut)


class Lists(ByChange):
    """Statically determined fluents."""

    kind = "lists"

    def __init__(self, static: StaticComponent) -> None:
        self.static = static
        self.stratum, self.logs = static.stratum, {}
        self.reads = {("fluent", key) for key in static.reads}

    @property
    def stores(self) -> Stores:
        """What its fluents are now."""
        return self.static.stores

    def build_from(
        self, components: Components, stores: Stores, memory: Memory, found: Findings
    ) -> None:
        """Begin with what was worked out from scratch."""
        self.static.build(components.static, stores, memory, found)

    def step(self, now: Now) -> Changed:
        """How its relations change with what they read."""
        changes = {
            key: change
            for (kind, key), change in now.changed.items()
            if kind == "fluent" and isinstance(change, SpanChange)
        }
        found = self.static.step(now.components.static, now.stores, changes, now.memory.cut)
        return {("fluent", key): change for key, change in found.items() if change}

    def findings(self, memory: Memory, cut: int, components: Components) -> Findings:
        """What it said after its cut, as if from scratch, with the lists inside its rules."""
        found = super().findings(memory, cut, components)
        found.operands = self.static.operands()
        return found

    def forget(self, cut: int, bounds: Bounds) -> None:
        """Drop what neither the component nor any reader of its fluents looks at."""
        read = self.static.reads if self.static.compares else set()
        self.static.forget(min([cut, *(bounds(("fluent", key)) for key in {*self.stores, *read})]))


def part_of(stratum: Stratum, program: Plan, symbols: Symbols, tick: int = 1) -> ByChange | None:
    """How a component is brought up to date; None if it has to be worked out as a whole."""
    try:
        return _part(stratum, program, symbols, tick)
    except NotByChange:
        return None


def update_of(stratum: Stratum, program: Plan, tick: int = 1) -> Update:
    """How a component can be brought up to date, or why it has to be worked out as a whole."""
    try:
        part = _part(stratum, program, Symbols(), tick)
    except NotByChange as reason:
        return Update(None, str(reason))
    return Update(part.kind)


def _part(stratum: Stratum, program: Plan, symbols: Symbols, tick: int) -> ByChange:
    if only_lists(stratum):
        refuse_stratum(stratum, program)
        return Lists(StaticComponent(stratum, symbols))
    if not stratum.delays and all(plan.split is None for plan in stratum.points):
        return Points(PlainDelta(stratum, plain_rules(stratum, program), symbols))
    if stratum.delays:
        with suppress(NotByChange):
            found, tests = delay_rules(stratum, program, tick)
            listed = [RuleDelta(rule, symbols) for rule in found]
            return Delays(DelayDelta(program, stratum, listed, tests, symbols))
    return Cycles(CycleDelta(cycle_rules(stratum, program, tick), program, symbols))
