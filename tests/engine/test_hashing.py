"""Numberings against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from horai.engine.hashing import dense
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


def columns(rows: Rows) -> list[Ints]:
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    width = draw(st.integers(1, 3))
    return draw(st.lists(st.tuples(*(draw(st.sampled_from(RANGES)) for _ in range(width)))))


@given(tables())
@example([(0, INF), (0, INF), (0, INF - 1)])
def test_numbers_follow_the_first_of_each_row(rows: Rows) -> None:
    different = list(dict.fromkeys(rows))
    ids, firsts = dense(columns(rows), len(rows))
    assert ids.tolist() == [different.index(row) for row in rows]
    assert firsts.tolist() == [rows.index(row) for row in different]


def test_without_columns_all_rows_are_one() -> None:
    ids, firsts = dense([], 3)
    assert ids.tolist() == [0, 0, 0] and firsts.tolist() == [0]
    assert dense([], 0)[1].tolist() == []
