"""Columns on their way between sessions come back as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from horai.engine.packing import NOT_YET, Unreadable, narrowed, recoded, widened

SIZES = (0, 3, 127, 128, -128, -129, 1 << 15, -(1 << 15) - 1, 1 << 31, (1 << 63) - 1, -(1 << 63))
numbers = st.sampled_from(SIZES) | st.integers(-(1 << 63), (1 << 63) - 1)


@given(st.lists(numbers, max_size=8))
def test_numbers_come_back_whatever_they_are_stored_as(values: list[int]) -> None:
    data = np.array(values, np.int64)
    _, few = narrowed(data)
    assert few.nbytes <= data.nbytes
    back = widened(few, "int64", len(data))
    assert back.dtype == np.int64 and back.tolist() == values
    assert back.flags.owndata and back.flags.writeable


@pytest.mark.parametrize(
    ("values", "stored"),
    [([5, 5, 5], "same"), ([1, 2], "int8"), ([1, 200], "int16"), ([1, 1 << 40], "int64")],
)
def test_no_more_bytes_than_needed(values: list[int], stored: str) -> None:
    assert narrowed(np.array(values, np.int64))[0] == stored


@given(st.lists(st.integers(0, 40), max_size=30), st.permutations(range(10)))
def test_terms_get_other_codes_and_integers_stay(codes: list[int], new: list[int]) -> None:
    """Ten terms have even codes up to 18; of the others the odd ones are integers."""
    wanted = [code if code % 2 else 2 * new[code // 2] for code in codes if code % 2 or code < 20]
    known = np.full(10, NOT_YET)
    asked: list[int] = []

    def code(places: list[int]) -> list[int]:
        asked.extend(places)
        return [2 * new[place] for place in places]

    given_codes = np.array([c for c in codes if c % 2 or c < 20], np.int64)
    assert recoded(given_codes, known, code).tolist() == wanted
    assert sorted(asked) == sorted({c // 2 for c in given_codes.tolist() if c % 2 == 0})
    if any(c % 2 == 0 and c >= 20 for c in codes):
        with pytest.raises(Unreadable):
            recoded(np.array(codes, np.int64), known, code)
