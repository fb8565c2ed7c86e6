"""What arithmetic of programs comes to: whole numbers exactly, up to a limit, and decimals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce

Number = int | float
LIMIT = 2**1024
"""Numbers are smaller than this: the whole ones as well as decimals, which cannot be larger."""


class TooLarge(Exception):
    """A number that is computed and reaches the limit: what computes it, and of what."""

    def __init__(self, sign: str, numbers: Sequence[Number]) -> None:
        super().__init__(sign, numbers)
        self.sign, self.numbers = sign, numbers


def compute(sign: str, numbers: Sequence[Number]) -> Number | None:
    """What an operation comes to; None if it has no value.

    >>> compute("/", [-7, 2])
    -3
    """
    try:
        found = _computed(sign, numbers)
    except ZeroDivisionError:
        return None
    except OverflowError as error:
        raise TooLarge(sign, numbers) from error
    if isinstance(found, complex):
        return None
    if abs(found) >= LIMIT:
        raise TooLarge(sign, numbers)
    return found


def added(numbers: Sequence[Number]) -> Number:
    """The sum, the smallest first: with decimals it depends on the order."""
    found = compute("sum", numbers)
    assert found is not None, "every sum has a value"
    return found


def _computed(sign: str, numbers: Sequence[Number]) -> Number | complex:
    if sign == "sum":
        return reduce(operator.add, sorted(numbers), 0)
    if len(numbers) == 1:
        return -numbers[0] if sign == "-" else numbers[0]
    return _BINARY[sign](*numbers)


def _divided(left: Number, right: Number) -> Number:
    """Whole numbers divide without remainder, towards zero."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _rest(left: Number, right: Number) -> Number:
    if isinstance(left, int) and isinstance(right, int):
        return left - right * _divided(left, right)
    return left % right


def _power(left: Number, right: Number) -> Number | complex:
    if isinstance(left, int) and isinstance(right, int):
        if right < 0:
            raise ZeroDivisionError("no whole number")
        if right > 1024 and abs(left) > 1:
            raise OverflowError("so large that it is better not worked out")
        return int(left**right)
    found: Number | complex = left**right
    return found


_BINARY: dict[str, Callable[[Number, Number], Number | complex]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": _rest,
    "^": _power,
}
