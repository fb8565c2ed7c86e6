"""Terms and atoms as symbols of clingo and back, and what clingo calls to compute with them.

clingo has 32-bit integers, strings and function symbols. Whatever else there is becomes a function
of a string, under a name that starts with an underscore, as no name of a program does. It knows no
decimals and orders things of any kind; here, what has no value gives nothing, and what cannot be
ordered is neither smaller nor larger.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial

from clingo import Function, Number, String, Symbol, SymbolType

from horai.lang.core.terms import Compound, Constant, Float, Int, Str, Term, subterms
from horai.lang.lars.arithmetic import COMPARISONS as SIGNS
from horai.lang.lars.arithmetic import TooLarge, compare, compute_term
from horai.lang.lars.syntax import Atom, Predicate, Sign
from horai.plan.lars.fragments import EndlessValues

LARGEST = 2**30
"""Sums of two smaller numbers fit into 32 bits."""
_NAME = re.compile(r"[a-z][A-Za-z0-9_]*")
_QUOTED, _DECIMAL, _LONG, _APPLIED = "_quoted", "_decimal", "_long", "_applied"


def is_name(text: str) -> bool:
    """Whether clingo reads a text as a name."""
    return text != "not" and _NAME.fullmatch(text) is not None


def is_tame(term: Term) -> bool:
    """Whether clingo can compute and compare with a term by itself."""
    return not any(
        isinstance(part, Float) or (isinstance(part, Int) and abs(part.value) > LARGEST)
        for part in subterms(term)
    )


def to_symbol(term: Term) -> Symbol:
    """The symbol of a ground term."""
    match term:
        case Int(value=value):
            if abs(value) > LARGEST:
                return Function(_LONG, [String(str(value))])
            return Number(value)
        case Str(value=text):
            return String(text)
        case Float(value=real):
            return Function(_DECIMAL, [String(repr(real))])
        case Constant(name=name):
            return Function(name) if is_name(name) else Function(_QUOTED, [String(name)])
        case Compound(name=name, args=args):
            inner = [to_symbol(arg) for arg in args]
            return Function(name, inner) if is_name(name) else _applied(name, inner)
    raise AssertionError(f"no ground term of LARS: {term}")


def _applied(name: str, args: list[Symbol]) -> Symbol:
    return Function(_APPLIED, [String(name), *args])


def to_term(symbol: Symbol) -> Term:
    """The ground term of a symbol."""
    if symbol.type is SymbolType.Number:
        return Int(symbol.number)
    if symbol.type is SymbolType.String:
        return Str(symbol.string)
    name, args = symbol.name, symbol.arguments
    match name:
        case "_quoted":
            return Constant(args[0].string)
        case "_decimal":
            return Float(float(args[0].string))
        case "_long":
            return Int(int(args[0].string))
        case "_applied":
            return Compound(args[0].string, tuple(map(to_term, args[1:])))
    return Compound(name, tuple(map(to_term, args))) if args else Constant(name)


class PredicateNames:
    """The names of predicates in encodings: their own where clingo can read it."""

    def __init__(self, predicates: Iterable[Predicate]) -> None:
        odd = sorted({name for name, _ in predicates if not is_name(name)})
        self._odd = {name: f"_p{place}" for place, name in enumerate(odd)}

    def now(self, name: str) -> str:
        """The predicate of atoms at the current time."""
        return self._odd.get(name, name)

    def at(self, name: str) -> str:
        """The predicate of time-pinned atoms."""
        return f"_at_{self.now(name)}"


@dataclass(slots=True)
class ModelMemory:
    """Atoms (with their time if they have one) and terms by codes of symbols; the last model."""

    atoms: dict[Hashable, tuple[Atom, int | None]] = field(default_factory=dict)
    terms: dict[Hashable, Term] = field(default_factory=dict)
    last: frozenset[Hashable] = frozenset()
    held: frozenset[Atom] = frozenset()

    def now(self, codes: frozenset[Hashable]) -> frozenset[Atom]:
        """The atoms of a model: those of the last one, but for what has changed.

        To put an atom into a set takes longer than all the rest of reading it.
        """
        gone, came = self.last - codes, codes - self.last
        if len(gone) + len(came) > len(codes):
            self.held = frozenset([self.atoms[code][0] for code in codes])
        else:
            self.held = self.held.difference([self.atoms[code][0] for code in gone])
            self.held = self.held.union([self.atoms[code][0] for code in came])
        self.last = codes
        return self.held

    def forget(self) -> None:
        """Begin anew."""
        self.atoms.clear()
        self.terms.clear()
        self.last = frozenset()
        self.held = frozenset()


FAR = 2**61
"""The first number that is no time point."""
MOST_RESULTS = 50_000
"""More values than rules compute that rest on each other, and do not derive ever new ones."""
MOST_CALLS = 300_000
"""More often than such rules compute anything."""
MOST_NESTED = 100
"""Terms with more terms around each other are taken for ones without end."""
MOST_POINTS = 1_000_000
"""Over more points `always` is not written out."""
FUNCTIONS = {"+": "plus", "-": "minus", "*": "times", "/": "divided", "%": "rest", "^": "power"}
COMPARISONS: dict[Sign, str] = {"<": "less", "<=": "at_most", ">": "more", ">=": "at_least"}


class Stopped(Exception):
    """The exception that stops clingo, which does not pass on more than that."""


class Outgrown(Exception):
    """A computed value that clingo does not have as a number, where it was told that it had all."""


class TooFar(Exception):
    """What a sum may come to, or a part of an aggregate, that clingo does not have as a number."""


class Functions:
    """The functions that encodings call, like `@plus(X,Y)` and `@less(X,Y)`.

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
        for sign, name in FUNCTIONS.items():
            setattr(self, name, partial(self._compute, sign))
        for order, name in COMPARISONS.items():
            setattr(self, name, partial(self._compare, order))

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

    def _compute(self, sign: str, *args: Symbol) -> list[Symbol]:
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

    def on_time(self, symbol: Symbol, start: Symbol) -> Symbol:
        """1 for times that a head may have here, 0 for what is no point of the timeline."""
        term = to_term(symbol)
        return Number(isinstance(term, Int) and _time(start) <= term.value < FAR)

    def covers(self, first: Symbol, last: Symbol, time: Symbol) -> Symbol:
        """1 for the points from one to another one, or to the end of time."""
        is_before_end = last.type is SymbolType.Supremum or _time(time) <= _time(last)
        return Number(_time(first) <= _time(time) and is_before_end)

    def points(self, first: Symbol, last: Symbol) -> list[Symbol]:
        """The same points, if there is an end; else no atom holds at all of them."""
        if last.type is SymbolType.Supremum:
            return []
        points = range(_time(first), _time(last) + 1)
        if len(points) > MOST_POINTS:
            raise self._stop(TooFar(f"`always` over {len(points)} points"))
        return [to_symbol(Int(time)) for time in points]

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


def _time(symbol: Symbol) -> int:
    term = to_term(symbol)
    assert isinstance(term, Int)
    return term.value


def _depth(symbol: Symbol) -> int:
    if symbol.type is not SymbolType.Function:
        return 0
    return 1 + max(map(_depth, symbol.arguments)) if symbol.arguments else 0
