"""Operations on span relations are those of sets of points."""

from __future__ import annotations

import numpy as np
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

from horai.temporal.algebra import difference, union
from horai.temporal.coalesce import coalesce, sort_spans
from horai.temporal.spans import FIRST, INF, Spans, no_spans

END_OF_TIME = [(0, FIRST, FIRST + 2), (0, INF - 1, INF), (1, FIRST, INF)]


def test_maximal_spans_of_points_by_hand() -> None:
    rows = maximal(held([(1, 3, 5), (1, 5, 7), (1, 8, 9), (2, 8, INF), (2, 4, 4)]))
    assert rows == [(1, 3, 7), (1, 8, 9), (2, 8, INF)]


@given(raw_spans)
def test_sorting_and_coalescing_gives_the_maximal_spans(rows: list[Row]) -> None:
    expected = maximal(held(rows))
    assert rows_of(sort_spans(*columns(rows))) == expected
    assert rows_of(coalesce(Spans(*columns(sorted(rows))))) == expected


@given(raw_spans, raw_spans)
def test_union_and_difference_are_those_of_sets(left: list[Row], right: list[Row]) -> None:
    a, b = relation(left), relation(right)
    assert rows_of(union(a, b)) == maximal(held(left) | held(right))
    assert rows_of(difference(a, b)) == maximal(held(left) - held(right))


def test_the_ends_of_time_are_times_like_others() -> None:
    ends = relation(END_OF_TIME)
    assert rows_of(ends) == END_OF_TIME
    assert rows_of(union(ends, ends)) == END_OF_TIME
    assert rows_of(difference(ends, ends)) == []


def test_nothing_in_nothing_out() -> None:
    nothing, some = no_spans(), relation([(1, 2, 3)])
    for operation in (union, difference):
        assert rows_of(operation(nothing, nothing)) == []
    assert rows_of(union(nothing, some)) == rows_of(union(some, nothing)) == [(1, 2, 3)]
    assert rows_of(difference(some, nothing)) == [(1, 2, 3)]


def test_columns_of_any_layout_give_the_same_and_compile_nothing_new() -> None:
    from horai.temporal.algebra import _union

    spans = relation([(k, 10 * k, 10 * k + 5) for k in range(8)])
    expected = rows_of(union(spans, spans))
    signatures: list[object] = getattr(_union.compiled, "signatures", [])
    compiled = len(signatures)
    frozen = Spans(*(c.copy() for c in spans))
    for c in frozen:
        c.flags.writeable = False
    strided = Spans(*(np.repeat(c, 2)[::2] for c in spans))
    assert rows_of(union(frozen, strided)) == expected
    assert len(getattr(_union.compiled, "signatures", [])) == compiled


def test_results_do_not_keep_the_room_of_their_inputs() -> None:
    many = relation([(k, 0, 5) for k in range(1000)])
    one = relation([(3, 1, 7)])
    small = difference(one, many)
    assert rows_of(small) == [(3, 5, 7)]
    assert small.key.base is None
