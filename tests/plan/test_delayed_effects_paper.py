"""Definitions 8 to 17 on NetBill: Examples 6 to 13 and Figure 3, as exact tests."""

from tests.plan.support import example, graph_of, named, pairs, strata_of, vertex

from horai.plan.ec.components import contracted_graph, stratify
from horai.plan.ec.dependencies import DependencyGraph, dependency_graph
from horai.plan.ec.entities import Kind

QUOTE = frozenset({"quote=true", "quote=expiring", "quote=false"})
PERMISSION = frozenset({"permission=true", "permission=false"})
CONTRACT = frozenset({"contract=true", "contract=false"})
SUSPENDED = frozenset({"suspended=true", "suspended=false"})


def netbill() -> DependencyGraph:
    return dependency_graph(example("netbill"))


def fluents_only(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(a, b) for a, b in edges if "=" in a}


def groups(graph: object) -> set[frozenset[str]]:
    nodes = graph.nodes  # type: ignore[attr-defined]
    return {frozenset(named(group)) for group in nodes if any("=" in n for n in named(group))}


def group_edges(graph: object) -> set[tuple[frozenset[str], frozenset[str]]]:
    edges = graph.edges  # type: ignore[attr-defined]
    found = {(frozenset(named(a)), frozenset(named(b))) for a, b in edges}
    return {(a, b) for a, b in found if any("=" in name for name in a)}


def test_example_6_dependency_graph() -> None:
    graph = netbill()
    assert fluents_only(pairs(graph.i_edges)) == {
        ("quote=true", "contract=true"),
        ("quote=expiring", "contract=true"),
        ("suspended=true", "contract=true"),
        ("contract=true", "suspended=true"),
        ("permission=false", "suspended=true"),
    }
    assert pairs(graph.f_edges) == {
        ("quote=true", "quote=expiring"),
        ("quote=expiring", "quote=false"),
        ("permission=false", "permission=true"),
        ("contract=true", "contract=false"),
        ("suspended=true", "suspended=false"),
    }


def test_events_are_vertices_too() -> None:
    graph = netbill()
    events = {str(v) for v in graph.vertices if v.kind is Kind.EVENT}
    assert events == {"present_quote", "accept_quote", "request_quote", "withhold_payment"}
    assert events == named(graph.inputs)


def test_examples_8_and_9_contracted_graph_and_components() -> None:
    cd = contracted_graph(netbill())
    both = CONTRACT | SUSPENDED
    assert groups(cd) == {QUOTE, PERMISSION, both}
    assert group_edges(cd) == {(QUOTE, both), (PERMISSION, both)}


def test_example_10_levels() -> None:
    strata = stratify(netbill())
    levels = {str(v): strata.level(v) for v in strata.graph.vertices}
    assert {levels[name] for name in QUOTE | PERMISSION} == {1}
    assert {levels[name] for name in CONTRACT | SUSPENDED} == {2}
    assert {levels[name] for name in ("present_quote", "accept_quote")} == {0}


def test_example_11_quotes_are_processed_along_the_f_edges() -> None:
    strata = stratify(netbill())
    component = strata.component_of[vertex(strata.graph, "quote=true")]
    assert [str(v) for v in component.vertices] == ["quote=true", "quote=expiring", "quote=false"]
    assert not component.cyclic


def test_definition_16_a_cycle_is_processed_as_it_is_written() -> None:
    strata = stratify(netbill())
    component = strata.component_of[vertex(strata.graph, "contract=true")]
    assert component.cyclic
    assert list(component.vertices) == sorted(
        component.vertices, key=strata.graph.place.__getitem__
    )


EXAMPLE_12 = """
initiatedAt(f(X)=v1, T) :- happensAt(a(X), T).
initiatedAt(f(X)=v2, T) :- happensAt(b(X), T).
fi(f(X)=v1, f(X)=v3, 4).
fi(f(X)=v2, f(X)=v3, 7).
"""


def test_examples_12_and_13_processing_order() -> None:
    strata = strata_of(EXAMPLE_12)
    component = strata.component_of[vertex(strata.graph, "f=v3")]
    assert [str(v) for v in component.vertices] == ["f=v1", "f=v2", "f=v3"]


def test_definition_11_only_the_shortest_delay_makes_an_f_edge() -> None:
    text = """
    initiatedAt(f(X)=a, T) :- happensAt(e(X), T).
    fi(f(X)=a, f(X)=b, 9).
    fi(f(X)=a, f(X)=c, 4).
    """
    assert pairs(graph_of(text).f_edges) == {("f=a", "f=c")}


def test_a_shorter_termination_also_beats_an_initiation() -> None:
    text = """
    initiatedAt(f(X)=a, T) :- happensAt(e(X), T).
    fi(f(X)=a, f(X)=b, 9).
    ft(f(X)=a, 4).
    """
    graph = graph_of(text)
    assert pairs(graph.f_edges) == set()
    assert len(graph.terminations) == 1


def test_effects_on_another_fluent_or_under_conditions_beat_nothing() -> None:
    text = """
    initiatedAt(f(X)=a, T) :- happensAt(e(X), T).
    fi(f(X)=a, g(X)=on, 4).
    fi(f(X)=a, f(X)=c, 5) :- special(X).
    fi(f(X)=a, f(X)=b, 9).
    special(x).
    """
    expected = {("f=a", "g=on"), ("f=a", "f=c"), ("f=a", "f=b")}
    assert pairs(graph_of(text).f_edges) == expected
