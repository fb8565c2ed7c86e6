"""Levels, components and cycles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plan.support import described, example, strata_of, vertex
from tests.weights import examples

from horai.plan.ec.components import Strata, simple_values, stratify
from horai.plan.ec.dependencies import dependency_graph
from horai.plan.graphs import Digraph


def is_cyclic(text: str, name: str) -> bool:
    strata = strata_of(text)
    return strata.component_of[vertex(strata.graph, name)].cyclic


def test_levels_of_the_maritime_patterns() -> None:
    strata = stratify(dependency_graph(example("maritime")))
    levels = {str(v): strata.level(v) for v in strata.graph.vertices}
    assert levels["withinArea=true"] == 1
    assert levels["gap=nearPort"] == levels["gap=farFromPorts"] == 2
    assert levels["stopped=nearPort"] == 3
    assert levels["rendezVous=true"] == 4
    assert levels["proximity=true"] == 0


def test_the_values_of_a_fluent_stay_together_and_static_values_apart() -> None:
    text = """
    initiatedAt(p(V)=a, T) :- happensAt(x(V), T).
    initiatedAt(p(V)=b, T) :- happensAt(y(V), T).
    holdsFor(p(V)=c, I) :- holdsFor(p(V)=a, I1), complement_all([I1], I).
    """
    strata = strata_of(text)
    together = strata.component_of[vertex(strata.graph, "p=a")]
    assert [str(v) for v in together.vertices] == ["p=a", "p=b"]
    assert strata.level(vertex(strata.graph, "p=c")) == 2


@pytest.mark.parametrize(
    ("rules", "cyclic"),
    [
        # two values without dependencies: plain inertia
        ("initiatedAt(f(X)=b, T) :- happensAt(u(X), T).", False),
        # a state machine, also a linear one: each step ends the value it reads
        ("initiatedAt(f(X)=b, T) :- happensAt(u(X), T), holdsAt(f(X)=a, T).", True),
        # a toggle reads itself
        ("terminatedAt(f(X)=a, T) :- happensAt(u(X), T), holdsAt(f(X)=a, T).", True),
        # through another fluent, and back to another value
        (
            "initiatedAt(g(X)=true, T) :- happensAt(u(X), T), holdsAt(f(X)=a, T).\n"
            "initiatedAt(f(X)=b, T) :- happensAt(v(X), T), holdsAt(g(X)=true, T).",
            True,
        ),
        # a chain of delayed effects can be followed value by value
        ("fi(f(X)=a, f(X)=b, 3).\nfi(f(X)=b, f(X)=c, 3).", False),
        # a circle of delayed effects cannot
        ("fi(f(X)=a, f(X)=b, 3).\nfi(f(X)=b, f(X)=a, 3).", True),
        # through an output event
        (
            "happensAt(o(X), T) :- happensAt(u(X), T), holdsAt(f(X)=a, T).\n"
            "terminatedAt(f(X)=a, T) :- happensAt(o(X), T).",
            True,
        ),
    ],
)
def test_what_has_to_be_settled_in_time_order(rules: str, cyclic: bool) -> None:
    assert is_cyclic(f"initiatedAt(f(X)=a, T) :- happensAt(s(X), T).\n{rules}", "f=a") is cyclic


def test_the_processing_order_is_the_same_every_time() -> None:
    orders = {
        tuple(c.vertices for c in stratify(dependency_graph(example("voting"))).components)
        for _ in range(3)
    }
    assert len(orders) == 1


# --- random descriptions ------------------------------------------------------------------------

FLUENTS = [f"f{i}" for i in range(6)]
fvps = st.tuples(st.sampled_from(FLUENTS), st.sampled_from(["a", "b"]))
conditions = st.lists(st.tuples(st.booleans(), fvps), max_size=3)
simple_rules = st.tuples(st.sampled_from(["initiatedAt", "terminatedAt"]), fvps, conditions)
effects = st.tuples(fvps, st.sampled_from(["a", "b"]), st.integers(1, 5))


def write(rules: object, delayed: object) -> str:
    lines = []
    for head, (fluent, value), body in rules:  # type: ignore[attr-defined]
        reads = [
            f"{'' if positive else chr(92) + '+ '}holdsAt({f}(X)={v}, T)"
            for positive, (f, v) in body
        ]
        whole = ", ".join(["happensAt(e(X), T)", *reads])
        lines.append(f"{head}({fluent}(X)={value}, T) :- {whole}.")
    for (fluent, value), other, delay in delayed:  # type: ignore[attr-defined]
        lines.append(f"fi({fluent}(X)={value}, {fluent}(X)={other}, {delay}).")
    return "\n".join(lines)


@examples("normal")
@given(st.lists(simple_rules, min_size=1, max_size=12), st.lists(effects, max_size=4))
def test_levels_respect_edges(rules: object, delayed: object) -> None:
    strata = stratify(dependency_graph(described(write(rules, delayed))))
    check_levels(strata)
    check_order(strata)


def check_levels(strata: Strata) -> None:
    component = strata.component_of
    for source, target in strata.graph.i_edges | strata.graph.f_edges:
        if component[source] is component[target]:
            continue
        assert strata.level(source) < strata.level(target)
        assert component[source].number < component[target].number
    for source, target in strata.graph.f_edges:
        assert component[source] is component[target]
    for values in simple_values(strata.graph):
        assert len({component[value].number for value in values}) == 1


def check_order(strata: Strata) -> None:
    for component in strata.components:
        place = {v: n for n, v in enumerate(component.vertices)}
        assert len(place) == len(component.vertices)
        inside = [
            (edge.source, edge.target)
            for edge in strata.graph.edges
            if {edge.source, edge.target} <= place.keys()
        ]
        if Digraph(inside).has_cycle():
            assert component.cyclic
        else:
            assert all(place[a] < place[b] for a, b in inside)
