"""Which variables have a value once a condition is met."""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.ec import syntax as ec
from horai.plan.ec.literals import names
from horai.plan.ec.modes import ModeTable

BoundNames = frozenset[str]


def binds(literal: ec.Literal, table: ModeTable) -> BoundNames:
    """The variables that a condition gives a value, or has a value of already."""
    match literal:
        case ec.Negation() | ec.TruthValue():
            return frozenset()
        case ec.Compare(op=sign):
            return names(literal.term) if sign == "=" else frozenset()
        case ec.Is(target=target):
            return names(target)
        case ec.FindAll(result=result) | ec.AggregateAll(result=result):
            return names(result)
        case ec.IntervalOp(result=result) | ec.DurationFilter(result=result):
            return names(result)
        case ec.Allen(result=result):
            return names(result)
        case ec.Call():
            open_args = table.open.get(literal.key, frozenset())
            return names(*(arg for i, arg in enumerate(literal.args) if i not in open_args))
        case ec.Conjunction(items=items):
            return _all(items, table)
        case ec.Disjunction() | ec.IfThenElse():
            return shared(branches_bind(literal, table))
        case _:
            return names(literal.term)


def branches_bind(literal: ec.Literal, table: ModeTable) -> list[BoundNames]:
    """What each branch that can succeed binds; none where there are no branches."""
    match literal:
        case ec.Disjunction(items=items):
            return [_all(ec.conjuncts(item), table) for item in items if _can_succeed(item)]
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            whole = [*ec.conjuncts(condition), *ec.conjuncts(then)]
            found = [_all(whole, table)] if _can_succeed(then) else []
            if _can_succeed(otherwise):
                found.append(_all(ec.conjuncts(otherwise), table))
            return found
        case _:
            return []


def shared(sets: list[BoundNames]) -> BoundNames:
    """What all of them have."""
    return frozenset.intersection(*sets) if sets else frozenset()


def _all(literals: Iterable[ec.Literal], table: ModeTable) -> BoundNames:
    return frozenset().union(*(binds(literal, table) for literal in literals))


def _can_succeed(item: ec.Literal) -> bool:
    return all(part.value for part in ec.conjuncts(item) if isinstance(part, ec.TruthValue))
