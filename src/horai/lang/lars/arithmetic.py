"""Arithmetic of LARS programs: whole numbers exactly, up to a limit, decimals, and comparison."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from horai.lang.core.terms import Constant, Float, Int, Str, Term
from horai.lang.lars.syntax import Sign

Number = int | float
LIMIT = 2**1024
"""Numbers are smaller than this: the whole ones as well as decimals, which cannot be larger."""


class TooLarge(Exception):
    """A number that is computed and reaches the limit: what computes it, and of what."""

    def __init__(self, sign: str, numbers: Sequence[Number]) -> None:
        super().__init__(sign, numbers)
        self.sign, self.numbers = sign, numbers


def compute(sign: str, numbers: Sequence[Number]) -> Number | None:
    """The value of an operation; None if it has none.

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


def compute_term(sign: str, terms: Sequence[Term]) -> Term | None:
    """The value of an operation on terms; None if it has none.

    >>> compute_term("/", [Int(-7), Int(2)])
    Int(value=-3)
    """
    numbers = [term.value for term in terms if isinstance(term, Int | Float)]
    found = compute(sign, numbers) if len(numbers) == len(terms) else None
    if found is None:
        return None
    return Float(found) if isinstance(found, float) else Int(found)


# --- comparison ----------------------------------------------------------------------------------

# Of values that have an order, and of whole columns of them.
COMPARISONS: dict[Sign, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def compare(sign: Sign, left: Term, right: Term) -> bool:
    """Does a comparison of two values hold?

    Terms are equal if they are the same: 3 and 3.0 are not. What cannot be ordered is neither
    smaller nor larger.
    """
    if sign in ("=", "!="):
        return (left == right) == (sign == "=")
    match left, right:
        case (Int(value=a) | Float(value=a), Int(value=b) | Float(value=b)):
            return bool(COMPARISONS[sign](a, b))
        case (Constant(name=a), Constant(name=b)) | (Str(value=a), Str(value=b)):
            return bool(COMPARISONS[sign](a, b))
        case _:
            return left == right and sign in ("<=", ">=")
