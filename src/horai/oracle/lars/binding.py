"""Which variables a condition finds values for, and which it must be given."""

from __future__ import annotations

from collections.abc import Mapping

from horai.lang.lars.predicates import is_computed
from horai.lang.lars.syntax import (
    Aggregate,
    Always,
    And,
    At,
    Atom,
    Comparison,
    Formula,
    IntervalWindow,
    Not,
    Or,
    Reset,
    Some,
    Truth,
    Within,
)
from horai.lang.lars.walk import formula_variables
from horai.lang.terms import Term, Var, variables

Values = Mapping[str, Term]


def is_ready(condition: Formula, values: Values) -> bool:
    """Can the condition be looked at: is everything known that it does not find itself?"""
    return needed(condition) <= values.keys() or (
        isinstance(condition, Comparison) and _assigns(condition, values)
    )


def _assigns(formula: Comparison, values: Values) -> bool:
    sides = ((formula.left, formula.right), (formula.right, formula.left))
    return formula.sign == "=" and any(
        isinstance(var, Var) and variables(other).keys() <= values.keys() for var, other in sides
    )


def needed(condition: Formula) -> set[str]:
    """The variables that a condition tests but cannot find values for."""
    match condition:
        case Comparison(left=left, right=right):
            return variables(left).keys() | variables(right).keys()
        case Atom():
            return set()  # expressions are compared once their variables have values
        case Within(window=IntervalWindow(first=first, last=last), formula=inner):
            return variables(first).keys() | variables(last).keys() | needed(inner)
        case Some() | Always() | At() | Within() | Reset():
            return needed(condition.formula)
        case And(parts=parts):
            return set().union(*map(needed, parts)) - set().union(*map(found_by, parts))
        case Or(parts=parts):
            return set().union(*map(_names, parts)) - found_by(condition)
        case Aggregate(elements=elements, bound=bound, sign=sign):
            conditions = [part for element in elements for part in element.condition]
            local = set().union(*map(found_by, conditions), *map(_given, conditions))
            if sign == "=" and isinstance(bound, Var):
                local.add(bound.name)
            return _names(condition) - local
        case Not(formula=Aggregate(bound=bound) as inner):
            return needed(inner) | variables(bound).keys()
        case Truth():
            return set()
        case _:
            return _names(condition)


def found_by(condition: Formula) -> set[str]:
    """The variables that a condition finds values for."""
    match condition:
        case Atom(args=args):
            return {name for arg in args if not is_computed(arg) for name in variables(arg)}
        case At(time=time, formula=inner):
            own = {time.name} if isinstance(time, Var) else set()
            return own | found_by(inner)
        case Within(window=IntervalWindow(first=first, last=last), formula=inner):
            return found_by(inner) - variables(first).keys() - variables(last).keys()
        case Some() | Always() | Within() | Reset():
            return found_by(condition.formula)
        case And(parts=parts):
            return set().union(*map(found_by, parts))
        case Or(parts=parts):
            return set.intersection(*map(found_by, parts))
        case Aggregate(bound=Var(name=name), sign="="):
            return {name}
        case _:
            return set()


def _given(condition: Formula) -> set[str]:
    """The variables that an equation may give a value to."""
    if not isinstance(condition, Comparison) or condition.sign != "=":
        return set()
    sides = ((condition.left, condition.right), (condition.right, condition.left))
    return {one.name for one, other in sides if isinstance(one, Var) and one != other}


def awaits(condition: Formula, others: list[Formula], values: Values) -> bool:
    """Does an aggregate speak of a variable that another condition is still to find?"""
    if not isinstance(condition, Aggregate):
        return False
    inside = {n for e in condition.elements for part in e.condition for n in _names(part)}
    found = set().union(*(found_by(other) for other in others if other is not condition))
    return bool((inside - values.keys()) & found)


def _names(formula: Formula) -> set[str]:
    return set(formula_variables(formula))


def unknown(waiting: list[Formula], values: Values) -> set[str]:
    """The variables without which none of the conditions can be looked at."""
    return set().union(*(needed(condition) for condition in waiting)) - values.keys()
