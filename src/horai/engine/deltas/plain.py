"""Components of simple fluents and events without cycles, by change."""

from __future__ import annotations

from dataclasses import dataclass, field

from horai.engine.deltas.changes import Changed, PointChange, exchanged, unmatched
from horai.engine.deltas.lines import FluentLines, Moved
from horai.engine.deltas.log import Log
from horai.engine.deltas.reading import Driven, Name, driven
from horai.engine.deltas.reasons import NotByChange
from horai.engine.deltas.rules import Logs, RuleDelta
from horai.engine.deltas.store import FluentStore
from horai.engine.heads import Heads, Said, together
from horai.engine.memory import Memory
from horai.engine.points import event_rows
from horai.engine.relations import joined
from horai.engine.simple import Held
from horai.engine.symbols import Symbols
from horai.engine.world import merged, no_fluent
from horai.plan.program import Key, Plan, Stratum


def plain_rules(stratum: Stratum, program: Plan) -> list[Driven]:
    """The rules of a component by their drivers; `NotByChange` if it is worked out as a whole."""
    if stratum.delays:
        raise NotByChange("it has delayed effects")
    if stratum.static:
        raise NotByChange("interval lists and points depend on each other")
    if not stratum.points:
        raise NotByChange("it has initial values only")
    read = program.initiations_read | program.terminations_read
    for key in stratum.fluents:
        if key in read:
            raise NotByChange(f"rules ask when {key[0]}/{key[1]} is initiated or terminated")
    made = [*stratum.fluents, *stratum.events]
    if program.dynamic and (stratum.initially or any(key in program.groundings for key in made)):
        raise NotByChange("it says something of all who are known, and the stream makes them known")
    return [driven(plan, program) for plan in stratum.points]


@dataclass
class PlainDelta:
    """One component: its rules, and what they led to."""

    stratum: Stratum
    driven: list[Driven]
    symbols: Symbols
    rules: list[RuleDelta] = field(default_factory=list)
    lines: dict[Key, FluentLines] = field(default_factory=dict)
    stores: dict[Key, FluentStore] = field(default_factory=dict)
    logs: dict[Key, Log] = field(default_factory=dict)  # of its events

    @property
    def reads(self) -> set[Name]:
        """All relations whose changes matter."""
        return {name for rule in self.driven for name in rule.relations}

    def build(self, heads: Heads, logs: Logs, memory: Memory, held: dict[Key, Held]) -> None:
        """Everything after the cut from scratch, beside what is remembered."""
        heads.low = memory.cut
        self.rules = [RuleDelta(one, self.symbols) for one in self.driven]
        said = [rule.build(heads, logs) for rule in self.rules]
        for key in self.stratum.events:
            parts = [
                one for one, rule in zip(said, self.rules, strict=True) if _is(rule, key, True)
            ]
            table = event_rows(together(parts, key[1], False, self.symbols))
            before = memory.points.get(("event", key))
            log = self.logs[key] = Log(table.where(table.columns[-1].data[:0]), self.symbols)
            log.add(joined([before, table], self.symbols) if before is not None else table)
        for key in self.stratum.fluents:
            lines = self.lines[key] = FluentLines(key[1], heads.world.tick, self.symbols)
            store = FluentStore(no_fluent(key[1] + 1), self.symbols)
            lines.begin(held[key], store)
            points = [
                Moved(one, rule.driven.plan.kind == "initiated", comes=True)
                for one, rule in zip(said, self.rules, strict=True)
                if _is(rule, key) and len(one)
            ]
            if points:
                lines.change(points, store)
            before_ = [memory.fluents[key]] if key in memory.fluents else []
            self.stores[key] = FluentStore(
                merged([store.fluent, *before_], self.symbols), self.symbols
            )

    def step(self, heads: Heads, logs: Logs, changed: Changed, before: int, low: int) -> Changed:
        """What follows from changes; `before` is the query time at which nothing had changed."""
        heads.low = low
        said = [rule.step(heads, logs, changed) for rule in self.rules]
        found: Changed = {}
        for key in self.stratum.events:
            found["event", key] = self._events(key, said)
        for key in self.stratum.fluents:
            points = [
                Moved(part, rule.driven.plan.kind == "initiated", comes)
                for both, rule in zip(said, self.rules, strict=True)
                if _is(rule, key)
                for part, comes in zip(both, (False, True), strict=True)
                if len(part)
            ]
            if points:
                found["fluent", key] = self.lines[key].change(points, self.stores[key])
        return {name: change for name, change in found.items() if change}

    def settle(self, cut: int) -> None:
        """From now on nothing changes up to the cut."""
        for lines in self.lines.values():
            lines.settle(cut)

    def forget(self, cut: int) -> None:
        """Drop the points that the memory of the component stands for."""
        for rule in self.rules:
            rule.forget(cut)
        for lines in self.lines.values():
            lines.pack()

    def _events(self, key: Key, said: list[tuple[Said, Said]]) -> PointChange:
        mine = [one for one, r in zip(said, self.rules, strict=True) if _is(r, key, True)]
        gone, new = [one for one, _ in mine], [one for _, one in mine]
        log = self.logs[key]
        leaving = event_rows(together(gone, key[1], False, self.symbols))
        coming = event_rows(together(new, key[1], False, self.symbols))
        left, right = unmatched(leaving, coming, self.symbols)
        numbers = log.numbers_of(leaving.where(left))
        return exchanged(log, numbers, coming.where(right))


def _is(rule: RuleDelta, key: Key, event: bool = False) -> bool:
    plan = rule.driven.plan
    return plan.key == key and (plan.kind == "event") == event
