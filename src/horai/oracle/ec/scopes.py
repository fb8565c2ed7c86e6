"""Which variables a negation, condition or aggregate shares with the rest of its clause.

A variable that occurs only inside such a part is existential there; a shared one must get its
value outside first. Conditions of other negations and aggregates give no value, so they do not
count as the rest of the clause; neither do the other branches of a disjunction, which are
clauses of their own.
"""

from __future__ import annotations

from horai.lang.core.terms import Term, variables
from horai.lang.ec import syntax as ec

Names = frozenset[str]


def names(*terms: Term | None) -> Names:
    """The names of the variables of some terms."""
    return frozenset(name for term in terms if term is not None for name in variables(term))


# The parts of rules that heads say; a range T1 =< T < T2 is a condition.
IN_HEADS = (
    *("fvp", "origin", "target", "entity", "value", "event", "head"),
    *("time", "intervals", "delay"),
)
WITHOUT_BODY = (ec.Postponable, ec.DynamicDomain, ec.InputFluent, ec.Declaration)


class Scopes:
    """The shared variables of every closed part of the clauses of a description."""

    def __init__(self, description: ec.EventDescription) -> None:
        self._shared: dict[int, Names] = {}
        self._keep = description  # ids stay valid while the literals live
        for rule in description.rules:
            if not isinstance(rule, WITHOUT_BODY):
                parts = [getattr(rule, name, None) for name in IN_HEADS]
                head = [part.term if isinstance(part, ec.FVP) else part for part in parts]
                self._visit(rule.body, names(*head))

    def shared(self, literal: ec.Literal) -> Names:
        """The variables that must be bound before the literal can be evaluated."""
        return self._shared[id(literal)]

    def asked(self, literal: ec.IfThenElse) -> Names:
        """The variables it waits for in any case: those that it does not find values for itself."""
        return self.shared(literal) - found_by(literal)

    def _visit(self, literal: ec.Literal, outside: Names) -> None:
        """`outside` are the variables that can get a value elsewhere in the clause."""
        match literal:
            case ec.Conjunction(items=items):
                for index, item in enumerate(items):
                    others = (*items[:index], *items[index + 1 :])
                    self._visit(item, outside.union(*(visible(other) for other in others)))
            case ec.Disjunction(items=items):
                for item in items:
                    self._visit(item, outside)
            case ec.Negation(item=item):
                self._shared[id(literal)] = names(item.term) & outside
                self._visit(item, outside)
            case (
                ec.FindAll(template=template, goal=goal)
                | ec.AggregateAll(template=template, goal=goal)
            ):
                self._shared[id(literal)] = names(template, goal.term) & outside
                self._visit(goal, outside)
            case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
                self._shared[id(literal)] = names(condition.term) & outside
                self._visit(condition, outside)
                self._visit(then, outside | visible(condition))
                self._visit(otherwise, outside)
            case ec.Compare(op="\\="):
                self._shared[id(literal)] = names(literal.term) & outside
            case _:
                pass


def visible(literal: ec.Literal) -> Names:
    """Variables that a condition shares with the rest of its clause."""
    match literal:
        case ec.Conjunction(items=items) | ec.Disjunction(items=items):
            return frozenset().union(*(visible(item) for item in items))
        case ec.Negation():
            return frozenset()
        case ec.FindAll(result=result) | ec.AggregateAll(result=result):
            return names(result)
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            return visible(condition) | visible(then) | visible(otherwise)
        case _:
            return names(literal.term)


def found_by(choice: ec.IfThenElse) -> Names:
    """Variables that both branches of an if-then-else give a value: `(p(X) -> true ; X = none)`.

    Times are left out: whether the condition is ever true would decide about every moment.
    """
    yes = given(choice.condition) | given(choice.then)
    no = given(choice.otherwise)
    times = (names(getattr(part, "time", None)) for part in ec.walk(choice))
    lists = (names(getattr(part, "intervals", None)) for part in ec.walk(choice))
    return (yes if _never(choice.otherwise) else yes & no).difference(*times, *lists)


def given(literal: ec.Literal) -> Names:
    """The variables that have a value once a condition is true."""
    match literal:
        case ec.Conjunction(items=items):
            return frozenset().union(*(given(item) for item in items))
        case ec.Disjunction(items=items):
            branches = [given(item) for item in items if not _never(item)]
            return frozenset.intersection(*branches) if branches else frozenset()
        case ec.IfThenElse():
            return found_by(literal)
        case ec.Compare(op=sign):
            return names(literal.term) if sign == "=" else frozenset()
        case ec.Is(target=target):
            return names(target)
        case _:
            return visible(literal)


def _never(literal: ec.Literal) -> bool:
    match literal:
        case ec.Conjunction(items=items):
            return any(_never(item) for item in items)
        case _:
            return isinstance(literal, ec.TruthValue) and not literal.value
