"""Literal order: every literal comes when what it needs is bound."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.plan.support import described, example

from horai.lang.core.printer import show
from horai.lang.core.terms import variables
from horai.lang.ec.syntax import (
    AggregateAll,
    Call,
    Compare,
    Conjunction,
    Disjunction,
    FindAll,
    Happens,
    HoldsAt,
    Is,
    Literal,
    Negation,
)
from horai.plan.ec.literal_order import Ordering, order_body
from horai.plan.ec.modes import ModeTable, PythonPredicate
from horai.plan.ec.predicates import find_predicates, mode_table
from horai.plan.ec.rule_order import Orderer, RuleOrder, times_found_by_holding

BACKGROUND = """
person(chris). pair(a, b).
inRange(V, Min, Max) :- V > Min, V < Max.
diff(A, B, C) :- D is A - B, C is abs(D).
"""


def order(body: str, bound: str = "", head: str = "") -> Ordering:
    description = described(f"{BACKGROUND}probe :- {body}.")
    table = mode_table(find_predicates(description), [PythonPredicate("near", 2), "wild"])
    rule = description.rules[-1]
    parsed = rule.body  # type: ignore[union-attr]
    table = replace(table, ranging=True)  # as in a rule for interval lists
    return order_body(parsed, bound.split(), table, head.split())


def shown(ordering: Ordering) -> list[str]:
    return [show(literal.term) for literal in ordering.body.items]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "\\+ happensAt(b(X), T), happensAt(a(X), T)",
            ["happensAt(a(X), T)", "\\+ happensAt(b(X), T)"],
        ),
        (
            "S > 3, happensAt(v(X, S), T)",
            ["happensAt(v(X, S), T)", "S > 3"],
        ),
        (
            "C > 3, diff(S, 9, C), happensAt(v(X, S), T)",
            ["happensAt(v(X, S), T)", "diff(S, 9, C)", "C > 3"],
        ),
        (
            "union_all([I1, I2], I), holdsFor(f(X)=true, I1), holdsFor(g(X)=true, I2)",
            ["holdsFor(f(X)=true, I1)", "holdsFor(g(X)=true, I2)", "union_all([I1, I2], I)"],
        ),
        (
            "holdsAt(f(X)=true, T), happensAt(a(X), T)",
            ["happensAt(a(X), T)", "holdsAt(f(X)=true, T)"],
        ),
        (
            "person(Y), pair(X, Y), happensAt(a(X), T)",
            ["happensAt(a(X), T)", "pair(X, Y)", "person(Y)"],
        ),
        ("X = Y, Y = 3", ["Y = 3", "X = Y"]),
        ("L = [1, 2], member(X, L)", ["L=[1, 2]", "member(X, L)"]),
        ("length(L, N), findall(X, person(X), L)", ["findall(X, person(X), L)", "length(L, N)"]),
    ],
)
def test_order(body: str, expected: list[str]) -> None:
    ordering = order(body)
    assert ordering.ok
    assert [s.replace(" ", "") for s in shown(ordering)] == [s.replace(" ", "") for s in expected]


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        ("X > 3", {"X"}),
        ("Y is X + 1", {"X"}),
        ("X = Y", {"X", "Y"}),
        ("inRange(X, 1, 2)", {"X"}),
        ("diff(X, 1, D)", {"X"}),
        ("between(1, N, X)", {"N"}),
        ("member(X, L)", {"L"}),
        ("near(X, Y)", {"X", "Y"}),
        ("near(X, Y, Z)", {"X", "Y"}),
        ("wild(X)", {"X"}),
        ("union_all([I1], I)", {"I1"}),
        ("\\+ person(X), X > 3", {"X"}),
        ("happensAt(a, T), (holdsAt(f(Y)=true, T) -> X > 3 ; true)", {"X"}),
        ("happensAt(a, T), (X = 1 ; Y = 2), X > 0", {"X"}),
        ("findall(Z, person(X), L)", {"Z"}),
    ],
)
def test_what_cannot_be_evaluated_says_what_it_waits_for(body: str, missing: set[str]) -> None:
    ordering = order(body)
    assert not ordering.ok
    assert missing in [set(stuck.missing) for stuck in ordering.stuck]


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("person(X)", {"X"}),
        ("near(1, 2, Z)", {"Z"}),
        ("X = f(Y, Z), Y = 1, Z = 2", {"X", "Y", "Z"}),
        ("(happensAt(a(X), T) ; happensAt(b(X, Y), T))", {"X", "T"}),
        ("(person(X) -> Y = 1 ; Y = 2)", {"Y"}),
        ("(person(X), Y = 1 ; fail)", {"X", "Y"}),
        ("findall(X, person(X), L)", {"L"}),
        ("aggregate_all(count, person(X), N)", {"N"}),
        ("\\+ person(X)", set()),
        ("queryTime(Q), D is Q - 1", {"Q", "D"}),
    ],
)
def test_what_is_bound_at_the_end(body: str, bound: set[str]) -> None:
    ordering = order(body)
    assert ordering.ok
    assert ordering.bound == bound


def test_names_of_separate_aggregates_and_negations_do_not_meet() -> None:
    assert order("findall(X, person(X), L), findall(X, pair(X, _), M)").ok
    assert order("happensAt(a, T), \\+ happensAt(b(Y), T), \\+ happensAt(c(Y), T)").ok


def test_a_variable_of_the_head_is_not_local_to_a_negation() -> None:
    assert order("happensAt(a, T), \\+ happensAt(b(Y), T)").ok
    assert not order("happensAt(a, T), \\+ happensAt(b(Y), T)", head="Y T").ok
    assert order("happensAt(a, T), \\+ happensAt(b(Y), T)", bound="Y", head="Y T").ok


def test_nested_parts_are_ordered_too() -> None:
    ordering = order("happensAt(a(X), T), \\+ (S > 3, happensAt(v(X, S), T))")
    negation = ordering.body.items[-1]
    assert isinstance(negation, Negation) and isinstance(negation.item, Conjunction)
    assert isinstance(negation.item.items[0], Happens)


# --- whole rules --------------------------------------------------------------------------------


def rule_order(text: str) -> RuleOrder:
    description = described(text)
    return Orderer(description).order(description.rules[0])


def test_a_grounding_binds_what_the_body_cannot() -> None:
    rule = "initiatedAt(f(X)=true, T) :- happensAt(tick, T), \\+ holdsAt(g(X)=true, T).\n"
    assert not rule_order(rule).ok
    with_grounding = rule_order(f"{rule}grounding(f(X)=true) :- person(X).\nperson(a).")
    assert with_grounding.ok
    assert with_grounding.from_grounding == {"X"}


def test_a_grounding_is_not_used_where_the_body_is_enough() -> None:
    text = "initiatedAt(f(X)=true, T) :- happensAt(a(X), T).\ngrounding(f(X)=true) :- p(X).\np(a)."
    assert rule_order(text).from_grounding == frozenset()


def test_an_argument_left_open_by_a_grounding_stays_open() -> None:
    text = "initially(f(X, Y)=true).\ngrounding(f(X, _)=true) :- p(X).\np(a)."
    assert [var.name for var in rule_order(text).unbound] == ["Y"]


def test_an_open_value_of_a_termination_means_every_value() -> None:
    assert rule_order("terminatedAt(f(X)=_V, T) :- happensAt(a(X), T).").ok


def test_the_origin_of_a_delayed_effect_is_given() -> None:
    text = """
    fi(f(X)=a, g(X, Y)=b, R) :- holdsAt(h(X)=Y, T), delay(Y, R).
    delay(k, 3).
    """
    assert rule_order(text).ok


def test_a_time_found_by_holding_is_seen() -> None:
    order_ = rule_order("initiatedAt(f(X)=true, T) :- holdsAt(g(X)=true, T).")
    assert order_.ok
    assert len(times_found_by_holding(order_)) == 1
    order_ = rule_order("initiatedAt(f(X)=true, T) :- holdsAt(g(X)=true, T), happensAt(a, T).")
    assert times_found_by_holding(order_) == []


@pytest.mark.parametrize("name", ["netbill", "maritime", "voting", "surveillance"])
def test_every_rule_of_the_examples_can_be_ordered(name: str) -> None:
    description = example(name)
    orderer = Orderer(description)
    assert [rule for rule in description.rules if not orderer.order(rule).ok] == []


# --- random bodies ------------------------------------------------------------------------------

names_ = st.sampled_from(["A", "B", "C", "D", "E"])
simple = st.one_of(
    st.tuples(names_, names_).map(lambda p: f"happensAt(e({p[0]}), {p[1]})"),
    st.tuples(names_, names_).map(lambda p: f"holdsAt(f({p[0]})=true, {p[1]})"),
    st.tuples(names_, names_).map(lambda p: f"{p[0]} < {p[1]}"),
    st.tuples(names_, names_).map(lambda p: f"{p[0]} = {p[1]}"),
    st.tuples(names_, names_, names_).map(lambda p: f"{p[0]} is {p[1]} + {p[2]}"),
    names_.map(lambda n: f"person({n})"),
    st.tuples(names_, names_, names_).map(lambda p: f"diff({p[0]}, {p[1]}, {p[2]})"),
    st.tuples(names_, names_, names_).map(lambda p: f"inRange({p[0]}, {p[1]}, {p[2]})"),
)
nested = st.recursive(
    simple,
    lambda inner: st.one_of(
        inner.map(lambda b: f"\\+ ({b})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]} ; {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]}, {p[1]})"),
        st.tuples(names_, inner, names_).map(lambda p: f"findall({p[0]}, ({p[1]}), {p[2]})"),
    ),
    max_leaves=4,
)


@given(st.lists(nested, min_size=1, max_size=6).map(", ".join))
def test_the_order_found_can_be_executed(body: str) -> None:
    ordering = order(body)
    bound = execute(list(ordering.body.items), frozenset())
    assert bound == ordering.bound


@given(st.lists(simple, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_written_does_not_matter(parts: list[str], random: object) -> None:
    other = list(parts)
    random.shuffle(other)  # type: ignore[attr-defined]
    first, second = order(", ".join(parts)), order(", ".join(other))
    assert first.ok == second.ok
    assert first.bound == second.bound


def execute(items: list[Literal], bound: frozenset[str]) -> frozenset[str]:
    """Run a body from left to right, knowing only what each kind of literal needs."""
    for item in items:
        bound |= run(item, bound)
    return bound


def run(item: Literal, bound: frozenset[str]) -> frozenset[str]:
    mine = frozenset(variables(item.term))
    match item:
        case Happens() | HoldsAt():
            return mine
        case Compare(op="=", left=left, right=right):
            assert set(variables(left)) <= bound or set(variables(right)) <= bound
            return mine
        case Compare():
            assert mine <= bound
            return mine
        case Is(expression=expression):
            assert set(variables(expression)) <= bound
            return mine
        case Call(name="person"):
            return mine
        case Call(name="inRange"):
            assert mine <= bound
            return mine
        case Call(name="diff", args=args):
            assert {*variables(args[0]), *variables(args[1])} <= bound
            return mine
        case Negation(item=inner):
            execute([inner], bound)
            return frozenset()
        case Conjunction(items=items):
            return execute(list(items), bound)
        case Disjunction(items=items):
            ends = [execute([branch], bound) for branch in items]
            return frozenset.intersection(*ends)
        case FindAll(goal=goal, result=result) | AggregateAll(goal=goal, result=result):
            execute([goal], bound)
            return frozenset(variables(result))
        case _:
            raise AssertionError(f"not generated: {item}")


def test_without_a_table_every_call_binds() -> None:
    body = Conjunction((Call("p", (), described("p :- q.").rules[0].clause.head),), None)  # type: ignore[arg-type]
    assert order_body(body, (), ModeTable()).ok
