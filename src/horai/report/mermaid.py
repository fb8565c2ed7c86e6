"""Drawings as Mermaid flowcharts, for pages that draw them themselves."""

from __future__ import annotations

from collections.abc import Iterator

from horai.report.drawing import Arrow, Box, Drawing, Node

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
    return "\n".join(_lines(drawing)) + "\n"


def _lines(drawing: Drawing) -> Iterator[str]:
    yield "flowchart LR"
    for node in drawing.nodes:
        yield f"  {_node(node)}"
    for box in drawing.boxes:
        yield from _box(box)
    negative: list[int] = []
    delayed: list[int] = []
    for number, arrow in enumerate(drawing.arrows):
        yield f"  {_arrow(arrow)}"
        if arrow.kind == "f":
            delayed.append(number)
        elif arrow.negative:
            negative.append(number)
    for name, look in _CLASSES.items():
        yield f"  classDef {name} {look}"
    for box in drawing.boxes:
        if box.cyclic:
            yield f"  class {box.id} cycle"
    if negative:
        yield f"  linkStyle {','.join(map(str, negative))} stroke:#c0392b"
    if delayed:
        yield f"  linkStyle {','.join(map(str, delayed))} stroke:#b0480f"


def _node(node: Node) -> str:
    opening, closing = _SHAPES[node.style]
    label = f"{node.label}<br/>({node.note})" if node.note else node.label
    return f"{node.id}{opening}{_escape(label)}{closing}:::{node.style}"


def _box(box: Box) -> Iterator[str]:
    yield f'  subgraph {box.id}["{_escape(box.label)}"]'
    yield from (f"    {_node(node)}" for node in box.nodes)
    yield "  end"


def _arrow(arrow: Arrow) -> str:
    if arrow.kind == "f":
        label = f"|{_escape(arrow.label)}|" if arrow.label else ""
        return f"{arrow.source} -.->{label} {arrow.target}"
    return f"{arrow.source} {'--x' if arrow.negative else '-->'} {arrow.target}"


def _escape(text: str) -> str:
    return text.replace('"', "#quot;").replace("|", "#124;")
