"""Values of expressions, and how values compare."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from horai.lang.core.terms import Bindings, Compound, Constant, Float, Int, Str, Term, Var
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import Sign

Number = int | float
LIMIT = 2**1024
"""Numbers are smaller than this, whole ones and decimals."""

_COMPARE: dict[Sign, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class NoValue(Exception):
    """An expression without a value: `1/0`, `a + 1`."""


class NumberTooLarge(Exception):
    """A number that is computed and reaches the limit: what computes it, and of what."""


def value(term: Term, bindings: Bindings | None = None) -> Term:
    """The term with all expressions computed; raises `NoValue`.

    >>> value(Compound("/", (Int(7), Int(2))))
    Int(value=3)
    """
    match term:
        case Var(name=name):
            if bindings is None or name not in bindings:
                raise NoValue(f"{name} has no value")
            return bindings[name]
        case Compound(name=sign, args=args) if sign in ARITHMETIC:
            return computed(sign, [_number(value(arg, bindings)) for arg in args])
        case Compound(name=name, args=args):
            return Compound(name, tuple(value(arg, bindings) for arg in args))
        case _:
            return term


def _number(term: Term) -> Number:
    if isinstance(term, Int | Float):
        return term.value
    raise NoValue("only numbers can be computed with")


def computed(sign: str, numbers: list[Number]) -> Term:
    """What `+`, `sum` and so on come to; raises `NoValue` and `TooLarge`."""
    try:
        found = _sum(numbers) if sign == "sum" else _compute(sign, numbers)
    except OverflowError as error:
        raise NumberTooLarge(sign, numbers) from error
    if abs(found) >= LIMIT:
        raise NumberTooLarge(sign, numbers)
    return Float(found) if isinstance(found, float) else Int(found)


def _sum(numbers: list[Number]) -> Number:
    """The smallest first: a sum of decimals depends on the order in which they are added."""
    total: Number = 0
    for number in sorted(numbers):
        total += number
    return total


def _compute(sign: str, numbers: list[Number]) -> Number:
    if len(numbers) == 1:
        return -numbers[0] if sign == "-" else numbers[0]
    left, right = numbers
    try:
        match sign:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/":
                return _divided(left, right)
            case "%":
                return left - right * _divided(left, right) if _whole(left, right) else left % right
            case _:
                return _power(left, right)
    except ZeroDivisionError as error:
        raise NoValue(str(error)) from error


def _whole(left: Number, right: Number) -> bool:
    return isinstance(left, int) and isinstance(right, int)


def _divided(left: Number, right: Number) -> Number:
    """Whole numbers divide without remainder, towards zero, as answer set solvers do."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _power(left: Number, right: Number) -> Number:
    if _whole(left, right) and right < 0:
        raise NoValue("this power is no whole number")
    if _whole(left, right) and right > 1024 and abs(left) > 1:
        raise OverflowError("so large that it is better not worked out")
    found = left**right
    if isinstance(found, complex):
        raise NoValue("this power is no number")
    return float(found) if isinstance(found, float) else int(found)


def compare(sign: Sign, left: Term, right: Term) -> bool:
    """Does the comparison of two values hold?

    Terms are equal if they are the same: 3 and 3.0 are not. What cannot be ordered is neither
    smaller nor larger.
    """
    if sign == "=":
        return left == right
    if sign == "!=":
        return left != right
    if isinstance(left, Int | Float) and isinstance(right, Int | Float):
        return _COMPARE[sign](left.value, right.value)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return _COMPARE[sign](left.name, right.name)
    if isinstance(left, Str) and isinstance(right, Str):
        return _COMPARE[sign](left.value, right.value)
    return left == right and sign in ("<=", ">=")
