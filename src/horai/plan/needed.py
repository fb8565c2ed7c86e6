"""The conditions without which a rule says nothing: every solution has a row of each of them.

Only such a condition can tell which entities a rule brings together. One that is negated, stands
in an alternative or in an aggregate, or whose interval list is merely added to others, cannot.
"""

from __future__ import annotations

from horai.lang.ec.syntax import (
    Allen,
    Duration,
    Edge,
    Happens,
    HoldsAt,
    HoldsFor,
    HoldsForRule,
    InitiatedAt,
    IntervalOp,
    Literal,
    Rule,
    TerminatedAt,
    conjuncts,
)
from horai.lang.terms import ListTerm, Term, Var, is_anonymous, variables

Needed = frozenset[int]
NONE: Needed = frozenset()
_NOBODY: frozenset[str] = frozenset()


def needed_literals(rule: Rule) -> Needed:
    """The conditions that a rule needs, by the identity of the literal."""
    body = getattr(rule, "body", None)
    goals = list(conjuncts(body)) if body is not None else []
    if isinstance(rule, HoldsForRule):
        return _Lists(goals).behind(rule.intervals)
    points = Happens | Edge | HoldsAt | InitiatedAt | TerminatedAt
    return frozenset(id(goal) for goal in goals if isinstance(goal, points))


def loose_variables(rule: Rule) -> frozenset[str]:
    """Variables of the head that a solution may have without a row that names their value.

    They range over all values that are known, whoever else these are known with. Where lists are
    added up, some row names them; where one is taken away from another, it need not.
    """
    if not isinstance(rule, HoldsForRule):
        return _NOBODY
    head = frozenset(n for n, v in variables(rule.fvp.fluent).items() if not is_anonymous(v))
    return head - _Lists(list(conjuncts(rule.body))).naming(rule.intervals)


class _Lists:
    """Interval lists by their variable, as the conditions of one rule make them."""

    def __init__(self, goals: list[Literal]) -> None:
        self.makers: dict[str, list[Literal]] = {}
        for goal in goals:
            match goal:
                case HoldsFor(intervals=Var(name=name)):
                    self.makers.setdefault(name, []).append(goal)
                case (
                    IntervalOp(result=Var(name=name))
                    | Duration(result=Var(name=name))
                    | Allen(result=Var(name=name))
                ):
                    self.makers.setdefault(name, []).append(goal)
                case _:
                    pass

    def behind(self, term: Term, seen: frozenset[str] = frozenset()) -> Needed:
        """The conditions that must have intervals for a list to have any."""
        if not isinstance(term, Var) or term.name in seen:
            return NONE
        makers = self.makers.get(term.name, [])
        if len(makers) != 1:
            return NONE
        seen = seen | {term.name}
        match makers[0]:
            case HoldsFor():
                return frozenset({id(makers[0])})
            case IntervalOp(kind="relative_complement_all", base=base) if base is not None:
                return self.behind(base, seen)
            case IntervalOp(kind="intersect_all", lists=ListTerm(items=items, tail=None)):
                return NONE.union(*(self.behind(item, seen) for item in items))
            case IntervalOp(kind="union_all", lists=ListTerm(items=(first, *rest), tail=None)):
                found = self.behind(first, seen)
                return found.intersection(*(self.behind(item, seen) for item in rest))
            case Duration(intervals=intervals):
                return self.behind(intervals, seen)
            case Allen(source=source, target=target):
                return self.behind(source, seen) | self.behind(target, seen)
            case _:
                return NONE

    def naming(self, term: Term, seen: frozenset[str] = frozenset()) -> frozenset[str]:
        """The variables whose values rows name, wherever a list has intervals."""
        if not isinstance(term, Var) or term.name in seen:
            return _NOBODY
        makers = self.makers.get(term.name, [])
        if len(makers) != 1:
            return _NOBODY
        seen = seen | {term.name}
        match makers[0]:
            case HoldsFor(fvp=fvp):
                return frozenset([*variables(fvp.fluent), *variables(fvp.value)])
            case IntervalOp(kind="relative_complement_all", base=base) if base is not None:
                return self.naming(base, seen)
            case IntervalOp(kind="intersect_all", lists=ListTerm(items=items, tail=None)):
                return _NOBODY.union(*(self.naming(item, seen) for item in items))
            case IntervalOp(kind="union_all", lists=ListTerm(items=(first, *rest), tail=None)):
                found = self.naming(first, seen)
                return found.intersection(*(self.naming(item, seen) for item in rest))
            case Duration(intervals=intervals):
                return self.naming(intervals, seen)
            case Allen(source=source, target=target):
                return self.naming(source, seen) | self.naming(target, seen)
            case _:
                return _NOBODY
