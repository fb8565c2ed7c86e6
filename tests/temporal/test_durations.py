"""Points before, grids and durations, in Python's integers and fractions."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.temporal.columns import Row, column, raw_spans, relation, rows_of, ticks

from horai.temporal.durations import by_duration
from horai.temporal.grid import grid_points
from horai.temporal.spans import FIRST, INF, Spans, previous_point

times = st.integers(FIRST, INF) | st.integers(-30, 30) | st.integers(INF - 30, INF)
steps = st.integers(1, 20) | st.integers(1, INF)
COMPARE = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "=<": operator.le}


def inside(time: int) -> int:
    return min(max(time, FIRST), INF)


@given(st.lists(times), steps)
@example([FIRST, FIRST + 1, INF - 1, INF], 10)
def test_previous_points(moments: list[int], tick: int) -> None:
    before = [t if t == INF else inside((-(-t // tick) - 1) * tick) for t in moments]
    assert previous_point(column(moments), tick).tolist() == before


bounds = (
    st.integers(-3, 20)
    | st.integers(-3, 20).map(lambda halves: halves / 2)
    | st.integers(FIRST, INF)
    | st.floats(allow_nan=False)
)
wide_spans = st.lists(
    st.tuples(st.integers(0, 2), times, times).filter(lambda row: row[1] < row[2]), max_size=8
)


def expected(
    spans: Spans, op: str, each: list[int | float], query: int, open_counts: bool
) -> list[Row]:
    found = []
    for (key, start, end), bound in zip(rows_of(spans), each, strict=True):
        duration = inside((query if end == INF else end) - start)
        exact = bound if bound in (float("inf"), float("-inf")) else Fraction(bound)
        if COMPARE[op](duration, exact) and (open_counts or end != INF):
            found.append((key, start, end))
    return found


@given(raw_spans | wide_spans, st.data(), times, st.booleans())
def test_durations_compare_exactly(
    rows: list[Row], data: st.DataObject, query: int, open_counts: bool
) -> None:
    spans = relation(rows)
    bound = data.draw(bounds)
    n = len(spans)
    floats = data.draw(st.lists(st.floats(allow_nan=False), min_size=n, max_size=n))
    whole = data.draw(st.lists(st.integers(FIRST, INF), min_size=n, max_size=n))
    for op in COMPARE:
        for given_bound, each in (
            (bound, [bound] * n),
            (np.array(floats, np.float64), floats),
            (column(whole), whole),
        ):
            found = by_duration(spans, op, given_bound, query, open_counts)
            assert rows_of(found) == expected(spans, op, list(each), query, open_counts), op


def test_durations_that_floats_cannot_tell_apart() -> None:
    spans = Spans(column([0, 1]), column([0, 0]), column([2**53, 2**53 + 1]))
    assert by_duration(spans, ">", 2.0**53, 0).key.tolist() == [1]
    assert by_duration(spans, ">=", np.array([2.0**53, 2.0**53 + 2]), 0).key.tolist() == [0]
    assert by_duration(spans, "<", 2**53 + 1, 0).key.tolist() == [0]
    assert by_duration(spans, "<", np.array([2.0**63, -(2.0**63)]), 0).key.tolist() == [0]
    assert by_duration(spans, ">=", np.array([2.0**63, -(2.0**63)]), 0).key.tolist() == [1]
    assert by_duration(spans, "<", 10**30, 0).key.tolist() == [0, 1]


@pytest.mark.parametrize("op", COMPARE)
def test_nothing_compares_with_what_is_no_number(op: str) -> None:
    spans = Spans(column([0, 1]), column([0, 0]), column([5, 6]))
    assert by_duration(spans, op, float("nan"), 0).key.tolist() == []
    mixed = by_duration(spans, op, np.array([np.nan, 6.0]), 0).key.tolist()
    assert mixed == ([1] if "=" in op else [])


def test_unknown_comparisons_are_refused() -> None:
    with pytest.raises(ValueError, match="no comparison =="):
        by_duration(relation([]), "==", 3, 0)


@given(raw_spans, st.integers(-12, 30), st.integers(-12, 30), ticks)
def test_grid_points_are_the_multiples_inside(
    rows: list[Row], low: int, high: int, tick: int
) -> None:
    spans = relation(rows)
    found, row = grid_points(spans, low, high, tick)
    assert list(zip(row.tolist(), *(c.tolist() for c in found), strict=True)) == [
        (i, key, t)
        for i, (key, start, end) in enumerate(rows_of(spans))
        for t in range(low + 1, high + 1)
        if start <= t < end and t % tick == 0
    ]


def test_grid_points_at_the_ends_of_time() -> None:
    early, late = (0, FIRST, FIRST + 5), (0, INF - 5, INF)
    found, _ = grid_points(relation([early, late]), FIRST, INF - 1, 3)
    assert found.time.tolist() == [
        t for t in (*range(FIRST + 1, FIRST + 5), *range(INF - 5, INF)) if t % 3 == 0
    ]
    for edge in ((0, FIRST, FIRST + 1), (0, FIRST, FIRST + 2)):
        assert grid_points(relation([edge]), FIRST, 0, 1000)[0].time.tolist() == []
    bounded, _ = grid_points(relation([early]), FIRST + 2, INF)
    assert bounded.time.tolist() == [FIRST + 3, FIRST + 4]
    with pytest.raises(ValueError, match="without end"):
        grid_points(relation([late]), 0, INF)
    assert len(grid_points(relation([]), 0, INF)[0]) == 0
