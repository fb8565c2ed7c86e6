"""Background knowledge: relations, procedures, Python predicates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.oracle.story import describe, events

from horai.lang.ec.errors import EngineError
from horai.oracle.ec.session import Interpreter

Predicates = dict[str, Callable[..., object]]


def answers(goal: str, background: str, **settings: Any) -> list[str]:
    """The values of X for which a goal is true."""
    found = events(
        f"happensAt(is(X),T) :- happensAt(go,T), {goal}.\n{background}", "go 5", **settings
    )
    return sorted(event[3:-1] for event in found)


EDGES = "edge(a,b). edge(b,c). edge(c,a). edge(c,d).\n"


def test_relations_with_recursion() -> None:
    rules = EDGES + "reach(X,Y) :- edge(X,Y). reach(X,Z) :- reach(X,Y), edge(Y,Z).\n"
    assert answers("reach(b,X)", rules) == ["a", "b", "c", "d"]
    assert answers("reach(X,a)", rules) == ["a", "b", "c"]
    assert answers("reach(d,X)", rules) == []


def test_recursion_that_is_not_linear() -> None:
    rules = EDGES + "reach(X,Y) :- edge(X,Y). reach(X,Z) :- reach(X,Y), reach(Y,Z).\n"
    assert answers("reach(a,X)", rules) == ["a", "b", "c", "d"]


def test_predicates_that_call_each_other() -> None:
    rules = (
        EDGES
        + """
    odd(X,Y) :- edge(X,Y).
    odd(X,Z) :- even(X,Y), edge(Y,Z).
    even(X,Z) :- odd(X,Y), edge(Y,Z).
    """
    )
    # From a: b is one step away, c two, a and d three; then round the circle of three again.
    assert answers("odd(a,X)", rules) == ["a", "b", "c", "d"]
    only = "edge(a,b). edge(b,c). edge(c,d).\n" + rules.removeprefix(EDGES)
    assert answers("odd(a,X)", only) == ["b", "d"]
    assert answers("even(a,X)", only) == ["c"]


def test_stratified_negation() -> None:
    rules = (
        EDGES
        + """
    node(X) :- edge(X,_). node(X) :- edge(_,X).
    leaf(X) :- node(X), \\+ edge(X,_).
    inner(X) :- node(X), \\+ leaf(X).
    """
    )
    assert answers("leaf(X)", rules) == ["d"]
    assert answers("inner(X)", rules) == ["a", "b", "c"]


def test_arithmetic_in_relations_that_count_up() -> None:
    rules = "upto(0). upto(N1) :- upto(N), N < 4, N1 is N+1.\n"
    assert answers("upto(X)", rules) == ["0", "1", "2", "3", "4"]


def test_facts_and_rules_of_one_predicate() -> None:
    assert answers("big(X)", "big(whale). big(X) :- ship(X). ship(titanic).\n") == [
        "titanic",
        "whale",
    ]


def test_procedures_need_their_arguments() -> None:
    rules = """
    inRange(V,Min,Max) :- V > Min, V < Max.
    diff(A,B,C) :- D is A-B, C is abs(D).
    fmod(A,B,M) :- Div is A/B, Fln is floor(Div)*B, M is A-Fln.
    angle(A,B,C) :- D is A-B, E is D+180, fmod(E,360,F), C is abs(F-180).
    """
    assert answers("member(X,[1,5,9]), inRange(X,2,9)", rules) == ["5"]
    assert answers("diff(3,10,X)", rules) == ["7"]
    assert answers("angle(350,20,X)", rules) == ["30"]  # (350-20+180) mod 360 = 150; |150-180|


def test_procedures_that_take_lists_apart() -> None:
    rules = """
    total([],0).
    total([H|R],S) :- total(R,S0), S is S0+H.
    pairs([A,B|_],A,B).
    """
    assert answers("total([1,2,3],X)", rules) == ["6"]
    assert answers("pairs([a,b,c],_,X)", rules) == ["b"]
    numbers = ",".join(str(n) for n in range(60))
    assert answers(f"total([{numbers}],X)", rules) == [str(sum(range(60)))]


def test_facts_with_variables() -> None:
    assert answers("likes(ann,X)", "likes(_,bread). likes(bob,fish).\n") == ["bread"]
    assert answers("same(X,b)", "same(A,A).\n") == ["b"]


def test_a_procedure_does_not_mix_up_variables_of_caller_and_clause() -> None:
    # The answer f(Y) has the clause's own Y; the caller's Y is another one.
    rules = "wrap(X,f(X,Y)) :- Y = in.\nopen(f(A,B),A,B).\npart(p(Y),Y).\n"
    assert answers("Y = out, wrap(Y,W), open(W,X,_)", rules) == ["out"]
    assert answers("part(p(X),Y), Y = here", rules) == ["here"]
    # The fact leaves its own Y open, so X stays open; the caller's Y is another one.
    with pytest.raises(EngineError, match="nothing gives a value to X"):
        answers("Y = out, box(W), inside(W,X)", "box(f(Y)).\ninside(f(A),A).\n")


def test_background_rules_may_ask_for_events_and_fluents() -> None:
    rules = """
    initiatedAt(on(X)=true,T) :- happensAt(up(X),T).
    busy(X,T) :- holdsAt(on(X)=true,T).
    busy(X,T) :- happensAt(call(X),T).
    happensAt(out(X),T) :- happensAt(go,T), busy(X,T).
    """
    assert events(rules, "up(a) 2; go 2; go 3; call(b) 3") == {"out(a)": [3], "out(b)": [3]}


def test_background_rules_inside_a_cycle() -> None:
    rules = """
    on(T) :- holdsAt(light=on,T).
    initiatedAt(light=on,T) :- happensAt(press,T), \\+ on(T).
    initiatedAt(light=off,T) :- happensAt(press,T), on(T).
    happensAt(out,T) :- happensAt(start(light=on),T).
    """
    assert events(rules, "press 2; press 5; press 7") == {"out": [2, 7]}


# --- Python --------------------------------------------------------------------------------------


def test_python_predicates_test_and_compute() -> None:
    predicates: Predicates = {
        "is_long": lambda text: len(text) > 3,
        "shout": lambda text: text.upper(),
        "halves": lambda n: [n // 2, n - n // 2],
        "never": lambda text: None,
    }
    assert answers("member(X,[ab,abcd]), is_long(X)", "", predicates=predicates) == ["abcd"]
    assert answers("shout(ab,X)", "", predicates=predicates) == ["AB"]
    assert answers("halves(7,L), member(X,L)", "", predicates=predicates) == ["3", "4"]
    assert answers("never(ab,X)", "", predicates=predicates) == []


def test_python_predicates_wait_for_their_arguments() -> None:
    predicates: Predicates = {"twice": lambda n: n * 2}
    rules = "small(1). small(2).\n"
    assert answers("twice(N,X), small(N)", rules, predicates=predicates) == ["2", "4"]
    assert answers("twice(X,4), small(X)", rules, predicates=predicates) == ["2"]


def test_terms_that_python_does_not_know_stay_terms() -> None:
    predicates: Predicates = {"name": lambda term: term.name, "flag": lambda n: n > 1}
    assert answers("name(f(a),X)", "", predicates=predicates) == ["f"]


@pytest.mark.parametrize("bad", [lambda n: 1 / 0, lambda n: object()])
def test_a_failing_python_predicate_is_named(bad: Callable[..., object]) -> None:
    with pytest.raises(EngineError, match=r"the Python predicate boom failed"):
        answers("boom(1,X)", "", predicates={"boom": bad})


# --- what is a relation, what a procedure --------------------------------------------------------


def test_relations_are_told_from_procedures() -> None:
    background = Interpreter(
        describe(
            """
            p(a). q(X) :- p(X). r(X,Y) :- p(X), Y is 1.
            test(X) :- X > 1. half(X) :- p(X), test(Y), Y = X. seen(X) :- happensAt(e(X),_).
            loop(X) :- pool(X). pool(X) :- loop(X). pool(b).
            """
        )
    ).background
    assert {"p", "q", "r", "loop", "pool"} <= {name for name, _ in background.listable}
    assert not {"test", "seen"} & {name for name, _ in background.listable}
