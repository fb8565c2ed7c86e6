"""Events and fluents: sorts, values, input and output."""

from tests.plan.support import described

from horai.lang.core.terms import Constant
from horai.plan.ec.entities import Kind, Sort, find_entities

RULES = """
initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).
initiatedAt(rich(X)=false, T) :- happensAt(lose(X), T).
initiatedAt(location(X)=Y, T) :- happensAt(go_to(X, Y), T).
happensAt(arrive(X), T) :- happensAt(start(location(X)=home), T).
holdsFor(happy(X)=true, I) :- holdsFor(rich(X)=true, I).
holdsFor(seen(X)=true, I) :- holdsFor(visible(X)=true, I).
collectIntervals(visible(_)=true).
inputEntity(ping(_)).
"""


def test_what_heads_no_rule_comes_with_the_stream() -> None:
    entities = find_entities(described(RULES))
    assert {e.name for e in entities.inputs} == {"win", "lose", "go_to", "ping", "visible"}
    assert {e.name for e in entities.outputs} == {"rich", "location", "arrive", "happy", "seen"}


def test_values_are_constants_or_computed() -> None:
    entities = find_entities(described(RULES))
    rich, location = entities.fluents["rich", 1], entities.fluents["location", 1]
    assert set(rich.values) == {Constant("true"), Constant("false")}
    assert rich.takes(Constant("true")) and not rich.takes(Constant("maybe"))
    assert location.computed == {Sort.SIMPLE}
    assert location.takes(Constant("anywhere"))
    assert entities.fluents["visible", 1].takes(Constant("anything"))


def test_one_fluent_may_have_values_of_both_sorts() -> None:
    text = """
    initially(punctuality(V)=punctual) :- vehicle(V).
    terminatedAt(punctuality(V)=punctual, T) :- happensAt(late(V), T).
    holdsFor(punctuality(V)=non_punctual, I) :-
        holdsFor(punctuality(V)=punctual, I1), complement_all([I1], I).
    vehicle(v1).
    """
    fluent = find_entities(described(text)).fluents["punctuality", 1]
    assert fluent.sorts == {Sort.SIMPLE, Sort.DETERMINED}
    assert fluent.sorts_of(Constant("punctual")) == {Sort.SIMPLE}
    assert fluent.sorts_of(Constant("non_punctual")) == {Sort.DETERMINED}


def test_the_form_of_input_fluents_is_as_declared() -> None:
    text = """
    collectIntervals(a(_)=true). points(b(_)=true). inputEntity(c(_)=true).
    holdsFor(d(X)=true, I) :- holdsFor(a(X)=true, I).
    """
    fluents = find_entities(described(text)).fluents
    assert [fluents[name, 1].form for name in "abc"] == ["intervals", "points", "any"]


def test_compound_arguments_are_no_entities() -> None:
    text = "initiatedAt(per(close(C, M))=true, T) :- happensAt(open(C, M), T)."
    entities = find_entities(described(text))
    assert list(entities.fluents) == [("per", 1)]
    assert list(entities.events) == [("open", 2)]


def test_a_grounding_alone_makes_no_entity() -> None:
    text = "grounding(ghost(X)) :- p(X).\np(a).\ninitiatedAt(f=true, T) :- happensAt(e, T)."
    entities = find_entities(described(text))
    assert ("ghost", 1) not in entities.events
    assert entities.event(Constant("e")) is not None
    assert {entity.kind for entity in entities} == {Kind.EVENT, Kind.FLUENT}


def test_mentions_say_where_and_how() -> None:
    entities = find_entities(described(RULES))
    rich = entities.fluents["rich", 1]
    assert [m.how for m in rich.defined] == ["initiatedAt", "initiatedAt"]
    assert [m.how for m in rich.used] == ["holdsFor"]
    assert [m.how for m in entities.fluents["location", 1].used] == ["start"]
    assert [m.how for m in entities.fluents["visible", 1].declared] == ["collectIntervals"]
