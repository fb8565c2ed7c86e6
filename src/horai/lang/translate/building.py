"""Short ways to build LARS rules, with names that no predicate has yet."""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.core.terms import Compound, Int, Term
from horai.lang.lars.clock import Duration
from horai.lang.lars.syntax import (
    At,
    Atom,
    Comparison,
    Formula,
    Not,
    Rule,
    Sign,
    Some,
    TimeWindow,
    Window,
    Within,
)

Literal = Formula
ENDLESS = TimeWindow(Duration(None))


def rule(head: Atom | At, *body: Formula) -> Rule:
    """`head :- body.`"""
    return Rule(head, body)


def numbers(name: str, first: int, last: int) -> Rule:
    """`name(first..last).`"""
    return Rule(Atom(name, (Compound("..", (Int(first), Int(last))),)))


def compare(left: Term, sign: Sign, right: Term) -> Comparison:
    """`left sign right`."""
    return Comparison(sign, left, right)


def plus(term: Term, amount: Term | int) -> Term:
    """`term + amount`; nothing is added for 0.

    >>> plus(Int(3), 0)
    Int(value=3)
    """
    if amount == 0:
        return term
    return Compound("+", (term, Int(amount) if isinstance(amount, int) else amount))


def minus(term: Term, amount: Term | int) -> Term:
    """`term - amount`."""
    return Compound("-", (term, Int(amount) if isinstance(amount, int) else amount))


def some(atom: Atom, window: Window) -> Within:
    """`atom [window]`."""
    return Within(window, Some(atom))


def negated(literal: Literal) -> Literal:
    """The opposite of a literal.

    >>> negated(negated(Atom("a")))
    Atom(name='a', args=())
    """
    return literal.formula if isinstance(literal, Not) else Not(literal)


class FreshNames:
    """Hands out names that are not taken.

    >>> names = FreshNames(["once_1"])
    >>> names.fresh("once"), names.fresh("once"), names.fresh("so")
    ('once_2', 'once_3', 'so_1')
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def fresh(self, word: str) -> str:
        """A new name that begins with a word."""
        number = 1
        while f"{word}_{number}" in self._taken:
            number += 1
        name = f"{word}_{number}"
        self._taken.add(name)
        return name

    def free(self, name: str) -> str:
        """The name itself if it is not taken, otherwise a new one that begins with it."""
        if name in self._taken:
            return self.fresh(name)
        self._taken.add(name)
        return name
