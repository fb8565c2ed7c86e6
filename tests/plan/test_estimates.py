"""Estimated rows: the model is simple, so small cases can be worked by hand."""

import pytest

from horai.lang.core.terms import Constant, Var
from horai.plan import operators as op
from horai.plan.ec.estimates import UNIT, EstimatedRows, InputSize, Size, Source, join
from horai.plan.ec.outline import OperatorOutline, PlanOutline, RuleOutline, outline
from horai.plan.pipeline import compile_program

from .support import described

FACTS = "area(a1, port).\narea(a2, port).\narea(a3, coast).\narea(a4, coast).\n"


def planned(text: str, inputs: dict[Source, InputSize] | None = None) -> PlanOutline:
    return outline(compile_program(described(text)), inputs)


def rules(text: str, inputs: dict[Source, InputSize] | None = None) -> list[RuleOutline]:
    return [rule for one in planned(text, inputs).components for rule in one.rules]


def rows(rule: RuleOutline) -> list[float]:
    return [round(one.estimate, 1) for part in rule.parts for one in part.operators]


def test_a_join_keeps_one_pair_in_as_many_as_there_are_values() -> None:
    table = EstimatedRows(1000, {"X": 100.0})
    found = join(table, Size(50, (50.0, 5.0)), (Var("X"), Var("Y")))
    assert found.rows == 1000 * 50 / 100
    assert found.distinct == {"X": 50.0, "Y": 5.0}


def test_a_constant_selects() -> None:
    found = join(EstimatedRows(), Size(40, (4.0, 10.0)), (Constant("a"), Var("Y")))
    assert found.rows == 10


def test_no_more_combinations_than_rows() -> None:
    """Two columns that are joined by together do not select twice."""
    table = EstimatedRows(1000, {"X": 100.0, "Y": 100.0})
    found = join(table, Size(1000, (100.0, 100.0)), (Var("X"), Var("Y")))
    assert found.rows == 1000


def test_without_an_input_every_type_has_a_thousand_items() -> None:
    (rule,) = rules("initiatedAt(on(X)=true, T) :- happensAt(up(X), T).")
    assert rows(rule) == [UNIT]
    assert rule.estimate == UNIT


def test_with_an_input_items_are_counted() -> None:
    sizes: dict[Source, InputSize] = {("event", ("up", 1)): InputSize(7, (3,), 7)}
    text = "initiatedAt(on(X)=true, T) :- happensAt(up(X), T).\n"
    text += "terminatedAt(on(X)=true, T) :- happensAt(down(X), T).\n"
    begin, end = rules(text, sizes)
    assert (begin.estimate, end.estimate) == (7, 0)


def test_facts_are_counted() -> None:
    sizes: dict[Source, InputSize] = {("event", ("enters", 2)): InputSize(60, (5, 4), 60)}
    head = "initiatedAt(within(V, K)=true, T) :- happensAt(enters(V, A), T), "
    (every,) = rules(f"{head}area(A, K).\n{FACTS}", sizes)
    assert rows(every) == [60, 60]
    (ports,) = rules(f"{head}area(A, K), K = port.\n{FACTS}", sizes)
    assert rows(ports)[-1] == 30
    inside = "initiatedAt(inside(V)=true, T) :- happensAt(enters(V, A), T), area(A, port).\n"
    (named,) = rules(inside + FACTS, sizes)
    assert rows(named) == [60, 30]


def test_relations_with_rules_are_estimated_from_them() -> None:
    text = "initiatedAt(f(K)=true, T) :- happensAt(e, T), kind(K).\nkind(K) :- area(_, K).\n"
    (rule,) = rules(text + FACTS, {("event", ("e", 0)): InputSize(3, (), 3)})
    assert rows(rule) == [3, 6]


@pytest.mark.parametrize(
    ("condition", "part"),
    [("S > 3", 1 / 3), ("S \\= 3", 9 / 10), ("S =:= 3", 1 / 10), ("fail", 0), ("true", 1)],
)
def test_comparisons_keep_a_part(condition: str, part: float) -> None:
    (rule,) = rules(f"initiatedAt(f(X)=true, T) :- happensAt(e(X, S), T), {condition}.")
    assert rows(rule)[-1] == round(UNIT * part, 1)


def test_a_fluent_holds_half_of_the_time_and_its_negation_the_other_half() -> None:
    sizes: dict[Source, InputSize] = {
        ("event", ("up", 1)): InputSize(10, (10,), 10),
        ("event", ("look", 1)): InputSize(100, (10,), 100),
    }
    text = "initiatedAt(on(X)=true, T) :- happensAt(up(X), T).\n"
    text += "happensAt(seen(X), T) :- happensAt(look(X), T), holdsAt(on(X)=true, T).\n"
    text += "happensAt(unseen(X), T) :- happensAt(look(X), T), \\+ holdsAt(on(X)=true, T).\n"
    _, seen, unseen = rules(text, sizes)
    assert rows(seen) == [100, 50]
    assert rows(unseen) == [100, 50]


def test_branches_add_up_and_a_limited_time_is_counted_once() -> None:
    text = "happensAt(both(X), T) :- (happensAt(a(X), T) ; happensAt(b(X), T)).\n"
    text += (
        "happensAt(near(X), T) :- happensAt(a(X), T), happensAt(b(X), T0), T0 < T, T - T0 < 9.\n"
    )
    both, near = rules(text)
    assert rows(both) == [2 * UNIT]
    _, second, *filters = rows(near)
    assert second == pytest.approx(UNIT * UNIT / 100 / 9, abs=0.1)
    assert filters == [second, second]


def test_a_cycle_is_estimated_in_a_few_rounds() -> None:
    text = "initiatedAt(f(X)=a, T) :- happensAt(e(X), T), \\+ holdsAt(f(X)=a, T).\n"
    text += "fi(f(X)=a, f(X)=b, 5).\n"
    begin, later = rules(text)
    assert 0 < begin.estimate <= UNIT
    assert 0 < later.estimate <= 4 * UNIT


def test_recursion_ends() -> None:
    text = "initiatedAt(f(X)=N, T) :- happensAt(e(X, L), T), total(L, N).\n"
    text += "total([], 0).\ntotal([H | R], N) :- total(R, M), N is M + H.\n"
    (rule,) = rules(text)

    def inner(one: OperatorOutline) -> list[OperatorOutline]:
        below = [step for part in one.inside for step in part.operators]
        return [one, *(deep for step in below for deep in inner(step))]

    notes = [one.note for part in rule.parts for top in part.operators for one in inner(top)]
    assert "calls itself" in notes
    assert rule.estimate > 0


def test_every_kind_of_operator_has_an_estimate() -> None:
    """An operator without a case in the model would end a plan with an error."""
    from typing import get_args

    from horai.plan.ec.outline import _WORDS

    assert set(get_args(op.Operator)) == {*_WORDS, op.SpanOperation}
