"""Background predicates: relations and procedures, and what they need bound."""

import pytest
from tests.plan.support import described

from horai.plan.ec.predicates import find_predicates

FACTS = "edge(a, b). edge(b, c). limit(9).\n"


def modes(rules: str, name: str, arity: int) -> set[frozenset[int]]:
    return set(find_predicates(described(FACTS + rules))[name, arity].modes)


@pytest.mark.parametrize(
    ("rules", "key", "expected"),
    [
        ("", ("edge", 2), [set()]),
        ("path(X, Y) :- edge(X, Y).\npath(X, Y) :- edge(X, Z), path(Z, Y).", ("path", 2), [set()]),
        ("far(X, Y) :- edge(X, _), edge(Y, _), \\+ edge(X, Y).", ("far", 2), [set()]),
        ("inRange(V, A, B) :- V > A, V < B.", ("inRange", 3), [{0, 1, 2}]),
        ("below(V) :- limit(L), V < L.", ("below", 1), [{0}]),
        ("diff(A, B, C) :- D is A - B, C is abs(D).", ("diff", 3), [{0, 1}]),
        ("two(A, C) :- less(A, B), C is 2 * B.\nless(A, B) :- B is A - 1.", ("two", 2), [{0}]),
        ("same(X, X).", ("same", 2), [{0}, {1}]),
        ("eq(X, Y) :- X = Y.", ("eq", 2), [{0}, {1}]),
        ("total([], 0).\ntotal([H | T], S) :- total(T, R), S is R + H.", ("total", 2), [{0}]),
        ("out(X, N) :- findall(Y, edge(X, Y), L), length(L, N).", ("out", 2), [{0}]),
        ("anything(_).", ("anything", 1), [set()]),
        ("costs(_, 10).", ("costs", 2), [set()]),
        ("opens(K, _) :- K > 3.", ("opens", 2), [{0}]),
        ("either(X, _) :- X > 3.\neither(_, Y) :- Y > 3.", ("either", 2), [{0, 1}]),
        ("bad(X) :- Y > X.", ("bad", 1), []),
        ("a(X, Y) :- b(X, Z), Y is Z + 1.\nb(X, Y) :- a(X, Z), Y is Z + 1.", ("a", 2), [set()]),
    ],
)
def test_modes(rules: str, key: tuple[str, int], expected: list[set[int]]) -> None:
    assert modes(rules, *key) == {frozenset(mode) for mode in expected}


def test_what_depends_on_time_is_unfolded() -> None:
    text = (
        FACTS
        + """
    busy(X, T) :- holdsAt(working(X)=true, T).
    idle(X, T) :- edge(X, _), \\+ busy(X, T).
    recent(T) :- queryTime(Q), T > Q - 9.
    initiatedAt(f(X)=true, T) :- happensAt(a(X), T), idle(X, T), recent(T).
    """
    )
    found = find_predicates(described(text))
    assert {key for key, p in found.items() if not p.is_relation} == {
        ("busy", 2),
        ("idle", 2),
        ("recent", 1),
    }
    assert found["edge", 2].is_relation


def test_dynamic_domains_are_relations() -> None:
    found = find_predicates(described("dynamicDomain(person(_))."))
    assert found["person", 1].dynamic
    assert found["person", 1].is_relation


def test_calls_of_procedures_by_procedures_settle() -> None:
    text = (
        FACTS
        + """
    a(X, Y) :- b(X, Z), c(Z, Y).
    b(X, Y) :- Y is X + 1.
    c(X, Y) :- edge(_, _), Y is X * 2.
    """
    )
    assert modes(text, "a", 2) == {frozenset({0})}


@pytest.mark.parametrize(
    ("rules", "key", "expected"),
    [
        ("anything(_).", ("anything", 1), {0}),
        ("costs(_, 10).", ("costs", 2), {0}),
        ("opens(K, _) :- K > 3.", ("opens", 2), {1}),
        ("either(X, _) :- edge(X, a).\neither(_, Y) :- edge(Y, b).", ("either", 2), set()),
        ("same(X, X).", ("same", 2), set()),
        ("edge(_, d).", ("edge", 2), set()),
    ],
)
def test_arguments_that_any_value_satisfies(
    rules: str, key: tuple[str, int], expected: set[int]
) -> None:
    predicate = find_predicates(described(FACTS + rules))[key]
    assert predicate.open_args == expected
    assert not (predicate.open_args and predicate.is_relation)
