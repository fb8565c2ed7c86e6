"""Kernels against plain sets of points."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from horai.temporal.algebra import complement, difference, intersection, union
from horai.temporal.coalesce import sort_spans
from horai.temporal.inertia import EVERY_VALUE, Changes, inertia
from horai.temporal.spans import INF, Points, Spans
from horai.temporal.stab import stab

LAST = 24  # open spans are looked at up to here
raw = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(0, 8) | st.just(INF)), max_size=12
)
Held = set[tuple[int, int]]


def spans_of(rows: list[tuple[int, int, int]]) -> Spans:
    key = np.array([k for k, _, _ in rows], np.int64)
    start = np.array([s for _, s, _ in rows], np.int64)
    end = np.array([INF if d == INF else s + d for _, s, d in rows], np.int64)
    return sort_spans(key, start, end)


def held(spans: Spans) -> Held:
    return {
        (int(k), t)
        for k, s, e in zip(*spans, strict=True)
        for t in range(int(s), LAST if e == INF else int(e))
    }


def maximal(spans: Spans) -> bool:
    rows = list(zip(*(column.tolist() for column in spans), strict=True))
    ordered = rows == sorted(rows)
    apart = all(a[0] != b[0] or a[2] < b[1] for a, b in pairwise(rows))
    return ordered and apart and all(s < e for _, s, e in rows)


@given(raw, raw)
def test_set_operations_are_those_of_point_sets(
    left: list[tuple[int, int, int]], right: list[tuple[int, int, int]]
) -> None:
    a, b = spans_of(left), spans_of(right)
    for operation, expected in (
        (union, held(a) | held(b)),
        (intersection, held(a) & held(b)),
        (difference, held(a) - held(b)),
    ):
        result = operation(a, b)
        assert maximal(result)
        assert held(result) == expected


@given(raw)
def test_complement_is_everything_else(rows: list[tuple[int, int, int]]) -> None:
    spans = spans_of(rows)
    rest = complement(np.array([0, 1, 2]), spans, 3)
    assert maximal(rest)
    assert held(rest) == {(k, t) for k in range(3) for t in range(3, LAST)} - held(spans)


@given(raw, st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=15))
def test_stab_is_membership(
    rows: list[tuple[int, int, int]], points: list[tuple[int, int]]
) -> None:
    spans, points = spans_of(rows), sorted(points)
    columns = Points(
        np.array([k for k, _ in points], np.int64), np.array([t for _, t in points], np.int64)
    )
    assert stab(columns, spans).tolist() == [point in held(spans) for point in points]


changes = st.lists(
    st.tuples(
        st.integers(0, 1), st.integers(0, 12), st.integers(0, 2), st.booleans(), st.booleans()
    ),
    max_size=14,
)


@given(changes, st.sampled_from([1, 5]))
def test_inertia_is_the_definition(rows: list[tuple[int, int, int, bool, bool]], tick: int) -> None:
    """F=V holds at T iff initiated at an unbroken S < T with no break between S and T."""
    points = sorted(
        (k, t, EVERY_VALUE if wild and not starts else v, starts) for k, t, v, starts, wild in rows
    )
    key, time, value = (np.array([row[i] for row in points], np.int64) for i in range(3))
    initiates = np.array([row[3] for row in points], np.bool_)
    result = inertia(Changes(key, time, value, initiates), tick)

    def broken(key: int, value: int, t: int) -> bool:
        return any(
            k == key and at == t and ((v != value) if starts else v in (value, EVERY_VALUE))
            for k, at, v, starts in points
        )

    expected = {
        (key, value, t)
        for key in range(2)
        for value in range(3)
        for t in range(0, LAST, tick)
        if any(
            k == key
            and v == value
            and starts
            and s < t
            and not broken(key, value, s)
            and not any(broken(key, value, p) for p in range(s + 1, t))
            for k, s, v, starts in points
        )
    }
    got = {
        (int(k), int(v), t)
        for k, v, s, e in zip(*result, strict=True)
        for t in range(int(s), LAST if e == INF else int(e))
        if t % tick == 0
    }
    assert got == expected
    rows_out = list(zip(*(c.tolist() for c in result), strict=True))
    assert len({(k, v, s) for k, v, s, _ in rows_out}) == len(rows_out)
    for k, v, s, e in rows_out:
        assert s < e and s % tick == 0
        assert not any((k, v) == (k2, v2) and s2 == e for k2, v2, s2, _ in rows_out)
