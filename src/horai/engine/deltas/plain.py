"""Components of simple fluents and events without cycles, by change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from horai.engine.deltas.changes import Changed, PointChange, exchanged, unmatched
from horai.engine.deltas.fluent_points import FluentPoints
from horai.engine.deltas.log import Log
from horai.engine.deltas.reading import Driven, Name, driven
from horai.engine.deltas.reasons import NotByChange
from horai.engine.deltas.regions import changed_regions
from horai.engine.deltas.rules import Logs, RuleDelta
from horai.engine.deltas.simple import Fresh, resettled
from horai.engine.deltas.store import FluentStore, SpanChange
from horai.engine.heads import Heads, Said, together
from horai.engine.memory import Memory
from horai.engine.points import event_rows
from horai.engine.relations import joined
from horai.engine.simple import Held, settle
from horai.engine.symbols import Symbols
from horai.engine.world import merged
from horai.plan.program import Key, Program, Stratum


def plain_rules(stratum: Stratum, program: Program) -> list[Driven]:
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
    points: dict[Key, FluentPoints] = field(default_factory=dict)
    stores: dict[Key, FluentStore] = field(default_factory=dict)
    logs: dict[Key, Log] = field(default_factory=dict)  # of its events

    @property
    def reads(self) -> set[Name]:
        """All relations whose changes matter."""
        return {name for rule in self.driven for name in rule.relations}

    def build(self, heads: Heads, logs: Logs, memory: Memory, held: dict[Key, Held]) -> None:
        """Everything after the cut from scratch, beside what is remembered."""
        heads.low = memory.cut
        self._begin()
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
            begun, ended = self._points(key, said)
            initiated = together(begun, key[1], True, self.symbols)
            fluent = settle(key[1], initiated, ended, held[key], heads.world.tick, self.symbols)
            before_ = [memory.fluents[key]] if key in memory.fluents else []
            self.stores[key] = FluentStore(merged([fluent, *before_], self.symbols), self.symbols)

    def _begin(self) -> None:
        for key in self.stratum.fluents:
            mine = [one.plan for one in self.driven if one.plan.key == key]
            initiates = [plan.kind == "initiated" for plan in mine if plan.kind != "event"]
            self.points[key] = FluentPoints(key[1], initiates, self.symbols)
        self.rules = []
        numbers: Counter[Key] = Counter()
        for one in self.driven:
            key = one.plan.key
            points = None if one.plan.kind == "event" else self.points[key]
            self.rules.append(RuleDelta(one, self.symbols, points, numbers[key]))
            numbers[key] += one.plan.kind != "event"

    def step(self, heads: Heads, logs: Logs, changed: Changed, before: int, low: int) -> Changed:
        """What follows from changes; `before` is the query time at which nothing had changed."""
        heads.low = low
        said = [rule.step(heads, logs, changed) for rule in self.rules]
        found: Changed = {}
        for key in self.stratum.events:
            found["event", key] = self._events(key, said)
        for key in self.stratum.fluents:
            parts = [
                (part, rule.driven.plan.kind if come else "")
                for points, rule in zip(said, self.rules, strict=True)
                if _is(rule, key)
                for part, come in zip(points, (False, True), strict=True)
                if len(part)
            ]
            if parts:
                found["fluent", key] = self._fluent(key, parts, before, heads.world.tick)
        return {name: change for name, change in found.items() if change}

    def forget(self, cut: int) -> None:
        """Drop the points that the memory of the component stands for."""
        for rule in self.rules:
            rule.forget(cut)
        for points in self.points.values():
            points.forget(cut)

    def _fluent(
        self, key: Key, parts: Sequence[tuple[Said, str]], before: int, tick: int
    ) -> SpanChange:
        """What becomes of a fluent: its points that went, and by kind those that came."""
        points = self.points[key]
        every = [part for part, _ in parts]
        regions, owners = changed_regions(every, points, key[1], before, tick, self.symbols)
        new = [
            Fresh(part, owner, come == "initiated")
            for (part, come), owner in zip(parts, owners, strict=True)
            if come
        ]
        return resettled(self.stores[key], regions, points, new, before, tick, self.symbols)

    def _events(self, key: Key, said: list[tuple[Said, Said]]) -> PointChange:
        mine = [one for one, r in zip(said, self.rules, strict=True) if _is(r, key, True)]
        gone, new = [one for one, _ in mine], [one for _, one in mine]
        log = self.logs[key]
        leaving = event_rows(together(gone, key[1], False, self.symbols))
        coming = event_rows(together(new, key[1], False, self.symbols))
        left, right = unmatched(leaving, coming, self.symbols)
        numbers = log.numbers_of(leaving.where(left))
        return exchanged(log, numbers, coming.where(right))

    def _points(self, key: Key, said: list[Said]) -> list[list[Said]]:
        """Initiations and terminations of a fluent, of what all rules say."""
        pairs = [(one, rule) for one, rule in zip(said, self.rules, strict=True) if _is(rule, key)]
        kinds = ("initiated", "terminated")
        return [[one for one, rule in pairs if rule.driven.plan.kind == kind] for kind in kinds]


def _is(rule: RuleDelta, key: Key, event: bool = False) -> bool:
    plan = rule.driven.plan
    return plan.key == key and (plan.kind == "event") == event
