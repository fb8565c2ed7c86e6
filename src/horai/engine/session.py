"""A run in progress: items in, answers out, query time by query time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal as OneOf
from typing import TypeVar

from horai.engine import saved
from horai.engine.answer import Answer
from horai.engine.arrow_items import Source as ItemSource
from horai.engine.arrow_items import read_items
from horai.engine.background import Knowledge
from horai.engine.chains import Evaluator
from horai.engine.components import Components
from horai.engine.deltas.changes import Changed
from horai.engine.deltas.live import Live
from horai.engine.deltas.live_world import LiveWorld
from horai.engine.deltas.reasons import NotByChange
from horai.engine.deltas.told import told
from horai.engine.dynamic import Members
from horai.engine.findings import Findings
from horai.engine.groundings import Groundings
from horai.engine.horizon import Horizon, sources_of
from horai.engine.inputs import InputMemory
from horai.engine.ledger import Ledger
from horai.engine.memory import FOREVER, Memory, since_when
from horai.engine.origins import Dropped
from horai.engine.prepared import prepare
from horai.engine.profile import Profile
from horai.engine.relations import Relation, joined
from horai.engine.remembering import KnownPairs, remember
from horai.engine.residents import residents, settlers, until_cut
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.engine.watching import watched, watching
from horai.engine.world import Undecided, World
from horai.lang.ec.syntax import EventDescription
from horai.plan.modes import PythonPredicate
from horai.plan.program import Program, Stratum
from horai.plan.reach import Source

Key = tuple[str, int]
Predicate = Callable[..., object]
Incremental = OneOf["auto", "always", "never"]
T = TypeVar("T")
# What work by change costs, in items that are looked at from scratch: each that came or went, and
# a step as such. Chosen from runs of maritime and fleet with 20,000 events in a step.
COST_OF_CHANGE = 3
COST_OF_STEP = 80_000
REUSED = 4  # memories are brought up to date this often while a window passes


class Session:
    """Feed it items as they come and ask at growing query times.

    Without `archive` it forgets answers that have become final: its memory is bounded by the
    window and by what is open, and answers lack their part `all`.
    """

    def __init__(
        self,
        description: EventDescription,
        *,
        start: int = 0,
        window: int | None = None,
        tick: int = 1,
        allen_memory: int | None = None,
        predicates: Mapping[str, Predicate] | None = None,
        archive: bool = True,
        incremental: Incremental = "auto",
    ) -> None:
        self.python = dict(predicates or {})
        given = [
            PythonPredicate(name, len(inspect.signature(function).parameters))
            for name, function in self.python.items()
        ]
        plan = prepare(description, given)
        self.program: Program = plan.program
        self.symbols = Symbols()
        self.start, self.window, self.tick = start, window, tick
        self.allen_memory = allen_memory
        self.stream = Stream(self.symbols, tick, start, window)
        self.knowledge = Knowledge(self.program, self.symbols)
        self.final_knowledge = Knowledge(self.program, self.symbols)
        self.members = Members(self.program, self.symbols)
        self.inputs = InputMemory(start)
        self.horizon = Horizon(self.program, start, tick, plan.reaches)
        self.memories = [Memory(start) for _ in self.program.strata]
        self.known = KnownPairs(self.symbols)
        self.known.wanted = plan.absent
        self._derived = plan.derived
        self.ledger = Ledger(
            self.symbols, self.program.unwrapping, tick, window, {} if archive else None
        )
        self._compiled = plan.ways
        self.incremental = incremental
        self._since = [start for _ in self.program.strata]  # from when on intervals are compared
        self._based = start  # the border at which memories were last brought up to date
        self.query = start
        self.profile: Profile | None = None  # set it to learn what a run costs

    def advance(self, until: int, tables: Iterable[ItemSource] = ()) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        if until <= self.query:
            raise ValueError(f"query times must grow: {until} is not after {self.query}")
        before, self.query = self.query, until
        batches = [read_items(table, self.symbols, self.tick) for table in tables]
        dropped = self.stream.admit(batches, until)
        if self._pays(before) and self.live.serves(self.stream):
            try:
                answer = self._advance_by_change(before, dropped)
            except BaseException:
                self.live.reset()  # only some of it is up to date
                raise
            if answer is not None:
                return answer
        if self._works_by_change:
            self.live.reset()
        world, findings, cuts = self._evaluate(until)
        self.ledger.looked = {}
        for stratum, found in zip(self.program.strata, findings, strict=True):
            self._note(self.ledger.looked, stratum, found.rows)
        answer = self._answer(world, dropped)
        self._forget(world, findings, cuts)
        return answer

    @cached_property
    def live(self) -> Live:
        """What work by change keeps; made when there is such work."""
        return Live(self.program, self.symbols, self.tick)

    @property
    def _works_by_change(self) -> bool:
        return "live" in vars(self) and self.live.built

    def _pays(self, before: int) -> bool:
        """Is it worth while to work by change, rather than from the cut on?"""
        if self.incremental != "auto":
            return self.incremental == "always"
        overlap = self.window is None or self.window > self.query - before
        if before == self.start or not overlap:
            return False  # there is nothing to use again
        changed, counting = self.stream.sizes()
        return changed * COST_OF_CHANGE + COST_OF_STEP < counting

    def _advance_by_change(self, before: int, dropped: Sequence[Dropped]) -> Answer | None:
        """Bring all relations up to date, and tell what came and went; None if it cannot be."""
        world = LiveWorld(self.symbols, self.tick, self.start, self.query, self.allen_memory)
        world.derived = self._derived
        world.stores, world.logs = self.live.stores, self.live.logs
        world.before = before
        members = self.members.now(self.stream)
        components = self._components(world, self.knowledge, members, self.profile)
        built = self.live.built
        changed = self.live.take_in(self.stream, self.inputs, world)
        border = self._border(self.query)

        def run(place: int, memory: Memory, cut: Callable[[], int]) -> Findings | None:
            compiled = self._compiled[place]
            with watching(self.profile, self.live, place):
                return self.live.run(place, components, memory, compiled, cut, changed, before)

        try:
            findings, cuts = self._each(world, border, run)
        except NotByChange:
            return None  # of one component more was asked than could be known before
        self.live.built = True
        if not self.live.possible:
            return None
        self.ledger.looked = {}
        for stratum, found in zip(self.program.strata, findings, strict=True):
            if found is not None:
                self._note(self.ledger.looked, stratum, found.rows)
        answer = self._answer_by_change(world, changed if built else None, dropped)
        self._remember(components, findings, cuts, border)
        return answer

    def _answer_by_change(
        self, world: LiveWorld, changed: Changed | None, dropped: Sequence[Dropped]
    ) -> Answer:
        query = world.query
        border = query if self.window is None else query - self.window
        final = self._final(self._cuts, self.inputs.cut)
        if changed is None:
            return self.ledger.answer(world, final, border, dropped)
        rows = told(changed, self.live.logs, self.ledger.shown)
        return self.ledger.answer_by_change(
            query, self.live.snapshot(), rows, final, border, dropped
        )

    def _remember(
        self, components: Components, findings: list[Findings | None], cuts: list[int], border: int
    ) -> None:
        """Now and then, bring the memories up to date and drop what nobody looks at any more."""
        if self.window is None or border <= self.start:
            for memory, found in zip(self.memories, findings, strict=True):
                if found is not None:
                    memory.take_rows(found)
            return
        if border - self._based < self.window // REUSED:
            return
        self._based = border
        whole = [
            self.live.findings(place, memory, cuts[place], components) if found is None else found
            for place, (memory, found) in enumerate(zip(self.memories, findings, strict=True))
        ]
        world = components.world
        self.live.fill_inputs(world)
        self._forget(world, whole, cuts)

    def hide_input(self) -> None:
        """Leave items out of answers; they are in a part of their own."""
        made = (source for stratum in self.program.strata for source in sources_of(stratum))
        self.ledger.shown = frozenset(made)

    def finish(self) -> Sequence[Dropped]:
        """Items that never came to count."""
        return self.stream.left_over(self.query)

    def save(self) -> bytes:
        """All that later answers depend on."""
        return saved.save(self)

    def restore(self, data: bytes) -> None:
        """Take up the run that was saved, with the same rules and settings.

        Raises `NotRestored` for bytes of other rules or settings, and for bytes that are damaged.
        """
        vars(self).pop("live", None)  # it is about the run so far
        saved.restore(self, data)

    # --- one query -------------------------------------------------------------------------------

    def _border(self, query: int) -> int:
        """The last time-point of a whole cell that no item can change any more."""
        if self.window is None:
            return self.start
        border = query - self.window
        border -= (border + 1) % self.tick
        return max(self.start, border)

    def _evaluate(self, query: int) -> tuple[World, list[Findings], list[int]]:
        world = World(self.symbols, self.tick, self.start, query, self.allen_memory)
        world.derived = self._derived
        self.inputs.fill(world, self.stream, self.program.unwrapping)
        components = self._components(
            world, self.knowledge, self.members.now(self.stream), self.profile
        )
        strata = self.program.strata

        def run(place: int, memory: Memory, cut: Callable[[], int]) -> Findings:
            return components.run(strata[place], memory, self._compiled[place], cut)

        findings, cuts = self._each(world, self._border(query), run)
        return world, findings, cuts

    def _each(
        self, world: World, border: int, run: Callable[[int, Memory, Callable[[], int]], T]
    ) -> tuple[list[T], list[int]]:
        """Work out one component after the other, and up to where each is final."""
        cuts = [memory.cut for memory in self.memories]
        findings: list[T] = []
        for place, memory in enumerate(self.memories):
            world.settled = self.horizon.settled(place, border, cuts)
            world.undecided = Undecided()

            def cut(place: int = place, memory: Memory = memory) -> int:
                return self.horizon.cut(place, world.settled, world.undecided, memory.cut)

            findings.append(run(place, memory, cut))
            cuts[place] = cut()
            self._since[place] = world.undecided.first(cuts[place])
        return findings, cuts

    def _components(
        self,
        world: World,
        knowledge: Knowledge,
        members: dict[Key, Relation],
        profile: Profile | None = None,
    ) -> Components:
        """What works out components in a world."""
        evaluate, components = (Evaluator, Components) if profile is None else watched(profile)
        for key, rows in members.items():
            knowledge.set_members(key, rows)
        evaluator: Evaluator = evaluate(
            world,
            lambda key: knowledge.table(key, evaluator),
            knowledge.stated,
            self.program.procedures,
            self.python,
        )
        evaluator.known_pairs = self.known.pairs
        groundings = Groundings(self.program, evaluator)
        evaluator.in_domain = groundings.allows
        return components(self.program, world, evaluator, groundings)

    def _answer(self, world: World, dropped: Sequence[Dropped]) -> Answer:
        query = world.query
        border = query if self.window is None else query - self.window
        return self.ledger.answer(world, self._final(self._cuts, self.inputs.cut), border, dropped)

    @property
    def _cuts(self) -> list[int]:
        return [memory.cut for memory in self.memories]

    def _final(self, cuts: list[int], border: int) -> Callable[[Source], int]:
        nothing = self.window is None
        if nothing:
            return lambda source: FOREVER
        return lambda source: self.horizon.final(source, cuts, border)

    def _forget(self, world: World, findings: list[Findings], cuts: list[int]) -> None:
        """Keep what may still be looked at, and the state of every component at its cut."""
        border = self._border(world.query)
        if self.window is None or border <= self.start:
            for memory, found in zip(self.memories, findings, strict=True):
                memory.take_rows(found)
            return
        final = self._final(cuts, border)
        attempts = [
            since if f.clock is None else f.clock.first(cut)
            for f, cut, since in zip(findings, cuts, self._since, strict=True)
        ]
        needed = self.horizon.needed(cuts, border, attempts)

        def keep(source: Source) -> int:
            return min(final(source), needed.get(source, border))

        self.members.make_permanent(self.stream, border)
        mixed = self.inputs.told(world, self.stream, self.program.unwrapping)
        self.inputs.cut_at(border, world, keep, self.known, mixed)
        for place, found in enumerate(findings):
            if cuts[place] == self.start:  # not even what holds from the start on is final
                self.memories[place].take_rows(found)
                continue
            self.memories[place] = remember(
                self.memories[place],
                found,
                cuts[place],
                keep,
                self.symbols,
                self.known,
                self._since[place],
            )
        for memory in self.memories:
            for key in mixed.keys() & memory.held.keys():
                memory.held[key] = since_when(
                    memory.held[key], world.fluent(key), memory.cut, self.symbols
                )
        self._forget_guests(world.query, findings)
        self.ledger.close(final)
        if self._works_by_change:
            self.live.forget(keep, self.memories)
        # Items are kept as they came, whatever readers call the entities inside them.
        bounds = {
            key: min(keep(("event", flat)) for flat in self.program.unwrapping.forms(key))
            for key in self.stream.keys("event")
        }
        for key in self.stream.keys("fluent"):
            bounds[key] = min(border, bounds.get(key, border))
        self.stream.forget(bounds)

    def _forget_guests(self, query: int, findings: list[Findings]) -> None:
        """Of entities known only by what may still be taken back, no past is final.

        Rules that speak of what is absent, and initial values, tell of everyone who is known.
        """
        self.ledger.fixed = {}
        if not any(found.rows or found.owners for found in findings):
            return
        world = World(self.symbols, self.tick, self.start, query, self.allen_memory)
        world.derived = self._derived
        for key, fluent in self.inputs.fluents.items():
            world.add_fluent(key, fluent)
        components = self._components(world, self.final_knowledge, self.members.permanent)
        for memory, stratum, found in zip(
            self.memories, self.program.strata, findings, strict=True
        ):
            if found.rows:
                residents(memory, found, stratum, components, self.symbols)
                self._note(self.ledger.fixed, stratum, memory.rows)
            if found.owners and self.program.dynamic:
                settlers(memory, stratum, components, self.start, self.symbols)
            for key, fluent in memory.fluents.items():
                world.add_fluent(key, components.shown(key, fluent))
            for key, held in memory.held.items():
                world.add_fluent(key, until_cut(held, memory.cut, self.symbols))

    def _note(
        self, tables: dict[Source, Relation], stratum: Stratum, rows: dict[int, Relation]
    ) -> None:
        """Rows of rules that speak of what is absent, by what they speak of."""
        for place, table in rows.items():
            source: Source = ("fluent", stratum.static[place].key)
            before = [tables[source]] if source in tables else []
            tables[source] = joined([*before, table], self.symbols)
