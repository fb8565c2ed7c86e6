"""Arithmetic, comparison and windows for clingo, called while it grounds.

Numbers of clingo have 32 bits, it knows no decimals and orders things of any kind; here, what has
no value gives nothing, and what cannot be ordered is neither smaller nor larger.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from clingo import Number, Symbol, SymbolType

from horai.asp.symbols import to_symbol, to_term
from horai.lang.terms import Atom, Float, Int, Str, Term

Value = int | float
LARGEST = 2**62
"""Whole numbers beyond this are no values."""
MOST_RESULTS = 50_000
"""More values than a program computes whose rules do not derive ever new ones."""
FUNCTIONS = {"+": "plus", "-": "minus", "*": "times", "/": "divided", "%": "rest", "^": "power"}
COMPARISONS = {"<": "less", "<=": "at_most", ">": "more", ">=": "at_least"}


class Endless(Exception):
    """Rules compute ever new values, so that grounding would not end."""


class Outgrown(Exception):
    """A computed value that clingo cannot compare by itself, where it was told that it could."""


class Functions:
    """The functions that encodings call, like `@plus(X,Y)`.

    With `is_numeric`, clingo compares values by itself: then all must be numbers that it has.
    """

    def __init__(self, is_numeric: bool = False) -> None:
        self.is_numeric = is_numeric
        self.has_outgrown = False
        self.results: set[Term] = set()
        self.windows: list[list[Symbol]] = []
        """What windows hold, as tuples."""

    @property
    def is_endless(self) -> bool:
        """Whether more values were computed than a program needs that comes to an end."""
        return len(self.results) > MOST_RESULTS

    def _compute(self, sign: str, args: Sequence[Symbol]) -> list[Symbol]:
        found = compute(sign, [to_term(arg) for arg in args])
        if found is None:
            return []
        self.results.add(found)
        if self.is_endless:
            raise Endless
        symbol = to_symbol(found)
        if self.is_numeric and symbol.type is not SymbolType.Number:
            self.has_outgrown = True
            raise Outgrown
        return [symbol]

    def _compare(self, sign: str, left: Symbol, right: Symbol) -> Symbol:
        if left.type is SymbolType.Number and right.type is SymbolType.Number:
            return Number(_SIGNS[sign](left.number, right.number))
        return Number(is_ordered(sign, to_term(left), to_term(right)))

    def held(self, window: Symbol) -> list[Symbol]:
        """What a window holds: faster than as text that has to be read."""
        return self.windows[window.number]

    def plus(self, *args: Symbol) -> list[Symbol]:
        """`X + Y` or `+X`."""
        return self._compute("+", args)

    def minus(self, *args: Symbol) -> list[Symbol]:
        """`X - Y` or `-X`."""
        return self._compute("-", args)

    def times(self, *args: Symbol) -> list[Symbol]:
        """`X * Y`."""
        return self._compute("*", args)

    def divided(self, *args: Symbol) -> list[Symbol]:
        """`X / Y`."""
        return self._compute("/", args)

    def rest(self, *args: Symbol) -> list[Symbol]:
        """`X % Y`."""
        return self._compute("%", args)

    def power(self, *args: Symbol) -> list[Symbol]:
        """`X ^ Y`."""
        return self._compute("^", args)

    def less(self, left: Symbol, right: Symbol) -> Symbol:
        """`X < Y`."""
        return self._compare("<", left, right)

    def at_most(self, left: Symbol, right: Symbol) -> Symbol:
        """`X <= Y`."""
        return self._compare("<=", left, right)

    def more(self, left: Symbol, right: Symbol) -> Symbol:
        """`X > Y`."""
        return self._compare(">", left, right)

    def at_least(self, left: Symbol, right: Symbol) -> Symbol:
        """`X >= Y`."""
        return self._compare(">=", left, right)

    def is_number(self, symbol: Symbol) -> Symbol:
        """1 for numbers, 0 for all else."""
        return Number(isinstance(to_term(symbol), Int | Float))


def compute(sign: str, terms: Sequence[Term]) -> Term | None:
    """The value of an operation on terms; None when it has none.

    >>> compute("/", [Int(-7), Int(2)])
    Int(value=-3)
    """
    numbers = [term.value for term in terms if isinstance(term, Int | Float)]
    if len(numbers) < len(terms):
        return None
    try:
        found = _unary(sign, numbers[0]) if len(numbers) == 1 else _BINARY[sign](*numbers)
    except (ZeroDivisionError, OverflowError, _NoNumber):
        return None
    if isinstance(found, float):
        return Float(found)
    return None if abs(found) > LARGEST else Int(found)


class _NoNumber(Exception):
    """An operation whose result is no number that can be used."""


def _unary(sign: str, number: Value) -> Value:
    return -number if sign == "-" else number


def _divided(left: Value, right: Value) -> Value:
    """Whole numbers divide without remainder, towards zero."""
    if isinstance(left, int) and isinstance(right, int):
        quotient = abs(left) // abs(right)
        return quotient if (left < 0) == (right < 0) else -quotient
    return left / right


def _rest(left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        return left - right * _divided(left, right)
    return left % right


def _power(left: Value, right: Value) -> Value:
    both_whole = isinstance(left, int) and isinstance(right, int)
    if both_whole and (right < 0 or (right > 64 and abs(left) > 1)):
        raise _NoNumber
    found = left**right
    if isinstance(found, complex):
        raise _NoNumber
    return float(found) if isinstance(found, float) else int(found)


_BINARY: dict[str, Callable[[Value, Value], Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
    "%": _rest,
    "^": _power,
}
_SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_ordered(sign: str, left: Term, right: Term) -> bool:
    """Whether `<`, `<=`, `>` or `>=` holds between two values."""
    pair = _keys(left, right)
    if pair is None:
        return left == right and sign in ("<=", ">=")
    return _SIGNS[sign](*pair)


def _keys(left: Term, right: Term) -> tuple[Value | str, Value | str] | None:
    """What two values are ordered by; None if they cannot be ordered."""
    if isinstance(left, Int | Float) and isinstance(right, Int | Float):
        return left.value, right.value
    if isinstance(left, Str) and isinstance(right, Str):
        return left.value, right.value
    if isinstance(left, Atom) and isinstance(right, Atom):
        return left.name, right.name
    return None
