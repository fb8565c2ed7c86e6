"""What is drawn of a dependency graph: nodes, boxes around them, arrows; no matter in which format.

Arrows are merged where that loses nothing: a rule that reads any value of a fluent gives one arrow
from the fluent's box instead of one from each value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal as OneOf

from horai.plan.components import Strata
from horai.plan.dependencies import Dependency, DependencyGraph
from horai.plan.entities import Kind, Sort
from horai.plan.vertices import Vertex

LEGEND = (
    "columns: levels  |  rounded: simple fluent  |  square: statically determined  |  "
    "ellipse: event",
    "arrow: is read by  |  bar: is read negated  |  dashed: leads to, after the delay  |  "
    "red box: cycle, settled in time order",
)

Style = OneOf["input", "event", "simple", "determined"]


@dataclass(frozen=True, slots=True)
class Node:
    """A fluent-value pair or an event."""

    id: str
    label: str
    style: Style
    level: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Box:
    """The values of one fluent, or all members of a cycle. Boxes never hold other boxes."""

    id: str
    label: str
    nodes: tuple[Node, ...]
    cyclic: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """From a node or a whole box to a node or a whole box."""

    source: str
    target: str
    kind: OneOf["i", "f"] = "i"
    negative: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture of a dependency graph."""

    nodes: tuple[Node, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    legend: tuple[str, ...] = LEGEND

    @property
    def levels(self) -> dict[int, list[Node]]:
        """The nodes by level, lowest first."""
        every = [*self.nodes, *(node for box in self.boxes for node in box.nodes)]
        found: dict[int, list[Node]] = {}
        for node in sorted(every, key=lambda n: n.level):
            found.setdefault(node.level, []).append(node)
        return found


def draw(strata: Strata, inputs: bool = False) -> Drawing:
    """The drawing of stratified rules, with or without what comes from the stream."""
    return _Drafter(strata, inputs).draw()


class _Drafter:
    def __init__(self, strata: Strata, inputs: bool) -> None:
        self.strata = strata
        self.graph: DependencyGraph = strata.graph
        shown = [v for v in self.graph.vertices if inputs or v not in self.graph.inputs]
        self.ids = {vertex: f"n{number}" for number, vertex in enumerate(shown)}
        self.values: dict[Vertex, list[Vertex]] = {}
        for vertex in shown:
            self.values.setdefault(vertex.fluent, []).append(vertex)
        self.box_ids: dict[Vertex, str] = {}

    def draw(self) -> Drawing:
        nodes: list[Node] = []
        boxes: list[Box] = []
        for component in self.strata.components:
            members = [v for v in component.vertices if v in self.ids]
            fluents = dict.fromkeys(vertex.fluent for vertex in members)
            if component.cyclic and len(fluents) > 1:
                inside = tuple(self._node(vertex) for vertex in members)
                boxes.append(Box(f"c{component.number}", "cycle", inside, cyclic=True))
                continue
            for fluent in fluents:
                mine = [vertex for vertex in members if vertex.fluent == fluent]
                box = self._fluent_box(fluent, mine, component.cyclic)
                if box is None:
                    nodes += [self._node(vertex) for vertex in mine]
                else:
                    boxes.append(box)
        return Drawing(tuple(nodes), tuple(boxes), tuple(self._arrows()))

    def _fluent_box(self, fluent: Vertex, mine: list[Vertex], cyclic: bool) -> Box | None:
        """A box around the values of a fluent, unless there is just one or some are elsewhere."""
        if len(mine) < (1 if cyclic else 2) or len(mine) != len(self.values[fluent]):
            return None
        name = str(fluent).partition("=")[0]
        self.box_ids[fluent] = f"b{len(self.box_ids)}"
        inside = tuple(self._node(vertex, short=True) for vertex in mine)
        return Box(self.box_ids[fluent], f"{name}: cycle" if cyclic else name, inside, cyclic)

    def _node(self, vertex: Vertex, short: bool = False) -> Node:
        label = str(vertex).partition("=")[2] if short else str(vertex).replace("=", " = ", 1)
        level = self.strata.level(vertex)
        return Node(self.ids[vertex], label, self._style(vertex), level, self._note(vertex))

    def _style(self, vertex: Vertex) -> Style:
        if vertex in self.graph.inputs:
            return "input"
        if vertex.kind is Kind.EVENT:
            return "event"
        return "simple" if Sort.SIMPLE in self.graph.sorts[vertex] else "determined"

    def _note(self, vertex: Vertex) -> str:
        """Delayed terminations have no arrow to show them."""
        rules = [rule for rule in self.graph.terminations if rule in self.graph.rules[vertex]]
        return "; ".join(f"ends after {_delay(rule.delay)}" for rule in rules)

    # --- arrows -------------------------------------------------------------------------------

    def _arrows(self) -> Iterable[Arrow]:
        groups: dict[tuple[object, ...], set[tuple[Vertex, Vertex]]] = {}
        for edge in self.graph.edges:
            if edge.source in self.ids and edge.target in self.ids:
                key = (edge.source.fluent, edge.target.fluent, edge.kind, *_look(edge))
                groups.setdefault(key, set()).add((edge.source, edge.target))
        found: dict[Arrow, None] = {}
        for (source, target, kind, negative, label), pairs in groups.items():
            ends = self._merge(pairs, source, target, kind)  # type: ignore[arg-type]
            for start, end in ends:
                found[Arrow(start, end, kind, negative, label)] = None  # type: ignore[arg-type]
        return sorted(found, key=lambda a: (a.kind, int(a.source[1:]), int(a.target[1:]), a.source))

    def _merge(
        self, pairs: set[tuple[Vertex, Vertex]], source: Vertex, target: Vertex, kind: str
    ) -> list[tuple[str, str]]:
        """The pairs as arrows between nodes, or from and to boxes where all values take part."""
        from_box, to_box = self.box_ids.get(source), self.box_ids.get(target)
        if kind == "f" or source == target:
            return [(self.ids[a], self.ids[b]) for a, b in self._sorted(pairs)]
        ends: list[tuple[str, str]] = []
        left = set(pairs)
        if from_box:
            for end in self.values[target]:
                column = {(start, end) for start in self.values[source]}
                if column <= left:
                    left -= column
                    ends.append((from_box, self.ids[end]))
        ends += [(self.ids[a], self.ids[b]) for a, b in self._sorted(left)]
        return self._merge_targets(ends, target, to_box) if to_box else ends

    def _merge_targets(
        self, ends: list[tuple[str, str]], target: Vertex, box: str
    ) -> list[tuple[str, str]]:
        values = {self.ids[value] for value in self.values[target]}
        starts = dict.fromkeys(start for start, _ in ends)
        merged: list[tuple[str, str]] = []
        for start in starts:
            reached = [end for begin, end in ends if begin == start]
            merged += [(start, box)] if set(reached) == values else [(start, e) for e in reached]
        return merged

    def _sorted(self, pairs: Iterable[tuple[Vertex, Vertex]]) -> list[tuple[Vertex, Vertex]]:
        return sorted(pairs, key=lambda p: (self.graph.place[p[0]], self.graph.place[p[1]]))


def _look(edge: Dependency) -> tuple[bool, str]:
    return (not edge.positive, _delay(edge.delay) if edge.kind == "f" else "")


def _delay(term: object) -> str:
    return str(getattr(term, "value", getattr(term, "name", "")))
