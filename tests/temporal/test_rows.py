"""Sorting, numbering and joining rows against what Python's lists and dicts do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.temporal.columns import column

from horai.temporal import sorting
from horai.temporal.grouping import dense_ids
from horai.temporal.joining import build, matched, probe
from horai.temporal.sorting import order
from horai.temporal.spans import FIRST, INF, Ints

# Ranges of keys and times that need a table, a packed integer, a radix sort, or neither.
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
@pytest.mark.parametrize("n", [0, 1, 2, 20, sorting.FEW, 700])
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
@example([(2**31 - 1, 2**32 - 1), (0, 0)] * 40)  # 63 bits without it, just enough
def test_order_of_any_rows(rows: list[tuple[int, int]]) -> None:
    key, time = column([k for k, _ in rows]), column([t for _, t in rows])
    assert order(key, time).tolist() == by_python(key, time)


def numbered(rows: list[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    ids: dict[tuple[int, ...], int] = {}
    first = []
    for i, row in enumerate(rows):
        if row not in ids:
            ids[row] = len(ids)
            first.append(i)
    return [ids[row] for row in rows], first


def check_numbers(columns: list[Ints]) -> None:
    ids, first = dense_ids(columns)
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
    assert [c.tolist() for c in dense_ids([], rows=3)] == [[0, 0, 0], [0]]
    assert [c.tolist() for c in dense_ids([], rows=0)] == [[], []]
    with pytest.raises(ValueError, match="number of rows"):
        dense_ids([])


keys = st.lists(st.integers(-2, 9), max_size=20)


@given(keys, keys)
def test_joins_find_all_pairs_in_order(left: list[int], right: list[int]) -> None:
    index = build(column(right))
    found = list(zip(*(c.tolist() for c in probe(column(left), index)), strict=True))
    assert found == [
        (i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b and a >= 0
    ]
    there = {b for b in right if b >= 0}
    assert matched(column(left), index).tolist() == [a in there for a in left]
    for k in range(len(index.offsets) - 1):
        rows = index.order[index.offsets[k] : index.offsets[k + 1]].tolist()
        assert rows == [j for j, b in enumerate(right) if b == k]


def test_keys_far_outside_an_index_match_nothing() -> None:
    index = build(column([0, 2]))
    assert matched(column([INF, FIRST, 2]), index).tolist() == [False, False, True]
    assert [c.tolist() for c in probe(column([INF, FIRST, 2]), index)] == [[2], [1]]
