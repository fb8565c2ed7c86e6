"""Which variables of a literal also occur outside it, where something could bind them.

A negation or an aggregate owns the variables that occur nowhere else. Other negations and
aggregates give no value to anything, so what occurs only there does not count as elsewhere: each of
them has a variable of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.ec.syntax import Aggregate, FindAll, Literal, Not, parts
from horai.lang.terms import Term, variables


def elsewhere(items: Iterable[Literal], item: Literal) -> frozenset[str]:
    """The variables that the other conjuncts share with the rest of the clause."""
    return frozenset(name for other in items if other is not item for name in visible(other))


def visible(literal: Literal) -> frozenset[str]:
    """The variables of a literal that are seen outside it."""
    match literal:
        case Not():
            return frozenset()
        case FindAll(result=result) | Aggregate(result=result):
            return names(result)
        case _:
            inside = parts(literal)
            if not inside:
                return names(literal.term)
            return frozenset(name for part in inside for name in visible(part))


def names(*terms: Term | None) -> frozenset[str]:
    """The names of the variables of some terms."""
    return frozenset(name for term in terms if term is not None for name in variables(term))
