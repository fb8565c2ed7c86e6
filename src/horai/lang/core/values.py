"""Python values and the terms they stand for, for predicates written in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from horai.lang.core.terms import Constant, Float, Int, ListTerm, Str, Term


def to_python(term: Term) -> object:
    """Atoms and strings become `str`, numbers numbers, lists lists; other terms stay terms."""
    match term:
        case Constant(name=name):
            return name
        case Int(value=value):
            return value
        case Float(value=real):
            return real
        case Str(value=text):
            return text
        case ListTerm(items=items, tail=None):
            return [to_python(item) for item in items]
        case _:
            return term


def to_term(value: object) -> Term:
    """The term a Python value stands for.

    >>> to_term([1, "a", True])
    ListTerm(items=(Int(value=1), Constant(name='a'), Constant(name='true')), tail=None)
    """
    match value:
        case bool():
            return Constant("true" if value else "false")
        case int():
            return Int(value)
        case float():
            return Float(value)
        case str():
            return Constant(value)
        case list() | tuple():
            return ListTerm(tuple(to_term(item) for item in value))
        case _:
            if isinstance(value, Term):
                return value
            raise TypeError(f"a Python predicate returned {value!r}, which is no term")


def parameter_count(function: Callable[..., object]) -> int:
    """How many arguments a Python predicate takes.

    Called with as many arguments it is a test; called with one more it computes the last one.
    """
    return len(inspect.signature(function).parameters)
