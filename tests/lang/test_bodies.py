"""Every form of condition, and what it becomes."""

from __future__ import annotations

import pytest

from horai.lang.core.printer import show
from horai.lang.core.terms import Constant, Int, Var
from horai.lang.ec.reader import read_text
from horai.lang.ec.syntax import (
    AggregateAll,
    Allen,
    Call,
    Compare,
    Conjunction,
    Disjunction,
    DurationFilter,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    IntervalOp,
    Is,
    Literal,
    Negation,
    TerminatedAt,
    TruthValue,
    conjuncts,
)


def body(text: str, more: str = "") -> Conjunction:
    description, findings = read_text(f"r :- {text}.\n{more}")
    assert not findings, findings[0].render()
    found: Conjunction = description.rules[0].body  # type: ignore[union-attr]
    return found


def one(text: str, more: str = "") -> Literal:
    (literal,) = body(text, more).items
    return literal


def test_events_and_fluents() -> None:
    literal = one("happensAt(go(X, pub), T)")
    assert isinstance(literal, Happens)
    assert (show(literal.event), literal.time) == ("go(X, pub)", Var("T"))
    literal = one("holdsAt(loc(X)=pub, 5)")
    assert isinstance(literal, HoldsAt)
    assert (show(literal.fvp.term), literal.time) == ("loc(X)=pub", Int(5))
    literal = one("holdsFor(loc(X)=_, I)")
    assert isinstance(literal, HoldsFor)
    assert literal.intervals == Var("I")
    literal = one("initiatedAt(f=true, T)")
    assert isinstance(literal, InitiatedAt)
    assert literal.bounds is None
    literal = one("terminatedAt(f=true, T1, T, T2)")
    assert isinstance(literal, TerminatedAt)
    assert (literal.time, literal.bounds) == (Var("T"), (Var("T1"), Var("T2")))


@pytest.mark.parametrize("kind", ["start", "end", "startI", "endI"])
def test_edges(kind: str) -> None:
    literal = one(f"happensAt({kind}(gap(V)=_), T)")
    assert isinstance(literal, Edge)
    assert (literal.kind, show(literal.fvp.fluent)) == (kind, "gap(V)")


def test_an_event_called_start_with_two_arguments_is_an_event() -> None:
    assert isinstance(one("happensAt(start(race, X), T)"), Happens)


@pytest.mark.parametrize("text", ["\\+ p(X)", "not p(X)", "not(p(X))", "\\+(p(X))"])
def test_negation(text: str) -> None:
    literal = one(text)
    assert isinstance(literal, Negation)
    assert isinstance(literal.item, Call)


def test_negated_conjunction() -> None:
    literal = one("\\+ (p(X), q(X))")
    assert isinstance(literal, Negation)
    assert isinstance(literal.item, Conjunction)
    assert len(literal.item.items) == 2


def test_disjunction() -> None:
    literal = one("(a ; b, c ; d)")
    assert isinstance(literal, Disjunction)
    assert [type(item) for item in literal.items] == [Call, Conjunction, Call]


def test_if_then_else() -> None:
    literal = one("(T > 5 -> true ; fail)")
    assert isinstance(literal, IfThenElse)
    assert isinstance(literal.condition, Compare)
    assert isinstance(literal.then, TruthValue)
    assert literal.then.value
    assert isinstance(literal.otherwise, TruthValue)
    assert not literal.otherwise.value
    literal = one("(a -> b)")
    assert isinstance(literal, IfThenElse)
    assert literal.otherwise == TruthValue(False, Constant("fail"))
    literal = one("(a -> b ; c -> d ; e)")
    assert isinstance(literal, IfThenElse)
    assert isinstance(literal.otherwise, IfThenElse)
    literal = one("(a ; b -> c ; d)")
    assert isinstance(literal, Disjunction)
    assert [type(item) for item in literal.items] == [Call, IfThenElse]


def test_nested_conjunctions_are_one_body() -> None:
    assert len(body("(a, b), (c, (d, e))").items) == 5
    assert len(list(conjuncts(body("a, (b, c)")))) == 3


@pytest.mark.parametrize("name", ["true", "fail", "false"])
def test_truth(name: str) -> None:
    literal = one(name)
    assert isinstance(literal, TruthValue)
    assert literal.value is (name == "true")


@pytest.mark.parametrize(
    "op", ["<", ">", "=<", ">=", "=:=", "=\\=", "=", "\\=", "==", "\\==", "@<", "@>", "@=<", "@>="]
)
def test_comparisons(op: str) -> None:
    literal = one(f"X {op} Y + 1")
    assert isinstance(literal, Compare)
    assert (literal.op, show(literal.left), show(literal.right)) == (op, "X", "Y+1")


def test_arithmetic() -> None:
    literal = one("T0 is max(T - 6, abs(X) mod 3)")
    assert isinstance(literal, Is)
    assert (literal.target, show(literal.expression)) == (Var("T0"), "max(T-6, abs(X) mod 3)")


def test_findall() -> None:
    literal = one("findall(V, holdsAt(voted(V, M)=aye, T), L)")
    assert isinstance(literal, FindAll)
    assert isinstance(literal.goal, HoldsAt)
    assert literal.result == Var("L")
    literal = one("findall(V, M^N^p(V, M, N), L)")
    assert isinstance(literal, FindAll)
    assert isinstance(literal.goal, Call)


@pytest.mark.parametrize("kind", ["sum", "max", "min", "bag", "set"])
def test_aggregates(kind: str) -> None:
    literal = one(f"aggregate_all({kind}(X), (p(X), X > 3), R)")
    assert isinstance(literal, AggregateAll)
    assert (literal.kind, literal.template) == (kind, Var("X"))
    assert isinstance(literal.goal, Conjunction)


def test_count() -> None:
    literal = one("aggregate_all(count, p(_), N)")
    assert isinstance(literal, AggregateAll)
    assert (literal.kind, literal.template) == ("count", None)


@pytest.mark.parametrize("kind", ["union_all", "intersect_all", "complement_all"])
def test_interval_operations(kind: str) -> None:
    literal = one(f"{kind}([I1, I2], I)")
    assert isinstance(literal, IntervalOp)
    assert (literal.kind, literal.base, show(literal.lists)) == (kind, None, "[I1, I2]")
    literal = one(f"{kind}(L, I)")
    assert isinstance(literal, IntervalOp)


def test_relative_complement() -> None:
    literal = one("relative_complement_all(I1, [I2], I)")
    assert isinstance(literal, IntervalOp)
    assert (literal.base, literal.result) == (Var("I1"), Var("I"))


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("intDurGreater", ">"),
        ("intDurLess", "<"),
        ("intDurGreaterEq", ">="),
        ("intDurLessEq", "=<"),
        ("durGreater", ">"),
        ("durLess", "<"),
        ("durGreaterEq", ">="),
        ("durLessEq", "=<"),
    ],
)
def test_durations(name: str, op: str) -> None:
    literal = one(f"{name}(I1, 60, I)")
    assert isinstance(literal, DurationFilter)
    assert (literal.op, literal.bound, literal.open_counts) == (op, Int(60), True)


@pytest.mark.parametrize(
    "relation", ["before", "meets", "starts", "finishes", "during", "overlaps", "equal"]
)
def test_allen_relations(relation: str) -> None:
    literal = one(f"{relation}(A, B, union, I)")
    assert isinstance(literal, Allen)
    assert (literal.relation, literal.source, literal.target) == (relation, Var("A"), Var("B"))
    named = one(f"allen({relation}, A, B, union, I)")
    assert isinstance(named, Allen)
    assert (named.relation, named.mode, named.result) == (relation, "union", Var("I"))


@pytest.mark.parametrize(
    ("written", "mode"),
    [
        ("source", "source"),
        ("lhs", "source"),
        ("target", "target"),
        ("rhs", "target"),
        ("union", "union"),
        ("intersection", "intersection"),
        ("relative_complement", "relative_complement"),
        ("relative_complement_inverse", "relative_complement_inverse"),
    ],
)
def test_allen_modes(written: str, mode: str) -> None:
    literal = one(f"during(A, B, {written}, I)")
    assert isinstance(literal, Allen)
    assert literal.mode == mode


def test_allen_names_may_be_the_users() -> None:
    assert isinstance(one("before(A, B)"), Call)
    assert isinstance(one("before(A, B, C, D)", "before(a, b, c, d)."), Call)
    assert isinstance(one("before(A, B, union, D)", "before(a, b, c, d)."), Allen)


def test_calls() -> None:
    literal = one("inRange(V, 0, Max)")
    assert isinstance(literal, Call)
    assert literal.key == ("inRange", 3)
    assert isinstance(one("quiet"), Call)
    assert isinstance(one("call(p(X))"), Call)
    assert isinstance(one("call((a, b))"), Conjunction)
    assert isinstance(one("queryTime(Q)"), Call)
    assert isinstance(one("member(X, [a, b])"), Call)
    assert isinstance(one("'Odd name'(X)"), Call)


def test_forall_is_a_double_negation() -> None:
    literal = one("forall(p(X), q(X))")
    assert isinstance(literal, Negation)
    assert show(literal.term) == "\\+ (p(X), \\+ q(X))"


def test_the_index_before_a_fluent_is_passed_over() -> None:
    literal = one("holdsFor(V, gap(V)=_, I)")
    assert isinstance(literal, HoldsFor)
    assert show(literal.term) == "holdsFor(gap(V)=_, I)"


def test_a_grounding_in_a_body_is_always_true() -> None:
    assert isinstance(one("grounding(f(X)=true)"), TruthValue)
