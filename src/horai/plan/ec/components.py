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

    `vertices` are in processing order (Definition 17), `order` is the FVP order relation
    (Definition 16). `cyclic` components have to be settled in time order: some condition of
    theirs depends on what they themselves decide.
    """

    number: int
    level: int
    vertices: tuple[Vertex, ...]
    cyclic: bool
    order: frozenset[tuple[Vertex, Vertex]]

    @property
    def fluents(self) -> tuple[Vertex, ...]:
        """The fluents (or the event) of the component, values left out."""
        return tuple(dict.fromkeys(vertex.fluent for vertex in self.vertices))

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
        order = order_relation(graph, group)
        vertices = linear_extension(group, order, place)
        cyclic = needs_time_order(graph, group)
        components.append(Component(number, levels[group], vertices, cyclic, order))
    return Strata(graph, tuple(components))


def i_reduced(graph: DependencyGraph) -> Digraph[Vertex]:
    """G^ird of Definition 12: the dependency graph without its i-edges."""
    return Digraph(sorted_edges(graph, graph.f_edges), graph.vertices)


def f_contracted_graph(graph: DependencyGraph, keep_fluents: bool = True) -> Digraph[Group]:
    """G^fcd of Definition 12: what f-edges connect becomes one vertex.

    With `keep_fluents` the simple values of one fluent become one vertex too.
    """
    reduced = i_reduced(graph)
    if keep_fluents:
        for first, *rest in simple_values(graph):
            reduced.add_edges((first, other) for other in rest)
    return _contract(graph, reduced.connected())


def contracted_graph(graph: DependencyGraph, keep_fluents: bool = True) -> Digraph[Group]:
    """G^cd of Definition 13; its vertices are the cd-components, and it has no cycles."""
    fcd = f_contracted_graph(graph, keep_fluents)
    merged: list[Group] = []
    for component in fcd.components():
        merged.append(frozenset(vertex for group in component for vertex in group))
    return _contract(graph, merged, loops=False)


def _contract(
    graph: DependencyGraph, groups: Iterable[Group], loops: bool = True
) -> Digraph[Group]:
    contracted: Digraph[Group] = Digraph()
    group_of = {vertex: group for group in groups for vertex in group}
    contracted.add_nodes(group_of[vertex] for vertex in graph.vertices)
    for source, target in sorted_edges(graph, graph.i_edges):
        if loops or group_of[source] != group_of[target]:
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


def order_relation(graph: DependencyGraph, group: Group) -> frozenset[tuple[Vertex, Vertex]]:
    """Definition 16: pairs joined by a path inside the component; empty when it has a cycle."""
    inside = subgraph(graph, group)
    if inside.has_cycle():
        return frozenset()
    return frozenset((a, b) for a in inside.nodes for b in inside.descendants(a))


def subgraph(graph: DependencyGraph, group: Iterable[Vertex]) -> Digraph[Vertex]:
    """The vertices of a component with the edges of both kinds among them."""
    members = sorted(group, key=lambda v: graph.place[v])
    inside = Digraph(nodes=members)
    for vertex in members:
        targets = {edge.target for edge in graph.edges_from[vertex]}
        inside.add_edges((vertex, target) for target in members if target in targets)
    return inside


def linear_extension(
    group: Iterable[Vertex], order: frozenset[tuple[Vertex, Vertex]], place: dict[Vertex, int]
) -> tuple[Vertex, ...]:
    """Definition 17: a total order that respects the relation; ties as written in the file."""
    return tuple(Digraph(order, group).ordered(place.__getitem__))


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
        found.append(replace(component, vertices=vertices, cyclic=cyclic, order=frozenset()))
    return found
