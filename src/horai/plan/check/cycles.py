"""Checks of cycles of fluents and events, and of background predicates through their absence."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from horai.lang.core.diagnostics import Diagnostic
from horai.lang.core.terms import Term
from horai.lang.ec import syntax as ec
from horai.plan.check.context import CheckContext, finding, place_of
from horai.plan.ec.components import Component, simple_values
from horai.plan.ec.dependencies import Dependency, DependencyGraph, Vertex
from horai.plan.ec.entities import Kind
from horai.plan.ec.readings import Timing
from horai.plan.graphs import Digraph


def static_cycles(context: CheckContext) -> Iterator[Diagnostic]:
    """H400: a statically determined fluent that needs itself."""
    graph = context.graph
    for component in context.strata.components:
        determined = [v for v in component.vertices if graph.is_determined(v)]
        if not (component.cyclic and determined):
            continue
        # Delayed effects may bring it into the component of a cycle that it is no part of.
        cycle = find_cycle(links(graph, component), determined)
        if cycle:
            yield _report(
                "H400",
                "a statically determined fluent depends on itself",
                cycle,
                graph.edges,
                "make one of them a simple fluent, or define it without the others",
            )


def looking_ahead(context: CheckContext) -> Iterator[Diagnostic]:
    """H403: a rule of a cycle that may read a later time-point."""
    graph = context.graph
    for component in _dynamic_cycles(context):
        linked = links(graph, component)
        together = linked.component_of()
        seen: set[int] = set()
        for edge in _inside(graph, component):
            same = together[edge.source] == together[edge.target]
            if edge.timing is not Timing.ANYTIME or not same or id(edge.term) in seen:
                continue
            seen.add(id(edge.term))
            cycle = find_cycle(linked, [edge.source])
            message = (
                f"`{edge.target}` and `{edge.source}` depend on each other, and this condition "
                "may look ahead in time"
            )
            hint = "add a comparison that keeps its time in the past, such as `T0 < T`"
            note = _path(cycle)
            yield finding("H403", message, edge.clause, edge.term, hint, note)


def _dynamic_cycles(context: CheckContext) -> Iterator[Component]:
    for component in context.strata.components:
        if component.cyclic and not any(context.graph.is_determined(v) for v in component.vertices):
            yield component


def _inside(graph: DependencyGraph, component: Component) -> Iterator[Dependency]:
    members = set(component.vertices)
    for vertex in component.vertices:
        yield from (edge for edge in graph.edges_from[vertex] if edge.target in members)


def links(graph: DependencyGraph, component: Component) -> Digraph[Vertex]:
    """The dependencies inside a component; the simple values of a fluent depend on each other."""
    edges = ((edge.source, edge.target) for edge in _inside(graph, component))
    linked = Digraph(edges, component.vertices)
    members = set(component.vertices)
    for values in simple_values(graph):
        linked.add_edges(
            (a, b) for a in values for b in values if a != b and a in members and b in members
        )
    return linked


def find_cycle(graph: Digraph[Vertex], through: Iterable[Vertex]) -> list[Vertex]:
    """A shortest cycle through one of the vertices, closed: its first vertex is also its last."""
    best: list[Vertex] = []
    for vertex in through:
        for following in graph.successors(vertex):
            path = graph.path(following, vertex)
            if path is not None and (not best or len(path) + 1 < len(best)):
                best = [vertex, *path]
    return best


def _path(cycle: list[Vertex]) -> str:
    return " -> ".join(str(vertex) for vertex in cycle)


def _report(
    code: str, message: str, cycle: list[Vertex], edges: Iterable[Dependency], hint: str
) -> Diagnostic:
    """A finding about a cycle; `edges` are those that make it one, the weightiest first."""
    known: dict[tuple[Vertex, Vertex], Dependency] = {}
    for edge in edges:
        known.setdefault((edge.source, edge.target), edge)
    steps: list[str] = []
    first: Dependency | None = None
    for source, target in itertools.pairwise(cycle):
        step = known.get((source, target))
        if step is None:
            steps.append(f"{target} is another value of the same fluent as {source}")
            continue
        first = first or step
        place = place_of(step.clause, step.term, first.clause.source)
        steps.append(f"{_step(step)} ({place})")
    assert first is not None, "a cycle has an edge"
    message = f"{message}: {_path(cycle)}"
    note = "; ".join(steps)
    return finding(code, message, first.clause, first.term, hint, note)


def _step(edge: Dependency) -> str:
    if edge.kind == "f":
        return f"{edge.target} follows {edge.source}"
    return f"{edge.target} reads {edge.source} by {edge.how}"


# --- the same time-point -----------------------------------------------------------------------

Moment = tuple[str, Vertex]


def same_time_cycles(context: CheckContext) -> Iterator[Diagnostic]:
    """H402: what happens at a point depends on itself at that point."""
    graph = context.graph
    for component in context.strata.components:
        instant = [e for e in _inside(graph, component) if e.timing is Timing.INSTANT]
        cycle = _edge_circle(instant) or _paradox(component, instant) if instant else []
        if cycle:
            yield _report(
                "H402",
                "this depends on itself at one and the same time-point",
                cycle,
                sorted(instant, key=lambda edge: edge.monotone),
                "read one of them with holdsAt, which sees the value before",
            )


def _edge_circle(instant: list[Dependency]) -> list[Vertex]:
    """A circle of readings at one point that passes a negation."""
    circle = Digraph((edge.source, edge.target) for edge in instant)
    group = circle.component_of()
    for edge in instant:
        looped = edge.source == edge.target or group[edge.source] == group[edge.target]
        if looped and edge.how not in ("start", "end") and not edge.monotone:
            return find_cycle(circle, [edge.source])
    return []


def _paradox(component: Component, instant: list[Dependency]) -> list[Vertex]:
    """A circle within one point that passes something negative.

    Starts hide negations: a value starts only where it is not broken, and other values break it.
    """
    moments: Digraph[Moment] = Digraph()
    negative: list[tuple[Moment, Moment]] = []
    for edge in instant:
        source = (_MOMENTS.get(edge.how, "event"), edge.source)
        made = "event" if edge.target.kind is Kind.EVENT else "init"
        target = ("term" if edge.terminates else made, edge.target)
        moments.add_edge(source, target)
        if not edge.monotone:
            negative.append((source, target))
    for vertex in component.vertices:
        others = [v for v in component.vertices if v != vertex and v.fluent == vertex.fluent]
        broken = ("broken", vertex)
        moments.add_edge(("init", vertex), ("start", vertex))
        moments.add_edge(broken, ("start", vertex))
        negative.append((broken, ("start", vertex)))
        moments.add_edge(broken, ("end", vertex))
        moments.add_edge(("term", vertex), broken)
        moments.add_edges((("init", other), broken) for other in others)
    group = moments.component_of()
    for source, target in negative:
        if group[source] == group[target]:
            path = moments.path(target, source)
            assert path is not None, "both are in one component"
            return _vertices_of([*path, target])
    return []


def _vertices_of(moments: list[Moment]) -> list[Vertex]:
    """The path with what happens inside one vertex left out."""
    vertices = [moments[0][1]]
    for _, vertex in moments[1:]:
        if vertex != vertices[-1]:
            vertices.append(vertex)
    if len(vertices) == 1 or vertices[0] != vertices[-1]:
        vertices.append(vertices[0])
    return vertices


_MOMENTS = {"initiatedAt": "init", "terminatedAt": "term", "start": "start", "end": "end"}


Key = tuple[str, int]


def negative_cycles(context: CheckContext) -> Iterator[Diagnostic]:
    """H401: a predicate that depends on its own negation."""
    graph: Digraph[Key] = Digraph()
    negative: list[tuple[Key, Key, ec.Call, ec.Clause]] = []
    places: dict[tuple[Key, Key], tuple[ec.Clause, Term]] = {}
    for rule in context.description.of(ec.BackgroundRule):
        for call, positive in _calls(rule.body, True):
            graph.add_edge(rule.key, call.key)
            places.setdefault((rule.key, call.key), (rule.clause, call.term))
            if not positive:
                negative.append((rule.key, call.key, call, rule.clause))
    group = graph.component_of()
    reported: set[int] = set()
    for head, called, call, clause in negative:
        if group[head] != group[called] or group[head] in reported:
            continue
        reported.add(group[head])
        cycle = [head, *(graph.path(called, head) or ())]
        steps = [
            f"{_name(a)} calls {_name(b)} ({place_of(*places[(a, b)], clause.source)})"
            for a, b in itertools.pairwise(cycle)
        ]
        message = "a predicate depends on its own negation: " + " -> ".join(_name(k) for k in cycle)
        note = "; ".join(steps)
        yield finding(
            "H401", message, clause, call.term, "define one of them without the other", note
        )


def _name(key: Key) -> str:
    return f"{key[0]}/{key[1]}"


def _calls(literal: ec.Literal, positive: bool) -> Iterator[tuple[ec.Call, bool]]:
    """The calls of a body; those whose failure matters are not positive."""
    match literal:
        case ec.Call():
            yield literal, positive
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            yield from _calls(condition, False)
            yield from _calls(then, positive)
            yield from _calls(otherwise, positive)
        case _:
            denies = isinstance(literal, ec.Negation | ec.Aggregate)
            for part in ec.parts(literal):
                yield from _calls(part, positive and not denies)
