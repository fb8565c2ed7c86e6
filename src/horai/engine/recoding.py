"""Columns on their way between sessions: other codes for the same terms, and fewer bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, Mask

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
    new = np.zeros(len(known), np.bool_)
    terms = _look(codes, known, new)
    if terms < 0:
        raise NoSuchTerm("there is a code that no term has")
    if not terms:
        return codes
    if new.any():
        places = np.flatnonzero(new)
        known[places] = np.fromiter(code(places.tolist()), np.int64, len(places))
    found = np.empty_like(codes)
    _change(codes, known, found)
    return found


@kernel
def _look(codes: Ints, known: Ints, new: Mask) -> int:
    """How many codes are of terms, -1 if one is of none; `new` gets those not yet known."""
    terms = 0
    for row in range(len(codes)):
        code = codes[row]
        if code & 1 == 0:
            place = code >> 1
            if place < 0 or place >= len(known):
                return -1
            terms += 1
            if known[place] == -2:
                new[place] = True
    return terms


@kernel
def _change(codes: Ints, known: Ints, found: Ints) -> None:
    for row in range(len(codes)):
        code = codes[row]
        found[row] = code if code & 1 else known[code >> 1]


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
    """The array that was narrowed, in memory of its own: compiled sweeps know no other kind."""
    if len(stored) == size:
        return stored.astype(kind)
    return np.full(size, stored[0], kind)
