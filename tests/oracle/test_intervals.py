"""Interval lists against plain sets of points."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.oracle.ec.intervals import (
    INF,
    Interval,
    Intervals,
    TickGrid,
    allen,
    allen_holds,
    coalesce,
    contains,
    difference,
    intersection,
    longer_or_shorter,
    union,
)

LAST = 40  # beyond every finite end: what holds there holds for ever
GRID = TickGrid(1)

ends = st.one_of(st.integers(1, 8), st.just(INF))
intervals = st.tuples(st.integers(0, 25), ends).map(lambda i: (i[0], i[0] + i[1]))
lists = st.lists(intervals, max_size=6)


def points(some: Intervals) -> set[int]:
    """The points of a list up to a place beyond all ends."""
    return {t for t in range(LAST + 1) if any(start <= t < end for start, end in some)}


def is_maximal(some: Intervals) -> bool:
    """Sorted, not empty, neither overlapping nor touching."""
    return all(start < end for start, end in some) and all(
        left[1] < right[0] for left, right in pairwise(some)
    )


@given(lists)
def test_coalesce_keeps_the_points_and_makes_intervals_maximal(some: Intervals) -> None:
    merged = coalesce(some)
    assert is_maximal(merged)
    assert points(merged) == points(some)


@given(st.lists(lists, max_size=3))
def test_union(some: list[Intervals]) -> None:
    found = union(some)
    assert is_maximal(found)
    assert points(found) == set().union(*(points(one) for one in some))


@given(st.lists(lists.map(coalesce), min_size=1, max_size=3))
def test_intersection(some: list[Intervals]) -> None:
    found = intersection(some)
    assert is_maximal(found)
    assert points(found) == set.intersection(*(points(one) for one in some))


@given(lists.map(coalesce), st.lists(lists, max_size=3))
def test_difference(base: Intervals, some: list[Intervals]) -> None:
    found = difference(base, some)
    assert is_maximal(found)
    assert points(found) == points(base).difference(*(points(one) for one in some))


@given(lists.map(coalesce), st.integers(-1, LAST))
def test_contains(some: Intervals, t: int) -> None:
    assert contains(some, t) == (t in points(some))


def test_nothing_intersects_to_nothing() -> None:
    assert intersection([]) == []


# --- the grid ------------------------------------------------------------------------------------


@given(st.integers(-30, 30), st.integers(1, 7))
def test_the_next_point_is_the_smallest_multiple_after(t: int, tick: int) -> None:
    grid = TickGrid(tick)
    assert grid.next(t) == min(p for p in range(t + 1, t + tick + 1) if p % tick == 0)
    assert grid.prev(t) == max(p for p in range(t - tick, t) if p % tick == 0)
    assert grid.cell(t) == max(p for p in range(t - tick, t + 1) if p % tick == 0)


# --- durations -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "kept"),
    [
        (">", [(1, 9), (20, INF)]),
        (">=", [(1, 9), (10, 15), (20, INF)]),
        ("<", [(16, 18)]),
        ("=<", [(10, 15), (16, 18)]),
    ],
)
def test_durations(op: str, kept: Intervals) -> None:
    # Lengths 8, 5 and 2; the open one counts up to 30: 10.
    some: Intervals = [(1, 9), (10, 15), (16, 18), (20, INF)]
    assert longer_or_shorter(some, op, 5, 30) == kept


def test_an_open_interval_may_be_told_not_to_count() -> None:
    assert longer_or_shorter([(28, INF)], "<", 5, 30) == [(28, INF)]
    assert longer_or_shorter([(28, INF)], "<", 5, 30, open_counts=False) == []


# --- Allen relations -----------------------------------------------------------------------------


def by_points(relation: str, source: Interval, target: Interval) -> bool:
    """The relations over first points a, c and last points b, d, an open end being the last of all.

    Written over sets of points: a relation says which points come first, last, or only once.
    """
    s, t = points([source]), points([target])
    a, b, c, d = min(s), max(s), min(t), max(t)
    match relation:
        case "before":
            return not s & t and a < c  # disjoint, the source first
        case "meets":
            return len(s & t) == 1 and b == c and a < c and c < d
        case "overlaps":
            return len(s & t) > 1 and bool(s - t) and bool(t - s) and a < c
        case "starts":
            return s < t and a == c
        case "finishes":
            return s < t and b == d
        case "during":
            return s < t and a not in (c, d) and b not in (c, d)
        case _:
            return s == t


RELATIONS = ("before", "meets", "overlaps", "starts", "finishes", "during", "equal")


@given(intervals, intervals)
def test_allen_relations_by_points(source: Interval, target: Interval) -> None:
    for relation in RELATIONS:
        found = allen_holds(relation, source, target, GRID)
        assert found == by_points(relation, source, target), relation


@given(intervals, intervals)
def test_at_most_one_relation_holds(source: Interval, target: Interval) -> None:
    assert sum(allen_holds(relation, source, target, GRID) for relation in RELATIONS) <= 1


@pytest.mark.parametrize(
    ("relation", "source", "target"),
    [
        ("before", (1, 4), (4, 6)),  # adjacent: the last point 3 is before 4
        ("meets", (1, 5), (4, 6)),  # they share the point 4
        ("overlaps", (1, 6), (4, 9)),
        ("starts", (4, 6), (4, 9)),
        ("finishes", (7, 9), (4, 9)),
        ("finishes", (7, INF), (4, INF)),  # both still open: they end together
        ("during", (5, 8), (4, 9)),
        ("during", (5, 8), (4, INF)),
        ("equal", (4, INF), (4, INF)),
    ],
)
def test_allen_relations(relation: str, source: Interval, target: Interval) -> None:
    assert [r for r in RELATIONS if allen_holds(r, source, target, GRID)] == [relation]


def test_one_point_at_the_border_of_an_interval_neither_meets_nor_overlaps_it() -> None:
    # meets needs a < c < d: a source of one point, or a target of one point, starts or finishes.
    assert not allen_holds("meets", (4, 5), (4, 9), GRID)
    assert allen_holds("starts", (4, 5), (4, 9), GRID)
    assert not any(allen_holds(r, (1, 5), (4, 5), GRID) for r in RELATIONS)


def test_last_points_lie_on_the_grid() -> None:
    # With a tick of 5, [0,10) has the points 0 and 5: it meets [5,20) in 5.
    assert allen_holds("meets", (0, 10), (5, 20), TickGrid(5))
    assert allen_holds("before", (0, 10), (10, 20), TickGrid(5))


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("source", [(1, 6), (20, 24)]),
        ("target", [(4, 9), (22, 30)]),
        ("union", [(1, 9), (20, 30)]),
        ("intersection", [(4, 6), (22, 24)]),
        ("relative_complement", [(1, 4), (20, 22)]),
        ("relative_complement_inverse", [(6, 9), (24, 30)]),
    ],
)
def test_allen_modes(mode: str, expected: Intervals) -> None:
    assert allen("overlaps", [(1, 6), (20, 24)], [(4, 9), (22, 30)], mode, GRID) == expected


def test_all_pairs_count_not_only_neighbours() -> None:
    # (1,3) is before both targets, (6,7) before the second only.
    sources: Intervals = [(1, 3), (6, 7)]
    targets: Intervals = [(4, 5), (9, 10)]
    assert allen("before", sources, targets, "source", GRID) == [(1, 3), (6, 7)]
    assert allen("before", sources, targets, "target", GRID) == [(4, 5), (9, 10)]


def test_before_looks_back_no_further_than_its_memory() -> None:
    # Last points 2 and 6; the target starts at 9: 7 and 3 points later.
    sources: Intervals = [(1, 3), (6, 7)]
    assert allen("before", sources, [(9, 10)], "source", GRID, memory=3) == [(6, 7)]
    assert allen("before", sources, [(9, 10)], "source", GRID, memory=7) == sources


def test_unknown_words_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown Allen relation"):
        allen_holds("after", (1, 2), (3, 4), GRID)
    with pytest.raises(ValueError, match="unknown mode"):
        allen("before", [(1, 2)], [(3, 4)], "both", GRID)
