"""Which variables a negation, condition or aggregate shares with the rest of its clause.

A variable that occurs only inside such a part is existential there; a shared one must get its
value outside first. Conditions of other negations and aggregates give no value, so they do not
count as the rest of the clause.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.ec.syntax import Aggregate, And, FindAll, IfThenElse, Literal, Not, Or
from horai.lang.terms import Term, variables

Names = frozenset[str]


def names(*terms: Term | None) -> Names:
    """The names of the variables of some terms."""
    return frozenset(name for term in terms if term is not None for name in variables(term))


class Scopes:
    """The shared variables of every closed part of the clauses it was shown."""

    def __init__(self) -> None:
        self._shared: dict[int, Names] = {}
        self._keep: list[Literal] = []  # ids stay valid while the literals live

    def add(self, head: Iterable[Term | None], body: Literal) -> None:
        """Note the closed parts of a clause."""
        self._keep.append(body)
        self._visit(body, names(*head), body)

    def shared(self, literal: Literal) -> Names:
        """The variables that must be bound before the literal can be evaluated."""
        return self._shared[id(literal)]

    def _visit(self, literal: Literal, outside: Names, scope: Literal) -> None:
        match literal:
            case And(items=items) | Or(items=items):
                for item in items:
                    self._visit(item, outside, scope)
            case Not(item=item):
                self._close(literal, names(item.term), outside, scope)
                self._visit(item, outside | visible(scope, None), item)
            case FindAll(template=template, goal=goal):
                self._close(literal, names(template, goal.term), outside, scope)
                self._visit(goal, outside | visible(scope, None), goal)
            case Aggregate(template=template, goal=goal):
                self._close(literal, names(template, goal.term), outside, scope)
                self._visit(goal, outside | visible(scope, None), goal)
            case IfThenElse(condition=condition, then=then, otherwise=otherwise):
                self._close(literal, names(condition.term), outside, scope)
                for part in (condition, then, otherwise):
                    self._visit(part, outside | visible(scope, literal), part)
            case _:
                pass

    def _close(self, literal: Literal, inside: Names, outside: Names, scope: Literal) -> None:
        self._shared[id(literal)] = inside & (outside | visible(scope, literal))


def visible(literal: Literal, hidden: Literal | None) -> Names:
    """Variables a body can give values to, leaving out what stands inside `hidden`."""
    if literal is hidden:
        return frozenset()
    match literal:
        case And(items=items) | Or(items=items):
            return frozenset().union(*(visible(item, hidden) for item in items))
        case Not():
            return frozenset()
        case FindAll(result=result) | Aggregate(result=result):
            return names(result)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            parts = (condition, then, otherwise)
            return frozenset().union(*(visible(part, hidden) for part in parts))
        case _:
            return names(literal.term)
