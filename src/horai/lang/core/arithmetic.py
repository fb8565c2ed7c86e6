"""Arithmetic of the Event Calculus, and the order of terms.

Whole numbers are exact and have up to 4,200 digits; a division that goes evenly stays whole. Every
engine computes by these definitions, one value at a time or, faster, for whole columns. `@<`
compares by the standard order of terms, and lists are sorted by it.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var

Number = int | float

MAX_EXPONENT = 10_000  # of whole numbers: more than any sensible rule needs
MOST_BITS = 14_000  # of whole numbers: Python writes no more than 4,300 digits
CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "inf": math.inf, "infinite": math.inf}
FAILURES = (ArithmeticError, ValueError, TypeError)


class NoValue(Exception):
    """An expression that has no value: a condition holding it is not satisfied."""

    expression: Term | None = None  # the whole of it, where it is arithmetic


def total(numbers: Iterable[Number]) -> Number:
    """The sum, the same whatever the order: exact for whole numbers, else rounded only once."""
    listed = list(numbers)
    try:
        if all(isinstance(n, int) for n in listed):
            return _sized(sum(listed))
        return math.fsum(listed)
    except (OverflowError, ValueError) as error:
        raise NoValue(str(error)) from error


def largest(numbers: Iterable[Number]) -> Number:
    """The largest number; of 1 and 1.0 the whole one, whatever the order."""
    return max(numbers, key=lambda n: (n, isinstance(n, int)))


def smallest(numbers: Iterable[Number]) -> Number:
    """The smallest number; of 1 and 1.0 the whole one, whatever the order."""
    return min(numbers, key=lambda n: (n, isinstance(n, float)))


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int) and b != 0 and a % b == 0:
        return a // b
    return a / b


def _whole(a: Number) -> int:
    if not isinstance(a, int):
        raise ValueError(f"not a whole number: {a}")
    return a


def _truncating(a: Number, b: Number) -> int:
    quotient = abs(_whole(a)) // abs(_whole(b))
    return quotient if (a >= 0) == (b >= 0) else -quotient


def power(a: Number, b: Number) -> Number:
    """The power, if it is a real number of sensible size."""
    if isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b > MAX_EXPONENT:
        raise ValueError("too large a power")
    if isinstance(a, int) and isinstance(b, int) and (abs(a).bit_length() - 1) * b > MOST_BITS:
        raise ValueError("too large a power")
    result: Number | complex = a**b
    if isinstance(result, complex):
        raise ValueError("complex result")
    return _sized(result)


def _sized(number: Number) -> Number:
    """A number that can still be written down."""
    if isinstance(number, int) and number.bit_length() > MOST_BITS:
        raise ValueError("the number is too large")
    return number


def _round(a: Number) -> int:
    """To the nearest whole number, halves away from zero."""
    below = math.floor(abs(a))
    nearest = below + 1 if abs(a) - below >= 0.5 else below
    return nearest if a >= 0 else -nearest


def _sign(a: Number) -> Number:
    return (a > 0) - (a < 0) if isinstance(a, int) else math.copysign(1.0, a) if a else 0.0


# Functions of decimals: the value of a whole number is that of the decimal it is.
REAL: dict[str, Callable[[float], float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "exp": math.exp,
    "log": math.log,
}

UNARY: dict[str, Callable[[Number], Number]] = {
    **REAL,
    "-": lambda a: -a,
    "+": lambda a: a,
    "abs": abs,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "ceiling": math.ceil,
    "round": _round,
    "truncate": math.trunc,
    "integer": _round,
    "float": float,
    "sign": _sign,
}

BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: _sized(a + b),
    "-": lambda a, b: _sized(a - b),
    "*": lambda a, b: _sized(a * b),
    "/": _divide,
    "//": _truncating,
    "mod": lambda a, b: _whole(a) % _whole(b),
    "rem": lambda a, b: a - b * _truncating(a, b),
    "min": lambda a, b: smallest([a, b]),
    "max": lambda a, b: largest([a, b]),
    "**": power,
    "^": power,
    "atan2": math.atan2,
}

# Of numbers, and of whole columns of them.
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    ">": operator.gt,
    "=<": operator.le,
    ">=": operator.ge,
    "=:=": operator.eq,
    "=\\=": operator.ne,
}


def evaluate(term: Term, env: Mapping[str, Term]) -> Number:
    """The value of an arithmetic expression; raises `NoValue`."""
    try:
        return _evaluate(term, env)
    except NoValue as error:
        error.expression = term
        raise


def _evaluate(term: Term, env: Mapping[str, Term]) -> Number:
    found = _computed(term, env)
    if found != found:  # only what is not a number differs from itself: inf - inf, 0 * inf
        raise NoValue("the result is not a number")
    return found


def _computed(term: Term, env: Mapping[str, Term]) -> Number:
    while isinstance(term, Var) and term.name in env:
        term = env[term.name]
    try:
        match term:
            case Int(value=value):
                return value
            case Float(value=real):
                return real
            case Constant(name=name) if name in CONSTANTS:
                return CONSTANTS[name]
            case Compound(name=name, args=(arg,)) if name in UNARY:
                return UNARY[name](_evaluate(arg, env))
            case Compound(name=name, args=(left, right)) if name in BINARY:
                return BINARY[name](_evaluate(left, env), _evaluate(right, env))
    except FAILURES as error:
        raise NoValue(str(error)) from error
    raise NoValue(f"not a number: {term}")


def value_of(term: Term, env: Mapping[str, Term]) -> Number | None:
    """The value of an expression, None if it has none."""
    try:
        return _evaluate(term, env)
    except NoValue:
        return None


def number_term(value: Number) -> Term:
    """A number as a term; infinity is the atom `inf`, and what is below all numbers `-inf`."""
    if isinstance(value, int):
        return Int(value)
    if math.isinf(value):
        return Constant("inf") if value > 0 else Compound("-", (Constant("inf"),))
    return Float(value)


# --- the standard order of terms ------------------------------------------------------------------

# Comparisons of terms by their place in the order.
ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "@<": COMPARISONS["<"],
    "@=<": COMPARISONS["=<"],
    "@>": COMPARISONS[">"],
    "@>=": COMPARISONS[">="],
}


def order_key(term: Term) -> tuple[int, object, object]:
    """The place of a term: variables, numbers, atoms, strings, compound terms."""
    match term:
        case Var(name=name):
            return (0, name, 0)
        case Float(value=real):
            return (1, real, 0)
        case Int(value=value):
            return (1, value, 1)
        case Constant(name=name):
            return (2, name, 0)
        case Str(value=text):
            return (3, text, 0)
        case ListTerm(items=items):
            return (4, (len(items), "[]"), tuple(order_key(item) for item in items))
        case Compound(name=name, args=args):
            return (4, (len(args), name), tuple(order_key(arg) for arg in args))


def sorted_set(items: Iterable[Term]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, without duplicates."""
    return sorted_bag(set(items))


def sorted_bag(items: Iterable[Term]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, duplicates kept."""
    return tuple(sorted(items, key=order_key))
