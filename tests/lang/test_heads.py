"""Every form of head, and what it becomes."""

from __future__ import annotations

import pytest

from horai.lang.core.printer import show
from horai.lang.core.terms import Compound, Constant, Int, Var
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import (
    FVP,
    BackgroundRule,
    Declaration,
    DynamicDomain,
    EventDescription,
    EventRule,
    FutureInitiation,
    FutureTermination,
    Grounding,
    Happens,
    HoldsAt,
    HoldsAtRule,
    HoldsForRule,
    Initially,
    Initiation,
    InputFluent,
    Postponable,
    Rule,
    Termination,
)


def read(text: str) -> EventDescription:
    description, findings = read_text(text)
    assert not findings, findings[0].render()
    return description


def one(text: str) -> Rule:
    (rule,) = read(text).rules
    return rule


def pair(fvp: FVP) -> str:
    return f"{show(fvp.fluent)}={show(fvp.value)}"


def test_initiation_and_termination() -> None:
    rule = one("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T), vip(X).")
    assert isinstance(rule, Initiation)
    assert (pair(rule.fvp), rule.time, rule.bounds) == ("rich(X)=true", Var("T"), None)
    assert [show(item.term) for item in rule.body.items] == ["happensAt(win(X), T)", "vip(X)"]
    assert show(rule.body.term) == "happensAt(win(X), T), vip(X)"
    rule = one("terminatedAt(gap(V)=_Status, T) :- happensAt(gap_end(V), T).")
    assert isinstance(rule, Termination)
    assert rule.fvp.value == Var("_Status")


def test_initiation_in_a_range() -> None:
    rule = one("initiatedAt(f=true, T1, T, T2) :- initiatedAt(g=true, T1, T, T2).")
    assert isinstance(rule, Initiation)
    assert (rule.time, rule.bounds) == (Var("T"), (Var("T1"), Var("T2")))
    rule = one("terminatedAt(f=true, 0, T, 9) :- happensAt(e, T).")
    assert isinstance(rule, Termination)
    assert rule.bounds == (Int(0), Int(9))


def test_initiation_at_a_given_time_needs_no_body() -> None:
    rule = one("initiatedAt(f=true, 5).")
    assert isinstance(rule, Initiation)
    assert (rule.time, rule.body.items) == (Int(5), ())


def test_initiates_has_the_event_as_first_condition() -> None:
    rule = one("initiates(a(X), f(X)=true, T).")
    assert isinstance(rule, Initiation)
    assert rule.time == Var("T")
    (first,) = rule.body.items
    assert isinstance(first, Happens)
    assert show(first.term) == "happensAt(a(X), T)"
    rule = one("terminates(a(X), f(X)=V, _) :- holdsAt(g(X)=V, T), vip(X).")
    assert isinstance(rule, Termination)
    assert [type(item) for item in rule.body.items][:2] == [Happens, HoldsAt]
    assert isinstance(rule.body.items[0], Happens)
    assert rule.body.items[0].time == rule.time


def test_initially() -> None:
    rule = one("initially(f(X)=true) :- p(X).")
    assert isinstance(rule, Initially)
    assert pair(rule.fvp) == "f(X)=true"
    rule = one("initially(punctuality(_, _)=punctual).")
    assert isinstance(rule, Initially)
    assert rule.body.items == ()


def test_events() -> None:
    rule = one("happensAt(both(X), T) :- happensAt(a(X), T), happensAt(b(X), T).")
    assert isinstance(rule, EventRule)
    assert (rule.event, rule.time) == (Compound("both", (Var("X"),)), Var("T"))
    rule = one("happensAt(boot, 0).")
    assert isinstance(rule, EventRule)
    assert (rule.event, rule.time) == (Constant("boot"), Int(0))


def test_statically_determined_fluents() -> None:
    rule = one("holdsFor(h(X)=true, I) :- holdsFor(f(X)=true, I).")
    assert isinstance(rule, HoldsForRule)
    assert rule.intervals == Var("I")
    rule = one("holdsAt(h(X)=true, T) :- holdsAt(f(X)=true, T), \\+ holdsAt(g(X)=true, T).")
    assert isinstance(rule, HoldsAtRule)
    assert rule.time == Var("T")


def test_delayed_effects() -> None:
    rule = one("fi(f(X)=true, f(X)=false, 4).")
    assert isinstance(rule, FutureInitiation)
    assert (pair(rule.origin), pair(rule.target), rule.delay) == (
        "f(X)=true",
        "f(X)=false",
        Int(4),
    )
    rule = one("fi(f(X)=true, g(X)=on, R) :- delay(X, R).")
    assert isinstance(rule, FutureInitiation)
    assert rule.delay == Var("R")
    rule = one("ft(f(X)=true, 10) :- holdsAt(g(X)=true, T).")
    assert isinstance(rule, FutureTermination)
    assert rule.delay == Int(10)
    rule = one("p(f(_)=true).")
    assert isinstance(rule, Postponable)
    assert pair(rule.fvp) == "f(_)=true"


def test_older_names_of_delayed_effects() -> None:
    kinds = [type(rule) for rule in read("maxDuration(f=true, f=false, 5).").rules]
    assert kinds == [FutureInitiation]
    text = "maxDurationUE(f(X)=true, f(X)=false, R) :- limit(R), grounding(f(X)=true)."
    first, second = read(text).rules
    assert isinstance(first, FutureInitiation)
    assert isinstance(second, Postponable)
    assert pair(second.fvp) == "f(X)=true"


def test_p_of_anything_else_is_background() -> None:
    description = read("p(x). p(X) :- q(X). grounding(a(X)) :- p(X).")
    assert list(description.facts) == [("p", 1)]
    assert [type(rule) for rule in description.rules] == [BackgroundRule, Grounding]


def test_groundings() -> None:
    rule = one("grounding(loc(P)=V) :- person(P), place(V).")
    assert isinstance(rule, Grounding)
    assert (show(rule.entity), rule.value) == ("loc(P)", Var("V"))
    rule = one("grounding(go(P, _)) :- person(P).")
    assert isinstance(rule, Grounding)
    assert (show(rule.entity), rule.value) == ("go(P, _)", None)
    rule = one("grounding(up).")
    assert isinstance(rule, Grounding)
    assert rule.body.items == ()


def test_dynamic_domain() -> None:
    rule = one("dynamicDomain(vpair(_V1, _V2)).")
    assert isinstance(rule, DynamicDomain)
    assert rule.domain.name == "vpair"


@pytest.mark.parametrize(
    ("name", "form"),
    [("collectIntervals", "intervals"), ("points", "points"), ("buildFromPoints", "points")],
)
def test_input_fluents(name: str, form: str) -> None:
    rule = one(f"{name}(near(_, _)=true).")
    assert isinstance(rule, InputFluent)
    assert (rule.form, pair(rule.fvp)) == (form, "near(_, _)=true")


def test_no_input_fluents() -> None:
    assert isinstance(one("buildFromPoints(_) :- fail."), Declaration)


@pytest.mark.parametrize(
    "text",
    [
        "index(go(P, _), P).",
        "inputEntity(go(_, _)).",
        "outputEntity(loc(_)=_).",
        "internalEntity(near(_)=true).",
        "event(go(_, _)).",
        "simpleFluent(loc(_)=home).",
        "sDFluent(happy(_)=true).",
        "cachingOrder(loc(_)=_).",
        "cachingOrder2(P, loc(P)=home) :- person(P).",
        "cyclic(loc(_)=home).",
        "dgrounded(loc(P)=_, person(P)).",
        "needsGrounding(_, _, _) :- fail.",
    ],
)
def test_declarations(text: str) -> None:
    rule = one(text)
    assert isinstance(rule, Declaration)
    assert text.startswith(rule.name)


def test_declarations_that_are_asked_for_are_facts_too() -> None:
    description = read("event(fire). event(_). alarm(X) :- event(X).")
    assert ("event", 1) in description.facts
    assert description.facts[("event", 1)].rows == [(Constant("fire"),)]
    kinds = [type(rule).__name__ for rule in description.rules]
    assert sorted(kinds) == ["BackgroundRule", "BackgroundRule", "Declaration", "Declaration"]


def test_everyday_words_with_other_arguments_are_background() -> None:
    description = read("event(fire, 3). index(a). points(team, 5). cyclic(gear). p(a, b).")
    assert set(description.facts) == {
        ("event", 2),
        ("index", 1),
        ("points", 2),
        ("cyclic", 1),
        ("p", 2),
    }


def test_background() -> None:
    description = read("near(A, B) :- dist(A, B, D), D < 5.\ndist(a, b, 3).\nany(_, _).\nquiet.")
    assert [type(rule) for rule in description.rules] == [BackgroundRule, BackgroundRule]
    assert set(description.facts) == {("dist", 3), ("quiet", 0)}


def test_rules_know_their_clause() -> None:
    text = "% one\ninitiatedAt(f=true, T) :- happensAt(e, T)."
    rule = one(text)
    start, end = rule.clause.span
    assert rule.clause.source.text[start:end] == text.splitlines()[1]
