"""One answer: everything that follows from the items known at a query time."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace

from horai.lang.core.terms import Term
from horai.lang.ec import syntax as ec
from horai.lang.ec.unwrapping import unwrap
from horai.oracle.ec.background import Background
from horai.oracle.ec.groundings import Groundings
from horai.oracle.ec.intervals import Intervals, TickGrid
from horai.oracle.ec.scopes import Scopes
from horai.oracle.ec.solver import PythonPredicate, Solver
from horai.oracle.ec.static import evaluate_static
from horai.oracle.ec.strata import OracleStrata, definitions
from horai.oracle.ec.sweep import Sweep
from horai.oracle.ec.world import Key, World


@dataclass(frozen=True, slots=True)
class Occurrence:
    """An input event at a point (`value` None) or an input fluent over an interval."""

    entity: Term
    value: Term | None
    start: int
    end: float  # of an event: unused


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All intervals and events at a query time, over the whole run so far."""

    spans: dict[tuple[Term, Term], Intervals]
    events: dict[Term, list[int]]


class Interpreter:
    """A description made ready for evaluation at any number of query times."""

    def __init__(
        self,
        description: ec.EventDescription,
        tick: int = 1,
        allen_memory: int | None = None,
        predicates: Mapping[str, PythonPredicate] | None = None,
    ) -> None:
        self.unwrapping = unwrap(description)
        self.derived: frozenset[tuple[Key, bool]] = frozenset(
            (node.key, node.kind != "event") for node in definitions(description).nodes
        )
        self.description = description = self.unwrapping.description
        self.grid = TickGrid(tick)
        self.allen_memory = allen_memory
        self.predicates = dict(predicates or {})
        self.background = Background(description)
        self.strata = OracleStrata(description, self.background)
        self.scopes = Scopes(description)

    def evaluate(self, items: Iterable[Occurrence], start: int, query: int) -> Knowledge:
        """The knowledge at `query` that follows from the items known then."""
        with room_to_recurse():
            known = _knowledge(self.world_at(items, start, query))
        written = self.unwrapping.written
        spans = {(written(fluent), value): found for (fluent, value), found in known.spans.items()}
        return Knowledge(spans, {written(event): times for event, times in known.events.items()})

    def world_at(self, items: Iterable[Occurrence], start: int, query: int) -> World:
        """All that is known at `query`, with the points from which intervals were made."""
        items = [replace(item, entity=self.unwrapping.flat(item.entity)) for item in items]
        world = World(self.grid, start, query, self.allen_memory)
        for item in items:
            if item.value is None:
                world.add_input_event(item.entity, item.start)
            else:
                world.add_interval(item.entity, item.value, (item.start, item.end))
        for key in world.spans:
            world.merge(key)
        solver = Solver(world, self.background, self.scopes, self.predicates)
        groundings = Groundings(self.description, solver)
        solver.dynamic = groundings.members((item.entity, item.value) for item in items)
        solver.in_domain = groundings.allows
        for component in self.strata.components:
            self.strata.refuse_static_cycle(component)
            if component[0].kind == "static":
                evaluate_static(component[0], self.strata, groundings)
            else:
                Sweep(component, self.description, self.strata, groundings).run()
        return world


MAX_FRAMES = 12_000


@contextmanager
def room_to_recurse() -> Iterator[None]:
    """Conditions that call each other take some ten frames of Python each."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, MAX_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _knowledge(world: World) -> Knowledge:
    spans: dict[tuple[Term, Term], Intervals] = {
        (fluent, value): intervals
        for key in world.spans
        for fluent, value, intervals in world.instances(key)
        if intervals
    }
    events: dict[Term, list[int]] = {}
    for by_time in world.events.values():
        for t in sorted(by_time):
            for event in by_time[t]:
                events.setdefault(event, []).append(t)
    return Knowledge(spans, events)
