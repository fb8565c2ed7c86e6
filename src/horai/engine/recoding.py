"""Columns on their way between sessions: other codes for the same terms, and fewer bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from horai.temporal.spans import Ints

NOT_YET = np.int64(-2)  # as a code: no term has it
SAME = "same"  # as a type: all rows are equal, and one is stored
_NARROW = (np.int8, np.int16, np.int32)
Data = npt.NDArray[Any]


class NoSuchTerm(ValueError):
    """There is a code that no term has."""


def recoded(codes: Ints, known: Ints, code: Callable[[list[int]], Iterable[int]]) -> Ints:
    """Codes with those of terms changed: `known` has the new ones by place, as far as they are.

    Those of integers say what they are, and stay.
    """
    is_term = codes & 1 == 0
    places = codes[is_term] >> 1
    if not len(places):
        return codes
    if places.min() < 0 or places.max() >= len(known):
        raise NoSuchTerm("there is a code that no term has")
    new = np.unique(places[known[places] == NOT_YET])
    known[new] = np.fromiter(code(new.tolist()), np.int64, len(new))
    found = codes.copy()
    found[is_term] = known[places]
    return found


def narrowed(data: Data) -> tuple[str, Data]:
    """An array in as few bytes as its values need, and what it is stored as."""
    name = data.dtype.name
    if name != "int64" or not len(data):
        return name, data
    least, most = int(data.min()), int(data.max())
    if least == most:
        return SAME, data[:1]
    for narrow in _NARROW:
        kept = np.iinfo(narrow)
        if kept.min <= least and most <= kept.max:
            return kept.dtype.name, data.astype(narrow)
    return name, data


def widened(stored: Data, kind: str, size: int) -> Data:
    """The array that was narrowed, in memory of its own."""
    if len(stored) == size:
        return stored.astype(kind)
    return np.full(size, stored[0], kind)
