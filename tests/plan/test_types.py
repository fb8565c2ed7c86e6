"""Types by propagation."""

from tests.plan.support import described, example

from horai.plan.ec.entities import find_entities
from horai.plan.ec.types import InferredTypes, Slot, Type, infer_types


def types_of(text: str) -> InferredTypes:
    description = described(text)
    return infer_types(description, find_entities(description))


def columns(types: InferredTypes, kind: str, name: str, arity: int) -> tuple[Type, ...]:
    return tuple(types.slots.get(Slot(kind, name, arity, i), Type.ANY) for i in range(arity))


def value(types: InferredTypes, name: str, arity: int) -> Type:
    return types.slots.get(Slot("fluent", name, arity, -1), Type.ANY)


def test_types_of_the_maritime_patterns() -> None:
    description = example("maritime")
    types = infer_types(description, find_entities(description))
    assert columns(types, "predicate", "thresholds", 2) == (Type.ATOM, Type.NUMBER)
    assert columns(types, "predicate", "vesselType", 2) == (Type.INT, Type.ATOM)
    assert columns(types, "event", "velocity", 4)[1] is Type.NUMBER
    assert value(types, "gap", 1) is Type.ATOM
    assert types.conflicts == []


def test_types_flow_from_facts_through_rules() -> None:
    types = types_of("""
    price(book, 12). price(pen, 1.5).
    cheap(G, P) :- price(G, P), P < 10.
    initiatedAt(offer(G)=P, T) :- happensAt(show(G), T), cheap(G, P).
    """)
    assert columns(types, "predicate", "cheap", 2) == (Type.ATOM, Type.NUMBER)
    assert columns(types, "fluent", "offer", 1) == (Type.ATOM,)
    assert value(types, "offer", 1) is Type.NUMBER


def test_mixed_columns_hold_anything() -> None:
    facts = "p('New York'). p(12). p(1.5).\n"
    types = types_of(facts + "initiatedAt(f(X)=1, T) :- happensAt(e(X), T), p(X).")
    assert columns(types, "predicate", "p", 1) == (Type.ANY,)
    assert value(types, "f", 1) is Type.INT


def test_recursion_settles() -> None:
    rules = "path(X, Y) :- edge(X, Y).\npath(X, Y) :- edge(X, Z), path(Z, Y).\n"
    types = types_of(f"edge(1, 2).\n{rules}")
    assert columns(types, "predicate", "path", 2) == (Type.INT, Type.INT)


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
