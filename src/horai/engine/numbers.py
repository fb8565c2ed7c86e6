"""Numbers by row: whole ones, decimals, or some of each.

As far as 64 bits go, whole numbers and decimals are two arrays and a mask that says which one
counts. Beyond, they are Python's, which are slow but exact. What is the same in every row may be
an array without dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from horai.engine.columns import Column, codes, codes_of, column_of, floats, ints
from horai.engine.hashing import dense
from horai.engine.symbols import Symbols
from horai.lang.core.arithmetic import COMPARISONS, Number, number_term
from horai.temporal.spans import Ints, Mask

Floats = npt.NDArray[np.float64]

LARGEST_INT = (1 << 63) - 1
EXACT = 1 << 53  # decimals hold every whole number up to here
TRUE, FALSE = np.asarray(True), np.asarray(False)
NO_INTS, NO_FLOATS = np.asarray(0), np.asarray(0.0)


class TooLarge(Exception):
    """A whole number that may not fit 64 bits: the expression has to be computed exactly."""


class Numbers(NamedTuple):
    """A number in every row that is valid; the others have no value."""

    valid: Mask
    whole: Mask
    ints: Ints = NO_INTS
    floats: Floats = NO_FLOATS
    exact: npt.NDArray[np.object_] | None = None  # all values, if 64 bits do not hold them

    @property
    def real(self) -> Floats:
        """All values as decimals; infinity for those that are too large for one."""
        if self.exact is not None:
            return np.array([_decimal(value) for value in self.exact.tolist()], np.float64)
        if not self.whole.any():
            return self.floats
        if self.whole.all():
            return self.ints.astype(np.float64)
        return np.where(self.whole, self.ints.astype(np.float64), self.floats)

    @property
    def _parts(self) -> tuple[npt.NDArray[Any], ...]:
        return (self.valid, self.whole, self.ints, self.floats)

    @property
    def rows(self) -> int:
        """How many numbers there are; one if all rows have the same."""
        return np.broadcast(*self._parts).size if self.exact is None else len(self.exact)

    def take(self, places: Ints | Mask) -> Numbers:
        """The numbers of some rows."""
        valid, whole, ints, real = (part[places] if part.ndim else part for part in self._parts)
        exact = None if self.exact is None else self.exact[places]
        return Numbers(valid, whole, ints, real, exact)

    def over(self, rows: int) -> Numbers:
        """The same with a validity for each of the rows."""
        return self._replace(valid=full(self.valid, rows))

    def values(self, rows: int) -> list[Number]:
        """The values as Python numbers, those of rows that are not valid included."""
        if self.exact is not None:
            return list(full(self.exact, rows).tolist())
        if self.whole.all():
            return list(full(self.ints, rows).tolist())
        if not self.whole.any():
            return list(full(self.floats, rows).tolist())
        parts = [full(part, rows).tolist() for part in self._parts]
        return [i if whole else f for _, whole, i, f in zip(*parts, strict=True)]

    def column(self, symbols: Symbols) -> Column:
        """The numbers as terms; rows without a value hold anything."""
        rows = len(self.valid)
        if self.exact is not None:
            return column_of([number_term(value) for value in self.values(rows)], symbols)
        if self.whole.all():
            return ints(full(self.ints, rows))
        real, decimal = full(self.floats, rows), full(~self.whole, rows)
        infinite = self.valid & decimal & np.isinf(real)
        if decimal.all() and not infinite.any():
            return floats(real)
        return self._mixed(real, decimal & self.valid, infinite, symbols)

    def _mixed(self, real: Floats, decimal: Mask, infinite: Mask, symbols: Symbols) -> Column:
        data = codes_of(ints(np.where(decimal, 0, self.ints)), symbols)
        plain = decimal & ~infinite
        data[plain] = codes_of(floats(real[plain]), symbols)
        for limit in (math.inf, -math.inf):
            if (these := infinite & (real == limit)).any():
                data[these] = symbols.codes([number_term(limit)])[0]
        return codes(data)


def _decimal(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def full(array: npt.NDArray[Any], rows: int) -> npt.NDArray[Any]:
    """One element per row, in an array that is plain memory."""
    return np.ascontiguousarray(np.broadcast_to(array, (rows,)))


def of_ints(data: Ints) -> Numbers:
    """Whole numbers."""
    return Numbers(TRUE, TRUE, data)


def of_floats(data: Floats) -> Numbers:
    """Decimals."""
    return Numbers(TRUE, FALSE, NO_INTS, data)


def of_values(values: Sequence[Number | None]) -> Numbers:
    """Python numbers; None stands for no value."""
    valid = np.array([value is not None for value in values], np.bool_)
    known = [0 if value is None else value for value in values]
    whole = np.array([isinstance(value, int) for value in known], np.bool_)
    if any(isinstance(value, int) and abs(value) > LARGEST_INT for value in known):
        return Numbers(valid, whole, exact=np.fromiter(known, object, len(known)))
    return Numbers(
        valid,
        whole,
        np.array([value if isinstance(value, int) else 0 for value in known], np.int64),
        np.array([0.0 if isinstance(value, int) else value for value in known], np.float64),
    )


def of_codes(data: Ints, value: Callable[[int], Number | None]) -> Numbers:
    """The values of coded terms, which a function tells for those that are not small integers."""
    if (data & 1).all():
        return of_ints(data >> 1)
    numbers, firsts = dense([data], len(data))
    different = data[firsts].tolist()
    found = of_values([code >> 1 if code & 1 else value(code) for code in different])
    if found.exact is not None:
        raise TooLarge
    return found.take(numbers)


def bound(data: Ints) -> int:
    """No element is further from zero."""
    return max(abs(int(data.max())), abs(int(data.min()))) if data.size else 0


def compare(op: str, left: Numbers, right: Numbers) -> Mask:
    """`< > =< >= =:= =\\=` row by row, as exact as Python's, also for rows without a value."""
    ask = COMPARISONS[op]
    if left.exact is not None or right.exact is not None:
        return _one_by_one(ask, left, right)
    if left.whole.all() and right.whole.all():
        return np.asarray(ask(left.ints, right.ints))
    answer = np.asarray(ask(left.real, right.real))
    both = left.whole & right.whole
    if both.any():
        answer = np.where(both, ask(left.ints, right.ints), answer)
    # Decimals next to whole numbers that no decimal holds.
    risky = (left.whole != right.whole) & (_beyond(left) | _beyond(right))
    return np.where(risky, _one_by_one(ask, left, right), answer) if risky.any() else answer


def _one_by_one(ask: Callable[[Any, Any], Any], left: Numbers, right: Numbers) -> Mask:
    rows = max(left.rows, right.rows) if left.rows and right.rows else 0
    return np.array(list(map(ask, left.values(rows), right.values(rows))), np.bool_)


def _beyond(numbers: Numbers) -> Mask:
    return numbers.whole & ((numbers.ints > EXACT) | (numbers.ints < -EXACT))
