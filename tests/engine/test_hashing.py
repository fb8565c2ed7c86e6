"""Joins and numberings against nested loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from horai.engine.hashing import build, dense, distinct, first, probe
from horai.temporal.spans import INF, Ints

pytestmark = pytest.mark.usefixtures("way")

LEAST = -(2**63)
# Narrow ranges are addressed directly and wide ones hashed; the borders of 64 bits belong to both.
RANGES = (
    st.integers(0, 3),
    st.integers(INF - 3, INF),
    st.integers(LEAST, LEAST + 3),
    st.sampled_from([LEAST, -1, 0, 1, 2**40, INF]),
    st.integers(LEAST, INF),
)
Rows = list[tuple[int, ...]]


@st.composite
def two_tables(draw: st.DrawFn) -> tuple[Rows, Rows]:
    """Two lists of rows of one width; each column of each side has a range of its own."""
    width = draw(st.integers(1, 3))
    sides: list[Rows] = []
    for _ in range(2):
        row = st.tuples(*(draw(st.sampled_from(RANGES)) for _ in range(width)))
        sides.append(draw(st.lists(row, min_size=1, max_size=8)))
    if draw(st.booleans()):
        sides[1] += draw(st.lists(st.sampled_from(sides[0]), max_size=4))
    return sides[0], sides[1]


def columns(rows: Rows) -> list[Ints]:
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]


@given(two_tables())
@example(([(1, INF)], [(1, INF), (1, INF)]))
@example(([(LEAST,)], [(INF,), (INF - 1,)]))
@example(([(LEAST, 0)], [(INF, 0), (INF, 0)]))
def test_joins(tables: tuple[Rows, Rows]) -> None:
    left, right = tables
    index = build(columns(right))
    found = probe(columns(left), index)
    pairs = list(zip(found[0].tolist(), found[1].tolist(), strict=True))
    # The order of both sides is kept: later operators rely on sorted rows.
    assert pairs == [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
    expected = [right.index(row) if row in right else -1 for row in left]
    assert first(columns(left), index).tolist() == expected


@given(two_tables())
@example(([(0, INF), (0, INF), (0, INF - 1)], []))
def test_numbers_follow_the_first_of_each_row(tables: tuple[Rows, Rows]) -> None:
    rows = [*tables[0], *tables[1]]
    different = list(dict.fromkeys(rows))
    ids, firsts = dense(columns(rows), len(rows))
    assert ids.tolist() == [different.index(row) for row in rows]
    assert firsts.tolist() == [rows.index(row) for row in different]
    assert distinct(columns(rows), len(rows)).tolist() == firsts.tolist()


def test_without_columns_all_rows_are_one() -> None:
    ids, firsts = dense([], 3)
    assert ids.tolist() == [0, 0, 0] and firsts.tolist() == [0]
    assert dense([], 0)[1].tolist() == []


def test_an_index_of_nothing_finds_nothing() -> None:
    empty = np.empty(0, np.int64)
    index = build([empty, empty])
    some = np.array([1, 2])
    assert first([some, some], index).tolist() == [-1, -1]
    assert [part.tolist() for part in probe([some, some], index)] == [[], []]
