"""The dependency graph as a picture: `write_graph(description, "rules.svg")`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from horai.plan import EventDescription
from horai.plan.components import stratify
from horai.plan.dependencies import dependency_graph as dependencies
from horai.report.dot import to_dot
from horai.report.drawing import Drawing, draw
from horai.report.mermaid import to_mermaid

TEXTS = (".dot", ".gv", ".mmd")
PICTURES = (".svg", ".png", ".pdf")
# Seconds that laying out a graph may take.
PATIENCE = 60


class GraphError(Exception):
    """A picture that cannot be made; the message says what to do."""


def dependency_graph(description: EventDescription, inputs: bool = False) -> Drawing:
    """The drawing of a description's dependencies; `inputs` adds what comes from the stream."""
    return draw(stratify(dependencies(description)), inputs)


def write_graph(graph: Drawing | EventDescription, path: Path | str, inputs: bool = False) -> Path:
    """Write a drawing to a file; the ending of its name says in which format."""
    drawing = graph if isinstance(graph, Drawing) else dependency_graph(graph, inputs)
    target = Path(path)
    ending = target.suffix.lower()
    if ending == ".mmd":
        target.write_text(to_mermaid(drawing), encoding="utf-8")
    elif ending in (".dot", ".gv"):
        target.write_text(to_dot(drawing), encoding="utf-8")
    elif ending in PICTURES:
        _run_dot(to_dot(drawing), ending[1:], target)
    else:
        known = ", ".join((*TEXTS, *PICTURES))
        raise GraphError(f"{target.name}: graphs are written as {known}")
    return target


def _run_dot(text: str, form: str, target: Path) -> None:
    program = shutil.which("dot")
    if program is None:
        raise GraphError(
            f"{target.name}: drawing needs the program `dot` of Graphviz, which is not installed. "
            "Install it (`apt-get install graphviz`, `brew install graphviz`), or write a .mmd or "
            ".dot file, which needs no program."
        )
    command = [program, f"-T{form}", "-Gdpi=110", "-o", str(target)]
    try:
        done = subprocess.run(
            command, input=text, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        raise GraphError(
            f"{target.name}: dot found no layout in {PATIENCE} seconds; write a .mmd or .dot file"
        ) from None
    if done.returncode != 0:
        raise GraphError(f"{target.name}: dot failed: {done.stderr.strip()}")


__all__ = ["Drawing", "GraphError", "dependency_graph", "to_dot", "to_mermaid", "write_graph"]
