"""All relations of a run, kept from one query to the next, and brought up to date by change."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from horai.engine.arrow_items import ItemKind
from horai.engine.components import Components
from horai.engine.deltas.board import Board, no_points
from horai.engine.deltas.changes import Changed, PointChange, exchanged, replaced
from horai.engine.deltas.costs import CostModel
from horai.engine.deltas.live_world import LiveWorld
from horai.engine.deltas.log import Log
from horai.engine.deltas.parts import Cycles, Delays, Lists, Now, Points, part_of
from horai.engine.deltas.reading import Name
from horai.engine.deltas.reasons import NotByChange
from horai.engine.deltas.store import (
    FluentStore,
    SpanChange,
    both,
    no_change,
)
from horai.engine.findings import Findings
from horai.engine.horizon import sources_of
from horai.engine.inputs import InputMemory, event_tables
from horai.engine.memory import Memory, union
from horai.engine.relations import Relation, joined
from horai.engine.stream import EventRows, Stream
from horai.engine.symbols import Symbols
from horai.engine.world import World, no_fluent
from horai.plan.ec.reach import Source
from horai.plan.ec.settling import Compiled
from horai.plan.program import Key, Plan, Stratum
from horai.temporal.spans import FIRST

Cut = Callable[[], int]
KINDS: tuple[ItemKind, ...] = ("event", "fluent")


class Live:
    """What is kept of every relation, and how each component brings it up to date."""

    def __init__(self, program: Plan, symbols: Symbols, tick: int = 1) -> None:
        self.program = program
        self.symbols = symbols
        self.tick = tick
        self.possible = True
        self.refused: set[int] = set()  # components that turned out not to be done by change
        self.reset()
        kinds = (None if part is None else part.kind for part in self.parts)
        self.costs = CostModel(zip(program.strata, kinds, strict=True))

    def reset(self) -> None:
        """Forget everything: it is worked out from the memories when next asked for."""
        self.built = False
        self.board = Board(self.program, self.symbols)
        self.parts = [
            None if place in self.refused else part_of(one, self.program, self.symbols, self.tick)
            for place, one in enumerate(self.program.strata)
        ]
        for part in self.parts:
            self.board.read(part.reads if part is not None else ())

    # --- what comes in ---------------------------------------------------------------------------

    def serves(self, stream: Stream) -> bool:
        """False for good once there are items of something that rules define too."""
        forms = self.program.unwrapping.forms
        for kind in KINDS:
            for key in stream.changed(kind) if self.built else stream.keys(kind):
                self.possible &= not any((kind, flat) in self.board.derived for flat in forms(key))
        return self.possible

    def take_in(self, stream: Stream, inputs: InputMemory, world: LiveWorld) -> Changed:
        """Items that the last query admitted or took back; at first, all that count."""
        found: Changed = {}
        board = self.board
        if self.built:
            for key in stream.changed("event"):
                gone, new = stream.event_changes(key)
                leaving = self._tables(key, gone)
                coming = self._tables(key, new)
                for flat in dict.fromkeys([*leaving, *coming]):
                    log, nothing = board.log(flat), no_points(flat[1])
                    numbers = log.numbers_of(leaving.get(flat, nothing))
                    found["event", flat] = exchanged(log, numbers, coming.get(flat, nothing))
        else:
            for key in stream.keys("event"):
                for flat, table in self._tables(key, stream.events(key)).items():
                    board.log(flat).add(table)
        if not self.built or stream.changed("fluent"):
            found.update(self._fluents(stream, inputs, world))
        read = [key for _, key in board.edges if ("fluent", key) not in board.derived]
        board.change_edges(read, found, world, self.built)
        return {name: change for name, change in found.items() if change}

    def _tables(self, key: Key, events: EventRows) -> dict[Key, Relation]:
        return dict(event_tables(key, events, self.program.unwrapping, self.symbols))

    def _fluents(self, stream: Stream, inputs: InputMemory, world: LiveWorld) -> Changed:
        fresh = World(self.symbols, world.tick, world.start, world.query, world.allen_memory)
        inputs.fill_fluents(fresh, stream, self.program.unwrapping)
        found: Changed = {}
        for key in dict.fromkeys([*fresh.fluents, *self.board.inputs()]):
            found["fluent", key] = self.board.store(key).replace(fresh.fluent(key))
        return found

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
        stratum, part, board = self.program.strata[place], self.parts[place], self.board
        world = components.world
        assert isinstance(world, LiveWorld)
        found = None
        mine: Changed = {}
        if part is not None and self.built:
            now = Now(components, board.logs, board.stores, changed, before, memory)
            with self._refusing(place):
                said = part.step(now)
            part.settle(cut())
            for key in part.stores if self.program.dynamic else ():
                if components.groundings.restricts(key):  # its domain may have changed
                    said.setdefault(("fluent", key), no_change(part.stores[key].fluent.pairs))
            for name, change in said.items():
                mine[name] = board.published(place, name[1], change, components)
        elif isinstance(part, Points | Delays | Cycles):
            with self._refusing(place):
                part.build(components, board.logs, memory)
            board.publish_all(place, part, components)
        else:
            found = self._from_scratch(place, components, memory, compiled, cut, mine)
            if isinstance(part, Lists):
                part.build_from(components, board.stores, memory, found)
                board.publish_all(place, part, components)
        components.heads.low = world.start
        board.change_edges(_fluents_of(stratum), mine, world, self.built)
        self.possible &= not board.clashes
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
        stratum, world, board = self.program.strata[place], components.world, self.board
        assert isinstance(world, LiveWorld)
        keys = _fluents_of(stratum)
        for key in keys:
            if key in board.stores and key in board.assembled:
                world.add_fluent(key, board.of_others(place, key, components))
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
            nothing = FluentStore(no_fluent(key[1] + 1), self.symbols)
            own = board.own.setdefault((place, key), nothing)
            change = own.replace(union(parts, key[1] + 1, self.symbols))
            shown = board.published(place, key, change, components)
            assert isinstance(shown, SpanChange)
            # What is forgotten is not gone, but final.
            stays = shown.gone.end > board.final.get(key, FIRST)
            changed["fluent", key] = SpanChange(shown.pairs, shown.gone.where(stays), shown.new)
        for key in stratum.events:
            log = board.own_logs.setdefault((place, key), Log(no_points(key[1]), self.symbols))
            rows = [
                part["event", key]
                for part in (memory.points, found.points)
                if ("event", key) in part
            ]
            table = joined(rows, self.symbols) if rows else no_points(key[1])
            world.take_out_points("event", key)
            if key not in board.gathered:
                board.logs["event", key] = log
            points = replaced(log, table)
            if points:
                changed["event", key] = board.published(place, key, points, components)
        return found

    def _logs_of_others(self, place: int, key: Key) -> list[Log]:
        """What other components said of an event."""
        if key not in self.board.gathered:
            return []
        parts = [part for part in self.parts if part is not None]
        found = self.board.logs_of_others(place, key)
        return found + [part.logs[key] for part in parts if key in part.logs]

    # --- what is kept ----------------------------------------------------------------------------

    def fill_inputs(self, world: World) -> None:
        """Put input fluents into a world as parts of its own."""
        for key in self.board.inputs():
            world.add_fluent(key, self.board.stores[key].public())

    def findings(self, place: int, memory: Memory, cut: int, components: Components) -> Findings:
        """What a component that is brought up to date by change said after its cut."""
        part = self.parts[place]
        assert part is not None
        return part.findings(memory, cut, components)

    def forget(self, bounds: Callable[[Source], int], memories: list[Memory]) -> None:
        """Drop what nobody looks at any more."""
        if not self.built:
            return
        for part, memory in zip(self.parts, memories, strict=True):
            if part is not None:
                part.forget(memory.cut, bounds)
        by_change = {place for place, part in enumerate(self.parts) if part is not None}
        if self.board.forget(bounds, by_change):
            # Rows of pairs have moved, and others know them by where they were.
            self.reset()


def _note(changed: Changed, name: Name, change: PointChange | SpanChange, symbols: Symbols) -> None:
    """Put a change beside what other components changed of the same fluent."""
    before = changed.get(name)
    if isinstance(before, SpanChange) and isinstance(change, SpanChange):
        change = both(before, change)
    elif isinstance(before, PointChange) and isinstance(change, PointChange):
        change = before.then(change, symbols)
    if change:
        changed[name] = change


def _fluents_of(stratum: Stratum) -> list[Key]:
    return list(dict.fromkeys([*stratum.fluents, *(plan.key for plan in stratum.static)]))
