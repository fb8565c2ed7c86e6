"""Combinations of lists in one sweep, against the same point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.temporal.changes import Change
from horai.temporal.coalesce import sort_spans
from horai.temporal.sorting import offsets_of
from horai.temporal.spans import INF, Spans
from horai.temporal.sweeps import MOST, Lists, no_lists, swept

ROWS, TARGETS, LATEST = 4, 3, 12
SPANS = st.tuples(
    st.integers(0, TARGETS - 1), st.integers(0, LATEST), st.integers(1, 4) | st.just(INF)
)


def spans_of(rows: list[tuple[int, int, int]]) -> Spans:
    """Spans from key, start and length."""
    columns = np.array([(k, s, min(s + n, INF)) for k, s, n in rows], np.int64).reshape(-1, 3).T
    return sort_spans(*(np.ascontiguousarray(column) for column in columns))


@st.composite
def lists(draw: st.DrawFn) -> Lists:
    spans = spans_of(draw(st.lists(SPANS, max_size=8)))
    target = draw(st.lists(st.integers(-1, TARGETS), min_size=ROWS, max_size=ROWS))
    return Lists(spans, offsets_of(spans.key, TARGETS), np.array(target))


@st.composite
def questions(draw: st.DrawFn) -> tuple[Spans, list[Lists], list[bool], Lists]:
    where = st.tuples(st.integers(0, ROWS - 1), st.integers(0, LATEST), st.integers(1, 6))
    each = draw(st.lists(lists(), max_size=5))
    size = 1 << len(each)
    table = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return spans_of(draw(st.lists(where, max_size=6))), each, table, draw(lists())


def points(spans: Spans) -> set[tuple[int, int]]:
    """All points, infinity taken for a time that nothing reaches."""
    found = set()
    for key, start, end in zip(*(column.tolist() for column in spans), strict=True):
        found |= {(key, time) for time in range(start, min(end, 30))}
    return found


def rows_of(one: Lists) -> set[tuple[int, int]]:
    """The points of every row."""
    by_target = points(one.spans)
    return {
        (row, time)
        for row, target in enumerate(one.target.tolist())
        for key, time in by_target
        if key == target
    }


def one_by_one(
    where: Spans, each: list[Lists], table: list[bool], old: Lists
) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """The same from the definition."""
    members, before = [rows_of(one) for one in each], rows_of(old)
    now = {
        point
        for point in points(where)
        if table[sum(1 << i for i, one in enumerate(members) if point in one)]
    }
    before &= points(where)
    return before - now, now - before


@given(question=questions())
def test_a_sweep_says_what_the_definition_says(
    question: tuple[Spans, list[Lists], list[bool], Lists],
) -> None:
    where, each, table, old = question
    gone, new = swept(where, each, np.array(table), old)
    assert (points(gone), points(new)) == one_by_one(where, each, table, old)
    assert all(is_maximal(part) for part in (gone, new))


def is_maximal(spans: Spans) -> bool:
    """Is it sorted, and does nothing touch?"""
    again = sort_spans(*spans)
    return all(np.array_equal(a, b) for a, b in zip(spans, again, strict=True))


def test_too_many_lists_are_refused() -> None:
    where = spans_of([(0, 0, 5)])
    with pytest.raises(ValueError, match="more than 16"):
        swept(where, [no_lists(1)] * (MOST + 1), np.ones(1, np.bool_), no_lists(1))


def test_nowhere_nothing_changes() -> None:
    assert len(swept(spans_of([]), [], np.ones(1, np.bool_), no_lists(0))) == 0
    assert isinstance(swept(spans_of([]), [], np.ones(1, np.bool_), no_lists(0)), Change)


def test_a_sweep_with_much_more_that_comes_than_goes_ends() -> None:
    many = spans_of([(0, 2 * at, 1) for at in range(200)])
    each = [Lists(many, offsets_of(many.key, 1), np.zeros(200, np.int64))]
    where = spans_of([(row, 0, 400) for row in range(200)])
    gone, new = swept(where, each, np.array([False, True]), no_lists(200))
    assert (len(gone), len(new)) == (0, 200 * 200)
