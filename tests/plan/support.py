"""Short ways to say things in the tests of the plan."""

from pathlib import Path

from horai.lang.core.diagnostics import Diagnostic, Severity
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import EventDescription
from horai.plan.check import check
from horai.plan.ec.components import Strata, stratify
from horai.plan.ec.dependencies import DependencyGraph, Vertex, dependency_graph

HERE = Path(__file__).parent


def described(text: str) -> EventDescription:
    """The description a text says; the text must be readable."""
    description, findings = read_text(text)
    assert [f.render() for f in findings if f.severity is Severity.ERROR] == []
    return description


def example(name: str) -> EventDescription:
    return described((HERE / f"{name}.ec").read_text(encoding="utf-8"))


def graph_of(text: str) -> DependencyGraph:
    return dependency_graph(described(text))


def strata_of(text: str) -> Strata:
    return stratify(graph_of(text))


def findings(text: str, python: tuple[str, ...] = ()) -> list[Diagnostic]:
    description, read = read_text(text)
    return [*read, *check(description, python, read)]


def codes(text: str) -> list[str]:
    return [finding.code for finding in findings(text)]


def vertex(graph: DependencyGraph, name: str) -> Vertex:
    """The vertex that prints as the given name."""
    (found,) = [v for v in graph.vertices if str(v) == name]
    return found


def named(vertices: object) -> set[str]:
    return {str(v) for v in vertices}  # type: ignore[attr-defined]


def pairs(edges: object) -> set[tuple[str, str]]:
    return {(str(a), str(b)) for a, b in edges}  # type: ignore[attr-defined]
