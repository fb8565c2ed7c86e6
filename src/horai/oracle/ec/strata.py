"""The order of work: which entities must be known before which.

Nodes are output events, the simple values of a fluent taken together, and statically determined
fluent-value pairs. Nodes that depend on each other form one component.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from horai.lang.core.printer import show
from horai.lang.core.terms import Term, Var, is_ground, substitute, variables
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import IllegalCycle
from horai.oracle.ec.background import Background
from horai.oracle.ec.terms import unify, unify_all
from horai.oracle.ec.world import Key, key_of

PointRule = ec.Initiation | ec.Termination | ec.EventRule
DelayRule = ec.FutureInitiation | ec.FutureTermination
StaticRule = ec.HoldsForRule | ec.HoldsAtRule
Sources = dict["OracleNode", dict["OracleNode", None]]
"""What each node reads, in the order in which rules say so."""


@dataclass(frozen=True, slots=True)
class OracleNode:
    """An entity to be worked out.

    `value` and `pattern` are set for a statically determined pair only. Its heads are told apart
    by what their arguments say: close(_,_,24) may well be defined by close(_,_,30).
    """

    kind: str  # event, simple, static
    key: Key
    value: Term | None = None
    pattern: Term | None = None

    @property
    def text(self) -> str:
        """The node as a person would write it."""
        name = f"{self.key[0]}/{self.key[1]}" if self.pattern is None else show(self.pattern)
        return name if self.value is None else f"{name}={show(self.value)}"


@dataclass(slots=True)
class Definitions:
    """The rules of each node."""

    points: dict[OracleNode, list[PointRule]] = field(default_factory=dict)
    initially: dict[OracleNode, list[ec.Initially]] = field(default_factory=dict)
    delays: dict[OracleNode, list[DelayRule]] = field(default_factory=dict)  # by what they act on
    static: dict[OracleNode, list[StaticRule]] = field(default_factory=dict)

    @property
    def nodes(self) -> list[OracleNode]:
        """All output nodes."""
        found = [*self.points, *self.initially, *self.delays, *self.static]
        return list(dict.fromkeys(found))

    def simple_values(self, node: OracleNode) -> Iterator[Term]:
        """The value terms that rules can give to a simple fluent."""
        for rule in self.points.get(node, ()):
            if isinstance(rule, ec.Initiation):
                yield rule.fvp.value
        for initial in self.initially.get(node, ()):
            yield initial.fvp.value
        for delay in self.delays.get(node, ()):
            if isinstance(delay, ec.FutureInitiation):
                yield delay.target.value


def definitions(description: ec.EventDescription) -> Definitions:
    """Sort the rules by what they define."""
    found = Definitions()
    for rule in description.rules:
        match rule:
            case ec.Initiation(fvp=fvp) | ec.Termination(fvp=fvp):
                node = OracleNode("simple", key_of(fvp.fluent))
                found.points.setdefault(node, []).append(rule)
            case ec.EventRule(event=event):
                found.points.setdefault(OracleNode("event", key_of(event)), []).append(rule)
            case ec.Initially(fvp=fvp):
                node = OracleNode("simple", key_of(fvp.fluent))
                found.initially.setdefault(node, []).append(rule)
            case ec.FutureInitiation(target=target):
                node = OracleNode("simple", key_of(target.fluent))
                found.delays.setdefault(node, []).append(rule)
            case ec.FutureTermination(origin=origin):
                node = OracleNode("simple", key_of(origin.fluent))
                found.delays.setdefault(node, []).append(rule)
            case ec.HoldsForRule(fvp=fvp) | ec.HoldsAtRule(fvp=fvp):
                value = fvp.value if is_ground(fvp.value) else None
                node = OracleNode("static", key_of(fvp.fluent), value, _pattern(fvp.fluent))
                found.static.setdefault(node, []).append(rule)
            case _:
                pass
    return found


@dataclass(frozen=True, slots=True)
class OracleLayer:
    """Nodes that one time-point settles together; `circular` if they read each other in it."""

    nodes: list[OracleNode]
    circular: bool


class OracleStrata:
    """Components in an order in which they can be worked out."""

    def __init__(self, description: ec.EventDescription, background: Background) -> None:
        self.defined = definitions(description)
        self._background = background
        self.sources: Sources = {}
        self.instant: Sources = {}  # readings at the very same time-point
        for node in self.defined.nodes:
            found = list(self._sources(node))
            self.sources[node] = dict.fromkeys(source for source, _ in found)
            self.instant[node] = dict.fromkeys(source for source, same_time in found if same_time)
        self.components = _ordered(self.sources)

    def layers(self, component: list[OracleNode]) -> list[OracleLayer]:
        """The nodes of a component in the order in which one time-point settles them."""
        inside: Sources = {
            node: {source: None for source in self.instant[node] if source in component}
            for node in component
        }
        return [OracleLayer(nodes, _circular(inside, nodes)) for nodes in _ordered(inside)]

    def refuse_static_cycle(self, component: list[OracleNode]) -> None:
        """Only simple fluents and output events may depend on themselves: they have a past."""
        static = [node for node in component if node.kind == "static"]
        if not static or not _circular(self.sources, component):
            return
        chain = " <- ".join(node.text for node in _around(static[0], self.sources))
        error = IllegalCycle(f"statically determined fluents depend on themselves: {chain}")
        error.clause = self.defined.static[static[0]][0].clause
        raise error

    def _sources(self, node: OracleNode) -> Iterator[tuple[OracleNode, bool]]:
        for rule in self.defined.points.get(node, ()):
            yield from self.reads(rule.body)
        for static in self.defined.static.get(node, ()):
            yield from self.reads(static.body)
        for delay in self.defined.delays.get(node, ()):
            yield from self.reads(delay.body)
            for source, _ in self._pair(delay.origin, same_time=True):
                yield source, True

    def reads(
        self, body: ec.Literal, seen: frozenset[Key] = frozenset()
    ) -> Iterator[tuple[OracleNode, bool]]:
        """The output nodes that a body reads, and whether at the very time-point it is about."""
        for literal in ec.walk(body):
            match literal:
                case ec.Happens(event=event):
                    node = OracleNode("event", key_of(event))
                    if node in self.defined.points:
                        yield node, True
                case ec.Edge(fvp=fvp, kind=kind):
                    yield from self._pair(fvp, same_time=kind in ("start", "end"))
                case ec.HoldsAt(fvp=fvp) | ec.HoldsFor(fvp=fvp):
                    yield from self._pair(fvp, same_time=False)
                case ec.InitiatedAt(fvp=fvp) | ec.TerminatedAt(fvp=fvp):
                    yield from self._pair(fvp, same_time=True)
                case ec.Call(key=key) if key not in seen:
                    for rule in self._background.rules.get(key, ()):
                        yield from self.reads(rule.body, seen | {key})
                case _:
                    pass

    def _pair(self, fvp: ec.FVP, same_time: bool) -> Iterator[tuple[OracleNode, bool]]:
        """The nodes that can give the pair: those whose value fits."""
        key = key_of(fvp.fluent)
        simple = OracleNode("simple", key)
        values = list(self.defined.simple_values(simple))
        fitting = [n for n in self.defined.static if n.key == key and _fits(n, fvp)]
        for node in fitting:
            yield node, same_time
        known = simple in self.defined.nodes
        if known and (not fitting or any(unify(v, fvp.value, {}) is not None for v in values)):
            yield simple, same_time


def _pattern(fluent: Term) -> Term:
    """A head up to renaming; its variables have names that no rule uses."""
    return substitute(fluent, {name: Var(f"_#~{i}") for i, name in enumerate(variables(fluent))})


def _fits(node: OracleNode, fvp: ec.FVP) -> bool:
    """Can a statically determined node give the pair?"""
    pattern, value = node.pattern or fvp.fluent, node.value or fvp.value
    return unify_all((pattern, value), (fvp.fluent, fvp.value), {}) is not None


def _ordered(sources: Sources) -> list[list[OracleNode]]:
    """Groups of nodes that depend on each other, each after all it depends on.

    Those of a group depend on the same nodes, which are more than those that any of these needs.
    """
    groups: dict[frozenset[OracleNode], list[OracleNode]] = {}
    for node in sources:
        needed = [node]
        for one in needed:  # which grows
            needed += [source for source in sources[one] if source not in needed]
        groups.setdefault(frozenset(needed), []).append(node)
    return [groups[needed] for needed in sorted(groups, key=len)]


def _circular(sources: Sources, nodes: list[OracleNode]) -> bool:
    return len(nodes) > 1 or any(node in sources[node] for node in nodes)


def _around(node: OracleNode, sources: Sources) -> list[OracleNode]:
    """A shortest way from a node that depends on itself to what it reads, and back."""
    ways = [[node]]
    for way in ways:  # which grow
        for source in sources[way[-1]]:
            if source == node:
                return [*way, node]
            if all(source not in other for other in ways):
                ways.append([*way, source])
    raise AssertionError(f"{node.text} does not depend on itself")
