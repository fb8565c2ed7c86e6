"""Unification, matching and renaming of terms and of whole conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from horai.lang.core.source import rebuilt
from horai.lang.core.terms import (
    Compound,
    Constant,
    ListTerm,
    Term,
    Var,
    substitute,
    variables,
)
from horai.lang.ec.builtins import Solutions
from horai.lang.ec.syntax import Literal

Bindings = dict[str, Term]
Node = TypeVar("Node", bound=Literal)


def unify(left: Term, right: Term, bindings: Bindings | None = None) -> Bindings | None:
    """The most general unifier of two terms, or None.

    >>> from horai.lang.core.terms import make
    >>> unify(make("f", Var("X"), Constant("b")), make("f", Constant("a"), Var("Y")))
    {'X': Constant(name='a'), 'Y': Constant(name='b')}
    """
    found: Bindings = dict(bindings or {})
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        a, b = _walk(a, found), _walk(b, found)
        if a == b:
            continue
        if isinstance(a, Var):
            if a.name in variables(substitute(b, found)):
                return None
            found[a.name] = b
        elif isinstance(b, Var):
            if b.name in variables(substitute(a, found)):
                return None
            found[b.name] = a
        else:
            pairs = _children_pairs(a, b)
            if pairs is None:
                return None
            stack.extend(reversed(pairs))
    return found


def answers(solutions: Solutions, args: tuple[Term, ...]) -> Iterator[Bindings]:
    """The bindings that satisfy a call of a built-in predicate; raises `NoValue`.

    >>> from horai.lang.ec.builtins import BUILTINS
    >>> length = BUILTINS["length", 2].solutions
    >>> list(answers(length, (ListTerm((Constant("a"),)), Var("N"))))
    [{'N': Int(value=1)}]
    """
    for solution in solutions(args):
        found: Bindings | None = {}
        for position, term in solution.items():
            found = None if found is None else unify(args[position], term, found)
        if found is not None:
            yield found


def _walk(term: Term, bindings: Bindings) -> Term:
    while isinstance(term, Var) and term.name in bindings:
        term = bindings[term.name]
    return term


def _children_pairs(a: Term, b: Term) -> list[tuple[Term, Term]] | None:
    match a, b:
        case Compound(name=f, args=xs), Compound(name=g, args=ys) if f == g and len(xs) == len(ys):
            return list(zip(xs, ys, strict=True))
        case ListTerm(), ListTerm():
            return _list_pairs(a, b)
        case _:
            return None


def _list_pairs(a: ListTerm, b: ListTerm) -> list[tuple[Term, Term]] | None:
    shared = min(len(a.items), len(b.items))
    pairs: list[tuple[Term, Term]] = list(zip(a.items[:shared], b.items[:shared], strict=True))
    rest_a, rest_b = _rest(a, shared), _rest(b, shared)
    if isinstance(rest_a, ListTerm) and isinstance(rest_b, ListTerm):
        # Neither is open here, and one of them is empty: equal only when both are.
        return pairs if rest_a == rest_b else None
    return [*pairs, (rest_a, rest_b)]


def _rest(items: ListTerm, start: int) -> Term:
    left = items.items[start:]
    if not left and items.tail is not None:
        return items.tail
    return ListTerm(left, items.tail)


class Renamer:
    """Hands out variables that occur nowhere else."""

    def __init__(self) -> None:
        self.count = 0

    def fresh(self, *names: str) -> Bindings:
        """New variables for the given names."""
        self.count += 1
        return {name: Var(f"{name}~{self.count}") for name in names}


def rename_apart(term: Term, mark: str) -> Term:
    """The term with every variable renamed, so that it shares none with another term."""
    return substitute(term, {name: Var(f"{name}~{mark}") for name in variables(term)})


def may_match(left: Term, right: Term) -> bool:
    """True when two terms of different clauses have a common instance."""
    return unify(left, rename_apart(right, "r")) is not None


def generalises(general: Term, special: Term) -> bool:
    """True when `special` is an instance of `general`.

    >>> from horai.lang.core.terms import make
    >>> generalises(make("f", Var("X")), make("f", Constant("a")))
    True
    >>> generalises(make("f", Constant("a")), make("f", Var("X")))
    False
    """
    frozen = {name: Constant(f"{name}~frozen") for name in variables(special)}
    return unify(rename_apart(general, "g"), substitute(special, frozen)) is not None


def canonical(term: Term) -> Term:
    """The term with its variables named by order of occurrence: equal for variants.

    >>> from horai.lang.core.terms import make
    >>> canonical(make("f", Var("X"), Var("Y"), Var("X"))) == canonical(
    ...     make("f", Var("A"), Var("B"), Var("A")))
    True
    """
    names = {name: Var(f"#{number}") for number, name in enumerate(variables(term))}
    return substitute(term, names)


def substitute_literal(literal: Node, bindings: Bindings) -> Node:
    """The condition with bound variables replaced, in its parts and in the term it came from."""
    return rebuilt(
        literal,
        lambda part: (
            substitute(part, bindings)
            if isinstance(part, Term)
            else substitute_literal(part, bindings)
        ),
    )
