"""Tables 6, 7, 10 and 13 of "Incremental Event Calculus for Run-Time Reasoning", row by row."""

from __future__ import annotations

import pytest
from tests.temporal.columns import relation, rows_of
from tests.temporal.paper import equation_15, equation_19, equation_23, known

from horai.temporal import algebra, deltas
from horai.temporal.changes import Change, applied, difference
from horai.temporal.deltas import Operand
from horai.temporal.spans import Spans

List = list[tuple[int, int]]


def spans(intervals: List) -> Spans:
    return relation([(0, start, end) for start, end in intervals])


def intervals(found: Spans) -> List:
    return [(start, end) for _, start, end in rows_of(found)]


# Table 6: two fluents at the last query time, and what has changed since.
A = spans([(10, 15), (23, 30), (40, 50), (60, 70)])
B = spans([(17, 21), (26, 35), (43, 47), (54, 65)])
CHANGE_A = Change(
    spans([(10, 12), (27, 30), (43, 47)]),
    spans([(54, 58), (80, 90), (95, 100)]),
)
CHANGE_B = Change(
    spans([(19, 21), (43, 47), (60, 65)]),
    spans([(37, 41), (82, 87), (105, 120)]),
)
WAS = known(A, B)

TABLE_7: list[List] = [
    [(10, 12), (19, 21), (27, 30), (43, 47), (60, 65)],
    [(10, 12), (19, 21)],
    [(43, 47)],
    [(10, 12), (19, 21), (43, 47)],
    [(12, 15), (17, 19), (23, 35), (40, 43), (47, 50), (54, 70)],
    [(37, 41), (54, 58), (80, 90), (95, 100), (105, 120)],
    [
        (12, 15),
        (17, 19),
        (23, 35),
        (37, 43),
        (47, 50),
        (54, 70),
        (80, 90),
        (95, 100),
        (105, 120),
    ],
]
TABLE_10: list[List] = [
    [(10, 12), (19, 21), (27, 30), (43, 47), (60, 65)],
    [(26, 27)],
    [(12, 15), (23, 26), (40, 43), (47, 50), (65, 70)],
    [(12, 15), (23, 26), (40, 43), (47, 50), (54, 58), (65, 70), (80, 90), (95, 100)],
    [(40, 41), (82, 87)],
    [(17, 19), (30, 35), (54, 60)],
    [(17, 19), (30, 35), (37, 41), (54, 60), (82, 87), (105, 120)],
    [(54, 58), (82, 87)],
    [(40, 41), (54, 58), (82, 87)],
    [(26, 27), (40, 41), (54, 58), (82, 87)],
]
TABLE_13: list[List] = [
    [(10, 12), (27, 30), (37, 41), (43, 47), (82, 87), (105, 120)],
    [(12, 15), (23, 26), (41, 43), (47, 50), (65, 70)],
    [(17, 19), (30, 35), (54, 60)],
    [(17, 19), (30, 35), (37, 41), (54, 60), (82, 87), (105, 120)],
    [(80, 82), (87, 90), (95, 100)],
    [(26, 27), (60, 65)],
    [(26, 27), (54, 58), (60, 65), (80, 90), (95, 100)],
    [(60, 65)],
    [(60, 65), (80, 82), (87, 90), (95, 100)],
    [(12, 15), (23, 26), (41, 43), (47, 50), (60, 70), (80, 82), (87, 90), (95, 100)],
]


def test_table_6_the_terms_that_are_kept() -> None:
    assert intervals(WAS.a_or_b) == [(10, 15), (17, 21), (23, 35), (40, 50), (54, 70)]
    assert intervals(WAS.a_and_b) == [(26, 30), (43, 47), (60, 65)]
    assert intervals(WAS.a_not_b) == [(10, 15), (23, 26), (40, 43), (47, 50), (65, 70)]
    assert intervals(WAS.b_not_a) == [(17, 21), (30, 35), (54, 60)]


@pytest.mark.parametrize(
    ("steps", "table"),
    [
        pytest.param(equation_15(WAS, CHANGE_A, CHANGE_B), TABLE_7, id="Table 7, union_all"),
        pytest.param(equation_19(WAS, CHANGE_A, CHANGE_B), TABLE_10, id="Table 10, intersect_all"),
        pytest.param(
            equation_23(WAS, CHANGE_A, CHANGE_B), TABLE_13, id="Table 13, relative_complement_all"
        ),
    ],
)
def test_every_step(steps: list[Spans], table: list[List]) -> None:
    assert [intervals(step) for step in steps] == table


OLD_A, OLD_B = Operand(A, CHANGE_A), Operand(B, CHANGE_B)


@pytest.mark.parametrize(
    ("old", "change", "table"),
    [
        pytest.param(WAS.a_or_b, deltas.union_all([OLD_A, OLD_B]), TABLE_7, id="union_all"),
        pytest.param(
            WAS.a_and_b, deltas.intersect_all([OLD_A, OLD_B]), TABLE_10, id="intersect_all"
        ),
        pytest.param(
            WAS.a_not_b,
            deltas.relative_complement_all(OLD_A, [OLD_B]),
            TABLE_13,
            id="relative_complement_all",
        ),
    ],
)
def test_changes_give_the_same_lists(old: Spans, change: Change, table: list[List]) -> None:
    assert intervals(applied(old, change)) == table[-1]
    exact = difference(old, applied(old, change))
    assert (intervals(change.gone), intervals(change.new)) == (
        intervals(exact.gone),
        intervals(exact.new),
    )


def test_the_tables_are_those_of_the_new_lists() -> None:
    a, b = applied(A, CHANGE_A), applied(B, CHANGE_B)
    assert intervals(algebra.union(a, b)) == TABLE_7[-1]
    assert intervals(algebra.intersection(a, b)) == TABLE_10[-1]
    assert intervals(algebra.difference(a, b)) == TABLE_13[-1]
