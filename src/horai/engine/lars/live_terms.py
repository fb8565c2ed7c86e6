"""Terms as codes, and what is computed with single ones."""

from __future__ import annotations

import numpy as np

from horai.engine.columns import codes, codes_of
from horai.engine.lars.totals import best
from horai.engine.lars.values import Values, evaluate, holds
from horai.engine.symbols import Symbols
from horai.lang.core.terms import Compound, Float, Int, Term, Var
from horai.lang.lars.arithmetic import COMPARISONS, added
from horai.lang.lars.predicates import ARITHMETIC
from horai.lang.lars.syntax import Function, Sign


class Codes:
    """The code of every term; whole numbers are odd ones."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self._known: dict[Term, int] = {}

    def code(self, term: Term) -> int:
        """The code of a term without variables."""
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self.symbols.code(term)
        return found

    def value(self, term: Term, bound: dict[str, int]) -> int | None:
        """The code of what a term comes to; None if it has no value."""
        if isinstance(term, Var):
            return bound[term.name]
        if not isinstance(term, Compound):
            return self.code(term)
        if term.name in ARITHMETIC and len(term.args) == 2:
            left, right = (self.value(arg, bound) for arg in term.args)
            if left is None or right is None:
                return None
            if left & 1 and right & 1 and term.name in "+-":
                one, other = left >> 1, right >> 1
                return self.symbols.code(Int(one + other if term.name == "+" else one - other))
        columns = {name: codes(np.array([code])) for name, code in bound.items()}
        found = evaluate(term, columns, 1, self.symbols)
        return int(codes_of(found.column, self.symbols)[0]) if found.valid[0] else None

    def holds(self, sign: Sign, left: int, right: int) -> bool:
        """Does a comparison of two values hold?"""
        if sign in ("=", "!="):
            return (left == right) == (sign == "=")
        if left & 1 and right & 1:
            return bool(COMPARISONS[sign](left, right))
        true = np.ones(1, np.bool_)
        one, other = (Values(codes(np.array([code])), true) for code in (left, right))
        return bool(holds(sign, one, other, self.symbols)[0])


def total_of(function: Function, rows: set[tuple[int, ...]], codes: Codes) -> int | None:
    """The code of what an aggregate of different rows comes to; None if it has no value."""
    if function == "count":
        return codes.code(Int(len(rows)))
    terms = [codes.symbols.term(row[0]) for row in rows if row]
    numbers = [term.value for term in terms if isinstance(term, Int | Float)]
    if len(numbers) < len(rows) or not (numbers or function == "sum"):
        return None
    found = added(numbers) if function == "sum" else best(function, numbers)
    return codes.code(Float(found) if isinstance(found, float) else Int(found))
