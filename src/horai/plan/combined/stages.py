"""The order in which a description and a program are worked out: stages of one language each.

Every event, fluent and predicate has a level: as many times as the language changes on the way to
it. The stage of a level holds all rules of its language up to that level, so that the last stage of
a language holds all of its rules, and no stage depends on one that comes after it.

What passes between them: a predicate of the program and an event or fluent of the description are
the same if they have the same name and as many arguments. The atom of a fluent says that its value
is `true`; with one more argument, that the last one is its value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal as OneOf
from typing import NamedTuple

from horai.lang.ec.syntax import EventDescription, Grounding
from horai.lang.lars import syntax as lars
from horai.lang.lars.predicates import body_atoms, derived, head_predicates, inputs
from horai.lang.lars.syntax import Predicate, Program
from horai.lang.lars.walk import windows
from horai.plan.ec.dependencies import DependencyGraph, Vertex, dependency_graph
from horai.plan.ec.entities import Entities, Entity, Kind
from horai.plan.graphs import Digraph


@dataclass(frozen=True, slots=True)
class Passing:
    """A predicate of the program that stands for an event or fluent of the description."""

    predicate: Predicate
    entity: Entity
    with_value: bool = False

    @property
    def is_fluent(self) -> bool:
        """Is it a fluent, rather than an event?"""
        return self.entity.kind is Kind.FLUENT


@dataclass(frozen=True, slots=True)
class Exchange:
    """The predicates that the program hands to the description, and those it gets from there."""

    to_description: tuple[Passing, ...]
    to_program: tuple[Passing, ...]

    def __bool__(self) -> bool:
        return bool(self.to_description or self.to_program)


def exchange(entities: Entities, program: Program) -> Exchange:
    """The predicates that one of the two derives, and the other reads.

    Input fluents of the description pass as well, for their rows are spans. Input events need not:
    both read their rows.
    """
    made, read = derived(program), inputs(program)
    given = [p for entity in entities.inputs for p in _alike(entity) if p.predicate in made]
    taken = [
        passing
        for entity in entities
        if not (entity.is_input and entity.kind is Kind.EVENT)
        for passing in _alike(entity)
        if passing.predicate in read
    ]
    return Exchange(tuple(given), tuple(taken))


def _alike(entity: Entity) -> Iterator[Passing]:
    yield Passing(entity.key, entity)
    if entity.kind is Kind.FLUENT:
        yield Passing((entity.name, entity.arity + 1), entity, with_value=True)


Language = OneOf["description", "program"]


class CombinedNode(NamedTuple):
    """An event or fluent of the description, or a predicate of the program."""

    language: Language
    kind: str
    name: str
    arity: int

    def __str__(self) -> str:
        return f"{self.name}/{self.arity} of the {self.language}"


class Cycle(Exception):
    """Description and program need each other's answers to the same question."""

    def __init__(self, nodes: list[CombinedNode]) -> None:
        self.nodes = nodes
        super().__init__(" -> ".join(map(str, nodes)))


@dataclass(frozen=True, slots=True)
class CombinedStage:
    """Rules of one language, and what they read of stages before.

    `reads` says by number which stage hands over what.
    """

    rules: EventDescription | lars.Program
    reads: tuple[tuple[int, tuple[Passing, ...]], ...] = ()

    @property
    def language(self) -> Language:
        """The language of the rules."""
        return "program" if isinstance(self.rules, lars.Program) else "description"


def stages(
    description: EventDescription, program: lars.Program, passing: Exchange
) -> list[CombinedStage]:
    """All stages in an order in which they can be worked out; raises `Cycle` if there is none.

    The last stage of each language holds all of its rules.
    """
    return _Staging(description, program, passing).stages()


class _Staging:
    def __init__(
        self, description: EventDescription, program: lars.Program, passing: Exchange
    ) -> None:
        self.description = description
        self.program = program
        self.passing = passing
        self.graph = dependency_graph(description)
        self.levels = _levels(_needs(self.graph, program, passing))

    def stages(self) -> list[CombinedStage]:
        wanted = self._wanted()
        places = {key: number for number, key in enumerate(wanted)}
        found = []
        for language, level in wanted:
            by_stage: dict[int, list[Passing]] = {}
            for passing, source in self._readings(language, level):
                by_stage.setdefault(places[source], []).append(passing)
            reads = tuple((place, tuple(listed)) for place, listed in sorted(by_stage.items()))
            found.append(CombinedStage(self._rules(language, level), reads))
        return found

    def _wanted(self) -> list[tuple[Language, int]]:
        """The last stage of each language, and those that another one reads."""
        open_: list[tuple[Language, int]] = [
            (language, self._last(language)) for language in ("description", "program")
        ]
        found: set[tuple[Language, int]] = set()
        while open_:
            stage = open_.pop()
            if stage not in found:
                found.add(stage)
                open_ += [source for _, source in self._readings(*stage)]
        return sorted(found, key=lambda stage: (stage[1], stage[0]))

    def _last(self, language: Language) -> int:
        own = [level for node, level in self.levels.items() if node.language == language]
        rules = [self._level(rule) for rule in self.program.rules] if language == "program" else []
        return max([0, *own, *rules])

    def _readings(
        self, language: Language, level: int
    ) -> Iterator[tuple[Passing, tuple[Language, int]]]:
        """The readings of a stage, each with the stage that has it: the last before this one."""
        if language == "description":
            for passing in self.passing.to_description:
                if self.levels[entity_node(passing.entity)] <= level:
                    yield passing, ("program", self.levels[_predicate_node(passing.predicate)])
            return
        for passing in self.passing.to_program:
            if self.levels[_predicate_node(passing.predicate)] <= level:
                yield passing, ("description", self.levels[entity_node(passing.entity)])

    def _rules(self, language: Language, level: int) -> EventDescription | lars.Program:
        if language == "program":
            kept = tuple(rule for rule in self.program.rules if self._level(rule) <= level)
            return replace(self.program, rules=kept)
        later = {
            id(rule)
            for vertex, rules in self.graph.rules.items()
            if self.levels[vertex_node(vertex)] > level
            for rule in rules
        }
        mine = [rule for rule in self.description.rules if id(rule) not in later]
        return replace(
            self.description, rules=[rule for rule in mine if not self._is_later(rule, level)]
        )

    def _is_later(self, rule: object, level: int) -> bool:
        """Says a grounding where something lives that this stage does not know?"""
        if not isinstance(rule, Grounding):
            return False
        kind = Kind.EVENT if rule.value is None else Kind.FLUENT
        return self.levels.get(CombinedNode("description", str(kind), *rule.key), 0) > level

    def _level(self, rule: lars.Rule) -> int:
        """That of the highest predicate in it; constraints have no head."""
        read = {atom.predicate for atom in body_atoms(rule)} | counted(rule, self.passing)
        named = head_predicates(rule) | read
        return max((self.levels.get(_predicate_node(one), 0) for one in named), default=0)


def counted(rule: lars.Rule, passing: Exchange) -> set[lars.Predicate]:
    """The entities of the description that windows of a rule count, asked for or not.

    A tuple window counts signals of all names, a partition those that fit its patterns.
    """
    every = {one.predicate for one in passing.to_program}
    found: set[lars.Predicate] = set()
    for window in (one.window for one in windows(rule) if one.window.counts):
        if window.groups is None:
            return every
        names = {pattern.name for pattern in window.groups}
        found |= {predicate for predicate in every if predicate[0] in names}
    return found


def entity_node(entity: Entity) -> CombinedNode:
    """The node of an event or fluent."""
    return CombinedNode("description", str(entity.kind), entity.name, entity.arity)


def vertex_node(vertex: Vertex) -> CombinedNode:
    """The node of the event or fluent that a vertex is about."""
    return CombinedNode("description", str(vertex.kind), vertex.name, vertex.arity)


def _predicate_node(predicate: tuple[str, int]) -> CombinedNode:
    return CombinedNode("program", "predicate", *predicate)


def _needs(
    graph: DependencyGraph, program: lars.Program, passing: Exchange
) -> Digraph[CombinedNode]:
    """An edge from everything to what it needs."""
    needs: Digraph[CombinedNode] = Digraph(nodes=map(vertex_node, graph.vertices))
    needs.add_edges((vertex_node(e.target), vertex_node(e.source)) for e in graph.edges)
    for rule in program.rules:
        asked = {atom.predicate for atom in body_atoms(rule)} | counted(rule, passing)
        read = [_predicate_node(predicate) for predicate in sorted(asked)]
        needs.add_nodes(read)
        for head in sorted(head_predicates(rule)):
            needs.add_nodes([_predicate_node(head)])
            needs.add_edges((_predicate_node(head), one) for one in read)
    for one in passing.to_description:
        needs.add_edge(entity_node(one.entity), _predicate_node(one.predicate))
    for one in passing.to_program:
        needs.add_edge(_predicate_node(one.predicate), entity_node(one.entity))
    return needs


def _levels(needs: Digraph[CombinedNode]) -> dict[CombinedNode, int]:
    levels: dict[CombinedNode, int] = {}
    for group in reversed(needs.components()):
        if len({node.language for node in group}) > 1:
            raise Cycle(_round(needs, group))
        found = 0
        for node in group:
            for other in needs.successors(node):
                if other not in group:
                    found = max(found, levels[other] + (other.language != node.language))
        levels.update(dict.fromkeys(group, found))
    return levels


def _round(needs: Digraph[CombinedNode], group: frozenset[CombinedNode]) -> list[CombinedNode]:
    """A way through both languages that ends where it begins."""
    first = min(node for node in group if node.language == "program")
    other = min(node for node in group if node.language == "description")
    there, back = needs.path(first, other), needs.path(other, first)
    assert there is not None and back is not None, "they reach each other"
    return [*there, *back[1:]]
