"""Terms as Python values and back, for predicates written in Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from horai.lang.terms import Atom, Float, Int, ListTerm, Str, Term


def to_python(term: Term) -> object:
    """Atoms and strings become `str`, numbers numbers, lists lists; other terms stay terms."""
    match term:
        case Atom(name=name):
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
    ListTerm(items=(Int(value=1), Atom(name='a'), Atom(name='true')), tail=None)
    """
    match value:
        case bool():
            return Atom("true" if value else "false")
        case int():
            return Int(value)
        case float():
            return Float(value)
        case str():
            return Atom(value)
        case list() | tuple():
            return ListTerm(tuple(to_term(item) for item in value))
        case _:
            if isinstance(value, Term):
                return value
            raise TypeError(f"a Python predicate returned {value!r}, which is no term")


def parameter_count(function: Callable[..., object]) -> int:
    """How many arguments a Python predicate takes."""
    return len(inspect.signature(function).parameters)
