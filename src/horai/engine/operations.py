"""The operations of arithmetic on whole columns.

Each works on whole numbers and on decimals where there are any, and says which rows have no value.
Where 64 bits may not do it raises `TooLarge`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from horai.engine.numbers import (
    EXACT,
    FALSE,
    LARGEST_INT,
    NO_FLOATS,
    NO_INTS,
    TRUE,
    Floats,
    Numbers,
    TooLarge,
    bound,
    compare,
    of_values,
)
from horai.lang.core import arithmetic as scalars
from horai.temporal.spans import Ints, Mask

# --- operations on whole numbers that stay within 64 bits ----------------------------------------


def _fits(largest: int) -> None:
    if largest > LARGEST_INT:
        raise TooLarge


def _add(a: Ints, b: Ints) -> Ints:
    _fits(bound(a) + bound(b))
    return a + b


def _subtract(a: Ints, b: Ints) -> Ints:
    _fits(bound(a) + bound(b))
    return a - b


def _multiply(a: Ints, b: Ints) -> Ints:
    _fits(bound(a) * bound(b))
    return a * b


def _negate(a: Ints) -> Ints:
    _fits(bound(a))
    return -a


def _absolute(a: Ints) -> Ints:
    _fits(bound(a))
    return np.abs(a)


def _quotient(a: Ints, b: Ints) -> Ints:
    """Towards zero."""
    size = _absolute(a) // _absolute(b)
    return np.where((a >= 0) == (b >= 0), size, -size)


def _remainder(a: Ints, b: Ints) -> Ints:
    return a - b * _quotient(a, b)


# --- how operations treat whole numbers and decimals ---------------------------------------------

OnInts = Callable[[Ints], Ints]
OnFloats = Callable[[Floats], Floats]


def _one(on_ints: OnInts, on_floats: OnFloats) -> Callable[[Numbers], Numbers]:
    """Whole numbers stay whole, decimals stay decimals."""

    def run(a: Numbers) -> Numbers:
        whole = on_ints(a.ints) if a.whole.any() else NO_INTS
        real = NO_FLOATS if a.whole.all() else on_floats(a.floats)
        return Numbers(a.valid, a.whole, whole, real)

    return run


def _two(
    on_ints: Callable[[Ints, Ints], Ints], on_floats: Callable[[Floats, Floats], Floats]
) -> Callable[[Numbers, Numbers], Numbers]:
    """Whole numbers give whole numbers; with a decimal on a side the result is one."""

    def run(a: Numbers, b: Numbers) -> Numbers:
        both = a.whole & b.whole
        whole = on_ints(a.ints, b.ints) if both.any() else NO_INTS
        real = NO_FLOATS if both.all() else on_floats(a.real, b.real)
        return Numbers(a.valid & b.valid, both, whole, real)

    return run


def _only_ints(on_ints: Callable[[Ints, Ints], Ints]) -> Callable[[Numbers, Numbers], Numbers]:
    """Decimals have no value here, nor has zero on the right."""

    def run(a: Numbers, b: Numbers) -> Numbers:
        valid = a.valid & b.valid & a.whole & b.whole & (b.ints != 0)
        return Numbers(valid, TRUE, on_ints(a.ints, np.where(b.ints == 0, 1, b.ints)))

    return run


def _to_whole(near: OnFloats) -> Callable[[Numbers], Numbers]:
    """Decimals become whole numbers; infinity has none."""

    def run(a: Numbers) -> Numbers:
        if a.whole.all():
            return a
        finite = np.isfinite(a.floats)
        rounded = near(np.where(finite & ~a.whole, a.floats, 0.0))
        if rounded.size and np.abs(rounded).max() > LARGEST_INT - EXACT:
            raise TooLarge
        valid = a.valid & (a.whole | finite)
        return Numbers(valid, TRUE, np.where(a.whole, a.ints, rounded.astype(np.int64)))

    return run


def _each(
    function: Callable[..., float], careful: Callable[..., float] | None = None
) -> Callable[..., Numbers]:
    """Python's own functions, because those of NumPy differ in the last digit.

    Where one fails, a careful one may be asked again, row by row.
    """

    def run(*numbers: Numbers) -> Numbers:
        sides = [a.real for a in numbers]
        shape = np.broadcast_shapes(*(side.shape for side in sides), (1,))
        listed = [np.broadcast_to(side, shape).tolist() for side in sides]
        valid: Mask = numbers[0].valid & numbers[-1].valid
        try:
            return Numbers(valid, FALSE, NO_INTS, np.fromiter(map(function, *listed), float))
        except scalars.FAILURES:
            again = careful or function
            found = of_values([_tried(again, *values) for values in zip(*listed, strict=True)])
            return Numbers(valid & found.valid, FALSE, NO_INTS, found.floats)

    return run


def _tried(function: Callable[..., Any], *values: Any) -> Any:
    try:
        return function(*values)
    except scalars.FAILURES:
        return None


def _nearest(a: Floats) -> Floats:
    """To the nearest whole number, halves away from zero."""
    size = np.abs(a)
    below = np.floor(size)
    nearest: Floats = np.copysign(below + (size - below >= 0.5), a)
    return nearest


def _sqrt(a: Numbers) -> Numbers:
    real = a.real
    return Numbers(a.valid & ~(real < 0), FALSE, NO_INTS, np.sqrt(real))


def _divide(a: Numbers, b: Numbers) -> Numbers:
    """Whole if both sides are and it goes evenly, else a decimal."""
    both = a.whole & b.whole
    valid = a.valid & b.valid & (b.real != 0)
    if not both.any():
        return Numbers(valid, FALSE, NO_INTS, a.real / b.real)
    _fits(bound(a.ints))
    divisor = np.where(b.ints == 0, 1, b.ints)
    even = both & (a.ints % divisor == 0)
    quotient = a.ints // divisor
    if even.all():
        return Numbers(valid, TRUE, quotient)
    if (both & ~even).any() and max(bound(a.ints), bound(b.ints)) > EXACT:
        raise TooLarge  # the sides would be rounded before they are divided
    return Numbers(valid, even, quotient, a.real / b.real)


_real_power = _each(operator.pow, scalars.power)


def _power(a: Numbers, b: Numbers) -> Numbers:
    if not (a.whole & b.whole).any():
        return _real_power(a, b)
    if a.whole.all() and b.whole.all() and b.ints.size and b.ints.min() >= 0:
        base, exponent = bound(a.ints), bound(b.ints)
        if base < 2 or (exponent < 64 and base**exponent <= LARGEST_INT):
            return Numbers(a.valid & b.valid, TRUE, np.power(a.ints, b.ints))
    rows = np.broadcast_shapes((a.rows,), (b.rows,))[0]
    sides = zip(a.values(rows), b.values(rows), strict=True)
    found = of_values([_tried(scalars.power, x, y) for x, y in sides])
    if found.exact is not None:
        raise TooLarge
    return Numbers(a.valid & b.valid & found.valid, found.whole, found.ints, found.floats)


def _pick(better: str) -> Callable[[Numbers, Numbers], Numbers]:
    """The better number; of 1 and 1.0 the whole one."""

    def run(a: Numbers, b: Numbers) -> Numbers:
        other = compare(better, b, a) | (compare("=:=", b, a) & b.whole & ~a.whole)
        return Numbers(
            a.valid & b.valid,
            np.where(other, b.whole, a.whole),
            np.where(other, b.ints, a.ints),
            np.where(other, b.floats, a.floats),
        )

    return run


UNARY: dict[str, Callable[[Numbers], Numbers]] = {
    **{name: _each(function) for name, function in scalars.REAL.items()},
    "-": _one(_negate, np.negative),
    "+": lambda a: a,
    "abs": _one(_absolute, np.abs),
    "sqrt": _sqrt,
    "floor": _to_whole(np.floor),
    "ceiling": _to_whole(np.ceil),
    "round": _to_whole(_nearest),
    "truncate": _to_whole(np.trunc),
    "integer": _to_whole(_nearest),
    "float": lambda a: Numbers(a.valid, FALSE, NO_INTS, a.real),
    "sign": _one(np.sign, lambda a: np.where(a == 0, 0.0, np.copysign(1.0, a))),
}

BINARY: dict[str, Callable[[Numbers, Numbers], Numbers]] = {
    "+": _two(_add, np.add),
    "-": _two(_subtract, np.subtract),
    "*": _two(_multiply, np.multiply),
    "/": _divide,
    "//": _only_ints(_quotient),
    "mod": _only_ints(np.mod),
    "rem": _only_ints(_remainder),
    "min": _pick("<"),
    "max": _pick(">"),
    "**": _power,
    "^": _power,
    "atan2": _each(scalars.BINARY["atan2"]),
}
