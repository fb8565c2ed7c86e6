"""The dependency graph: vertices, signs, timing."""

import pytest
from tests.plan.support import example, graph_of, named, pairs, vertex

from horai.plan.ec.dependencies import Dependency, dependency_graph
from horai.plan.ec.readings import Timing


def the_edge(text: str, source: str, target: str) -> Dependency:
    (edge,) = [
        e for e in graph_of(text).edges if (str(e.source), str(e.target)) == (source, target)
    ]
    return edge


@pytest.mark.parametrize(
    ("condition", "timing"),
    [
        ("holdsAt(g(X)=true, T)", Timing.SETTLED),
        ("happensAt(start(g(X)=true), T)", Timing.INSTANT),
        ("happensAt(end(g(X)=true), T)", Timing.INSTANT),
        ("happensAt(startI(g(X)=true), T)", Timing.SETTLED),
        ("initiatedAt(g(X)=true, T)", Timing.INSTANT),
        ("terminatedAt(g(X)=true, T)", Timing.INSTANT),
        ("holdsAt(g(X)=true, T0), T0 < T", Timing.SETTLED),
        ("initiatedAt(g(X)=true, T0), T0 < T", Timing.SETTLED),
        ("initiatedAt(g(X)=true, T0), T0 =< T", Timing.INSTANT),
        ("T0 is T - 6, holdsAt(g(X)=true, T0)", Timing.SETTLED),
        ("T0 is T + 6, holdsAt(g(X)=true, T0)", Timing.ANYTIME),
        ("initiatedAt(g(X)=true, T0), T - T0 < 60", Timing.ANYTIME),
        ("initiatedAt(g(X)=true, T0), T - T0 < 60, T - T0 > 0", Timing.SETTLED),
        ("initiatedAt(g(X)=true, T0), T1 < T, T0 =< T1, happensAt(c(X), T1)", Timing.SETTLED),
        ("\\+ (initiatedAt(g(X)=true, T0), T0 < T)", Timing.SETTLED),
    ],
)
def test_timing_of_a_reading(condition: str, timing: Timing) -> None:
    text = f"""
    initiatedAt(g(X)=true, T) :- happensAt(b(X), T).
    initiatedAt(f(X)=true, T) :- happensAt(a(X), T), {condition}.
    """
    assert the_edge(text, "g=true", "f=true").timing is timing


@pytest.mark.parametrize(
    ("body", "positive", "monotone"),
    [
        ("holdsAt(g(X)=true, T)", True, True),
        ("\\+ holdsAt(g(X)=true, T)", False, False),
        ("\\+ (\\+ holdsAt(g(X)=true, T))", True, True),
        ("(holdsAt(g(X)=true, T) ; X = a)", True, True),
        ("(holdsAt(g(X)=true, T) -> true ; fail)", False, False),
        ("aggregate_all(count, holdsAt(g(X)=true, T), N), N > 2", True, False),
    ],
)
def test_sign_of_a_reading(body: str, positive: bool, monotone: bool) -> None:
    text = f"""
    initiatedAt(g(X)=true, T) :- happensAt(b(X), T).
    initiatedAt(f(X)=true, T) :- happensAt(a(X), T), {body}.
    """
    edge = the_edge(text, "g=true", "f=true")
    assert (edge.positive, edge.monotone) == (positive, monotone)


def test_what_a_complement_takes_away_is_negative() -> None:
    text = """
    collectIntervals(a(_)=true). collectIntervals(b(_)=true).
    holdsFor(c(X)=true, I) :- holdsFor(a(X)=true, I1), holdsFor(b(X)=true, I2),
        relative_complement_all(I1, [I2], I).
    """
    assert the_edge(text, "a=true", "c=true").positive
    assert not the_edge(text, "b=true", "c=true").positive


def test_helper_predicates_are_seen_through() -> None:
    text = """
    initiatedAt(g(X)=true, T) :- happensAt(b(X), T).
    busy(X, When) :- working(X, When).
    working(P, At) :- holdsAt(g(P)=true, At).
    initiatedAt(f(X)=true, T) :- happensAt(a(X), T), \\+ busy(X, T).
    """
    edge = the_edge(text, "g=true", "f=true")
    assert edge.timing is Timing.SETTLED
    assert not edge.positive


def test_recursive_helpers_end() -> None:
    text = """
    initiatedAt(g(X)=true, T) :- happensAt(b(X), T).
    linked(X, T) :- holdsAt(g(X)=true, T).
    linked(X, T) :- edge(X, Y), linked(Y, T).
    edge(a, b).
    initiatedAt(f(X)=true, T) :- happensAt(a(X), T), linked(X, T).
    """
    assert ("g=true", "f=true") in pairs(graph_of(text).i_edges)


def test_a_variable_value_reads_all_values_and_a_constant_also_computed_ones() -> None:
    text = """
    initiatedAt(g(X)=a, T) :- happensAt(a(X), T).
    initiatedAt(g(X)=b, T) :- happensAt(b(X), T).
    initiatedAt(h(X)=V, T) :- happensAt(c(X, V), T).
    initiatedAt(any(X)=true, T) :- happensAt(d(X), T), holdsAt(g(X)=_V, T).
    initiatedAt(one(X)=true, T) :- happensAt(d(X), T), holdsAt(h(X)=k, T).
    """
    edges = pairs(graph_of(text).i_edges)
    assert {a for a, b in edges if b == "any=true"} == {"d", "g=a", "g=b"}
    assert {a for a, b in edges if b == "one=true"} == {"d", "h=*"}


def test_a_termination_of_any_value_points_to_all_values() -> None:
    text = """
    initiatedAt(g(X)=a, T) :- happensAt(a(X), T).
    initiatedAt(g(X)=b, T) :- happensAt(b(X), T).
    terminatedAt(g(X)=_, T) :- happensAt(c(X), T).
    """
    edges = pairs(graph_of(text).i_edges)
    assert {b for a, b in edges if a == "c"} == {"g=a", "g=b"}


def test_arguments_that_are_always_given_tell_vertices_apart() -> None:
    surveillance = named(dependency_graph(example("surveillance")).vertices)
    assert {"close(_,_,24)=true", "close(_,_,34)=true", "close=false"} <= surveillance
    voting = named(dependency_graph(example("voting")).vertices)
    assert {"pow(vote)=true", "pow(close_ballot)=true"} <= voting


def test_constants_do_not_tear_simple_fluents_apart() -> None:
    text = """
    initiatedAt(suspended(M, merchant)=true, T) :- happensAt(a(M), T).
    initiatedAt(suspended(C, consumer)=true, T) :- happensAt(b(C), T).
    """
    graph = graph_of(text)
    assert len(graph.rules[vertex(graph, "suspended=true")]) == 2


def test_the_condition_of_a_delayed_effect_is_settled() -> None:
    text = """
    initiatedAt(g(X)=true, T) :- happensAt(b(X), T).
    initiatedAt(h(X)=true, T) :- happensAt(b(X), T).
    initiatedAt(f(X)=a, T) :- happensAt(a(X), T).
    fi(f(X)=a, f(X)=b, 7) :- holdsAt(g(X)=true, T), T2 is T + 7, holdsAt(h(X)=true, T2).
    """
    assert the_edge(text, "g=true", "f=b").timing is Timing.SETTLED
    assert the_edge(text, "h=true", "f=b").timing is Timing.SETTLED
