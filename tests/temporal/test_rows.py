"""Sorting rows against what Python's lists do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.temporal.columns import column

from horai.temporal.spans import FIRST, INF, Ints, order

# Ranges of keys and times that fit into one integer, and such as do not.
NARROW, MIDDLE, WIDE, ALL = (0, 3), (-(10**6), 10**6), (0, 2**30), (FIRST, INF)
RANGES = (NARROW, MIDDLE, WIDE, ALL)


def some(dice: np.random.Generator, n: int, limits: tuple[int, int]) -> Ints:
    """Values over the whole of a range, many of them twice."""
    values = dice.integers(limits[0], limits[1], n, endpoint=True)
    return dice.choice(values, n)


def by_python(key: Ints, time: Ints) -> list[int]:
    rows = list(zip(key.tolist(), time.tolist(), strict=True))
    return sorted(range(len(rows)), key=rows.__getitem__)


@pytest.mark.parametrize("keys", RANGES)
@pytest.mark.parametrize("times", RANGES)
@pytest.mark.parametrize("n", [0, 1, 2, 20, 700])
def test_order_is_stable_by_key_and_time(
    n: int, keys: tuple[int, int], times: tuple[int, int]
) -> None:
    dice = np.random.default_rng(n)
    key, time = some(dice, n, keys), some(dice, n, times)
    by_time = np.sort(time)
    expected = by_python(key, time)
    assert order(key, time).tolist() == expected
    assert order(key, by_time).tolist() == by_python(key, by_time)
    assert order(key[expected], time[expected]).tolist() == list(range(n))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3))))
@example([(FIRST, INF), (INF, FIRST)] * 40)
@example([(2**24 - 1, 2**33 - 1), (0, 0)] * 40)  # 64 bits with the row number, one too many
@example([(2**24 - 1, 2**32 - 1), (0, 0)] * 40)  # 63 bits, just enough
def test_order_of_any_rows(rows: list[tuple[int, int]]) -> None:
    key, time = column([k for k, _ in rows]), column([t for _, t in rows])
    assert order(key, time).tolist() == by_python(key, time)
