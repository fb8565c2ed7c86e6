"""Tables 6, 7, 10 and 13 of "Incremental Event Calculus for Run-Time Reasoning", row by row.

Their equations lead from one list to the next as the algebra and changes of spans do.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.temporal.columns import Row, held, maximal, relation, rows_of
from tests.temporal.paper import (
    equation_15,
    equation_18,
    equation_19,
    equation_22,
    equation_23,
    equation_26,
    known,
)

from horai.temporal import algebra
from horai.temporal.changes import Change, difference
from horai.temporal.spans import INF, Spans
from horai.temporal.toggled import toggled

List = list[tuple[int, int]]
KEYS = list(range(-2, 4))
Pair = tuple[list[Row], list[Row]]  # a list before and now


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


def test_the_tables_are_those_of_the_new_lists() -> None:
    a, b = toggled(A, CHANGE_A).spans, toggled(B, CHANGE_B).spans
    assert intervals(algebra.union(a, b)) == TABLE_7[-1]
    assert intervals(algebra.intersection(a, b)) == TABLE_10[-1]
    assert intervals(algebra.difference(a, b)) == TABLE_13[-1]


@st.composite
def revisions(draw: st.DrawFn) -> Pair:
    """A list and the same one with a few spans taken away and added; some end never."""
    row = st.tuples(st.sampled_from(KEYS), st.integers(-8, 16), st.integers(1, 9))
    rows = st.lists(row.map(lambda r: (r[0], r[1], INF if r[2] == 9 else r[1] + r[2])), max_size=10)
    old, gone, new = draw(rows), draw(rows), draw(rows)
    return old, maximal((held(old) - held(gone)) | held(new))


def change_of(pair: Pair) -> Change:
    return difference(relation(pair[0]), relation(pair[1]))


@given(revisions(), revisions())
def test_the_equations_as_printed_give_the_new_lists(one: Pair, two: Pair) -> None:
    was = known(relation(one[0]), relation(two[0]))
    a, b = change_of(one), change_of(two)
    new_a, new_b = held(one[1]), held(two[1])
    assert rows_of(equation_15(was, a, b)[-1]) == maximal(new_a | new_b)
    assert rows_of(equation_19(was, a, b)[-1]) == maximal(new_a & new_b)
    assert rows_of(equation_23(was, a, b)[-1]) == maximal(new_a - new_b)


@given(revisions(), revisions())
def test_the_cheap_equations_do_without_deletions(one: Pair, two: Pair) -> None:
    points_a, points_b = (held(p[0]) | held(p[1]) for p in (one, two))
    was = known(relation(one[0]), relation(two[0]))
    a, b = (change_of((p[0], p[0] + p[1])) for p in (one, two))
    new_a, new_b = (relation(p[0] + p[1]) for p in (one, two))
    union = equation_18(was, a, b)
    both = equation_22(was, a, b, new_a, new_b)
    rest = equation_26(was, a, b, new_b)
    assert rows_of(union) == maximal(points_a | points_b)
    assert rows_of(both) == maximal(points_a & points_b)
    assert rows_of(rest) == maximal(points_a - points_b)


def test_the_equations_need_normalised_changes() -> None:
    """If B is said to lose what only A had, equation 15 takes it away from the union."""
    a, b, gone = relation([(0, 0, 4)]), relation([(0, 2, 6)]), relation([(0, 0, 6)])
    same, nothing = difference(a, a), relation([])
    loose = equation_15(known(a, b), same, Change(gone, nothing))
    assert rows_of(loose[-1]) == [(0, 2, 4)]
    right = equation_15(known(a, b), same, difference(b, algebra.difference(b, gone)))
    assert rows_of(right[-1]) == [(0, 0, 4)]
