"""All relations of a run, kept from one query to the next, and brought up to date by change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from horai.engine.arrow_items import ItemKind
from horai.engine.columns import codes, ints
from horai.engine.components import Components
from horai.engine.deltas.changes import Changed, PointChange, exchanged, replaced
from horai.engine.deltas.costs import CostModel
from horai.engine.deltas.edges import EdgeLog
from horai.engine.deltas.live_world import LiveWorld, Relations
from horai.engine.deltas.log import Log
from horai.engine.deltas.parts import ByChange, Cycles, Delays, Lists, Now, Points, part_of
from horai.engine.deltas.reading import Name
from horai.engine.deltas.reasons import NotByChange
from horai.engine.deltas.store import (
    FluentStore,
    SharedStore,
    SpanChange,
    both,
    no_change,
    reviewed,
    without_bare_pairs,
)
from horai.engine.findings import Findings
from horai.engine.horizon import sources_of
from horai.engine.inputs import InputMemory, event_tables
from horai.engine.memory import Memory, union
from horai.engine.relations import Relation, joined
from horai.engine.stream import EventRows, Stream
from horai.engine.symbols import Symbols
from horai.engine.world import Fluent, World, no_fluent
from horai.plan.program import Key, Program, Stratum
from horai.plan.reach import Source
from horai.plan.settling import Compiled
from horai.temporal.spans import FIRST, Mask, no_spans

Cut = Callable[[], int]
KINDS: tuple[ItemKind, ...] = ("event", "fluent")


class Live:
    """What is kept of every relation, and how each component brings it up to date."""

    def __init__(self, program: Program, symbols: Symbols, tick: int = 1) -> None:
        self.program = program
        self.symbols = symbols
        self.tick = tick
        sources = [source for stratum in program.strata for source in sources_of(stratum)]
        self.derived = frozenset(sources)
        several = {source for source in sources if sources.count(source) > 1}
        self.possible = True
        self.refused: set[int] = set()  # components that turned out not to be done by change
        # Fluents and events of which readers see something else than what one component says.
        self.assembled = {key for kind, key in several if kind == "fluent"} | set(
            program.groundings
        )
        self.gathered = {key for kind, key in several if kind == "event"}
        self.reset()
        kinds = (None if part is None else part.kind for part in self.parts)
        self.costs = CostModel(zip(program.strata, kinds, strict=True))

    def reset(self) -> None:
        """Forget everything: it is worked out from the memories when next asked for."""
        self.built = False
        self.stores: dict[Key, FluentStore] = {}
        self.own: dict[tuple[int, Key], FluentStore] = {}
        self.final: dict[Key, int] = {}  # up to when fluents that are compared are forgotten
        self.own_logs: dict[tuple[int, Key], Log] = {}
        self.allowed: dict[tuple[int, Key], Mask] = {}  # pairs of `own` that are in their domain
        self.logs: dict[Name, Log] = {}
        self.edges: dict[Name, EdgeLog] = {}
        self.parts = [
            None if place in self.refused else part_of(one, self.program, self.symbols, self.tick)
            for place, one in enumerate(self.program.strata)
        ]
        for part in self.parts:
            for kind, key in part.reads if part is not None else ():
                if kind == "event":
                    self._log(key)
                elif kind == "fluent":
                    self._store(key)
                else:
                    self.edges[kind, key] = EdgeLog(kind, key, self.symbols)
                    self.logs[kind, key] = self.edges[kind, key].log

    # --- what comes in ---------------------------------------------------------------------------

    def serves(self, stream: Stream) -> bool:
        """False for good once there are items of something that rules define too."""
        forms = self.program.unwrapping.forms
        for kind in KINDS:
            for key in stream.changed(kind) if self.built else stream.keys(kind):
                self.possible &= not any((kind, flat) in self.derived for flat in forms(key))
        return self.possible

    def take_in(self, stream: Stream, inputs: InputMemory, world: LiveWorld) -> Changed:
        """Items that the last query admitted or took back; at first, all that count."""
        found: Changed = {}
        if self.built:
            for key in stream.changed("event"):
                gone, new = stream.event_changes(key)
                leaving = self._tables(key, gone)
                coming = self._tables(key, new)
                for flat in dict.fromkeys([*leaving, *coming]):
                    log, nothing = self._log(flat), _points(flat[1])
                    numbers = log.numbers_of(leaving.get(flat, nothing))
                    found["event", flat] = exchanged(log, numbers, coming.get(flat, nothing))
        else:
            for key in stream.keys("event"):
                for flat, table in self._tables(key, stream.events(key)).items():
                    self._log(flat).add(table)
        if not self.built or stream.changed("fluent"):
            found.update(self._fluents(stream, inputs, world))
        read = [key for _, key in self.edges if ("fluent", key) not in self.derived]
        self._edges(read, found, found, world)
        return {name: change for name, change in found.items() if change}

    def _tables(self, key: Key, events: EventRows) -> dict[Key, Relation]:
        return dict(event_tables(key, events, self.program.unwrapping, self.symbols))

    def _fluents(self, stream: Stream, inputs: InputMemory, world: LiveWorld) -> Changed:
        fresh = World(self.symbols, world.tick, world.start, world.query, world.allen_memory)
        inputs.fill_fluents(fresh, stream, self.program.unwrapping)
        found: Changed = {}
        for key in dict.fromkeys([*fresh.fluents, *self._input_keys()]):
            found["fluent", key] = self._store(key).replace(fresh.fluent(key))
        return found

    def _input_keys(self) -> Iterable[Key]:
        return [key for key in self.stores if ("fluent", key) not in self.derived]

    # --- components ------------------------------------------------------------------------------

    def run(
        self,
        place: int,
        components: Components,
        memory: Memory,
        compiled: Compiled,
        cut: Cut,
        changed: Changed,
        before: int,
    ) -> Findings | None:
        """Bring the relations of a component up to date; None if it was done by change."""
        stratum, part = self.program.strata[place], self.parts[place]
        world = components.world
        assert isinstance(world, LiveWorld)
        found = None
        mine: Changed = {}
        if part is not None and self.built:
            now = Now(components, self.logs, self.stores, changed, before, memory)
            with self._refusing(place):
                said = part.step(now)
            part.settle(cut())
            for key in part.stores if self.program.dynamic else ():
                if components.groundings.restricts(key):  # its domain may have changed
                    said.setdefault(("fluent", key), no_change(part.stores[key].fluent.pairs))
            for name, change in said.items():
                mine[name] = self._published(place, name[1], change, components)
        elif isinstance(part, Points | Delays | Cycles):
            with self._refusing(place):
                part.build(components, self.logs, memory)
            self._publish_all(place, part, components)
        else:
            found = self._from_scratch(place, components, memory, compiled, cut, mine)
            if isinstance(part, Lists):
                part.build_from(components, self.stores, memory, found)
                self._publish_all(place, part, components)
        components.heads.low = world.start
        self._edges(_fluents_of(stratum), mine, mine, world)
        for name, change in mine.items():
            _note(changed, name, change, self.symbols)
        return None if part is not None and self.built else found

    @contextmanager
    def _refusing(self, place: int) -> Iterator[None]:
        """A component that this run gives too much to do is worked out as a whole from now on."""
        try:
            yield
        except NotByChange:
            self.refused.add(place)
            self.reset()
            raise

    def _from_scratch(
        self,
        place: int,
        components: Components,
        memory: Memory,
        compiled: Compiled,
        cut: Cut,
        changed: Changed,
    ) -> Findings:
        """Work a component out from its cut on, and note how it differs from before."""
        stratum, world = self.program.strata[place], components.world
        assert isinstance(world, LiveWorld)
        keys = _fluents_of(stratum)
        for key in keys:
            if key in self.stores and key in self.assembled:
                world.add_fluent(key, self._of_others(place, key, components))
        for key in stratum.events:
            for log in self._logs_of_others(place, key):
                world.add_points("event", key, log.whole().table)
        world.anew = frozenset(sources_of(stratum))
        found = components.run(stratum, memory, compiled, cut)
        world.anew = frozenset()
        for key in keys:
            parts = [part[key] for part in (memory.fluents, found.fluents) if key in part]
            world.take_out(key)
            if self.parts[place] is not None:
                continue
            own = self.own.setdefault((place, key), self._nothing(key))
            change = own.replace(union(parts, key[1] + 1, self.symbols))
            shown = self._published(place, key, change, components)
            assert isinstance(shown, SpanChange)
            # What is forgotten is not gone, but final.
            stays = shown.gone.end > self.final.get(key, FIRST)
            changed["fluent", key] = SpanChange(shown.pairs, shown.gone.where(stays), shown.new)
        for key in stratum.events:
            log = self.own_logs.setdefault((place, key), Log(_points(key[1]), self.symbols))
            rows = [
                part["event", key]
                for part in (memory.points, found.points)
                if ("event", key) in part
            ]
            table = joined(rows, self.symbols) if rows else _points(key[1])
            world.take_out_points("event", key)
            if key not in self.gathered:
                self.logs["event", key] = log
            points = replaced(log, table)
            if points:
                changed["event", key] = self._published(place, key, points, components)
        return found

    def _of_others(self, place: int, key: Key, components: Components) -> Fluent:
        """What other components said of a fluent, as readers see it."""
        mine = {one for one, other in self.own if other == key and one != place}
        parts = [components.shown(key, self.own[one, key].public()) for one in sorted(mine)]
        return union(parts, key[1] + 1, self.symbols)

    def _logs_of_others(self, place: int, key: Key) -> list[Log]:
        """What other components said of an event."""
        if key not in self.gathered:
            return []
        found = [
            log for (one, other), log in self.own_logs.items() if other == key and one != place
        ]
        parts = [part for part in self.parts if part is not None]
        return found + [part.logs[key] for part in parts if key in part.logs]

    # --- what readers see ------------------------------------------------------------------------

    def _publish_all(self, place: int, part: ByChange, components: Components) -> None:
        """Let readers see what was worked out from scratch."""
        for key, log in part.logs.items():
            if key in self.gathered:
                self._log(key).add(log.whole().table)
            else:
                self.logs["event", key] = log
        for key, store in part.stores.items():
            fluent = store.fluent
            change = SpanChange(fluent.pairs, no_spans(), fluent.spans)
            self.own[place, key] = store
            self._published(place, key, change, components)

    def _published(
        self, place: int, key: Key, change: PointChange | SpanChange, components: Components
    ) -> PointChange | SpanChange:
        """The change as readers see it, who know of nothing outside its domain."""
        if isinstance(change, PointChange):
            if key not in self.gathered:
                return change
            log = self._log(key)
            return exchanged(log, log.numbers_of(change.gone), change.new)
        if key not in self.assembled:
            self.stores[key] = self.own[place, key]
            return change
        if components.groundings.restricts(key):
            change = self._in_domain(place, key, change, components)
        store = self._store(key)
        assert isinstance(store, SharedStore)
        shown = store.take(place, change)
        self.possible &= not store.clashes
        return shown

    def _in_domain(
        self, place: int, key: Key, change: SpanChange, components: Components
    ) -> SpanChange:
        """The change among the pairs of the domain, which may itself have changed."""
        fluent = self.own[place, key].fluent
        *args, value = fluent.pairs.columns
        now = components.groundings.allows(key, tuple(args), value, fluent.pairs.rows)
        before = np.zeros(len(now), np.bool_)
        known = self.allowed.get((place, key), before[:0])
        before[: len(known)] = known
        self.allowed[place, key] = now
        return reviewed(change, fluent.spans, before, now)

    def _edges(self, keys: list[Key], spans: Changed, found: Changed, world: LiveWorld) -> None:
        """Starts and ends that come and go with spans."""
        for key in dict.fromkeys(keys):
            for kind in ("start", "end"):
                edges = self.edges.get((kind, key))
                if edges is None:
                    continue
                change = spans.get(("fluent", key))
                assert change is None or isinstance(change, SpanChange)
                points = edges.step(change, world) if self.built else edges.build(world)
                if points is not None:
                    found[kind, key] = points

    def snapshot(self) -> Relations:
        """All relations as they are now, put together when asked for."""
        return (
            {key: _now(store.fluent) for key, store in self.stores.items()},
            {key: log.snapshot() for (kind, key), log in self.logs.items() if kind == "event"},
        )

    # --- what is kept ----------------------------------------------------------------------------

    def fill_inputs(self, world: World) -> None:
        """Put input fluents into a world as parts of its own."""
        for key in self._input_keys():
            world.add_fluent(key, self.stores[key].public())

    def findings(self, place: int, memory: Memory, cut: int, components: Components) -> Findings:
        """What a component that is brought up to date by change said after its cut."""
        part = self.parts[place]
        assert part is not None
        return part.findings(memory, cut, components)

    def forget(self, bounds: Callable[[Source], int], memories: list[Memory]) -> None:
        """Drop what nobody looks at any more."""
        if not self.built:
            return
        moved = False
        for part, memory in zip(self.parts, memories, strict=True):
            if part is not None:
                part.forget(memory.cut, bounds)
        for (kind, key), log in self.logs.items():
            log.forget(bounds(("event" if kind == "event" else "fluent", key)))
        by_change = {key for place, key in self.own if self.parts[place] is not None}
        # Of fluents that are worked out from scratch and compared, all stays that was worked out
        # last: of who is known late, the next time may tell of what lies further back.
        self.final = {key: bounds(("fluent", key)) for _, key in self.own if key not in by_change}
        for key, store in self.stores.items():
            moved |= store.forget(FIRST if key in self.final else bounds(("fluent", key)))
        for (_, key), store in self.own.items():
            if store is not self.stores.get(key):
                moved |= store.forget(FIRST if key in self.final else bounds(("fluent", key)))
        for (_, key), log in self.own_logs.items():
            # What is worked out from scratch no longer has them: they are not gone, but final.
            log.forget_all(bounds(("event", key)))
        if moved:
            # Rows of pairs have moved, and others know them by where they were.
            self.reset()

    def _store(self, key: Key) -> FluentStore:
        if key not in self.stores:
            shared = key in self.assembled and ("fluent", key) in self.derived
            kind = SharedStore if shared else FluentStore
            self.stores[key] = kind(no_fluent(key[1] + 1), self.symbols)
        return self.stores[key]

    def _nothing(self, key: Key) -> FluentStore:
        return FluentStore(no_fluent(key[1] + 1), self.symbols)

    def _log(self, key: Key) -> Log:
        if ("event", key) not in self.logs:
            self.logs["event", key] = Log(_points(key[1]), self.symbols)
        return self.logs["event", key]


def _note(changed: Changed, name: Name, change: PointChange | SpanChange, symbols: Symbols) -> None:
    """Put a change beside what other components changed of the same fluent."""
    before = changed.get(name)
    if isinstance(before, SpanChange) and isinstance(change, SpanChange):
        change = both(before, change)
    elif isinstance(before, PointChange) and isinstance(change, PointChange):
        change = before.then(change, symbols)
    if change:
        changed[name] = change


def _now(fluent: Fluent) -> Callable[[], Fluent]:
    return lambda: without_bare_pairs(fluent)


def _fluents_of(stratum: Stratum) -> list[Key]:
    return list(dict.fromkeys([*stratum.fluents, *(plan.key for plan in stratum.static)]))


def _points(arity: int) -> Relation:
    empty = np.empty(0, np.int64)
    return Relation((*(codes(empty) for _ in range(arity)), ints(empty)), 0)
