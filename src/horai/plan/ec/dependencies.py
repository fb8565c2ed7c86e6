"""The dependency graph: what must be known before what (Definitions 8 and 11 of the papers).

Vertices are fluent-value pairs as written up to renaming: the fluent and its value, or `*` for a
value that is computed. Events are vertices too, so that output events find their place in the
order. An *i-edge* says that a rule for its target reads its source; an *f-edge* that an initiation
of its source initiates its target later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal as OneOf

from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Term, Var, args_of, is_ground, key_of
from horai.lang.ec import syntax as ec
from horai.plan.ec.delays import acting
from horai.plan.ec.entities import Entities, Entity, Kind, Mention, Sort, find_entities
from horai.plan.ec.literals import literal_word
from horai.plan.ec.readings import Reading, Timing, readings
from horai.plan.ec.unify import may_match
from horai.plan.unfolding import Helpers

STATIC = frozenset({"holdsFor", "holdsAt"})


@dataclass(frozen=True, slots=True)
class Vertex:
    """A fluent-value pair or an event.

    `value` is None for events and for computed values. `shape` has, for each argument that tells
    vertices apart, the constant or the name of the compound term there, and "" for the others.
    `apart` marks the statically determined part of a value that has rules of both sorts.
    """

    kind: Kind
    name: str
    arity: int
    shape: tuple[str, ...] = ()
    value: Term | None = None
    apart: bool = False

    @property
    def fluent(self) -> Vertex:
        """The same without the value: equal for all values of one fluent."""
        return Vertex(self.kind, self.name, self.arity, self.shape)

    def meets(self, term: Term, value: Term | None = None) -> bool:
        """May an event or fluent-value pair of this name, as written, be one of these?"""
        if value is not None and self.value is not None and not may_match(self.value, value):
            return False
        return all(
            not expected or label(arg) in ("", expected)
            for expected, arg in zip(self.shape, args_of(term), strict=False)
        )

    def __str__(self) -> str:
        inner = ",".join(name or "_" for name in self.shape)
        start = f"{self.name}({inner})" if inner else self.name
        if self.kind is Kind.EVENT:
            return start
        return f"{start}={'*' if self.value is None else show(self.value)}"


def label(term: Term) -> str:
    """The mark of an argument: the name of a compound term, a constant, "" for a variable."""
    match term:
        case Var():
            return ""
        case Compound(name=name):
            return name
        case _:
            return show(term)


@dataclass(slots=True)
class Vertices:
    """All vertices of a description, with the lookups that heads and conditions need."""

    sorts: dict[Vertex, frozenset[Sort]] = field(default_factory=dict)
    inputs: set[Vertex] = field(default_factory=set)
    by_entity: dict[tuple[Kind, str, int], list[Vertex]] = field(default_factory=dict)

    def matching(self, kind: Kind, term: Term, value: Term | None = None) -> list[Vertex]:
        """The vertices that an event or fluent-value pair, as written, may speak of."""
        found = self.by_entity.get((kind, *key_of(term)), [])
        return [vertex for vertex in found if vertex.meets(term, value)]

    def read(self, fvp: ec.FVP) -> list[Vertex]:
        """The vertices that a fluent-value pair may speak of."""
        return self.matching(Kind.FLUENT, fvp.fluent, fvp.value)

    def simple(self, fvp: ec.FVP) -> list[Vertex]:
        """The simple values that a fluent-value pair may speak of: those rules can end."""
        return [vertex for vertex in self.read(fvp) if Sort.SIMPLE in self.sorts[vertex]]

    def defined(self, fvp: ec.FVP, sort: Sort) -> list[Vertex]:
        """The vertices that a rule with this head defines."""
        value = fvp.value if is_ground(fvp.value) else None
        return [v for v in self.read(fvp) if v.value == value and sort in self.sorts[v]]


def find_vertices(entities: Entities) -> Vertices:
    """The vertices of all events and fluents, in order of first mention."""
    vertices = Vertices()
    for entity in entities:
        for vertex, sorts in _vertices_of(entity).items():
            vertices.sorts[vertex] = frozenset(sorts)
            vertices.by_entity.setdefault((entity.kind, *entity.key), []).append(vertex)
            if entity.is_input:
                vertices.inputs.add(vertex)
    return vertices


def _vertices_of(entity: Entity) -> dict[Vertex, set[Sort]]:
    found: dict[Vertex, set[Sort]] = {}
    if entity.is_input:
        for mention in (*entity.declared, *entity.used):
            found[_vertex(entity, mention, frozenset())] = set(entity.sorts)
        return found
    for mentions, sort in _groups(entity):
        split = _telling_positions(entity, mentions, sort)
        for mention in mentions:
            # A termination alone gives no value, but the fluent keeps its place in the graph.
            if mention.how != "terminatedAt" or not (entity.values or entity.computed):
                vertex = _vertex(entity, mention, split)
                if found.get(vertex, {sort}) != {sort}:
                    vertex = replace(vertex, apart=True)
                found.setdefault(vertex, set()).add(sort)
    return found


def _groups(entity: Entity) -> list[tuple[list[Mention], Sort]]:
    """The rules of an entity that must share a shape: those that can end each other's values."""
    if entity.kind is Kind.EVENT:
        return [(entity.defined, Sort.EVENT)]
    simple = [mention for mention in entity.defined if mention.how not in STATIC]
    groups = [(simple, Sort.SIMPLE)] if simple else []
    static: dict[Term | None, list[Mention]] = {}
    for mention in entity.defined:
        if mention.how in STATIC:
            static.setdefault(_constant(mention.value), []).append(mention)
    return groups + [(mentions, Sort.DETERMINED) for mentions in static.values()]


def _telling_positions(entity: Entity, mentions: list[Mention], sort: Sort) -> frozenset[int]:
    terms = [mention.term for mention in mentions if isinstance(mention.term, Compound)]
    # Simple fluents are told apart by compound terms only: one constant more or less should not
    # tear apart what people see as one fluent.
    telling = Compound if sort is Sort.SIMPLE else object
    return frozenset(
        i
        for i in range(entity.arity)
        if terms and all(label(t.args[i]) and isinstance(t.args[i], telling) for t in terms)
    )


def _vertex(entity: Entity, mention: Mention, split: frozenset[int]) -> Vertex:
    args = mention.term.args if split and isinstance(mention.term, Compound) else ()
    shape = tuple(label(arg) if i in split else "" for i, arg in enumerate(args))
    return Vertex(entity.kind, entity.name, entity.arity, shape, _constant(mention.value))


def _constant(value: Term | None) -> Term | None:
    return value if value is not None and is_ground(value) else None


@dataclass(frozen=True, slots=True)
class Dependency:
    """An edge: a rule for `target` reads `source`, or `source` leads to `target` after a delay."""

    kind: OneOf["i", "f"]
    source: Vertex
    target: Vertex
    how: str
    timing: Timing
    clause: ec.Clause
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
    rules: dict[Vertex, list[ec.Rule]] = field(default_factory=dict)
    # Delayed terminations `ft` make no edge; they are kept for those who draw or explain.
    terminations: tuple[ec.FutureTermination, ...] = ()
    helpers: Helpers = field(default_factory=lambda: Helpers(ec.EventDescription()))

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


def dependency_graph(description: ec.EventDescription) -> DependencyGraph:
    """The dependency graph of a description."""
    vertices = find_vertices(find_entities(description))
    helpers = Helpers(description)
    edges: list[Dependency] = []
    rules: dict[Vertex, list[ec.Rule]] = {vertex: [] for vertex in vertices.sorts}
    for rule in description.rules:
        targets = defined_vertices(rule, vertices)
        for target in targets:
            rules[target].append(rule)
        edges.extend(_i_edges(rule, targets, vertices, helpers))
    terminations = description.of(ec.FutureTermination)
    initially = description.of(ec.Initially)
    for effect in acting(description.of(ec.FutureInitiation), terminations, initially):
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


def defined_vertices(rule: ec.Rule, vertices: Vertices) -> list[Vertex]:
    """The vertices a rule helps to define; a termination may end several values."""
    match rule:
        case ec.EventRule(event=event):
            return vertices.matching(Kind.EVENT, event)
        case ec.Termination(fvp=fvp) | ec.FutureTermination(origin=fvp):
            return vertices.simple(fvp)
        case ec.Initiation(fvp=fvp) | ec.Initially(fvp=fvp) | ec.FutureInitiation(target=fvp):
            return vertices.defined(fvp, Sort.SIMPLE)
        case ec.HoldsForRule(fvp=fvp) | ec.HoldsAtRule(fvp=fvp):
            return vertices.defined(fvp, Sort.DETERMINED)
        case _:
            return []


def _i_edges(
    rule: ec.Rule, targets: list[Vertex], vertices: Vertices, helpers: Helpers
) -> Iterator[Dependency]:
    for reading in readings(rule, helpers) if targets else ():
        for source in _sources(reading, vertices):
            for target in targets:
                how, signs = literal_word(reading.literal), (reading.positive, reading.monotone)
                place = (rule.clause, reading.literal.term)
                edge = Dependency("i", source, target, how, reading.timing, *place, *signs)
                yield replace(edge, terminates=isinstance(rule, ec.Termination))


def _sources(reading: Reading, vertices: Vertices) -> list[Vertex]:
    literal = reading.literal
    if isinstance(literal, ec.Happens):
        return vertices.matching(Kind.EVENT, literal.event)
    return vertices.read(literal.fvp)


def _f_edges(effect: ec.FutureInitiation, vertices: Vertices) -> Iterator[Dependency]:
    term = effect.clause.head or effect.origin.term
    for target in defined_vertices(effect, vertices):
        for source in vertices.simple(effect.origin):
            yield Dependency(
                "f", source, target, "fi", Timing.SETTLED, effect.clause, term, delay=effect.delay
            )
