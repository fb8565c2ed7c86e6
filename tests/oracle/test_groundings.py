"""Groundings restrict what is computed; dynamic domains are filled by the input."""

from __future__ import annotations

from tests.oracle.story import Held, events, outputs, run

from horai.oracle.ec.intervals import INF

RULES = """
initiatedAt(f(X)=true,T) :- happensAt(a(X),T).
terminatedAt(f(X)=true,T) :- happensAt(b(X),T).
"""


def test_an_entity_outside_its_grounding_is_not_computed() -> None:
    rules = RULES + "grounding(f(X)=true) :- p(X).\np(x).\n"
    assert run(rules, "a(x) 5; a(zz) 5") == {"f(x)=true": [(6, INF)]}


def test_without_a_grounding_everything_is_computed() -> None:
    assert run(RULES, "a(x) 5; a(zz) 6") == {"f(x)=true": [(6, INF)], "f(zz)=true": [(7, INF)]}


def test_several_groundings_are_a_union() -> None:
    rules = RULES + "grounding(f(X)=true) :- p(X).\ngrounding(f(X)=true) :- q(X).\np(x). q(y).\n"
    assert set(run(rules, "a(x) 5; a(y) 5; a(zz) 5")) == {"f(x)=true", "f(y)=true"}


def test_values_that_no_grounding_speaks_of_are_free() -> None:
    rules = (
        RULES
        + """
    initiatedAt(f(X)=false,T) :- happensAt(c(X),T).
    grounding(f(X)=true) :- p(X).
    p(x).
    """
    )
    assert run(rules, "a(x) 5; c(x) 9; c(zz) 9") == {
        "f(x)=true": [(6, 10)],
        "f(x)=false": [(10, INF)],
        "f(zz)=false": [(10, INF)],
    }


def test_groundings_of_input_do_not_restrict_the_input() -> None:
    rules = RULES + "grounding(a(X)) :- p(X).\ngrounding(b(X)) :- p(X).\np(x).\n"
    assert run(rules, "a(zz) 5; b(zz) 9") == {"f(zz)=true": [(6, 10)]}


def test_an_initiation_outside_the_grounding_still_ends_other_values() -> None:
    rules = """
    initiatedAt(loc(X)=V,T) :- happensAt(go(X,V),T).
    grounding(loc(X)=V) :- person(X), place(V).
    person(x). place(home). place(pub).
    """
    # The moon is no place: nothing is said of it, but x has left home.
    assert run(rules, "go(x,home) 2; go(x,moon) 5; go(x,pub) 9; go(x,moon) 9") == {
        "loc(x)=home": [(3, 6)]
    }


def test_initiations_outside_the_grounding_are_not_seen() -> None:
    rules = (
        RULES
        + """
    initiatedAt(g(X)=true,T) :- initiatedAt(f(X)=true,T).
    initiatedAt(h(X)=true,T) :- terminatedAt(f(X)=true,T).
    grounding(f(X)=true) :- p(X).
    p(x).
    """
    )
    found = run(rules, "a(x) 5; a(zz) 5; b(x) 9; b(zz) 9")
    assert found == {"f(x)=true": [(6, 10)], "g(x)=true": [(6, INF)], "h(x)=true": [(10, INF)]}


def test_a_termination_of_every_value_is_none_of_values_outside() -> None:
    rules = """
    initiatedAt(loc(X)=V,T) :- happensAt(go(X,V),T).
    terminatedAt(loc(X)=_,T) :- happensAt(vanish(X),T).
    happensAt(left(X),T) :- terminatedAt(loc(X)=home,T).
    grounding(loc(X)=home) :- person(X).
    person(x).
    """
    assert events(rules, "vanish(x) 3; vanish(zz) 3") == {"left(x)": [3]}


def test_output_events_and_static_fluents_are_restricted_too() -> None:
    rules = (
        RULES
        + """
    happensAt(o(X),T) :- happensAt(a(X),T).
    holdsFor(h(X)=true,I) :- holdsFor(f(X)=true,I).
    holdsAt(m(X)=true,T) :- holdsAt(f(X)=true,T).
    grounding(o(X)) :- p(X).
    grounding(h(X)=true) :- p(X).
    grounding(m(X)=true) :- p(X).
    p(x).
    """
    )
    items = "a(x) 5; a(zz) 5"
    assert events(rules, items) == {"o(x)": [5]}
    assert set(run(rules, items)) == {"f(x)=true", "f(zz)=true", "h(x)=true", "m(x)=true"}


def test_a_grounding_may_leave_an_argument_open() -> None:
    rules = """
    collectIntervals(i(_,_)=true).
    initiatedAt(f(X,Y)=true,T) :- happensAt(a(X,Y),T).
    holdsFor(h(X,Y)=true,I) :- holdsFor(i(X,Y)=true,I).
    grounding(f(X,_)=true) :- p(X).
    grounding(h(X,_)=true) :- p(X).
    p(x).
    """
    items = "a(x,1) 3; a(z,1) 3; i(x,2)=true 4-6; i(z,2)=true 4-6"
    assert run(rules, items) == {"f(x,1)=true": [(4, INF)], "h(x,2)=true": [(4, 6)]}


def test_open_variables_of_a_head_range_over_the_grounding() -> None:
    rules = """
    initiatedAt(alert(X)=true,T) :- happensAt(alarm,T).
    terminatedAt(alert(X)=true,T) :- happensAt(calm,T), \\+ stubborn(X).
    grounding(alert(X)=true) :- p(X).
    p(x). p(y). stubborn(y).
    """
    assert run(rules, "alarm 3; calm 8") == {"alert(x)=true": [(4, 9)], "alert(y)=true": [(4, INF)]}


def test_conditions_that_only_test_leave_a_head_variable_to_the_grounding() -> None:
    rules = """
    initiatedAt(big(N)=true,T) :- happensAt(go,T), N > 5, \\+ banned(N).
    grounding(big(N)=true) :- number_of(N).
    number_of(3). number_of(7). number_of(9). banned(9).
    """
    assert run(rules, "go 2") == {"big(7)=true": [(3, INF)]}


def test_an_event_and_a_fluent_may_share_a_name() -> None:
    rules = """
    initiatedAt(move(X)=true,T) :- happensAt(move(X),T).
    happensAt(seen(X),T) :- happensAt(move(X),T).
    grounding(move(X)=true) :- p(X).
    p(x).
    """
    assert run(rules, "move(x) 3; move(zz) 3") == {"move(x)=true": [(4, INF)]}
    assert events(rules, "move(x) 3; move(zz) 3") == {"seen(x)": [3], "seen(zz)": [3]}
    derived = rules + "happensAt(move(X),T) :- happensAt(a(X),T).\n"
    assert events(derived, "a(zz) 3") == {"move(zz)": [3], "seen(zz)": [3]}


# --- dynamic domains -----------------------------------------------------------------------------

DYNAMIC = (
    RULES
    + """
dynamicDomain(person(_)).
grounding(a(X)) :- person(X).
grounding(f(X)=true) :- person(X).
holdsFor(calm(X)=true,I) :- holdsFor(f(X)=true,I1), complement_all([I1],I).
grounding(calm(X)=true) :- person(X).
"""
)


def test_members_come_with_the_input() -> None:
    assert run(DYNAMIC, "a(x) 5; b(x) 9") == {
        "f(x)=true": [(6, 10)],
        "calm(x)=true": [(1, 6), (10, INF)],
    }
    # b has no grounding, so it makes nobody a member.
    assert run(DYNAMIC, "b(y) 5") == {}


def test_once_a_member_always_a_member() -> None:
    answers = outputs(DYNAMIC, "a(x) 5; b(x) 7", until=30, window=10, step=10)
    assert [answer.get("calm(x)=true") for answer in answers] == [
        [(1, 6), (8, INF)],
        [(8, INF)],
        [(8, INF)],
    ]


def test_a_member_that_was_a_mistake_is_none() -> None:
    assert run(DYNAMIC, "a(x) 5; -a(x) 5 arrives 8") == {}


def test_members_come_from_input_fluents_too() -> None:
    rules = """
    collectIntervals(i(_)=true).
    dynamicDomain(person(_)).
    grounding(i(X)=true) :- person(X).
    initiatedAt(alert(X)=true,T) :- happensAt(alarm,T).
    grounding(alert(X)=true) :- person(X).
    """
    expected: Held = {"alert(x)=true": [(4, INF)]}
    assert run(rules, "i(x)=true 8-12; alarm 3") == expected


def test_a_domain_may_have_members_of_its_own() -> None:
    rules = DYNAMIC + "person(bob).\nadult(X) :- person(X), \\+ child(X).\nchild(x).\n"
    assert set(run(rules, "a(x) 5")) == {"f(x)=true", "calm(x)=true", "calm(bob)=true"}


def test_recursion_over_a_dynamic_domain() -> None:
    rules = """
    dynamicDomain(link(_,_)).
    grounding(meet(X,Y)) :- link(X,Y).
    reach(X,Y) :- link(X,Y).
    reach(X,Z) :- reach(X,Y), link(Y,Z).
    happensAt(knows(X,Y),T) :- happensAt(ask(X),T), reach(X,Y).
    """
    assert events(rules, "meet(a,b) 2; meet(b,c) 3; meet(c,a) 4; ask(a) 9") == {
        "knows(a,a)": [9],
        "knows(a,b)": [9],
        "knows(a,c)": [9],
    }
