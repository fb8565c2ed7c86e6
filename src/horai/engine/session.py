"""A run in progress: items in, answers out, query time by query time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping

from horai.engine.arrow_items import Source, read_items
from horai.engine.background import Knowledge
from horai.engine.chains import Evaluator
from horai.engine.components import Components
from horai.engine.dynamic import members
from horai.engine.groundings import Groundings
from horai.engine.inputs import fill
from horai.engine.origins import Dropped
from horai.engine.relations import Relation
from horai.engine.stream import Stream
from horai.engine.symbols import Symbols
from horai.engine.world import World
from horai.lang.ec.syntax import EventDescription
from horai.plan.modes import PythonPredicate
from horai.plan.program import Program, compile_program

Predicate = Callable[..., object]


class Session:
    """Feed it items as they come and ask at growing query times."""

    def __init__(
        self,
        description: EventDescription,
        *,
        start: int = 0,
        window: int | None = None,
        tick: int = 1,
        allen_memory: int | None = None,
        predicates: Mapping[str, Predicate] | None = None,
    ) -> None:
        self.python = dict(predicates or {})
        given = [
            PythonPredicate(name, len(inspect.signature(function).parameters))
            for name, function in self.python.items()
        ]
        self.program: Program = compile_program(description, given)
        self.symbols = Symbols()
        self.start, self.window, self.tick = start, window, tick
        self.allen_memory = allen_memory
        self.stream = Stream(self.symbols, tick, start, window)
        self.knowledge = Knowledge(self.program, self.symbols)
        self._query = start

    def advance(self, until: int, tables: Iterable[Source] = ()) -> object:
        """The answer at query time `until`, with more items known than before."""
        if until <= self._query:
            raise ValueError(f"query times must grow: {until} is not after {self._query}")
        self._query = until
        batches = [read_items(table, self.symbols, self.tick) for table in tables]
        dropped = self.stream.admit(batches, until)
        world = self.evaluate(until)
        return world, dropped

    def finish(self) -> list[Dropped]:
        """Items that never came to count."""
        return self.stream.left_over(self._query)

    def evaluate(self, query: int) -> World:
        """Everything that follows from the items known at a query time."""
        world = World(self.symbols, self.tick, self.start, query, self.allen_memory)
        fill(world, self.stream, self.program.unwrapping)
        for key, rows in members(self.program, self.stream, self.symbols).items():
            self.knowledge.set_members(key, rows)
        evaluator = Evaluator(
            world, self._facts, self.knowledge.stated, self.program.procedures, self.python
        )
        self._evaluator = evaluator
        groundings = Groundings(self.program, evaluator)
        evaluator.in_domain = groundings.allows
        components = Components(self.program, world, evaluator, groundings)
        for stratum in self.program.strata:
            components.run(stratum)
        return world

    def _facts(self, key: tuple[str, int]) -> Relation:
        return self.knowledge.table(key, self._evaluator)
