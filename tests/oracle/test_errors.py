"""What goes wrong only at run time is said in a sentence, with file and line."""

from __future__ import annotations

import pytest
from tests.oracle.story import story

from horai.lang.ec.errors import (
    Endless,
    EngineError,
    FutureRead,
    IllegalCycle,
    NotSettled,
    PredicateFailed,
    UnboundVariable,
    Unsupported,
)
from horai.lang.ec.reader import read_text
from horai.oracle.ec.session import OracleSession


def problem(rules: str, items: str = "a(x) 3; go 5", kind: type[EngineError] = EngineError) -> str:
    """What a run says before it gives up."""
    description, _ = read_text(rules, "rules.ec")
    with pytest.raises(kind) as caught:
        OracleSession(description).advance(20, story(items))
    return str(caught.value)


def test_a_variable_without_a_value() -> None:
    rules = "initiatedAt(f(X)=true,T) :-\n  happensAt(a(X),T), Y > 3.\n"
    text = "rules.ec:1: no condition gives a value to a variable of `Y > 3`"
    assert problem(rules, kind=UnboundVariable) == text


def test_a_head_that_nothing_completes() -> None:
    rules = "% first line\ninitiatedAt(f(X,Y)=true,T) :- happensAt(a(X),T).\n"
    assert problem(rules, kind=Unsupported) == (
        "rules.ec:2: nothing gives a value to Y: a grounding is missing"
    )
    assert problem("initially(f(X)=true).\n", kind=Unsupported).startswith("rules.ec:1: nothing")
    rules = "collectIntervals(i=true).\nholdsFor(f(X)=true,I) :- holdsFor(i=true,I).\n"
    assert problem(rules, "i=true 3-5", Unsupported).startswith("rules.ec:2: nothing gives")
    rules = "collectIntervals(i=true).\nholdsAt(f(X)=true,T) :- holdsAt(i=true,T).\n"
    assert problem(rules, "i=true 3-5", Unsupported).startswith("rules.ec:2: nothing gives")


def test_an_unsafe_negation() -> None:
    rules = "initiatedAt(f(X)=true,T) :- happensAt(a(X),T), \\+ p(Y), Y > 1.\np(1).\n"
    assert "no condition gives a value to a variable of" in problem(rules, kind=UnboundVariable)


def test_a_rule_of_a_cycle_that_looks_ahead() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(go,T), T2 is T+3, \\+ holdsAt(f=true,T2).
    """
    assert problem(rules, kind=FutureRead) == (
        "rules.ec:2: f/0 is asked for at a later time than the rule is about, "
        "but it depends on the rule itself"
    )
    events = """
    happensAt(o,T) :- happensAt(go,T), T2 is T+3, \\+ happensAt(o,T2).
    """
    assert "o/0 is asked for" in problem(events, kind=FutureRead)
    lists = """
    initiatedAt(f=true,T) :- happensAt(go,T), holdsFor(f=true,I), I = [].
    """
    assert "f/0 is asked for" in problem(lists, kind=FutureRead)


def test_a_rule_of_a_cycle_that_looks_ahead_without_saying_when() -> None:
    # Time by time nothing later is known; in the end there is something, so the rule was wrong.
    rules = """
    initiatedAt(f=true,T) :- happensAt(go,T), \\+ (initiatedAt(f=true,T0), T0 > T).
    """
    assert "f/0 is asked for at a later time" in problem(rules, "go 3; go 5", FutureRead)
    description, _ = read_text(rules.replace("T0 > T", "T0 < T"))
    assert OracleSession(description).advance(20, story("go 3; go 5")).spans != {}


def test_looking_ahead_outside_a_cycle_is_no_problem() -> None:
    rules = "initiatedAt(f=true,T) :- happensAt(go,T), T2 is T+3, \\+ happensAt(a(_),T2).\n"
    description, _ = read_text(rules)
    assert OracleSession(description).advance(20, story("go 5; a(x) 8")).spans == {}
    assert OracleSession(description).advance(20, story("go 5; a(x) 9")).spans != {}


def test_rules_that_are_true_only_if_they_are_not() -> None:
    rules = "\nhappensAt(o,T) :- happensAt(go,T), \\+ happensAt(o,T).\n"
    assert problem(rules, kind=NotSettled) == (
        "rules.ec:2: at 5 these rules are true if, and only if, they are not"
    )


def test_a_cycle_of_statically_determined_fluents() -> None:
    rules = """
    holdsFor(f(X)=true,I) :- holdsFor(g(X)=true,I).
    holdsFor(g(X)=true,I) :- holdsFor(f(X)=true,I).
    """
    cycle = "f(_)=true <- g(_)=true <- f(_)=true"
    assert problem(rules, kind=IllegalCycle) == (
        f"rules.ec:2: statically determined fluents depend on themselves: {cycle}"
    )
    assert "f=true <- f=true" in problem("holdsFor(f=true,I) :- holdsFor(f=true,I).\n")


def test_a_cycle_of_a_simple_and_a_statically_determined_fluent() -> None:
    rules = """
    initiatedAt(f=true,T) :- happensAt(go,T), holdsAt(g=true,T).
    holdsFor(g=true,I) :- holdsFor(f=true,I1), complement_all([I1],I).
    """
    assert "g=true <- f/0 <- g=true" in problem(rules, kind=IllegalCycle)


def test_a_predicate_that_depends_on_its_own_absence() -> None:
    rules = """
    happensAt(o(X),T) :- happensAt(a(X),T), wins(X).
    wins(X) :- move(X,Y), \\+ wins(Y).
    move(x,y).
    """
    text = "rules.ec:3: wins/1 depends on its own absence or total"
    assert problem(rules, kind=IllegalCycle) == text


def test_a_procedure_without_end() -> None:
    rules = "happensAt(o,T) :- happensAt(go,T), loop(1).\nloop(N) :- M is N+1, loop(M).\n"
    text = problem(rules, kind=Endless)
    assert text.startswith("rules.ec:2: loop/1 calls itself too often, or without end")
    assert isinstance(Endless("x"), RecursionError)


def test_a_list_of_rows_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.lang.endless.MOST_ROUNDS", 1000)
    rules = "happensAt(o,T) :- happensAt(go,T), nat(7).\nnat(0).\nnat(M) :- nat(N), M is N+1.\n"
    assert "nat/1 still has new rows after 1000 rounds" in problem(rules, kind=Endless)


def test_a_list_of_more_rows_than_anybody_can_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("horai.lang.endless.MOST_ROWS", 10)
    facts = "n(1). n(2). n(3). n(4).\n"
    rules = f"happensAt(o,T) :- happensAt(go,T), p(1,1).\np(A,B) :- n(A), n(B).\n{facts}"
    assert "p/2 has more than 10 rows" in problem(rules, kind=Endless)


def test_counting_without_end() -> None:
    rules = "happensAt(o(X),T) :- happensAt(go,T), between(1,inf,X).\n"
    assert "up to infinity" in problem(rules, kind=Endless)


def test_a_formula_may_speak_of_fluents_only() -> None:
    rules = "holdsAt(f(X)=true,T) :- happensAt(a(X),T).\n"
    assert problem(rules, kind=Unsupported) == (
        "rules.ec:1: a holdsAt rule cannot ask for `happensAt(a(X), T)`"
    )
    rules = "collectIntervals(i=true).\nholdsAt(f=true,T) :- holdsAt(i=true,T), T > 4.\n"
    assert problem(rules, kind=Unsupported).startswith("rules.ec:2: a holdsAt rule cannot compare")


def test_a_delay_with_two_times() -> None:
    rules = """
    initiatedAt(f=on,T) :- happensAt(go,T).
    initiatedAt(g=on,T) :- happensAt(go,T).
    fi(f=on,f=off,4) :- holdsAt(g=on,T), \\+ holdsAt(g=off,U).
    """
    assert problem(rules, kind=Unsupported) == (
        "rules.ec:4: which of T, U is the time of initiation?"
    )


def test_a_failing_python_predicate() -> None:
    description, _ = read_text("happensAt(o(X),T) :- happensAt(go,T), boom(T,X).\n", "rules.ec")
    session = OracleSession(description, predicates={"boom": lambda t: 1 // 0})
    with pytest.raises(PredicateFailed) as caught:
        session.advance(20, story("go 5"))
    assert str(caught.value).startswith("rules.ec:1: the Python predicate boom failed")


def test_a_problem_inside_a_background_rule_is_blamed_on_that_rule() -> None:
    rules = "happensAt(o,T) :- happensAt(go,T), bad(1).\n\nbad(X) :- X > 0, Y > X.\n"
    assert problem(rules).startswith("rules.ec:3: ")


def test_conditions_nested_too_deeply_are_no_traceback_of_python() -> None:
    numbers = ",".join("1" for _ in range(600))
    rules = f"""
    happensAt(o(S),T) :- happensAt(go,T), total([{numbers}],S).
    total([],0).
    total([H|R],S) :- total(R,S0), S is S0+H.
    """
    assert "total/2 calls itself too often" in problem(rules, kind=Endless)
