"""Operations on span relations are those of sets of points."""

from __future__ import annotations

from hypothesis import given
from tests.temporal.columns import (
    Row,
    columns,
    held,
    maximal,
    raw_spans,
    relation,
    rows_of,
)

from horai.temporal.spans import FIRST, INF, difference, no_spans, sort_spans

END_OF_TIME = [(0, FIRST, FIRST + 2), (0, INF - 1, INF), (1, FIRST, INF)]


def test_maximal_spans_of_points_by_hand() -> None:
    rows = maximal(held([(1, 3, 5), (1, 5, 7), (1, 8, 9), (2, 8, INF), (2, 4, 4)]))
    assert rows == [(1, 3, 7), (1, 8, 9), (2, 8, INF)]


@given(raw_spans)
def test_sorting_gives_the_maximal_spans(rows: list[Row]) -> None:
    assert rows_of(sort_spans(*columns(rows))) == maximal(held(rows))


@given(raw_spans, raw_spans)
def test_a_difference_is_that_of_sets(left: list[Row], right: list[Row]) -> None:
    found = difference(relation(left), relation(right))
    assert rows_of(found) == maximal(held(left) - held(right))


def test_the_ends_of_time_are_times_like_others() -> None:
    ends = relation(END_OF_TIME)
    assert rows_of(ends) == END_OF_TIME
    assert rows_of(difference(ends, no_spans())) == END_OF_TIME
    assert rows_of(difference(ends, ends)) == []


def test_nothing_in_nothing_out() -> None:
    nothing, some = no_spans(), relation([(1, 2, 3)])
    assert rows_of(difference(nothing, nothing)) == rows_of(difference(nothing, some)) == []
    assert rows_of(difference(some, nothing)) == [(1, 2, 3)]
