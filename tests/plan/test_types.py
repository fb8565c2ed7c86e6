"""Types by propagation."""

from tests.plan.support import described, example

from horai.plan.ec.entities import find_entities
from horai.plan.ec.types import InferredTypes, Type, infer_types


def types_of(text: str) -> InferredTypes:
    description = described(text)
    return infer_types(description, find_entities(description))


def test_types_of_the_maritime_patterns() -> None:
    description = example("maritime")
    types = infer_types(description, find_entities(description))
    assert types.of("predicate", "thresholds", 2) == (Type.ATOM, Type.NUMBER)
    assert types.of("predicate", "vesselType", 2) == (Type.INT, Type.ATOM)
    assert types.of("event", "velocity", 4)[1] is Type.NUMBER
    assert types.value("gap", 1) is Type.ATOM
    assert types.conflicts == []


def test_types_flow_from_facts_through_rules() -> None:
    types = types_of("""
    price(book, 12). price(pen, 1.5).
    cheap(G, P) :- price(G, P), P < 10.
    initiatedAt(offer(G)=P, T) :- happensAt(show(G), T), cheap(G, P).
    """)
    assert types.of("predicate", "cheap", 2) == (Type.ATOM, Type.NUMBER)
    assert types.of("fluent", "offer", 1) == (Type.ATOM,)
    assert types.value("offer", 1) is Type.NUMBER


def test_mixed_columns_hold_anything() -> None:
    facts = "p('New York'). p(12). p(1.5).\n"
    types = types_of(facts + "initiatedAt(f(X)=1, T) :- happensAt(e(X), T), p(X).")
    assert types.of("predicate", "p", 1) == (Type.ANY,)
    assert types.value("f", 1) is Type.INT


def test_recursion_settles() -> None:
    rules = "path(X, Y) :- edge(X, Y).\npath(X, Y) :- edge(X, Z), path(Z, Y).\n"
    types = types_of(f"edge(1, 2).\n{rules}")
    assert types.of("predicate", "path", 2) == (Type.INT, Type.INT)


def test_a_number_needed_where_names_arrive_is_a_conflict() -> None:
    types = types_of("""
    kind(v1, tanker).
    initiatedAt(big(X)=true, T) :- happensAt(enter(X), T), kind(X, K), K > 3.
    """)
    (conflict,) = types.conflicts
    assert conflict.found is Type.ATOM
    assert conflict.because is not None and conflict.because.position == 1


def test_alternatives_and_infinity_are_no_conflict() -> None:
    types = types_of("""
    kind(v1, tanker). size(v1, 7). bound(high, inf).
    initiatedAt(big(X)=true, T) :- happensAt(enter(X), T),
        (kind(X, K), K == tanker ; size(X, K), K > 3), bound(high, B), 3 < B.
    """)
    assert types.conflicts == []
