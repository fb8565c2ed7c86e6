"""Values of expressions in LARS rules, as the reference engine works them out."""

from __future__ import annotations

from collections.abc import Sequence

from horai.lang.core.arithmetic import NoValue
from horai.lang.core.terms import Bindings, Compound, Term, Var
from horai.lang.lars.arithmetic import compute_term
from horai.lang.lars.predicates import ARITHMETIC


def value(term: Term, bindings: Bindings | None = None) -> Term:
    """The term with all expressions computed; raises `NoValue` and `TooLarge`.

    >>> value(Compound("/", (Int(7), Int(2))))
    Int(value=3)
    """
    match term:
        case Var(name=name):
            if bindings is None or name not in bindings:
                raise NoValue(f"{name} has no value")
            return bindings[name]
        case Compound(name=sign, args=args) if sign in ARITHMETIC:
            return computed(sign, [value(arg, bindings) for arg in args])
        case Compound(name=name, args=args):
            return Compound(name, tuple(value(arg, bindings) for arg in args))
        case _:
            return term


def computed(sign: str, terms: Sequence[Term]) -> Term:
    """What `+`, `sum` and so on come to; raises `NoValue` and `TooLarge`."""
    found = compute_term(sign, terms)
    if found is None:
        raise NoValue(f"no value of `{sign}`")
    return found
