"""Stages: what shares buckets, what comes by joins, what cannot be split, and the rules of each."""

from __future__ import annotations

from collections.abc import Sequence

from tests.plan.support import described, example

from horai.lang.core.printer import show
from horai.lang.ec.syntax import Grounding, Initiation
from horai.plan.split.keys import EntityKey
from horai.plan.split.stages import Stage, stages_of

ONE = """
initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
"""


def stages(text: str) -> list[Stage]:
    return stages_of(described(text))


def names(entities: Sequence[EntityKey]) -> list[str]:
    return [f"{name}/{arity}" for _, name, arity in entities]


def joins(stage: Stage) -> list[tuple[str, tuple[int, ...], str, tuple[int, ...]]]:
    return [(j.entity[1], j.place, j.anchor[1], j.meeting) for j in stage.joins]


def test_rules_about_one_entity_are_one_stage() -> None:
    (only,) = stages(
        ONE + "holdsFor(b(X)=true, I) :- holdsFor(a(X)=true, J), intDurGreater(J, 5, I)."
    )
    assert only.is_split
    assert names(only.makes) == ["a/1", "b/1"]
    assert names(only.items) == ["e/1", "g/1"]
    assert only.given == []


def test_two_entities_meet_by_a_join_on_what_names_both() -> None:
    first, second = stages(
        ONE
        + """
        holdsFor(p(X, Y)=true, I) :- holdsFor(close(X, Y)=true, C),
            holdsFor(a(X)=true, J), holdsFor(a(Y)=true, K), intersect_all([C, J, K], I).
        """
    )
    assert names(first.makes) == ["a/1"]
    assert second.is_split
    assert names(second.given) == ["a/1"]
    assert joins(second) == [("a", (0,), "close", (0,)), ("a", (0,), "close", (1,))]


def test_a_list_that_is_merely_added_brings_nobody_together() -> None:
    _, second = stages(
        ONE
        + """
        grounding(p(X, Y)=true) :- pair(X, Y).
        pair(ann, bob).
        holdsFor(p(X, Y)=true, I) :- holdsFor(close(X, Y)=true, C),
            holdsFor(a(X)=true, J), holdsFor(a(Y)=true, K), union_all([C, J, K], I).
        """
    )
    assert not second.is_split
    assert "does not carry" in second.unsplit[0].reason


def test_a_negated_or_alternative_condition_brings_nobody_together() -> None:
    for condition in (
        "\\+ happensAt(meet(X, Y), T)",
        "(happensAt(meet(X, Y), T) ; happensAt(e(X), T))",
    ):
        found = stages(
            ONE
            + f"""
            grounding(p(X, Y)=true) :- pair(X, Y).
            pair(ann, bob).
            initiatedAt(p(X, Y)=true, T) :- happensAt(e(X), T), {condition}, holdsAt(a(Y)=true, T).
            """
        )
        assert not found[-1].is_split, condition


def test_a_variable_that_is_one_of_two() -> None:
    *_, last = stages(
        ONE
        + """
        initiatedAt(p(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(a(Y)=true, T).
        happensAt(q(X, Y), T) :- happensAt(start(p(X, Y)=true), T), (Z = X ; Z = Y),
            happensAt(end(a(Z)=true), T0), T0 < T.
        """
    )
    assert ("a", (0,), "p", (0,)) in joins(last)
    assert ("a", (0,), "p", (1,)) in joins(last)


def test_initiations_are_not_exchanged() -> None:
    """Who asks for them stays with who makes them, though the keys do not agree."""
    (only,) = stages(
        ONE
        + """
        initiatedAt(p(X, Y)=true, T) :- happensAt(meet(X, Y), T), initiatedAt(a(Y)=true, T).
        initiatedAt(r(X)=true, T) :- happensAt(meet(X, _), T), initiatedAt(p(X, _)=true, T).
        """
    )
    assert not only.is_split
    assert set(names(only.makes)) == {"a/1", "p/2", "r/1"}


def test_values_of_one_fluent_stay_together() -> None:
    (only,) = stages(
        ONE
        + """
        holdsFor(a(X)=false, I) :- holdsFor(a(X)=true, J), complement_all([J], I).
        """
    )
    assert names(only.makes) == ["a/1"]


def test_members_of_dynamic_domains_have_to_carry_the_key() -> None:
    text = """
    dynamicDomain(vessel(_)).
    grounding(pos(V)) :- vessel(V).
    grounding(seen(V)=true) :- vessel(V).
    initially(seen(V)=true).
    terminatedAt(seen(V)=true, T) :- happensAt(pos(V), T).
    """
    (split,) = stages(text)
    assert split.is_split
    also = "grounding(meet(A, B)) :- vessel(A), vessel(B).\n"
    (whole,) = stages(text + also)
    assert not whole.is_split


def test_a_rendezvous_of_vessels_comes_after_the_vessels() -> None:
    found = stages_of(example("maritime"))
    assert [stage.is_split for stage in found] == [True, True]
    assert names(found[1].makes) == ["rendezVous/2"]
    assert found[1].joins


def test_the_rules_of_a_stage() -> None:
    """What earlier stages make is input: their rules are gone, and groundings that name members."""
    whole = described(
        ONE
        + """
        grounding(a(X)=true) :- who(X).
        grounding(a(X)=true) :- guest(X).
        dynamicDomain(guest(_)).
        who(ann).
        initiatedAt(p(X, Y)=true, T) :- happensAt(meet(X, Y), T), holdsAt(a(Y)=true, T),
            holdsAt(a(X)=true, T).
        """
    )
    first, second = stages_of(whole)
    mine = first.description(whole)
    assert sum(isinstance(rule, Grounding) for rule in mine.rules) == 2
    rest = second.description(whole)
    assert [r.fvp.fluent.name for r in rest.rules if isinstance(r, Initiation)] == ["p"]  # type: ignore[union-attr]
    (kept,) = (rule for rule in rest.rules if isinstance(rule, Grounding))
    assert show(kept.body.term) == "who(X)"
    assert rest.facts == whole.facts
