"""Which variables a negation, condition or aggregate shares with the rest of its clause.

A variable that occurs only inside such a part is existential there; a shared one must get its
value outside first. Conditions of other negations and aggregates give no value, so they do not
count as the rest of the clause; neither do the other branches of a disjunction, which are
clauses of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.ec.syntax import Aggregate, And, Compare, FindAll, IfThenElse, Literal, Not, Or
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
        self._visit(body, names(*head))

    def shared(self, literal: Literal) -> Names:
        """The variables that must be bound before the literal can be evaluated."""
        return self._shared[id(literal)]

    def _visit(self, literal: Literal, outside: Names) -> None:
        """`outside` are the variables that can get a value elsewhere in the clause."""
        match literal:
            case And(items=items):
                for index, item in enumerate(items):
                    others = (*items[:index], *items[index + 1 :])
                    self._visit(item, outside.union(*(visible(other) for other in others)))
            case Or(items=items):
                for item in items:
                    self._visit(item, outside)
            case Not(item=item):
                self._shared[id(literal)] = names(item.term) & outside
                self._visit(item, outside)
            case FindAll(template=template, goal=goal) | Aggregate(template=template, goal=goal):
                self._shared[id(literal)] = names(template, goal.term) & outside
                self._visit(goal, outside)
            case IfThenElse(condition=condition, then=then, otherwise=otherwise):
                self._shared[id(literal)] = names(condition.term) & outside
                self._visit(condition, outside)
                self._visit(then, outside | visible(condition))
                self._visit(otherwise, outside)
            case Compare(op="\\="):
                self._shared[id(literal)] = names(literal.term) & outside
            case _:
                pass


def visible(literal: Literal) -> Names:
    """Variables that a condition shares with the rest of its clause."""
    match literal:
        case And(items=items) | Or(items=items):
            return frozenset().union(*(visible(item) for item in items))
        case Not():
            return frozenset()
        case FindAll(result=result) | Aggregate(result=result):
            return names(result)
        case IfThenElse(condition=condition, then=then, otherwise=otherwise):
            return visible(condition) | visible(then) | visible(otherwise)
        case _:
            return names(literal.term)
