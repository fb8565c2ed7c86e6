"""Partition keys: where joins are local, and why not."""

from tests.plan.support import described, example

from horai.plan.ec.components import stratify
from horai.plan.ec.dependencies import dependency_graph
from horai.plan.ec.entities import Kind
from horai.plan.split.keys import Partitioning, partition


def partitions(text: str) -> dict[str, Partitioning]:
    description = described(text)
    return by_vertex(partition(description, stratify(dependency_graph(description))))


def by_vertex(found: list[Partitioning]) -> dict[str, Partitioning]:
    return {str(v): p for p in found for v in p.component.vertices}


def maritime() -> dict[str, Partitioning]:
    description = example("maritime")
    return by_vertex(partition(description, stratify(dependency_graph(description))))


def test_patterns_of_one_vessel_are_split_by_vessel() -> None:
    found = maritime()
    single = [p for name, p in found.items() if name != "rendezVous=true"]
    for p in single:
        assert p.key is not None
        assert {path for _, path in p.key.places} == {(0,)}


def test_a_rendezvous_joins_two_vessels() -> None:
    rendezvous = maritime()["rendezVous=true"]
    assert rendezvous.key is None
    assert rendezvous.reason is not None
    assert "lowSpeed(Vessel2) does not carry Vessel1" in rendezvous.reason
    assert rendezvous.clause is not None


def test_a_pair_has_a_key_of_its_own() -> None:
    found = partitions("""
    initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
    initiatedAt(near(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(a(Y)=true, T).
    initiatedAt(b(X)=true, T) :- happensAt(meet(X, _), T), holdsAt(a(X)=true, T).
    """)
    key = found["near=true"].key
    assert key is not None
    assert dict(key.places).get((Kind.FLUENT, "near", 2)) == (1,)
    other = found["b=true"].key  # the same event is routed by its other argument here
    assert other is not None
    assert dict(other.places).get((Kind.EVENT, "meet", 2)) == (0,)


def test_arguments_inside_compound_terms_can_be_keys() -> None:
    found = partitions("""
    initiatedAt(per(close(C, M))=true, T) :- happensAt(open(C, M), T).
    initiatedAt(ok(M)=true, T) :- happensAt(ask(M), T), holdsAt(per(close(_C, M))=true, T).
    """)
    key = found["ok=true"].key
    assert key is not None
    assert dict(key.places).get((Kind.FLUENT, "per", 1)) == (0, 1)


def test_an_aggregate_over_everything_cannot_be_split() -> None:
    found = partitions("""
    initiatedAt(in(X)=true, T) :- happensAt(enter(X), T).
    initiatedAt(full(A)=true, T) :- happensAt(ask(A), T),
        aggregate_all(count, holdsAt(in(X)=true, T), N), N > 9.
    """)
    reason = found["full=true"].reason
    assert reason is not None
    assert "in(X) (inside an aggregate) does not carry A" in reason


def test_without_arguments_there_is_nothing_to_split_by() -> None:
    found = partitions("initiatedAt(on=true, T) :- happensAt(up(_), T).")
    assert found["on=true"].reason == "on has no arguments to split by"


def test_rules_that_disagree() -> None:
    found = partitions("""
    initiatedAt(f(X, Y)=true, T) :- happensAt(e(X), T), link(X, Y).
    terminatedAt(f(X, Y)=true, T) :- happensAt(e(Y), T), link(X, Y).
    link(a, b).
    """)
    reason = found["f=true"].reason
    assert reason is not None and "do not agree" in reason


def test_equated_variables_count_as_one() -> None:
    found = partitions("""
    initiatedAt(g(X)=true, T) :- happensAt(e(X), T).
    initiatedAt(f(X)=true, T) :- happensAt(e(X), T), X = Y, holdsAt(g(Y)=true, T).
    """)
    assert found["f=true"].key is not None


def test_delayed_effects_join_their_origin() -> None:
    found = partitions("""
    initiatedAt(f(X)=a, T) :- happensAt(e(X), T).
    fi(f(X)=a, g(Y)=b, 3) :- link(X, Y).
    link(a, b).
    """)
    assert found["g=b"].key is None
    assert found["g=b"].reason is not None and "f(X) of the fi" in found["g=b"].reason
