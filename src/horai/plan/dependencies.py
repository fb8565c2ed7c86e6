"""The dependency graph: what must be known before what (Definitions 8 and 11 of the papers).

Vertices are fluent-value pairs as written up to renaming: the fluent and its value, or `*` for a
value that is computed. Events are vertices too, so that output events find their place in the
order. An *i-edge* says that a rule for its target reads its source; an *f-edge* that an initiation
of its source initiates its target later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as OneOf

from horai.lang.ec.syntax import (
    FVP,
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
from horai.lang.terms import Compound, Int, Term, functor, is_ground
from horai.plan.entities import (
    Entities,
    Entity,
    Kind,
    Sort,
    find_entities,
    literal_fvp,
    literal_word,
)
from horai.plan.readings import Helpers, Reading, readings
from horai.plan.timing import Timing
from horai.plan.unify import generalises


@dataclass(frozen=True, slots=True)
class Vertex:
    """A fluent-value pair or an event.

    `value` is None for events and for computed values. `shape` tells apart fluents whose argument
    is always a compound term: `per(close(C,M))` and `per(open(C,M))` never speak of the same thing.
    """

    kind: Kind
    name: str
    arity: int
    shape: tuple[str, ...] = ()
    value: Term | None = None

    @property
    def fluent(self) -> Vertex:
        """The same without the value: equal for all values of one fluent."""
        return Vertex(self.kind, self.name, self.arity, self.shape)

    def __str__(self) -> str:
        inner = ",".join(name or "_" for name in self.shape)
        start = f"{self.name}({inner})" if inner else self.name
        if self.kind is Kind.EVENT:
            return start
        return f"{start}={'*' if self.value is None else plain(self.value)}"


def plain(term: Term) -> str:
    """A constant value as people write it; quotes are left out, this is a label."""
    match term:
        case Compound(name=name, args=args):
            return f"{name}({','.join(plain(arg) for arg in args)})"
        case _:
            return str(getattr(term, "name", getattr(term, "value", "[..]")))


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
    # Delayed terminations `ft` make no edge; they are kept for those who draw or explain.
    terminations: tuple[FutureTermination, ...] = ()
    shapes: Shapes = field(default_factory=lambda: Shapes({}))

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


@dataclass(slots=True)
class Shapes:
    """Argument positions of fluents and events at which every mention has a compound term."""

    positions: dict[tuple[Kind, str, int], frozenset[int]]

    def of(self, kind: Kind, term: Term) -> tuple[str, ...]:
        """The functors of the arguments at these positions; () when there are none."""
        key = functor(term)
        if key is None or not isinstance(term, Compound):
            return ()
        split = self.positions.get((kind, *key), frozenset())
        if not split:
            return ()
        return tuple(_functor_name(arg) if i in split else "" for i, arg in enumerate(term.args))


def _functor_name(term: Term) -> str:
    return term.name if isinstance(term, Compound) else ""


def find_shapes(entities: Entities) -> Shapes:
    """Where compound arguments tell instances of one fluent apart."""
    positions: dict[tuple[Kind, str, int], frozenset[int]] = {}
    for entity in entities:
        terms = [m.term for m in (*entity.defined, *entity.used) if isinstance(m.term, Compound)]
        always = [
            i
            for i in range(entity.arity)
            if terms and all(isinstance(term.args[i], Compound) for term in terms)
        ]
        if always:
            positions[(entity.kind, *entity.key)] = frozenset(always)
    return Shapes(positions)


def dependency_graph(
    description: EventDescription, entities: Entities | None = None
) -> DependencyGraph:
    """The dependency graph of a description."""
    known = entities or find_entities(description)
    return _Builder(description, known).build()


class _Builder:
    """Collects vertices and edges; only here to keep the tables they share in one place."""

    def __init__(self, description: EventDescription, entities: Entities) -> None:
        self.description = description
        self.entities = entities
        self.helpers = Helpers(description)
        self.shapes = find_shapes(entities)
        self.sorts: dict[Vertex, frozenset[Sort]] = {}
        self.inputs: set[Vertex] = set()
        self.of_fluent: dict[Vertex, list[Vertex]] = {}

    def build(self) -> DependencyGraph:
        for entity in self.entities:
            self._add_entity(entity)
        edges: list[Dependency] = []
        for rule in self.description.rules:
            edges.extend(self._i_edges(rule))
        rules = [r for r in self.description.rules if isinstance(r, FutureInitiation)]
        for rule in acting(rules, self.terminations()):
            edges.extend(self._f_edges(rule))
        return DependencyGraph(
            tuple(self.sorts),
            tuple(edges),
            self.sorts,
            frozenset(self.inputs),
            tuple(self.terminations()),
            self.shapes,
        )

    def terminations(self) -> list[FutureTermination]:
        return [r for r in self.description.rules if isinstance(r, FutureTermination)]

    def _add_entity(self, entity: Entity) -> None:
        if entity.is_input:
            mentions = [*entity.declared, *entity.used]
        else:
            mentions = [m for m in entity.defined if m.how != "terminatedAt"]
        for mention in mentions:
            self._add(self._vertex(entity.kind, mention.term, mention.value), entity)
        # A value that is only ever terminated still has a place in the graph.
        for mention in entity.defined:
            if entity.kind is Kind.FLUENT and not self._all_of(mention.term):
                self._add(self._vertex(entity.kind, mention.term, mention.value), entity)

    def _add(self, vertex: Vertex, entity: Entity) -> None:
        if vertex in self.sorts:
            return
        if entity.is_input or entity.kind is Kind.EVENT:
            self.sorts[vertex] = entity.sorts
        elif vertex.value is None:
            self.sorts[vertex] = frozenset(entity.computed or {Sort.SIMPLE})
        else:
            self.sorts[vertex] = frozenset(entity.values.get(vertex.value, {Sort.SIMPLE}))
        if entity.is_input:
            self.inputs.add(vertex)
        self.of_fluent.setdefault(vertex.fluent, []).append(vertex)

    def _vertex(self, kind: Kind, term: Term, value: Term | None = None) -> Vertex:
        name, arity = functor(term) or ("?", 0)
        constant = value if value is not None and is_ground(value) else None
        return Vertex(kind, name, arity, self.shapes.of(kind, term), constant)

    def _all_of(self, fluent: Term) -> list[Vertex]:
        return self.of_fluent.get(self._vertex(Kind.FLUENT, fluent), [])

    def read(self, fvp: FVP) -> list[Vertex]:
        """The vertices whose values a fluent-value pair of a body may meet."""
        values = self._all_of(fvp.fluent)
        if not is_ground(fvp.value):
            return values
        return [v for v in values if v.value is None or v.value == fvp.value]

    def heads(self, rule: Rule) -> list[Vertex]:
        """The vertices a rule helps to define."""
        match rule:
            case EventRule(event=event):
                return [self._vertex(Kind.EVENT, event)]
            case Termination(fvp=fvp):
                return self.read(fvp)
            case (
                Initiation(fvp=fvp)
                | Initially(fvp=fvp)
                | HoldsForRule(fvp=fvp)
                | HoldsAtRule(fvp=fvp)
            ):
                return [self._vertex(Kind.FLUENT, fvp.fluent, fvp.value)]
            case FutureInitiation(target=fvp):
                return [self._vertex(Kind.FLUENT, fvp.fluent, fvp.value)]
            case FutureTermination(origin=fvp):
                return self.read(fvp)
            case _:
                return []

    def _i_edges(self, rule: Rule) -> Iterator[Dependency]:
        targets = self.heads(rule)
        if not targets:
            return
        for reading in readings(rule, self.helpers):
            for source in self._sources(reading):
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

    def _sources(self, reading: Reading) -> list[Vertex]:
        literal = reading.literal
        if isinstance(literal, Happens):
            vertex = self._vertex(Kind.EVENT, literal.event)
            return [vertex] if vertex in self.sorts else []
        fvp = literal_fvp(literal)
        return [] if fvp is None else self.read(fvp)

    def _f_edges(self, rule: FutureInitiation) -> Iterator[Dependency]:
        (target,) = self.heads(rule)
        term = rule.clause.head or rule.origin.term
        for source in self.read(rule.origin):
            yield Dependency(
                "f", source, target, "fi", Timing.SETTLED, rule.clause, term, delay=rule.delay
            )


def acting(
    rules: Iterable[FutureInitiation], terminations: Iterable[FutureTermination] = ()
) -> list[FutureInitiation]:
    """The delayed initiations that can act: the shortest delay of every F=V.

    >>> acting([])
    []
    """
    every = list(rules)
    ends = list(terminations)
    return [rule for rule in every if beaten_by(rule, every, ends) is None]


def beaten_by(
    rule: FutureInitiation | FutureTermination,
    initiations: Iterable[FutureInitiation],
    terminations: Iterable[FutureTermination],
) -> FutureInitiation | FutureTermination | None:
    """A delayed effect that always ends F=V before the given one is due.

    Only unconditional effects with a fixed delay end F=V for sure, and an initiation only when it
    gives the same fluent another value.
    """
    effects: list[FutureInitiation | FutureTermination] = [*initiations, *terminations]
    for other in effects:
        if other is not rule and _is_sooner(other, rule) and _surely_ends(other):
            return other
    return None


def _is_sooner(
    other: FutureInitiation | FutureTermination, rule: FutureInitiation | FutureTermination
) -> bool:
    if not isinstance(other.delay, Int) or not isinstance(rule.delay, Int):
        return False
    return other.delay.value < rule.delay.value and generalises(other.origin.term, rule.origin.term)


def _surely_ends(rule: FutureInitiation | FutureTermination) -> bool:
    """True when the origin never outlives the delay."""
    if rule.body.items:
        return False
    return isinstance(rule, FutureTermination) or _breaks_itself(rule)


def _breaks_itself(rule: FutureInitiation) -> bool:
    return rule.origin.fluent == rule.target.fluent and rule.origin.value != rule.target.value
