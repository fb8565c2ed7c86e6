"""The dependency graph: what must be known before what (Definitions 8 and 11 of the papers).

Vertices are fluent-value pairs as written up to renaming: the fluent and its value, or `*` for a
value that is computed. Events are vertices too, so that output events find their place in the
order. An *i-edge* says that a rule for its target reads its source; an *f-edge* that an initiation
of its source initiates its target later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as OneOf

from horai.lang.ec.syntax import (
    Clause,
    EventDescription,
    EventRule,
    FutureInitiation,
    FutureTermination,
    Happens,
    HoldsAtRule,
    HoldsForRule,
    Initially,
    Initiation,
    Rule,
    Termination,
)
from horai.lang.terms import Term
from horai.plan.delayed import acting
from horai.plan.entities import Entities, Kind, Sort
from horai.plan.entity_finding import find_entities
from horai.plan.literals import literal_fvp, literal_word
from horai.plan.readings import Helpers, Reading, readings
from horai.plan.timing import Timing
from horai.plan.vertices import Vertex, Vertices, find_vertices


@dataclass(frozen=True, slots=True)
class Dependency:
    """An edge: a rule for `target` reads `source`, or `source` leads to `target` after a delay."""

    kind: OneOf["i", "f"]
    source: Vertex
    target: Vertex
    how: str
    timing: Timing
    clause: Clause
    term: Term
    positive: bool = True
    monotone: bool = True
    delay: Term | None = None
    terminates: bool = False


@dataclass
class DependencyGraph:
    """Vertices in the order of first mention, and all edges, one for every reading."""

    vertices: tuple[Vertex, ...]
    edges: tuple[Dependency, ...]
    sorts: dict[Vertex, frozenset[Sort]]
    inputs: frozenset[Vertex]
    # The rules that help to define each vertex.
    rules: dict[Vertex, list[Rule]] = field(default_factory=dict)
    # Delayed terminations `ft` make no edge; they are kept for those who draw or explain.
    terminations: tuple[FutureTermination, ...] = ()
    helpers: Helpers = field(default_factory=lambda: Helpers(EventDescription()))

    @cached_property
    def i_edges(self) -> frozenset[tuple[Vertex, Vertex]]:
        """E_i of Definition 11."""
        return frozenset((e.source, e.target) for e in self.edges if e.kind == "i")

    @cached_property
    def f_edges(self) -> frozenset[tuple[Vertex, Vertex]]:
        """E_f of Definition 11."""
        return frozenset((e.source, e.target) for e in self.edges if e.kind == "f")

    @cached_property
    def edges_from(self) -> dict[Vertex, list[Dependency]]:
        """The edges that leave each vertex."""
        found: dict[Vertex, list[Dependency]] = {vertex: [] for vertex in self.vertices}
        for edge in self.edges:
            found[edge.source].append(edge)
        return found

    @cached_property
    def place(self) -> dict[Vertex, int]:
        """The position of each vertex: ties in any order are settled by it."""
        return {vertex: number for number, vertex in enumerate(self.vertices)}

    def is_simple(self, vertex: Vertex) -> bool:
        """True for a value that rules initiate and terminate."""
        return Sort.SIMPLE in self.sorts[vertex]

    def is_determined(self, vertex: Vertex) -> bool:
        """True for a value that is computed from interval lists by rules."""
        return Sort.DETERMINED in self.sorts[vertex] and vertex not in self.inputs


def dependency_graph(
    description: EventDescription, entities: Entities | None = None
) -> DependencyGraph:
    """The dependency graph of a description."""
    vertices = find_vertices(entities or find_entities(description))
    helpers = Helpers(description)
    edges: list[Dependency] = []
    rules: dict[Vertex, list[Rule]] = {vertex: [] for vertex in vertices.sorts}
    for rule in description.rules:
        targets = defined_vertices(rule, vertices)
        for target in targets:
            rules[target].append(rule)
        edges.extend(_i_edges(rule, targets, vertices, helpers))
    initiations = [r for r in description.rules if isinstance(r, FutureInitiation)]
    terminations = [r for r in description.rules if isinstance(r, FutureTermination)]
    for effect in acting(initiations, terminations):
        edges.extend(_f_edges(effect, vertices))
    return DependencyGraph(
        tuple(vertices.sorts),
        tuple(edges),
        vertices.sorts,
        frozenset(vertices.inputs),
        rules,
        tuple(terminations),
        helpers,
    )


def defined_vertices(rule: Rule, vertices: Vertices) -> list[Vertex]:
    """The vertices a rule helps to define; a termination may end several values."""
    match rule:
        case EventRule(event=event):
            return vertices.matching(Kind.EVENT, event)
        case Termination(fvp=fvp) | FutureTermination(origin=fvp):
            return vertices.simple(fvp)
        case Initiation(fvp=fvp) | Initially(fvp=fvp) | FutureInitiation(target=fvp):
            return vertices.defined(fvp, Sort.SIMPLE)
        case HoldsForRule(fvp=fvp) | HoldsAtRule(fvp=fvp):
            return vertices.defined(fvp, Sort.DETERMINED)
        case _:
            return []


def _i_edges(
    rule: Rule, targets: list[Vertex], vertices: Vertices, helpers: Helpers
) -> Iterator[Dependency]:
    for reading in readings(rule, helpers) if targets else ():
        for source in _sources(reading, vertices):
            for target in targets:
                yield Dependency(
                    "i",
                    source,
                    target,
                    literal_word(reading.literal),
                    reading.timing,
                    rule.clause,
                    reading.literal.term,
                    reading.positive,
                    reading.monotone,
                    terminates=isinstance(rule, Termination),
                )


def _sources(reading: Reading, vertices: Vertices) -> list[Vertex]:
    if isinstance(reading.literal, Happens):
        return vertices.matching(Kind.EVENT, reading.literal.event)
    fvp = literal_fvp(reading.literal)
    return [] if fvp is None else vertices.read(fvp)


def _f_edges(effect: FutureInitiation, vertices: Vertices) -> Iterator[Dependency]:
    term = effect.clause.head or effect.origin.term
    for target in defined_vertices(effect, vertices):
        for source in vertices.simple(effect.origin):
            yield Dependency(
                "f", source, target, "fi", Timing.SETTLED, effect.clause, term, delay=effect.delay
            )
