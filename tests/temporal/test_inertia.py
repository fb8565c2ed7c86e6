"""Inertia against the definition of holding."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.temporal.columns import column, ticks

from horai.temporal.inertia import EVERY_VALUE, Changes, ValueSpans, inertia
from horai.temporal.spans import INF

LAST = 30
Change = tuple[int, int, int, bool]  # key, time, value, initiates

changes = st.lists(
    st.tuples(st.integers(0, 1), st.integers(-6, 14), st.integers(-1, 1), st.booleans()).filter(
        lambda change: change[2] != EVERY_VALUE or not change[3]
    ),
    max_size=16,
)


def run(rows: list[Change], tick: int, held: ValueSpans | None = None) -> ValueSpans:
    rows = sorted(rows, key=lambda row: row[:2])  # at one time in any order
    key, time, value = (column([row[i] for row in rows]) for i in range(3))
    return inertia(Changes(key, time, value, np.array([row[3] for row in rows], bool)), tick, held)


def rows_of(spans: ValueSpans) -> list[tuple[int, ...]]:
    return list(zip(*(c.tolist() for c in spans), strict=True))


def defined(rows: list[Change], tick: int) -> list[tuple[int, ...]]:
    """F=V holds at T iff initiated at an unbroken S < T with no break between S and T."""

    def broken(key: int, value: int, t: int) -> bool:
        return any(
            k == key and at == t and ((v != value) if starts else v in (value, EVERY_VALUE))
            for k, at, v, starts in rows
        )

    def holds(key: int, value: int, t: int) -> bool:
        return any(
            k == key
            and v == value
            and starts
            and s < t
            and not any(broken(key, value, p) for p in range(s, t))
            for k, s, v, starts in rows
        )

    found: list[tuple[int, ...]] = []
    for key in range(3):
        for value in range(3):
            runs: list[tuple[int, ...]] = []
            for t in range(-10, LAST, tick):  # -10 is a point of every grid of the tests
                if holds(key, value, t):
                    if runs and runs[-1][3] == t:
                        runs[-1] = (*runs[-1][:3], t + tick)
                    else:
                        runs.append((key, value, t, t + tick))
            found += [(k, v, s, INF if e >= LAST else e) for k, v, s, e in runs]
    return sorted(found, key=lambda row: (row[0], row[2]))


@given(changes, ticks)
def test_inertia_is_the_definition(rows: list[Change], tick: int) -> None:
    assert rows_of(run(rows, tick)) == defined(rows, tick)


@given(changes, ticks, st.integers(-6, 14))
def test_what_is_held_goes_on_as_if_all_changes_came_at_once(
    rows: list[Change], tick: int, cut: int
) -> None:
    cut -= cut % tick  # at a point of the grid, what holds is all there is to remember
    early = rows_of(run([row for row in rows if row[1] < cut], tick))
    lasting = [row for row in early if row[3] == INF]
    held = ValueSpans(*(column([row[i] for row in lasting]) for i in range(4)))
    late = rows_of(run([row for row in rows if row[1] >= cut], tick, held))
    together = [row for row in early if row[3] != INF] + late
    assert sorted(together, key=lambda row: (row[0], row[2])) == defined(rows, tick)


def test_keys_with_changes_only_and_with_held_values_only() -> None:
    held = ValueSpans(column([1, 4]), column([0, 2]), column([3, 5]), column([INF, INF]))
    assert rows_of(run([(2, 7, 1, True)], 1, held)) == [
        (1, 0, 3, INF),
        (2, 1, 8, INF),
        (4, 2, 5, INF),
    ]
    assert rows_of(run([], 1, held)) == [(1, 0, 3, INF), (4, 2, 5, INF)]
    assert rows_of(run([], 1)) == []


def test_what_ends_and_begins_between_two_points_goes_on() -> None:
    changes = [(0, 1, 1, True), (0, 12, 1, False), (0, 13, 1, True), (0, 31, 1, False)]
    assert rows_of(run(changes, 10)) == [(0, 1, 10, 40)]
    # The same of two keys is two spans, also when they touch.
    apart = [(0, 1, 1, True), (0, 12, 1, False), (1, 13, 1, True)]
    assert rows_of(run(apart, 10)) == [(0, 1, 10, 20), (1, 1, 20, INF)]


def test_nothing_begins_after_the_end_of_time() -> None:
    assert rows_of(run([(0, INF - 3, 1, True), (1, INF - 2, 1, True)], 10)) == []
    assert rows_of(run([(0, INF - 3, 1, True), (0, INF - 1, 1, False)], 1)) == [
        (0, 1, INF - 2, INF)
    ]


def test_frozen_columns_are_taken() -> None:
    key, time, value = column([0, 0]), column([1, 5]), column([2, 2])
    initiates = np.array([True, False])
    for c in (key, time, value, initiates):
        c.flags.writeable = False
    assert rows_of(inertia(Changes(key, time, value, initiates))) == [(0, 2, 2, 6)]
