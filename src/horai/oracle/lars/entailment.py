"""When a ground formula holds: the definition, case by case."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import Bindings, Compound, Float, Int, Term, Var
from horai.lang.lars.arithmetic import compare, compute_term
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Comparison,
    Formula,
    Implies,
    IntervalWindow,
    Not,
    Or,
    Reset,
    Some,
    Truth,
    Within,
)
from horai.lang.lars.walk import own_terms
from horai.oracle.lars.stream import Stream, select


def value(term: Term, bindings: Bindings | None = None) -> Term:
    """The term with all expressions computed; raises `NoValue` and `TooLarge`.

    >>> value(Compound("/", (Int(7), Int(2))))
    Int(value=3)
    """
    match term:
        case Var(name=name):
            if bindings is None or name not in bindings:
                raise NoValue(f"{name} has no value")
            return bindings[name]
        case Compound(name=sign, args=args) if sign in ARITHMETIC:
            return computed(sign, [value(arg, bindings) for arg in args])
        case Compound(name=name, args=args):
            return Compound(name, tuple(value(arg, bindings) for arg in args))
        case _:
            return term


def computed(sign: str, terms: Sequence[Term]) -> Term:
    """The value of `+`, `sum` and so on; raises `NoValue` and `TooLarge`."""
    found = compute_term(sign, terms)
    if found is None:
        raise NoValue(f"no value of `{sign}`")
    return found


@dataclass(frozen=True)
class Structure:
    """The whole stream, and the background that holds at all times."""

    stream: Stream
    background: Set[Atom] = frozenset()

    def entails(self, formula: Formula, time: int) -> bool:
        """Does the formula hold at a time?"""
        return self.holds(formula, self.stream, time)

    def holds(self, formula: Formula, stream: Stream, time: int) -> bool:
        """Does the formula hold at a time in a part of the stream?"""
        match formula:
            case Atom():
                return formula in stream.at(time) or formula in self.background
            case Truth(value=value):
                return value
            case Not(formula=inner):
                return not self.holds(inner, stream, time)
            case And(parts=parts):
                return all(self.holds(part, stream, time) for part in parts)
            case Or(parts=parts):
                return any(self.holds(part, stream, time) for part in parts)
            case Implies(left=left, right=right):
                return not self.holds(left, stream, time) or self.holds(right, stream, time)
            case Some(formula=inner):
                return any(self.holds(inner, stream, point) for point in stream.timeline)
            case Always(formula=inner):
                return all(self.holds(inner, stream, point) for point in stream.timeline)
            case At(time=Int(value=point), formula=inner):
                return point in stream and self.holds(inner, stream, point)
            case At() | Within(window=IntervalWindow()) if not is_in_time(formula):
                return False
            case Within(window=window, formula=inner):
                return self.holds(inner, select(window, stream, time), time)
            case Reset(formula=inner):
                return self.holds(inner, self.stream, time)
            case Comparison(sign=sign, left=one, right=other):
                return compare(sign, one, other)
            case Aggregate(elements=elements):
                rows = {
                    element.terms
                    for element in elements
                    if all(self.holds(part, stream, time) for part in element.condition)
                }
                return aggregate_holds(formula, rows)
        raise AssertionError(f"{formula} is not ground")


def is_in_time(formula: At | Within) -> bool:
    """Are the times that it names whole numbers? Nothing holds at others."""
    return all(isinstance(term, Int) for term in own_terms(formula))


def aggregate_holds(formula: Aggregate, rows: Set[tuple[Term, ...]]) -> bool:
    """Does the aggregate of some rows of terms compare as the formula says?"""
    try:
        return compare(formula.sign, aggregate_value(formula.function, rows), formula.bound)
    except NoValue:
        return False


def aggregate_value(function: str, rows: Set[tuple[Term, ...]]) -> Term:
    """Number of rows, or sum, least or largest of the first terms; raises `NoValue`."""
    if function == "count":
        return Int(len(rows))
    numbers = [row[0] for row in rows if row and isinstance(row[0], Int | Float)]
    if len(numbers) < len(rows):
        raise NoValue("only numbers have a sum, a least and a largest one")
    if function == "sum":
        return computed("sum", numbers)
    if not numbers:
        raise NoValue("nothing has no least and no largest one")
    pick = min if function == "min" else max
    best = pick(number.value for number in numbers)
    # Of equal numbers it is the whole one.
    return min((n for n in numbers if n.value == best), key=lambda n: isinstance(n, Float))
