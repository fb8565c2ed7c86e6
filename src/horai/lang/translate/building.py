"""Short ways to build LARS rules, with names that no predicate has yet."""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.core.terms import Compound, Int, Term
from horai.lang.lars import syntax as lars
from horai.lang.lars.clock import Duration

Literal = lars.Formula
ENDLESS = lars.TimeWindow(Duration(None))


def rule(head: lars.Atom | lars.At, *body: lars.Formula) -> lars.Rule:
    """`head :- body.`"""
    return lars.Rule(head, body)


def numbers(name: str, first: int, last: int) -> lars.Rule:
    """`name(first..last).`"""
    return lars.Rule(lars.Atom(name, (Compound("..", (Int(first), Int(last))),)))


def compare(left: Term, sign: lars.Sign, right: Term) -> lars.Comparison:
    """`left sign right`."""
    return lars.Comparison(sign, left, right)


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


def some(atom: lars.Atom, window: lars.Window) -> lars.Within:
    """`atom [window]`."""
    return lars.Within(window, lars.Some(atom))


def negated(literal: Literal) -> Literal:
    """The opposite of a literal.

    >>> negated(negated(lars.Atom("a")))
    Atom(name='a', args=())
    """
    return literal.formula if isinstance(literal, lars.Not) else lars.Not(literal)


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
