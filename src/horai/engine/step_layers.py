"""What the rules of a component read of it, and in which order one moment settles them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.engine.live import LiveWorld
from horai.engine.moments import Node
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.graphs import Digraph
from horai.plan.program import Plan, PointPlan, Stratum

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Layer:
    """Nodes that one moment settles together; `circular` if they read each other in it."""

    nodes: frozenset[Node]
    circular: bool


def node_of(plan: PointPlan) -> Node:
    return ("event" if plan.kind == "event" else "fluent", plan.key)


def has_computed_time(plan: PointPlan) -> bool:
    """Is the time of the head computed from something the rule reads of its own component?"""
    assert plan.split is not None
    time = names(plan.time)
    for literal in plan.split.rest:
        match literal:
            case ec.Is(target=target) if names(target) & time:
                return True
            case ec.Compare(op="=", left=left, right=right) if names(left, right) & time:
                return True
            case ec.FindAll(result=result) | ec.AggregateAll(result=result) if names(result) & time:
                return True
            case ec.Call() if names(literal.term) & time:
                return True
            case _:
                pass
    return False


def read_elsewhere(plan: PointPlan, live: LiveWorld, program: Plan) -> Key | None:
    """What a rule reads of its own component at a time that is not its own."""
    assert plan.split is not None
    for step in op.walk(plan.split.remainder):
        match step:
            case op.Scan(kind=kind, key=key, time=time):
                mine = key in live.events if kind == "event" else key in live.members
                if mine and time != plan.time:
                    return key
            case op.Stab(key=key, time=time) | op.Walk(key=key, time=time):
                if key in live.members and time != plan.time:
                    return key
            case op.Procedure(key=key) if key in program.graph.helpers.temporal:
                return key
            case _:
                pass
    return None


def layers_of(stratum: Stratum, program: Plan) -> list[Layer]:
    """The nodes of a component in the order in which one moment settles them."""
    graph: Digraph[Node] = Digraph()
    graph.add_nodes(("fluent", key) for key in stratum.fluents)
    graph.add_nodes(("event", key) for key in stratum.events)
    for plan in stratum.points:
        if plan.split is not None:
            for source in _instant_sources(plan.split.remainder, program):
                if source in graph:
                    graph.add_edge(source, node_of(plan))
    for delay in stratum.delays:
        if ("fluent", delay.origin_key) in graph:
            graph.add_edge(("fluent", delay.origin_key), ("fluent", delay.target_key))
    found = []
    for nodes in graph.components():
        circular = len(nodes) > 1 or any(graph.has_edge(node, node) for node in nodes)
        found.append(Layer(nodes, circular))
    return found


def _instant_sources(chain: op.Chain, program: Plan) -> Iterator[Node]:
    """What a chain may read at the very moment it is about."""
    seen: set[tuple[Key, frozenset[int]]] = set()
    chains = [chain]
    while chains:
        for step in op.walk(chains.pop()):
            match step:
                case op.Scan(kind="event", key=key):
                    yield ("event", key)
                case op.Scan(kind="start" | "end" | "initiated" | "terminated", key=key):
                    yield ("fluent", key)
                case op.Procedure(key=key, bound=bound) if (key, bound) not in seen:
                    seen.add((key, bound))
                    branches = program.procedures.branches[key, bound]
                    chains += [branch.body for branch in branches]
                case _:
                    pass
