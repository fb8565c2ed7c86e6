"""Strata: contracted dependency graphs, cd-components, levels, order (Definitions 12-17).

The simple values of one fluent always stay together, because the initiation of one ends the
others: they count as connected even without an f-edge between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from horai.plan.ec.dependencies import DependencyGraph, Vertex
from horai.plan.graphs import Digraph

Group = frozenset[Vertex]


@dataclass(frozen=True)
class Component:
    """A cd-component: fluent-value pairs (or one event) that are settled together.

    `vertices` are in processing order (Definition 17). `cyclic` components have to be settled in
    time order: some condition of theirs depends on what they themselves decide.
    """

    number: int
    level: int
    vertices: tuple[Vertex, ...]
    cyclic: bool

    def __str__(self) -> str:
        return "{" + ", ".join(str(vertex) for vertex in self.vertices) + "}"


@dataclass(frozen=True)
class Strata:
    """All components, lowest level first, in an order in which they can be processed."""

    graph: DependencyGraph
    components: tuple[Component, ...]

    @cached_property
    def component_of(self) -> dict[Vertex, Component]:
        """The component of each vertex."""
        return {vertex: c for c in self.components for vertex in c.vertices}

    def level(self, vertex: Vertex) -> int:
        """Definition 15; what comes from the stream has level 0."""
        return self.component_of[vertex].level


def stratify(graph: DependencyGraph) -> Strata:
    """Components with levels, in processing order."""
    place = graph.place
    contracted = contracted_graph(graph)
    levels = component_levels(graph, contracted)
    groups = sorted(contracted.nodes, key=lambda g: (levels[g], min(place[v] for v in g)))
    components = []
    for number, group in enumerate(groups):
        cyclic = needs_time_order(graph, group)
        components.append(Component(number, levels[group], in_order(graph, group), cyclic))
    return Strata(graph, tuple(components))


def contracted_graph(graph: DependencyGraph) -> Digraph[Group]:
    """G^cd of Definition 13; its vertices are the cd-components, and it has no cycles.

    What f-edges connect belongs together, and so do the simple values of one fluent; the rest of a
    component are readings in a circle.
    """
    together = Digraph(sorted_edges(graph, graph.i_edges), graph.vertices)
    for first, *rest in [*simple_values(graph), *sorted_edges(graph, graph.f_edges)]:
        together.add_edges(pair for other in rest for pair in ((first, other), (other, first)))
    group_of = {vertex: group for group in together.components() for vertex in group}
    contracted = Digraph(nodes=(group_of[vertex] for vertex in graph.vertices))
    for source, target in sorted_edges(graph, graph.i_edges):
        if group_of[source] != group_of[target]:
            contracted.add_edge(group_of[source], group_of[target])
    return contracted


def simple_values(graph: DependencyGraph) -> list[list[Vertex]]:
    """The simple values of each fluent."""
    found: dict[Vertex, list[Vertex]] = {}
    for vertex in graph.vertices:
        if graph.is_simple(vertex):
            found.setdefault(vertex.fluent, []).append(vertex)
    return list(found.values())


def component_levels(graph: DependencyGraph, contracted: Digraph[Group]) -> dict[Group, int]:
    """Definition 9 on the contracted graph, where the stream itself has level 0."""
    levels: dict[Group, int] = {}
    for (group,) in contracted.components():
        if group <= graph.inputs:
            levels[group] = 0
        else:
            below = [levels[source] for source in contracted.predecessors(group)]
            levels[group] = 1 + max(below, default=0)
    return levels


def in_order(graph: DependencyGraph, group: Group) -> tuple[Vertex, ...]:
    """Definitions 16 and 17: each after what it rests on, if there is no cycle; else as written."""
    members = sorted(group, key=graph.place.__getitem__)
    inside = Digraph(nodes=members)
    inside.add_edges(
        (edge.source, edge.target)
        for vertex in members
        for edge in graph.edges_from[vertex]
        if edge.target in group
    )
    return tuple(members if inside.has_cycle() else inside.ordered(graph.place.__getitem__))


def needs_time_order(graph: DependencyGraph, group: Group) -> bool:
    """True when the component cannot be settled value by value.

    That is so when a chain of readings leads from a fluent back to itself (also from one of its
    values to another: the second ends the first), or when delayed effects run in a circle.
    """
    between: Digraph[Vertex] = Digraph()
    delayed: Digraph[Vertex] = Digraph()
    for edge in (edge for vertex in group for edge in graph.edges_from[vertex]):
        if edge.target not in group:
            continue
        if edge.kind == "f":
            delayed.add_edge(edge.source, edge.target)
        if edge.kind == "i" or edge.source.fluent != edge.target.fluent:
            between.add_edge(_unit(graph, edge.source), _unit(graph, edge.target))
    return between.has_cycle() or delayed.has_cycle()


def _unit(graph: DependencyGraph, vertex: Vertex) -> Vertex:
    """The unit that is settled as one: all simple values of a fluent, or a single other value."""
    return vertex.fluent if graph.is_simple(vertex) else vertex


def sorted_edges(
    graph: DependencyGraph, edges: Iterable[tuple[Vertex, Vertex]]
) -> list[tuple[Vertex, Vertex]]:
    """Edges in the order of their vertices, so that nothing depends on hashing."""
    return sorted(edges, key=lambda edge: (graph.place[edge[0]], graph.place[edge[1]]))


def separated(graph: DependencyGraph, component: Component) -> list[Component]:
    """A component in parts that can be settled one after the other, if interval rules are in it.

    Delays join fluents into one component, and what stands between them joins them too: an
    interval rule that reads one and is read by another. It needs the first one complete.
    """
    if not any(graph.is_determined(vertex) for vertex in component.vertices):
        return [component]
    inside = Digraph(nodes=(_unit(graph, vertex) for vertex in component.vertices))
    for vertex in component.vertices:
        for edge in graph.edges_from[vertex]:
            if edge.target in component.vertices:
                inside.add_edge(_unit(graph, vertex), _unit(graph, edge.target))
    found = []
    for units in inside.components():
        vertices = tuple(v for v in component.vertices if _unit(graph, v) in units)
        cyclic = needs_time_order(graph, frozenset(vertices))
        found.append(replace(component, vertices=vertices, cyclic=cyclic))
    return found
