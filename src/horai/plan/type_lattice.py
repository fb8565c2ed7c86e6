"""The types of columns, and what two of them have in common."""

from __future__ import annotations

from enum import StrEnum

from horai.lang.terms import Atom, Compound, Float, Int, ListTerm, Str, Term


class Type(StrEnum):
    """What a column holds. `none` says that nothing is known to arrive."""

    NONE = "none"
    INT = "int"
    FLOAT = "float"
    NUMBER = "number"
    ATOM = "atom"
    STRING = "string"
    COMPOUND = "compound"
    LIST = "list"
    ANY = "any"


NUMBERS = frozenset({Type.INT, Type.FLOAT, Type.NUMBER})


def join(left: Type, right: Type) -> Type:
    """The narrowest type that holds both.

    >>> join(Type.INT, Type.FLOAT), join(Type.INT, Type.ATOM)
    (<Type.NUMBER: 'number'>, <Type.ANY: 'any'>)
    """
    if left == right or right is Type.NONE:
        return left
    if left is Type.NONE:
        return right
    return Type.NUMBER if left in NUMBERS and right in NUMBERS else Type.ANY


def meet(left: Type, right: Type) -> Type:
    """What can be both; `none` when nothing can."""
    if left == right or right is Type.ANY:
        return left
    if left is Type.ANY:
        return right
    if left in NUMBERS and right in NUMBERS:
        # 1 and 1.0 compare as equal numbers, so the wider name stays true of both.
        return Type.NUMBER if Type.NUMBER not in (left, right) else _narrower(left, right)
    return Type.NONE


def _narrower(left: Type, right: Type) -> Type:
    return right if left is Type.NUMBER else left


def type_of_term(term: Term) -> Type:
    """The type of a constant; `any` for a variable."""
    match term:
        case Int():
            return Type.INT
        case Float():
            return Type.FLOAT
        case Atom(name="inf" | "infinite"):
            return Type.NUMBER
        case Atom():
            return Type.ATOM
        case Str():
            return Type.STRING
        case Compound():
            return Type.COMPOUND
        case ListTerm():
            return Type.LIST
        case _:
            return Type.ANY
