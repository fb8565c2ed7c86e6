"""The variables of literals, and which of them occur where something else could bind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.core.terms import Term, variables
from horai.lang.ec import syntax as ec


def body_literals(rule: ec.Rule) -> Iterator[ec.Literal]:
    """Every literal of a rule's body, at any depth; declarations have none."""
    body = getattr(rule, "body", None)
    if body is not None:
        yield from ec.walk(body)


def literal_fvp(literal: ec.Literal) -> ec.FVP | None:
    """The fluent-value pair a literal reads."""
    match literal:
        case (
            ec.Edge(fvp=fvp)
            | ec.HoldsAt(fvp=fvp)
            | ec.HoldsFor(fvp=fvp)
            | ec.InitiatedAt(fvp=fvp)
            | ec.TerminatedAt(fvp=fvp)
        ):
            return fvp
        case _:
            return None


def literal_word(literal: ec.Literal) -> str:
    """The predicate a temporal literal was written with."""
    match literal:
        case ec.Happens():
            return "happensAt"
        case ec.Edge(kind=kind):
            return kind
        case ec.HoldsAt():
            return "holdsAt"
        case ec.HoldsFor():
            return "holdsFor"
        case ec.InitiatedAt():
            return "initiatedAt"
        case ec.TerminatedAt():
            return "terminatedAt"
        case _:
            return type(literal).__name__


def elsewhere(items: Iterable[ec.Literal], item: ec.Literal) -> frozenset[str]:
    """The variables that the other conjuncts share with the rest of the clause."""
    return frozenset(name for other in items if other is not item for name in visible(other))


def visible(literal: ec.Literal) -> frozenset[str]:
    """The variables of a literal that are seen outside it."""
    match literal:
        case ec.Negation():
            return frozenset()
        case ec.FindAll(result=result) | ec.AggregateAll(result=result):
            return names(result)
        case _:
            inside = ec.parts(literal)
            if not inside:
                return names(literal.term)
            return frozenset(name for part in inside for name in visible(part))


def names(*terms: Term | None) -> frozenset[str]:
    """The names of the variables of some terms."""
    return frozenset(name for term in terms if term is not None for name in variables(term))
