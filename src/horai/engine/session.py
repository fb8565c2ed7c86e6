"""A run in progress: items in, answers out, query time by query time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from horai.engine.answer import Answer
from horai.engine.arrow_items import Source as ItemSource
from horai.engine.arrow_items import read_items
from horai.engine.background import Knowledge
from horai.engine.chains import Evaluator
from horai.engine.components import Components
from horai.engine.domains import Groundings
from horai.engine.dynamic import Members
from horai.engine.findings import Findings
from horai.engine.forgetting import forget, note_rows
from horai.engine.horizon import Horizon, reaches_of, sources_of
from horai.engine.inputs import InputMemory
from horai.engine.ledger import Ledger
from horai.engine.memory import FOREVER, KnownPairs, Memory
from horai.engine.origins import Dropped
from horai.engine.profile import Profile
from horai.engine.relations import Relation
from horai.engine.remembered import Remembered
from horai.engine.static import present_only
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.engine.world import Undecided, World
from horai.lang.core.values import parameter_count
from horai.lang.ec.syntax import EventDescription
from horai.lang.ec.unwrapping import Unwrapping
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.reach import ComponentReach, Source, absence_read
from horai.plan.pipeline import compile_program
from horai.plan.program import Plan

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Prepared:
    """The plan of a description, and what follows from it.

    `absent` are fluents whose instances are never forgotten, `derived` those that rules define.
    """

    program: Plan
    reaches: list[ComponentReach]
    absent: frozenset[Key]
    derived: frozenset[Key]


_plans: Remembered[Prepared] = Remembered()


def prepare(description: EventDescription, python: Iterable[PythonPredicate]) -> Prepared:
    """The plan of a description; a second run of the same rules finds it made."""
    given = tuple(python)
    found = _plans.get(description, given)
    if found is None:
        found = _prepared(description, given)
        _plans.put(description, given, found)
    return found


def _prepared(description: EventDescription, python: tuple[PythonPredicate, ...]) -> Prepared:
    program = compile_program(description, python)
    static = [plan for stratum in program.strata for plan in stratum.static]
    absent = {id(plan.clause) for plan in static if not present_only(plan)}
    present = [plan.clause for plan in static if id(plan.clause) not in absent]
    return Prepared(
        program,
        reaches_of(program),
        absence_read(program, present) | program.terminations_read,
        frozenset(key for stratum in program.strata for _, key in sources_of(stratum)),
    )


Predicate = Callable[..., object]


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
    ) -> None:
        self.python = dict(predicates or {})
        given = [
            PythonPredicate(name, parameter_count(function))
            for name, function in self.python.items()
        ]
        plan = prepare(description, given)
        self.program: Plan = plan.program
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
        self.derived = plan.derived
        self.ledger = Ledger(
            self.symbols, self.program.unwrapping, tick, window, {} if archive else None
        )
        # From when on intervals are compared.
        self.compared_since = [start for _ in self.program.strata]
        self.query = start
        self.profile: Profile | None = None  # set it to learn what a run costs

    def watch(self, profile: Profile) -> None:
        """Note in a profile what the run costs from now on."""
        self.profile, profile.program, profile.by_operator = profile, self.program, True

    def advance(self, until: int, tables: Iterable[ItemSource] = ()) -> Answer:
        """The answer at query time `until`, with more items known than before."""
        if until <= self.query:
            raise ValueError(f"query times must grow: {until} is not after {self.query}")
        self.query = until
        batches = [read_items(table, self.symbols, self.tick) for table in tables]
        dropped = self.stream.admit(batches, until)
        world, findings, cuts = self._evaluate(until)
        self.ledger.looked = {}
        for stratum, found in zip(self.program.strata, findings, strict=True):
            note_rows(self.ledger.looked, stratum, found.rows, self.symbols)
        answer = self._answer(world, dropped)
        forget(self, world, findings, cuts)
        return answer

    @property
    def unwrapping(self) -> Unwrapping:
        """How entities inside of entities are taken apart."""
        return self.program.unwrapping

    def hide_input(self) -> None:
        """Leave items out of answers; they are in a part of their own."""
        made = (source for stratum in self.program.strata for source in sources_of(stratum))
        self.ledger.shown = frozenset(made)

    def finish(self) -> Sequence[Dropped]:
        """Items that never came to count."""
        return self.stream.left_over(self.query)

    def save(self) -> bytes:
        """All that later answers depend on."""
        from horai.engine.saved import save

        return save(self)

    def restore(self, data: bytes) -> None:
        """Take up the run that was saved, with the same rules and settings.

        Raises `NotRestored` for bytes of other rules or settings, and for bytes that are damaged.
        """
        from horai.engine.saved import restore

        restore(self, data)

    # --- one query -------------------------------------------------------------------------------

    def border(self, query: int) -> int:
        """The last time-point of a whole cell that no item can change any more."""
        if self.window is None:
            return self.start
        border = query - self.window
        border -= (border + 1) % self.tick
        return max(self.start, border)

    def _evaluate(self, query: int) -> tuple[World, list[Findings], list[int]]:
        world = World(self.symbols, self.tick, self.start, query, self.allen_memory)
        world.derived = self.derived
        self.inputs.fill(world, self.stream, self.program.unwrapping)
        components = self.components_in(
            world, self.knowledge, self.members.now(self.stream), self.profile
        )
        # One component after the other, and up to where each is final.
        border, cuts = self.border(query), self.cuts
        findings: list[Findings] = []
        for place, (stratum, memory) in enumerate(
            zip(self.program.strata, self.memories, strict=True)
        ):
            world.settled = self.horizon.settled(place, border, cuts)
            world.undecided = Undecided()

            def cut(place: int = place, memory: Memory = memory) -> int:
                return self.horizon.cut(place, world.settled, world.undecided, memory.cut)

            findings.append(components.run(stratum, memory, cut))
            cuts[place] = cut()
            self.compared_since[place] = world.undecided.first(cuts[place])
        return world, findings, cuts

    def components_in(
        self,
        world: World,
        knowledge: Knowledge,
        members: dict[Key, Relation],
        profile: Profile | None = None,
    ) -> Components:
        """What works out components in a world."""
        evaluate: Callable[..., Evaluator] = Evaluator
        components: Callable[..., Components] = Components
        if profile is not None:
            from horai.engine.watching import watched

            evaluate, components = watched(profile)
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
        return self.ledger.answer(world, self.final(self.cuts, self.inputs.cut), border, dropped)

    @property
    def cuts(self) -> list[int]:
        return [memory.cut for memory in self.memories]

    def final(self, cuts: list[int], border: int) -> Callable[[Source], int]:
        nothing = self.window is None
        if nothing:
            return lambda source: FOREVER
        return lambda source: self.horizon.final(source, cuts, border)
