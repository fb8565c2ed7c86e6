"""Background knowledge of files written for other engines."""

from __future__ import annotations

import pytest

from horai.lang.ec.builder import read_text
from horai.lang.ec.syntax import BackgroundRule, Call, Duration, EventDescription, HoldsForRule
from horai.lang.terms import Atom, Int

MEASURED = """
intDurGreater(If, V, I) :-
    findall((S,E), (member((S,E), If),
        (E \\= inf -> (Diff is E - S, Diff > V) ; (queryTime(Q), Diff is Q - S, Diff > V))), I).
"""
CLOSED_ONLY = """
intDurLess(If, V, I) :-
    findall((S,E), (member((S,E), If), (E \\= inf, Diff is E - S, Diff < V)), I).
"""
OPEN_PASS = """
intDurGreater(If, V, I) :-
    findall((S,E), (member((S,E), If), ((E \\= inf, D is E - S, D > V) ; E = inf)), I).
"""
OTHER_NAME = """
atLeast(Bound, Long, All) :-
    findall((S,E), (member((S,E), All), E \\= inf, Bound =< E - S), Long).
"""


def read(text: str) -> EventDescription:
    description, findings = read_text(text)
    assert not findings, findings[0].render()
    return description


def duration(definition: str, use: str) -> Duration:
    text = f"{definition}\nholdsFor(h=true, I) :- holdsFor(f=true, J), {use}."
    (rule,) = read(text).rules
    assert isinstance(rule, HoldsForRule)
    literal = rule.body.items[1]
    assert isinstance(literal, Duration)
    return literal


@pytest.mark.parametrize(
    ("definition", "use", "op", "open_counts"),
    [
        (MEASURED, "intDurGreater(J, 6, I)", ">", True),
        (CLOSED_ONLY, "intDurLess(J, 6, I)", "<", False),
        (OPEN_PASS, "intDurGreater(J, 6, I)", ">", True),
        (OTHER_NAME, "atLeast(6, I, J)", ">=", False),
        ("", "intDurLess(J, 6, I)", "<", True),
    ],
    ids=["measured", "closed only", "open pass", "other name", "built in"],
)
def test_duration_filters(definition: str, use: str, op: str, open_counts: bool) -> None:
    literal = duration(definition, use)
    assert (literal.op, literal.open_counts, literal.bound) == (op, open_counts, Int(6))
    assert str(literal.intervals) == "Var(name='J')"
    assert str(literal.result) == "Var(name='I')"


def test_a_duration_filter_that_is_not_understood_is_replaced_with_a_warning() -> None:
    text = "durLess([], _, []).\ndurLess([X|L], D, M) :- mine(X, D), durLess(L, D, M)."
    description, findings = read_text(text)
    assert [finding.code for finding in findings] == ["H122"]
    assert description.rules == []


def test_other_predicates_of_three_arguments_stay() -> None:
    description = read("fmod(A, B, M) :- Div is A / B, M is A - floor(Div) * B.")
    assert [type(rule) for rule in description.rules] == [BackgroundRule]


def test_own_facts_win_over_a_built_in_of_the_same_name() -> None:
    description = read("length(ship, 120).\nlong(X) :- length(X, L), L > 100.")
    assert description.facts[("length", 2)].rows == [(Atom("ship"), Int(120))]
    (rule,) = description.rules
    assert isinstance(rule, BackgroundRule)
    assert isinstance(rule.body.items[0], Call)


def test_a_cut_that_only_saves_work_is_passed_over() -> None:
    text = (
        "holdsFor(moving(P, Q)=true, I) :-\n"
        "    holdsFor(walking(P)=true, I1), \\+ I1=[], !,\n"
        "    holdsFor(walking(Q)=true, I2), intersect_all([I1, I2], I).\n"
        "holdsFor(moving(_P, _Q)=true, []).\n"
    )
    description, findings = read_text(text)
    assert [finding.code for finding in findings] == ["H123"]
    (rule,) = description.rules
    assert isinstance(rule, HoldsForRule)
    assert len(rule.body.items) == 4


@pytest.mark.parametrize("second", ["h=true", "h=_", "h=V"])
def test_a_cut_that_hides_another_rule_is_refused(second: str) -> None:
    text = (
        "holdsFor(h=true, I) :- holdsFor(a=true, I), !.\n"
        f"holdsFor({second}, I) :- holdsFor(b=true, I).\n"
    )
    assert [finding.code for finding in read_text(text)[1]] == ["H114"]


def test_a_cut_beside_another_value_is_passed_over() -> None:
    text = (
        "holdsFor(h=true, I) :- holdsFor(a=true, I), !.\n"
        "holdsFor(h=false, I) :- holdsFor(b=true, I).\n"
    )
    assert [finding.code for finding in read_text(text)[1]] == ["H123"]
