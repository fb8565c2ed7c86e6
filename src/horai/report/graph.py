"""Dependency graphs as pictures: `write_graph(dependency_graph(description), "rules.svg")`.

A drawing is nodes, boxes around them and arrows; Graphviz has levels as columns, from left to
right, and Mermaid flowcharts are for pages that draw them themselves.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal as OneOf

from horai.plan import EventDescription
from horai.plan.ec.components import Strata, stratify
from horai.plan.ec.dependencies import DependencyGraph, Vertex
from horai.plan.ec.dependencies import dependency_graph as dependencies
from horai.plan.ec.entities import Kind, Sort
from horai.plan.graphs import Digraph
from horai.plan.lars.check import named
from horai.plan.lars.dependencies import Readings

LEGEND = (
    "columns: levels  |  rounded: simple fluent  |  square: statically determined  |  "
    "ellipse: event",
    "arrow: is read by  |  bar: is read negated  |  dashed: leads to, after the delay  |  "
    "red box: cycle, settled in time order",
)

Style = OneOf["input", "event", "simple", "determined"]


@dataclass(frozen=True, slots=True)
class DrawnNode:
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
    nodes: tuple[DrawnNode, ...]
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

    nodes: tuple[DrawnNode, ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    legend: tuple[str, ...] = LEGEND

    @property
    def levels(self) -> dict[int, list[DrawnNode]]:
        """The nodes by level, lowest first."""
        every = [*self.nodes, *(node for box in self.boxes for node in box.nodes)]
        found: dict[int, list[DrawnNode]] = {}
        for node in sorted(every, key=lambda n: n.level):
            found.setdefault(node.level, []).append(node)
        return found


def dependency_graph(description: EventDescription, inputs: bool = False) -> Drawing:
    """The drawing of a description's dependencies; `inputs` adds what comes from the stream."""
    return _Drafter(stratify(dependencies(description)), inputs).draw()


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
        nodes: list[DrawnNode] = []
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

    def _node(self, vertex: Vertex, short: bool = False) -> DrawnNode:
        label = str(vertex).partition("=")[2] if short else str(vertex).replace("=", " = ", 1)
        level = self.strata.level(vertex)
        return DrawnNode(self.ids[vertex], label, self._style(vertex), level, self._note(vertex))

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
                after = _delay(edge.delay) if edge.kind == "f" else ""
                ends = edge.source.fluent, edge.target.fluent
                key = (*ends, edge.kind, not edge.positive, after)
                groups.setdefault(key, set()).add((edge.source, edge.target))
        found: dict[Arrow, None] = {}
        for (source, target, kind, negative, label), pairs in groups.items():
            for start, end in self._merge(pairs, source, target, kind):  # type: ignore[arg-type]
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


def _delay(term: object) -> str:
    return str(getattr(term, "value", getattr(term, "name", "")))


_FONT = "Helvetica,Arial,sans-serif"
_NODES = {
    "input": 'shape=box, style="dashed", color="#8a8f98", fontcolor="#5b616b"',
    "event": 'shape=ellipse, style="filled", fillcolor="#fdf3e1", color="#c58a1b"',
    "simple": 'shape=box, style="rounded,filled", fillcolor="#e6f0fa", color="#3b6ea5"',
    "determined": 'shape=box, style="filled", fillcolor="#ebf5e4", color="#5b8c3a"',
}


def to_dot(drawing: Drawing, legend: bool = True) -> str:
    """The drawing as a Graphviz file."""
    return "\n".join(_lines(drawing, legend)) + "\n"


def _lines(drawing: Drawing, legend: bool) -> Iterator[str]:
    yield "digraph dependencies {"
    yield "  rankdir=LR; compound=true; splines=true;"
    yield "  nodesep=0.25; ranksep=1.0; pad=0.3; bgcolor=white;"
    yield f'  graph [fontname="{_FONT}", fontsize=11, fontcolor="#5b616b"];'
    yield f'  node [fontname="{_FONT}", fontsize=12, height=0.35, margin="0.14,0.06"];'
    yield f'  edge [fontname="{_FONT}", fontsize=10, color="#4a5058", arrowsize=0.7, weight=8];'
    if legend:
        yield f'  labelloc=b; label="{_escape(chr(10).join(drawing.legend))}";'
    yield from _heads(drawing)
    for node in drawing.nodes:
        yield f"  {_node(node)}"
    for box in drawing.boxes:
        yield from _box(box)
    yield from _columns(drawing)
    first = {box.id: box.nodes[0].id for box in drawing.boxes}
    sideways = _sideways(drawing)
    backwards = _to_and_fro(sideways)
    for arrow in drawing.arrows:
        if arrow not in backwards.values():
            yield f"  {_arrow(arrow, first, arrow in sideways, backwards.get(arrow))}"
    yield "}"


def _node(node: DrawnNode) -> str:
    label = f"{node.label}\n({node.note})" if node.note else node.label
    return f'{node.id} [label="{_escape(label)}", {_NODES[node.style]}];'


def _box(box: Box) -> Iterator[str]:
    look = 'style="rounded,filled"; fillcolor="#f7f8fa"; color="#c3c8d0";'
    if box.cyclic:
        look = 'style="rounded,filled"; fillcolor="#fdf0ee"; color="#d0604f"; fontcolor="#b0392a";'
    yield f"  subgraph cluster_{box.id} {{"
    yield f'    label="{_escape(box.label)}"; labelloc=t; labeljust=l; margin=9;'
    yield f"    {look}"
    yield from (f"    {_node(node)}" for node in box.nodes)
    yield "  }"


def _heads(drawing: Drawing) -> Iterator[str]:
    """An invisible head for every column, and one after the last: the columns hang on them."""
    heads = _heads_of(drawing)
    for head in heads:
        yield f'  {head} [label="", shape=point, style=invis, width=0, height=0];'
    yield f"  {' -> '.join(heads)} [style=invis, weight=1000];"


def _heads_of(drawing: Drawing) -> list[str]:
    return [*(f"level_{level}" for level in drawing.levels), "level_end"]


def _columns(drawing: Drawing) -> Iterator[str]:
    """One column per level: each node comes after the head before and before the head after.

    These invisible edges have little weight, so they decide on columns and on nothing else.
    Graphviz can also be told to align nodes, but with boxes around them some of its versions
    never end.
    """
    heads = _heads_of(drawing)
    for number, nodes in enumerate(drawing.levels.values()):
        for node in nodes:
            if number:
                yield f"  {heads[number - 1]} -> {node.id} [style=invis, weight=1];"
            yield f"  {node.id} -> {heads[number + 1]} [style=invis, weight=1];"


def _arrow(
    arrow: Arrow, first: dict[str, str], sideways: bool = False, back: Arrow | None = None
) -> str:
    look = [f'label="{_escape(arrow.label)}"'] if arrow.label else []
    if arrow.kind == "f":
        look += ["style=dashed", 'color="#b0480f"', 'fontcolor="#b0480f"']
    if sideways:
        look.append("minlen=0")
    if back is not None:
        # Two arrows to and fro within a column would be drawn on top of each other.
        look += ["dir=both", f"arrowtail={'tee' if back.negative else 'normal'}"]
    if arrow.negative:
        look.append("arrowhead=tee")
    if arrow.negative and (back is None or back.negative):
        look.append('color="#c0392b"')
    if arrow.source in first:
        look.append(f"ltail=cluster_{arrow.source}")
    if arrow.target in first:
        look.append(f"lhead=cluster_{arrow.target}")
    source, target = first.get(arrow.source, arrow.source), first.get(arrow.target, arrow.target)
    attributes = f" [{', '.join(look)}]" if look else ""
    return f"{source} -> {target}{attributes};"


def _sideways(drawing: Drawing) -> set[Arrow]:
    """Arrows inside a column: they must not push nodes out of it."""
    level = {node.id: number for number, nodes in drawing.levels.items() for node in nodes}
    level |= {box.id: box.nodes[0].level for box in drawing.boxes}
    return {arrow for arrow in drawing.arrows if level[arrow.source] >= level[arrow.target]}


def _to_and_fro(sideways: set[Arrow]) -> dict[Arrow, Arrow]:
    """Arrows of a column that have a partner in the other direction."""
    by_ends = {(a.source, a.target): a for a in sideways if a.kind == "i"}
    return {
        arrow: by_ends[(target, source)]
        for (source, target), arrow in by_ends.items()
        if source < target and (target, source) in by_ends
    }


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


_SHAPES = {
    "input": ('["', '"]'),
    "event": ('(["', '"])'),
    "simple": ('("', '")'),
    "determined": ('["', '"]'),
}
_CLASSES = {
    "input": "fill:#ffffff,stroke:#8a8f98,stroke-dasharray:4 3,color:#5b616b",
    "event": "fill:#fdf3e1,stroke:#c58a1b,color:#222",
    "simple": "fill:#e6f0fa,stroke:#3b6ea5,color:#222",
    "determined": "fill:#ebf5e4,stroke:#5b8c3a,color:#222",
    "cycle": "fill:#fdf0ee,stroke:#d0604f,color:#b0392a",
}


def to_mermaid(drawing: Drawing) -> str:
    """The drawing as a Mermaid flowchart."""
    return "\n".join(_mermaid_lines(drawing)) + "\n"


def _mermaid_lines(drawing: Drawing) -> Iterator[str]:
    yield "flowchart LR"
    for node in drawing.nodes:
        yield f"  {_mermaid_node(node)}"
    for box in drawing.boxes:
        yield f'  subgraph {box.id}["{_mermaid_escape(box.label)}"]'
        yield from (f"    {_mermaid_node(node)}" for node in box.nodes)
        yield "  end"
    colours: dict[str, list[str]] = {"#c0392b": [], "#b0480f": []}
    for number, arrow in enumerate(drawing.arrows):
        line = "--x" if arrow.negative else "-->"
        if arrow.kind == "f":
            line = f"-.->|{_mermaid_escape(arrow.label)}|" if arrow.label else "-.->"
            colours["#b0480f"].append(str(number))
        elif arrow.negative:
            colours["#c0392b"].append(str(number))
        yield f"  {arrow.source} {line} {arrow.target}"
    for name, look in _CLASSES.items():
        yield f"  classDef {name} {look}"
    for box in drawing.boxes:
        if box.cyclic:
            yield f"  class {box.id} cycle"
    for colour, arrows in colours.items():
        if arrows:
            yield f"  linkStyle {','.join(arrows)} stroke:{colour}"


def _mermaid_node(node: DrawnNode) -> str:
    opening, closing = _SHAPES[node.style]
    label = f"{node.label}<br/>({node.note})" if node.note else node.label
    return f"{node.id}{opening}{_mermaid_escape(label)}{closing}:::{node.style}"


def _mermaid_escape(text: str) -> str:
    """Labels are HTML for those who draw them, and a line ends what Mermaid reads."""
    return "".join(_SIGNS.get(sign, sign if sign.isprintable() else " ") for sign in text)


_SIGNS = {'"': "#quot;", "|": "#124;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "#": "#35;"}


TEXTS: dict[str, Callable[[Drawing], str]] = {".dot": to_dot, ".gv": to_dot, ".mmd": to_mermaid}
PICTURES = (".svg", ".png", ".pdf")
# Seconds that laying out a graph may take.
PATIENCE = 60


class GraphError(Exception):
    """A picture that cannot be made; the message says what to do."""


def write_graph(drawing: Drawing, path: Path | str) -> Path:
    """Write a drawing to a file; the ending of its name says in which format."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending in TEXTS:
        target.write_text(TEXTS[ending](drawing), encoding="utf-8")
    elif ending in PICTURES:
        target.write_bytes(picture(drawing, ending[1:], target.name))
    else:
        known = ", ".join((*TEXTS, *PICTURES))
        raise GraphError(f"{target.name}: graphs are written as {known}")
    return target


def picture(drawing: Drawing, form: str, name: str = "the graph") -> bytes:
    """A drawing as `svg`, `png` or `pdf`, laid out by Graphviz."""
    program = shutil.which("dot")
    if program is None:
        raise GraphError(
            f"{name}: drawing needs the program `dot` of Graphviz, which is not installed. "
            "Install it (`apt-get install graphviz`, `brew install graphviz`), or write a .mmd or "
            ".dot file, which needs no program."
        )
    command = [program, f"-T{form}", "-Gdpi=110"]
    text = to_dot(drawing).encode()
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise GraphError(
            f"{name}: dot found no layout in {PATIENCE} seconds; write a .mmd or .dot file"
        ) from None
    if done.returncode != 0:
        raise GraphError(f"{name}: dot failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


Predicate = tuple[str, int]
PROGRAM_LEGEND = (
    "columns: levels  |  dashed: signal or background  |  arrow: is read by  |  "
    "bar: is read under `not`  |  red box: recursion",
)


def program_graph(readings: Readings) -> Drawing:
    """A node for every predicate, and a box around those that need each other."""
    made, edges = readings.derived, readings.edges
    drawn = sorted(made | {one for one, _ in edges})  # constraints derive nothing
    numbers = {one: f"n{place}" for place, one in enumerate(drawn)}
    level: dict[Predicate, int] = {}
    nodes: list[DrawnNode] = []
    boxes: list[Box] = []
    for together in Digraph(edges, drawn).components():
        below = [level[a] + 1 for a, b in edges if b in together and a not in together]
        level.update(dict.fromkeys(together, max(below, default=0)))
        found = tuple(
            DrawnNode(
                numbers[one], named(one), "determined" if one in made else "input", level[one]
            )
            for one in sorted(together)
        )
        if len(found) > 1 or any((one, one) in edges for one in together):
            boxes.append(Box(f"c{len(boxes)}", "recursion", found, cyclic=True))
        else:
            nodes += found
    arrows = (
        Arrow(numbers[source], numbers[target], negative=negative)
        for (source, target), negative in sorted(edges.items())
    )
    return Drawing(tuple(nodes), tuple(boxes), tuple(arrows), PROGRAM_LEGEND)


class ShownGraph:
    """A dependency graph: a picture where Graphviz is installed, Mermaid text everywhere."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing

    def __repr__(self) -> str:
        return to_mermaid(self.drawing)

    def _repr_svg_(self) -> str | None:
        try:
            svg = picture(self.drawing, "svg").decode()
        except GraphError:
            return None
        return svg[svg.index("<svg") :]
