"""Short ways to build LARS rules."""

from __future__ import annotations

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
from horai.lang.terms import Compound, Int, Term

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
