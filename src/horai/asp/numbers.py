"""Arithmetic, comparison and windows for clingo, called while it grounds.

Numbers of clingo have 32 bits, it knows no decimals and orders things of any kind; here, what has
no value gives nothing, and what cannot be ordered is neither smaller nor larger.
"""

from __future__ import annotations

from collections.abc import Sequence

from clingo import Number, Symbol, SymbolType

from horai.asp.plain import EndlessValues
from horai.asp.symbols import LARGEST, is_tame, to_symbol, to_term
from horai.lang.core.terms import Float, Int
from horai.lang.lars.arithmetic import COMPARISONS as SIGNS
from horai.lang.lars.arithmetic import TooLarge, compare, compute_term
from horai.lang.lars.syntax import Sign

FAR = 2**61
"""The first number that is no time point."""
MOST_RESULTS = 50_000
"""More values than rules compute that rest on each other, and do not derive ever new ones."""
MOST_CALLS = 300_000
"""More often than such rules compute anything."""
MOST_NESTED = 100
"""Terms with more terms around each other are taken for ones without end."""
FUNCTIONS = {"+": "plus", "-": "minus", "*": "times", "/": "divided", "%": "rest", "^": "power"}
COMPARISONS = {"<": "less", "<=": "at_most", ">": "more", ">=": "at_least"}


class Stopped(Exception):
    """The exception that stops clingo, which does not pass on more than that."""


class Outgrown(Exception):
    """A computed value that clingo does not have as a number, where it was told that it had all."""


class TooFar(Exception):
    """A time of a head, or what a sum may come to, that clingo does not have as a number."""


class Functions:
    """The functions that encodings call, like `@plus(X,Y)`.

    With `is_tame`, the encoding has taken all numbers for ones that clingo has.
    """

    def __init__(self, is_tame: bool = False) -> None:
        self.is_tame = is_tame
        self.trouble: Exception | None = None
        """Why grounding was stopped: clingo does not pass on what is raised here."""
        self.results: set[Symbol] = set()
        self.calls = 0
        self.weights: dict[Symbol, int] = {}
        """The bound of each sum, as if all of its numbers had one sign."""
        self.windows: list[list[Symbol]] = []
        """The rows of windows, as tuples."""

    def begin(self) -> None:
        """Forget what was computed before."""
        self.results.clear()
        self.calls = 0
        self.weights.clear()
        self.trouble = None

    def _stop(self, trouble: Exception) -> Stopped:
        self.trouble = trouble
        return Stopped()

    def counted(self, found: Symbol) -> Symbol:
        """A value that a rule computes from what it may derive itself."""
        self.calls += 1
        self.results.add(found)
        if len(self.results) > MOST_RESULTS or self.calls > MOST_CALLS:
            raise self._stop(EndlessValues(f"{self.calls - 1} computations"))
        if found.type is SymbolType.Function and _depth(found) > MOST_NESTED:
            raise self._stop(EndlessValues(f"{MOST_NESTED} rounds"))
        return found

    def _compute(self, sign: str, args: Sequence[Symbol]) -> list[Symbol]:
        try:
            found = compute_term(sign, [to_term(arg) for arg in args])
        except TooLarge as trouble:
            raise self._stop(trouble) from None
        if found is None:
            return []
        if self.is_tame and not is_tame(found):
            raise self._stop(Outgrown())
        return [to_symbol(found)]

    def _compare(self, sign: Sign, left: Symbol, right: Symbol) -> Symbol:
        if left.type is SymbolType.Number and right.type is SymbolType.Number:
            return Number(SIGNS[sign](left.number, right.number))
        return Number(compare(sign, to_term(left), to_term(right)))

    def held(self, window: Symbol) -> list[Symbol]:
        """The rows of a window: faster than as text that has to be read."""
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

    def on_time(self, symbol: Symbol, start: Symbol) -> Symbol:
        """1 for times that a head may have here, 0 for what is no point of the timeline."""
        term = to_term(symbol)
        if isinstance(term, Int) and LARGEST < term.value < FAR:
            raise self._stop(TooFar(f"a rule that speaks of time {term.value}"))
        return Number(isinstance(term, Int) and start.number <= term.value <= LARGEST)

    def weigh(self, *args: Symbol) -> Symbol:
        """1 for an element of an aggregate, if clingo can work with it.

        For a sum, which is named first, that is so as long as it can add up all there is so far.
        """
        *totals, symbol = args
        if symbol.type is not SymbolType.Number:
            self.is_whole(symbol)
            return Number(1)
        for total in totals:
            found = self.weights[total] = self.weights.get(total, 0) + abs(symbol.number)
            if found > LARGEST:
                raise self._stop(TooFar(f"a sum of numbers that may come to {found}"))
        return Number(1)

    def is_whole(self, symbol: Symbol) -> Symbol:
        """1 for the numbers of clingo, 0 for what is no number; others it cannot order."""
        if symbol.type is SymbolType.Number:
            return Number(1)
        term = to_term(symbol)
        if isinstance(term, Int | Float):
            raise self._stop(TooFar(f"an aggregate with the number {term.value}"))
        return Number(0)

    def is_number(self, symbol: Symbol) -> Symbol:
        """1 for numbers, 0 for all else."""
        return Number(isinstance(to_term(symbol), Int | Float))


def _depth(symbol: Symbol) -> int:
    if symbol.type is not SymbolType.Function:
        return 0
    return 1 + max(map(_depth, symbol.arguments)) if symbol.arguments else 0
