"""What the conditions of a rule are about."""

from __future__ import annotations

from collections.abc import Iterator

from horai.lang.ec.syntax import (
    FVP,
    Edge,
    Happens,
    HoldsAt,
    HoldsFor,
    InitiatedAt,
    Literal,
    Rule,
    TerminatedAt,
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
