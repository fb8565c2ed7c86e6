"""The literals of a rule in an order in which each finds what it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from horai.engine.lars.literals import (
    Compare,
    Counted,
    Literal,
    Negative,
    NotPlain,
    Positive,
    Total,
    assigned,
    names_of,
    terms_of,
)
from horai.lang.core.terms import Term, Var


def ordered(body: list[Literal], head: list[Term]) -> Iterator[Literal]:
    """Literals so that comparisons and negation come when their variables have values.

    Aggregates come last: a variable of theirs that others give a value to is not their own.
    """
    bound: set[str] = set()
    left = sorted(body, key=lambda one: isinstance(one, Total))
    while left:
        ready = (i for i, one in enumerate(left) if _ready(one, bound))
        place = next((i for i in ready if not _awaits(left[i], left, bound)), None)
        if place is None:
            raise NotPlain("one of its variables gets no value")
        literal = left.pop(place)
        if isinstance(literal, Total):
            literal = replace(literal, rows=tuple(_sorted(row, bound) for row in literal.rows))
        bound |= _gives(literal, bound)
        yield literal
    if not names_of(head) <= bound:
        raise NotPlain("a variable of its head gets no value")


def _awaits(literal: Literal, others: list[Literal], bound: set[str]) -> bool:
    """Does an aggregate speak of a variable that another literal is still to give a value?"""
    if not isinstance(literal, Total):
        return False
    inside = names_of(term for row in literal.rows for part in row.body for term in terms_of(part))
    given: set[str] = set()
    for other in others:
        if other is not literal:
            given |= _gives(other, bound)
            if isinstance(other, Compare) and other.comparison.sign == "=":
                sides = (other.comparison.left, other.comparison.right)
                given |= {side.name for side in sides if isinstance(side, Var)}
    return bool((inside - bound) & given)


def _sorted(row: Counted, known: set[str]) -> Counted:
    """An element with its literals in an order that works, given some values."""
    bound, left = set(known), list(row.body)
    body: list[Positive | Negative | Compare] = []
    while left:
        place = next((i for i, one in enumerate(left) if _ready(one, bound)), None)
        if place is None:
            raise NotPlain("a variable of its aggregate gets no value")
        body.append(left.pop(place))
        bound |= _gives(body[-1], bound)
    if not names_of(row.terms) <= bound:
        raise NotPlain("a variable of its aggregate gets no value")
    return Counted(row.terms, tuple(body))


def _ready(literal: Literal, bound: set[str]) -> bool:
    match literal:
        case Positive():
            return True
        case Negative(reading=reading):
            return names_of(reading.terms) <= bound
        case Compare(comparison=one):
            known = names_of((one.left, one.right)) <= bound
            return known or assigned(literal, bound) is not None
        case Total(bound=limit):
            return literal.gives(bound) is not None or names_of((limit,)) <= bound


def _gives(literal: Literal, bound: set[str]) -> set[str]:
    match literal:
        case Positive(reading=reading):
            return names_of(reading.terms)
        case Compare():
            found = assigned(literal, bound)
            return set() if found is None else {found[0].name}
        case Total():
            given = literal.gives(bound)
            return set() if given is None else {given}
        case _:
            return set()
