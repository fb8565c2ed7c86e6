"""The variables of literals, and which of them occur where something else could bind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.core.terms import Term, variables
from horai.lang.ec.syntax import (
    FVP,
    AggregateAll,
    Edge,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    InitiatedAt,
    Literal,
    Negation,
    Rule,
    TerminatedAt,
    parts,
    walk,
)


def body_literals(rule: Rule) -> Iterator[Literal]:
    """Every literal of a rule's body, at any depth; declarations have none."""
    body = getattr(rule, "body", None)
    if body is not None:
        yield from walk(body)


def literal_fvp(literal: Literal) -> FVP | None:
    """The fluent-value pair a literal reads."""
    match literal:
        case (
            Edge(fvp=fvp)
            | HoldsAt(fvp=fvp)
            | HoldsFor(fvp=fvp)
            | InitiatedAt(fvp=fvp)
            | TerminatedAt(fvp=fvp)
        ):
            return fvp
        case _:
            return None


def literal_word(literal: Literal) -> str:
    """The predicate a temporal literal was written with."""
    match literal:
        case Happens():
            return "happensAt"
        case Edge(kind=kind):
            return kind
        case HoldsAt():
            return "holdsAt"
        case HoldsFor():
            return "holdsFor"
        case InitiatedAt():
            return "initiatedAt"
        case TerminatedAt():
            return "terminatedAt"
        case _:
            return type(literal).__name__


def elsewhere(items: Iterable[Literal], item: Literal) -> frozenset[str]:
    """The variables that the other conjuncts share with the rest of the clause."""
    return frozenset(name for other in items if other is not item for name in visible(other))


def visible(literal: Literal) -> frozenset[str]:
    """The variables of a literal that are seen outside it."""
    match literal:
        case Negation():
            return frozenset()
        case FindAll(result=result) | AggregateAll(result=result):
            return names(result)
        case _:
            inside = parts(literal)
            if not inside:
                return names(literal.term)
            return frozenset(name for part in inside for name in visible(part))


def names(*terms: Term | None) -> frozenset[str]:
    """The names of the variables of some terms."""
    return frozenset(name for term in terms if term is not None for name in variables(term))
