"""Arithmetic and the order of terms."""

from __future__ import annotations

import math
from collections.abc import Callable

from horai.lang.terms import Atom, Compound, Float, Int, ListTerm, Str, Term, Var
from horai.oracle.unify import Env, walk

Number = int | float


class EvaluationError(Exception):
    """An expression that has no value: a condition holding it is not satisfied."""


CONSTANTS: dict[str, float] = {"pi": math.pi, "e": math.e, "inf": math.inf, "infinite": math.inf}


def _divide(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int) and b != 0 and a % b == 0:
        return a // b
    return a / b


def _truncating(a: Number, b: Number) -> int:
    quotient = abs(int(a)) // abs(int(b))
    return quotient if (a >= 0) == (b >= 0) else -quotient


def _power(a: Number, b: Number) -> Number:
    result = a**b
    if isinstance(result, complex):
        raise ValueError("complex result")
    return result


def _sign(a: Number) -> Number:
    return (a > 0) - (a < 0) if isinstance(a, int) else math.copysign(1.0, a) if a else 0.0


UNARY: dict[str, Callable[[Number], Number]] = {
    "-": lambda a: -a,
    "+": lambda a: a,
    "abs": abs,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "ceiling": math.ceil,
    "round": lambda a: math.floor(a + 0.5) if a >= 0 else math.ceil(a - 0.5),
    "truncate": math.trunc,
    "integer": lambda a: math.floor(a + 0.5) if a >= 0 else math.ceil(a - 0.5),
    "float": float,
    "sign": _sign,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "exp": math.exp,
    "log": math.log,
}

BINARY: dict[str, Callable[[Number, Number], Number]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "//": _truncating,
    "mod": lambda a, b: a % b,
    "rem": lambda a, b: a - b * _truncating(a, b),
    "min": min,
    "max": max,
    "**": _power,
    "^": _power,
    "atan2": math.atan2,
}


def evaluate(term: Term, env: Env) -> Number:
    """The value of an arithmetic expression."""
    term = walk(term, env)
    try:
        match term:
            case Int(value=value):
                return value
            case Float(value=real):
                return real
            case Atom(name=name) if name in CONSTANTS:
                return CONSTANTS[name]
            case Compound(name=name, args=(arg,)) if name in UNARY:
                return UNARY[name](evaluate(arg, env))
            case Compound(name=name, args=(left, right)) if name in BINARY:
                return BINARY[name](evaluate(left, env), evaluate(right, env))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise EvaluationError(str(error)) from error
    raise EvaluationError(f"not a number: {term}")


def number_term(value: Number) -> Term:
    """A number as a term; infinity is the atom `inf`."""
    if isinstance(value, int):
        return Int(value)
    return Atom("inf") if value == math.inf else Float(value)


def compare_numbers(op: str, left: Number, right: Number) -> bool:
    """`< > =< >= =:= =\\=`."""
    match op:
        case "<":
            return left < right
        case ">":
            return left > right
        case "=<":
            return left <= right
        case ">=":
            return left >= right
        case "=:=":
            return left == right
        case _:
            return left != right


def order_key(term: Term) -> tuple[int, object, object]:
    """The standard order of terms: variables, numbers, atoms, strings, compound terms."""
    match term:
        case Var(name=name):
            return (0, name, 0)
        case Float(value=real):
            return (1, real, 0)
        case Int(value=value):
            return (1, value, 1)
        case Atom(name=name):
            return (2, name, 0)
        case Str(value=text):
            return (3, text, 0)
        case ListTerm(items=items):
            return (4, (len(items), "[]"), tuple(order_key(i) for i in items))
        case Compound(name=name, args=args):
            return (4, (len(args), name), tuple(order_key(a) for a in args))
