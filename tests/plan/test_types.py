"""Types by propagation: where a number is needed and only something else can arrive."""

import pytest
from tests.plan.support import findings


def conflicts(text: str) -> list[tuple[str, str | None]]:
    return [(f.message, f.note) for f in findings(text) if f.code == "H505"]


def compared(condition: str, more: str = "") -> str:
    """A rule that compares X with a number."""
    return f"{more}\ninitiatedAt(f(X)=true, T) :- happensAt(e(X), T), {condition}, X > 3."


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ("p(a).", "atom"),
        ('p("a").', "string"),
        ("p(q(1)).", "compound"),
        ("p([1]).", "list"),
        ("p(a). p(b).", "atom"),
    ],
)
def test_the_type_of_facts_is_named(facts: str, kind: str) -> None:
    (found,) = conflicts(compared("p(X)", facts))
    assert found[0].endswith(f"`X` is of type {kind}")
    assert found[1] == "its values come from argument 1 of `p/1`"


@pytest.mark.parametrize("facts", ["p(1). p(2.5).", "p(a). p(1).", "p(inf). p(7)."])
def test_numbers_and_mixed_columns_are_no_conflict(facts: str) -> None:
    assert conflicts(compared("p(X)", facts)) == []


def test_types_flow_from_facts_through_rules_and_fluents() -> None:
    rules = """
    price(book, 12). price(pen, 1.5).
    cheap(G, P) :- price(G, P), P < 10.
    initiatedAt(offer(G)=P, T) :- happensAt(show(G), T), cheap(G, P).
    initiatedAt(good(G)=true, T) :- happensAt(look, T), holdsAt(offer(G)=P, T), P < 5.
    """
    assert conflicts(rules) == []
    swapped = rules.replace("cheap(G, P) :-", "cheap(P, G) :-")
    assert [note for _, note in conflicts(swapped)] == [
        "its values come from the value of `offer/1`"
    ]


def test_recursion_settles() -> None:
    rules = "path(X, Y) :- edge(X, Y).\npath(X, Y) :- edge(X, Z), path(Z, Y).\n"
    assert len(conflicts(compared("path(_, X)", f"edge(a, b). edge(b, c).\n{rules}"))) == 1
    assert conflicts(compared("path(_, X)", f"edge(a, 1). edge(1, 2).\n{rules}")) == []


def test_what_the_stream_brings_is_what_facts_say_it_is() -> None:
    text = "kind(tanker).\ninitiatedAt(f(X)=t, T) :- happensAt(e(X, K), T), kind(K), K > 3."
    assert [note for _, note in conflicts(text)] == ["its values come from argument 1 of `kind/1`"]


def test_alternatives_and_infinity_are_no_conflict() -> None:
    assert (
        conflicts("""
    kind(v1, tanker). size(v1, 7). bound(high, inf).
    initiatedAt(big(X)=true, T) :- happensAt(enter(X), T),
        (kind(X, K), K == tanker ; size(X, K), K > 3), bound(high, B), 3 < B.
    """)
        == []
    )
