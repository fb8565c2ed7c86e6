"""Which variables of a literal also occur outside it.

A negation or an aggregate owns the variables that occur nowhere else. Two aggregates that use the
same name for what they collect do not share it: the name is local to each.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.ec.syntax import (
    Aggregate,
    FindAll,
    Literal,
    parts,
)
from horai.lang.terms import Term, variables


def elsewhere(items: Iterable[Literal], item: Literal) -> frozenset[str]:
    """The variables of all conjuncts but one."""
    return frozenset(name for other in items if other is not item for name in names(other.term))


def local_to_aggregates(items: Iterable[Literal], item: Literal) -> frozenset[str]:
    """The variables of all conjuncts but one, those only collected by other aggregates left out."""
    return frozenset(name for other in items if other is not item for name in visible(other))


def visible(literal: Literal) -> frozenset[str]:
    """The variables of a literal that are seen outside aggregates."""
    if isinstance(literal, FindAll | Aggregate):
        return names(literal.result)
    inside = parts(literal)
    if not inside:
        return names(literal.term)
    return frozenset(name for part in inside for name in visible(part))


def names(term: Term) -> frozenset[str]:
    """The names of the variables of a term."""
    return frozenset(variables(term))
