"""Formulas with values put for their variables, aggregates written out element by element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Element,
    Formula,
    Implies,
    Not,
    Or,
    Reset,
    Some,
    Within,
)
from horai.lang.lars.walk import map_terms
from horai.lang.terms import Float, Int, Term
from horai.oracle.lars.numbers import NoValue, computed, value

Values = Mapping[str, Term]
Solve = Callable[[Iterable[Formula], Values], Iterator[Values]]
"""Values for which conditions may hold somewhere."""
MOST_TOTALS = 20_000


class TooMany(Exception):
    """An aggregate over derived atoms that may have more values than can be tried."""


def written(formula: Formula, values: Values, solve: Solve) -> Formula:
    """The formula without variables; raises `NoValue` if an expression has no value."""

    def inside(part: Formula) -> Formula:
        return written(part, values, solve)

    match formula:
        case Aggregate(function=function, sign=sign, bound=bound):
            rows = tuple(elements(formula, values, solve))
            return Aggregate(function, rows, sign, value(bound, values))
        case And(parts=parts):
            return And(tuple(inside(part) for part in parts))
        case Or(parts=parts):
            return Or(tuple(inside(part) for part in parts))
        case Implies(left=left, right=right):
            return Implies(inside(left), inside(right))
        case Not(formula=inner):
            return Not(inside(inner))
        case Some(formula=inner):
            return Some(inside(inner))
        case Always(formula=inner):
            return Always(inside(inner))
        case Reset(formula=inner):
            return Reset(inside(inner))
        case At(time=time, formula=inner):
            return At(value(time, values), inside(inner))
        case Within(formula=inner):
            moved = map_terms(Within(formula.window, Or(())), lambda term: value(term, values))
            assert isinstance(moved, Within)
            return Within(moved.window, inside(inner))
        case _:
            return map_terms(formula, lambda term: value(term, values))


def elements(aggregate: Aggregate, values: Values, solve: Solve) -> Iterable[Element]:
    """The elements of an aggregate for all values that may make their conditions true."""
    found: dict[Element, None] = {}
    for element in aggregate.elements:
        for inner in solve(element.condition, values):
            try:
                terms = tuple(value(term, inner) for term in element.terms)
                condition = tuple(written(part, inner, solve) for part in element.condition)
            except NoValue:
                continue
            found[Element(terms, condition)] = None
    return found


def totals(function: str, rows: set[tuple[Term, ...]]) -> set[Term]:
    """All values that an aggregate may have when any of the rows may be missing."""
    if function == "count":
        return {Int(number) for number in range(len(rows) + 1)}
    numbers = [row[0] for row in rows if row and isinstance(row[0], Int | Float)]
    if function != "sum":
        return set(numbers)
    sums: set[Term] = {Int(0)}
    for number in sorted(numbers, key=lambda one: one.value):  # as they are added
        # `computed` adds the smaller one first, which makes no difference to two of them.
        old = [total.value for total in sums if isinstance(total, Int | Float)]
        sums |= {computed("sum", [total, number.value]) for total in old}
        if len(sums) > MOST_TOTALS:
            raise TooMany("a sum over derived atoms has too many possible values")
    return sums
