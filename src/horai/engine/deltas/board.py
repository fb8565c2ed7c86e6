"""What readers see of every relation, whoever worked it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from horai.engine.columns import codes, ints
from horai.engine.components import Components
from horai.engine.deltas.changes import Changed, PointChange, exchanged
from horai.engine.deltas.domain import Domain
from horai.engine.deltas.edges import EdgeLog
from horai.engine.deltas.live_world import LiveWorld, Relations
from horai.engine.deltas.log import Log
from horai.engine.deltas.parts import ByChange
from horai.engine.deltas.reading import Name
from horai.engine.deltas.store import (
    FluentStore,
    SharedStore,
    SpanChange,
    without_bare_pairs,
)
from horai.engine.horizon import sources_of
from horai.engine.memory import union
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, no_fluent
from horai.plan.ec.reach import Source
from horai.plan.program import Key, Plan
from horai.temporal.spans import FIRST, no_spans


class Board:
    """All relations, kept from one query to the next.

    `own` and `own_logs` have what each component says; where several tell of one fluent, or some of
    it is outside its domain, `stores` and `logs` have what readers see.
    """

    def __init__(self, program: Plan, symbols: Symbols) -> None:
        self.program, self.symbols = program, symbols
        sources = [source for stratum in program.strata for source in sources_of(stratum)]
        self.derived = frozenset(sources)
        several = {source for source in sources if sources.count(source) > 1}
        # Fluents and events of which readers see something else than what one component says.
        self.assembled = {key for kind, key in several if kind == "fluent"} | set(
            program.groundings
        )
        self.gathered = {key for kind, key in several if kind == "event"}
        self.clashes = False  # two components tell of the same pair
        self.stores: dict[Key, FluentStore] = {}
        self.own: dict[tuple[int, Key], FluentStore] = {}
        self.logs: dict[Name, Log] = {}
        self.own_logs: dict[tuple[int, Key], Log] = {}
        self.edges: dict[Name, EdgeLog] = {}
        self.final: dict[Key, int] = {}  # up to when fluents that are compared are forgotten
        self.domain = Domain(program, symbols)

    def read(self, names: Iterable[Name]) -> None:
        """Keep relations that a component reads."""
        for kind, key in names:
            if kind == "event":
                self.log(key)
            elif kind == "fluent":
                self.store(key)
            else:
                self.edges[kind, key] = EdgeLog(kind, key, self.symbols)
                self.logs[kind, key] = self.edges[kind, key].log

    def store(self, key: Key) -> FluentStore:
        if key not in self.stores:
            shared = key in self.assembled and ("fluent", key) in self.derived
            kind = SharedStore if shared else FluentStore
            self.stores[key] = kind(no_fluent(key[1] + 1), self.symbols)
        return self.stores[key]

    def log(self, key: Key) -> Log:
        if ("event", key) not in self.logs:
            self.logs["event", key] = Log(no_points(key[1]), self.symbols)
        return self.logs["event", key]

    def inputs(self) -> list[Key]:
        """The fluents that come with the stream."""
        return [key for key in self.stores if ("fluent", key) not in self.derived]

    def of_others(self, place: int, key: Key, components: Components) -> Fluent:
        """What other components said of a fluent, as readers see it."""
        mine = {one for one, other in self.own if other == key and one != place}
        parts = [components.shown(key, self.own[one, key].public()) for one in sorted(mine)]
        return union(parts, key[1] + 1, self.symbols)

    def logs_of_others(self, place: int, key: Key) -> list[Log]:
        """What other components, worked out from scratch, said of an event."""
        return [log for (one, other), log in self.own_logs.items() if other == key and one != place]

    def publish_all(self, place: int, part: ByChange, components: Components) -> None:
        """Let readers see what was worked out from scratch."""
        for key, log in part.logs.items():
            if key in self.gathered:
                self.log(key).add(log.whole().table)
            else:
                self.logs["event", key] = log
        for key, store in part.stores.items():
            fluent = store.fluent
            change = SpanChange(fluent.pairs, no_spans(), fluent.spans)
            self.own[place, key] = store
            self.published(place, key, change, components)

    def published(
        self, place: int, key: Key, change: PointChange | SpanChange, components: Components
    ) -> PointChange | SpanChange:
        """The change as readers see it, who know of nothing outside its domain."""
        if isinstance(change, PointChange):
            if key not in self.gathered:
                return change
            log = self.log(key)
            return exchanged(log, log.numbers_of(change.gone), change.new)
        if key not in self.assembled:
            self.stores[key] = self.own[place, key]
            return change
        if components.groundings.restricts(key):
            fluent = self.own[place, key].fluent
            change = self.domain.seen(place, key, change, fluent, components.groundings)
        store = self.store(key)
        assert isinstance(store, SharedStore)
        shown = store.take(place, change)
        self.clashes |= store.clashes
        return shown

    def change_edges(
        self, keys: list[Key], changed: Changed, world: LiveWorld, built: bool
    ) -> None:
        """Starts and ends that come and go with spans."""
        for key in dict.fromkeys(keys):
            for kind in ("start", "end"):
                edges = self.edges.get((kind, key))
                if edges is None:
                    continue
                change = changed.get(("fluent", key))
                assert change is None or isinstance(change, SpanChange)
                points = edges.step(change, world) if built else edges.build(world)
                if points is not None:
                    changed[kind, key] = points

    def snapshot(self) -> Relations:
        """All relations as they are now, put together when asked for."""
        return (
            {key: _now(store.fluent) for key, store in self.stores.items()},
            {key: log.snapshot() for (kind, key), log in self.logs.items() if kind == "event"},
        )

    def forget(self, bounds: Callable[[Source], int], by_change: set[int]) -> bool:
        """Drop what nobody looks at any more; True if rows of pairs have moved."""
        moved = False
        for (kind, key), log in self.logs.items():
            log.forget(bounds(("event" if kind == "event" else "fluent", key)))
        kept = {key for place, key in self.own if place in by_change}
        # Of fluents that are worked out from scratch and compared, all stays that was worked out
        # last: of who is known late, the next time may tell of what lies further back.
        self.final = {key: bounds(("fluent", key)) for _, key in self.own if key not in kept}
        for key, store in self.stores.items():
            moved |= store.forget(FIRST if key in self.final else bounds(("fluent", key)))
        for (_, key), store in self.own.items():
            if store is not self.stores.get(key):
                moved |= store.forget(FIRST if key in self.final else bounds(("fluent", key)))
        for (_, key), log in self.own_logs.items():
            # What is worked out from scratch no longer has them: they are not gone, but final.
            log.forget_all(bounds(("event", key)))
        return moved


def _now(fluent: Fluent) -> Callable[[], Fluent]:
    return lambda: without_bare_pairs(fluent)


def no_points(arity: int) -> Relation:
    empty = np.empty(0, np.int64)
    return Relation((*(codes(empty) for _ in range(arity)), ints(empty)), 0)
