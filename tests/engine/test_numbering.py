"""Numbers for equal rows against what a dict of Python does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.temporal.columns import column

from horai.engine.numbering import dense
from horai.temporal.spans import FIRST, INF, Ints

# Ranges of values that are addressed directly, and others that are hashed.
NARROW, MIDDLE, WIDE, ALL = (0, 3), (-(10**6), 10**6), (0, 2**30), (FIRST, INF)
RANGES = (NARROW, MIDDLE, WIDE, ALL)


def some(dice: np.random.Generator, n: int, limits: tuple[int, int]) -> Ints:
    """Values over the whole of a range, many of them twice."""
    values = dice.integers(limits[0], limits[1], n, endpoint=True)
    return dice.choice(values, n)


def numbered(rows: list[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    ids: dict[tuple[int, ...], int] = {}
    first = []
    for i, row in enumerate(rows):
        if row not in ids:
            ids[row] = len(ids)
            first.append(i)
    return [ids[row] for row in rows], first


def check_numbers(columns: list[Ints]) -> None:
    ids, first = dense(columns, len(columns[0]))
    expected = numbered(list(zip(*(c.tolist() for c in columns), strict=True)))
    assert (ids.tolist(), first.tolist()) == expected


@pytest.mark.parametrize("left", RANGES)
@pytest.mark.parametrize("right", RANGES)
@pytest.mark.parametrize("n", [0, 1, 5, 5000])
def test_equal_rows_have_equal_numbers(
    n: int, left: tuple[int, int], right: tuple[int, int]
) -> None:
    """5000 rows make the hash table grow twice."""
    dice = np.random.default_rng(n)
    columns = [some(dice, n, left), some(dice, n, right), some(dice, n, NARROW)]
    for used in (columns[:1], columns[:2], columns, columns[::-1]):
        check_numbers(used)


value = st.sampled_from([FIRST, FIRST + 1, -1, 0, 1, 2**31, 2**62, INF - 1, INF])


@given(st.lists(st.tuples(value, value, value, value), min_size=1))
def test_numbers_of_extreme_values(rows: list[tuple[int, ...]]) -> None:
    check_numbers([column(list(c)) for c in zip(*rows, strict=True)])


def test_values_with_the_same_slot_are_told_apart() -> None:
    """Multiples of large powers of two differ in few bits."""
    for shift in (20, 32, 40, 50):
        check_numbers([column([(i % 1500) << shift for i in range(3000)])])
        check_numbers([column([(i % 1500) << shift for i in range(3000)]) * -1])


def test_rows_without_columns_are_all_equal() -> None:
    assert [c.tolist() for c in dense([], 3)] == [[0, 0, 0], [0]]
    assert [c.tolist() for c in dense([], 0)] == [[], []]
