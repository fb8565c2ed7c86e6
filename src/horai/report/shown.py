"""Plans and graphs as notebooks and terminals show them: `Rules.plan()`, `Rules.graph()`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from horai.plan import EventDescription
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.outline import outline
from horai.plan.lars.dependencies import Readings
from horai.plan.pipeline import compile_program
from horai.report.graph import (
    Drawing,
    GraphError,
    dependency_graph,
    picture,
    program_graph,
    to_mermaid,
)
from horai.report.plan import outline_json, outline_lines, plan_json, plan_lines

if TYPE_CHECKING:
    from horai.runtime.lars.outline import LarsOutline


class ShownPlan:
    """A plan: lines for people, plain values for programs."""

    def __init__(self, values: Any, lines: Iterable[str]) -> None:
        self._values, self._lines = values, list(lines)

    def to_dict(self) -> Any:
        """The plan as plain values, those of `horai plan --format json`."""
        return self._values

    def __repr__(self) -> str:
        return "\n".join(self._lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


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


def plan_of_description(
    description: EventDescription, python: Iterable[PythonPredicate]
) -> ShownPlan:
    """The plan of an event description."""
    found = plan_json(outline(compile_program(description, python)))
    return ShownPlan(found, (line.plain for line in plan_lines(found)))


def plan_of_program(outlined: LarsOutline) -> ShownPlan:
    """The plan of a LARS program, from its outline."""
    return ShownPlan(outline_json(outlined), outline_lines(outlined))


def graph_of_description(description: EventDescription, inputs: bool) -> ShownGraph:
    """What depends on what in an event description."""
    return ShownGraph(dependency_graph(description, inputs))


def graph_of_program(readings: Readings) -> ShownGraph:
    """What depends on what in a LARS program."""
    return ShownGraph(program_graph(readings))
