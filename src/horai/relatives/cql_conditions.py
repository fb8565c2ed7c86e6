"""Conditions of queries as alternatives, each a list of LARS conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from horai.lang.cql.syntax import (
    Both,
    Call,
    Compare,
    Condition,
    Constant,
    Denied,
    Either,
    Exists,
    Expression,
    Operation,
    Reference,
    Untranslated,
)
from horai.lang.lars.syntax import Comparison, Formula, Sign
from horai.lang.terms import Compound, Term
from horai.relatives.building import negated

Alternatives = list[list[Formula]]
OPPOSITE: dict[Sign, Sign] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
MOST_ALTERNATIVES = 256


class TooMany(Exception):
    """A condition with more alternatives than anybody wants rules."""


def alternatives(
    condition: Condition | None,
    value: Callable[[Expression], Term],
    exists: Callable[[Exists], Formula],
) -> Alternatives:
    """The disjunctive normal form of a condition; `NOT` turns comparisons round."""

    def normal(part: Condition, positive: bool) -> Alternatives:
        match part:
            case Compare(sign=sign, left=left, right=right):
                said: Sign = sign if positive else OPPOSITE[sign]
                return [[Comparison(said, value(left), value(right))]]
            case Exists():
                found = exists(part)
                return [[found if positive else negated(found)]]
            case Denied(condition=inner):
                return normal(inner, not positive)
            case Both(left=one, right=other) | Either(left=one, right=other):
                first, second = normal(one, positive), normal(other, positive)
                if isinstance(part, Either) == positive:
                    return [*first, *second]
                if len(first) * len(second) > MOST_ALTERNATIVES:
                    raise TooMany
                return [[*left, *right] for left in first for right in second]
            case Untranslated():
                return [[]]
        raise AssertionError(f"{part} is no condition")

    return [[]] if condition is None else normal(condition, True)


def expression_value(
    expression: Expression,
    column: Callable[[Reference], Term],
    aggregate: Callable[[Call], Term],
) -> Term:
    """An expression as a term."""
    match expression:
        case Reference():
            return column(expression)
        case Constant(term=term):
            return term
        case Operation(sign=sign, left=left, right=right):
            sides = (expression_value(side, column, aggregate) for side in (left, right))
            return Compound(sign, tuple(sides))
        case Call():
            return aggregate(expression)
    raise AssertionError(f"{expression} is no expression")


def untranslated_parts(condition: Condition | None) -> Iterator[Untranslated]:
    """The parts of a condition that have no translation; inner queries are not looked at."""
    match condition:
        case Untranslated():
            yield condition
        case Both(left=left, right=right) | Either(left=left, right=right):
            yield from untranslated_parts(left)
            yield from untranslated_parts(right)
        case Denied(condition=inner):
            yield from untranslated_parts(inner)
