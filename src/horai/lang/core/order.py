"""The standard order of terms, which `@<` compares by and in which lists are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from horai.lang.core.arithmetic import COMPARISONS
from horai.lang.core.terms import Compound, Constant, Float, Int, ListTerm, Str, Term, Var

# Comparisons of terms by their place in the order.
ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "@<": COMPARISONS["<"],
    "@=<": COMPARISONS["=<"],
    "@>": COMPARISONS[">"],
    "@>=": COMPARISONS[">="],
}


def order_key(term: Term) -> tuple[int, object, object]:
    """The place of a term: variables, numbers, atoms, strings, compound terms."""
    match term:
        case Var(name=name):
            return (0, name, 0)
        case Float(value=real):
            return (1, real, 0)
        case Int(value=value):
            return (1, value, 1)
        case Constant(name=name):
            return (2, name, 0)
        case Str(value=text):
            return (3, text, 0)
        case ListTerm(items=items):
            return (4, (len(items), "[]"), tuple(order_key(item) for item in items))
        case Compound(name=name, args=args):
            return (4, (len(args), name), tuple(order_key(arg) for arg in args))


def sorted_set(items: Iterable[Term]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, without duplicates."""
    return sorted_bag(set(items))


def sorted_bag(items: Iterable[Term]) -> tuple[Term, ...]:
    """Sorted by the standard order of terms, duplicates kept."""
    return tuple(sorted(items, key=order_key))
