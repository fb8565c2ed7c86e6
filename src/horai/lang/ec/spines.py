"""Chains of conditions: long bodies are deep terms, so these walk instead of recursing."""

from __future__ import annotations

from horai.lang.terms import Compound, Span, Term


def spine(term: Term, sign: str) -> list[Term]:
    """The operands of a chain of one operator, however its parentheses stand.

    >>> from horai.lang.terms import Atom
    >>> a, b = Atom("a"), Atom("b")
    >>> spine(Compound(",", (a, Compound(",", (b, a)))), ",") == [a, b, a]
    True
    """
    goals: list[Term] = []
    stack = [term]
    while stack:
        current = stack.pop()
        if isinstance(current, Compound) and current.name == sign and len(current.args) == 2:
            stack.extend(reversed(current.args))
        else:
            goals.append(current)
    return goals


def conjunction(goals: list[Term]) -> Term | None:
    """The goals joined by commas; None when there are none."""
    if not goals:
        return None
    whole = goals[-1]
    for goal in reversed(goals[:-1]):
        whole = Compound(",", (goal, whole), _outer(goal, whole))
    return whole


def _outer(first: Term, last: Term) -> Span | None:
    return (first.span[0], last.span[1]) if first.span and last.span else None
