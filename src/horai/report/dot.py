"""Drawings in the language of Graphviz: levels are columns, from left to right."""

from __future__ import annotations

from collections.abc import Iterator

from horai.report.drawing import Arrow, Box, Drawing, Node

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


def _node(node: Node) -> str:
    label = f"{node.label}\n({node.note})" if node.note else node.label
    return f'{node.id} [label="{_escape(label)}", {_NODES[node.style]}];'


def _box(box: Box) -> Iterator[str]:
    look = 'style="rounded,filled", fillcolor="#f7f8fa", color="#c3c8d0"'
    if box.cyclic:
        look = 'style="rounded,filled", fillcolor="#fdf0ee", color="#d0604f", fontcolor="#b0392a"'
    yield f"  subgraph cluster_{box.id} {{"
    yield f'    label="{_escape(box.label)}"; labelloc=t; labeljust=l; margin=9;'
    yield f"    {_split(look)}"
    yield from (f"    {_node(node)}" for node in box.nodes)
    yield "  }"


def _split(attributes: str) -> str:
    return attributes.replace('", ', '"; ') + ";"


def _heads(drawing: Drawing) -> Iterator[str]:
    """An invisible head for every column, and one after the last: the columns hang on them."""
    heads = [*map(_head, drawing.levels), "level_end"]
    for head in heads:
        yield f'  {head} [label="", shape=point, style=invis, width=0, height=0];'
    yield f"  {' -> '.join(heads)} [style=invis, weight=1000];"


def _head(level: int) -> str:
    return f"level_{level}"


def _columns(drawing: Drawing) -> Iterator[str]:
    """One column per level: each node comes after the head before and before the head after.

    These invisible edges have little weight, so they decide on columns and on nothing else.
    Graphviz can also be told to align nodes, but with boxes around them some of its versions
    never end.
    """
    levels = list(drawing.levels)
    heads = ["", *map(_head, levels), "level_end"]
    for number, level in enumerate(levels, 1):
        for node in drawing.levels[level]:
            if heads[number - 1]:
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
