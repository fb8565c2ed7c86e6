"""Vertices of the dependency graph: fluent-value pairs and events, as rules define them.

A fluent-value pair is known by its fluent and its value, or `*` for a value that is computed. Where
every rule for it has a constant or a compound term at some argument, that argument tells vertices
apart too: `per(close(C,M))` is not `per(open(C,M))`, and `close(A,B,25)` may be defined by
`close(A,B,24)` without any cycle.

A value with rules of both sorts is two vertices: what initiates it ends the other values, while its
intervals may well be computed from theirs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from horai.lang.ec.syntax import FVP
from horai.lang.printer import show
from horai.lang.terms import Compound, Term, Var, functor, is_ground
from horai.plan.entities import Entities, Entity, Kind, Mention, Sort

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

    def __str__(self) -> str:
        inner = ",".join(name or "_" for name in self.shape)
        start = f"{self.name}({inner})" if inner else self.name
        if self.kind is Kind.EVENT:
            return start
        return f"{start}={'*' if self.value is None else show(self.value)}"


def label(term: Term) -> str:
    """What tells an argument apart: the name of a compound term, a constant, "" for a variable."""
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
        key = functor(term)
        if key is None:
            return []
        found = self.by_entity.get((kind, *key), [])
        return [vertex for vertex in found if _meets(vertex, term, value)]

    def read(self, fvp: FVP) -> list[Vertex]:
        """The vertices that a fluent-value pair may speak of."""
        return self.matching(Kind.FLUENT, fvp.fluent, fvp.value)

    def simple(self, fvp: FVP) -> list[Vertex]:
        """The simple values that a fluent-value pair may speak of: those rules can end."""
        return [vertex for vertex in self.read(fvp) if Sort.SIMPLE in self.sorts[vertex]]

    def defined(self, fvp: FVP, sort: Sort) -> list[Vertex]:
        """The vertices that a rule with this head defines."""
        value = fvp.value if is_ground(fvp.value) else None
        return [v for v in self.read(fvp) if v.value == value and sort in self.sorts[v]]


def _meets(vertex: Vertex, term: Term, value: Term | None) -> bool:
    if value is not None and is_ground(value) and vertex.value not in (None, value):
        return False
    args = term.args if isinstance(term, Compound) else ()
    return all(
        not expected or label(arg) in ("", expected)
        for expected, arg in zip(vertex.shape, args, strict=False)
    )


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
