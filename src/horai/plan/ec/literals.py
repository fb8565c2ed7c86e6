"""The variables of literals, and which of them occur where something else could bind them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from horai.lang.core.terms import Term, variables
from horai.lang.ec import syntax as ec

Names = frozenset[str]


def body_literals(rule: ec.Rule) -> Iterator[ec.Literal]:
    """Every literal of a rule's body, at any depth; declarations have none."""
    body = ec.body_of(rule)
    if body is not None:
        yield from ec.walk(body)


def literal_fvp(literal: ec.Literal) -> ec.FVP | None:
    """The fluent-value pair a literal reads."""
    if isinstance(literal, ec.Temporal) and not isinstance(literal, ec.Happens):
        return literal.fvp
    return None


_PREDICATES: dict[type, str] = {
    ec.Happens: "happensAt",
    ec.HoldsAt: "holdsAt",
    ec.HoldsFor: "holdsFor",
    ec.InitiatedAt: "initiatedAt",
    ec.TerminatedAt: "terminatedAt",
}


def literal_word(literal: ec.Literal) -> str:
    """The predicate a temporal literal was written with."""
    if isinstance(literal, ec.Edge):
        return literal.kind
    return _PREDICATES.get(type(literal), type(literal).__name__)


def operands(literal: ec.Computation | ec.Aggregate) -> tuple[tuple[Term | None, ...], Term]:
    """What has to have a value, and what gets one."""
    match literal:
        case ec.Is(target=target, expression=expression):
            return (expression,), target
        case ec.IntervalOp(base=base, lists=lists, result=result):
            return (base, lists), result
        case ec.DurationFilter(intervals=intervals, bound=bound, result=result):
            return (intervals, bound), result
        case ec.Allen(source=source, target=target, result=result):
            return (source, target), result
        case ec.FindAll(template=template, result=result):
            return (template,), result
        case ec.AggregateAll(template=template, result=result):
            return (template,), result


def given_by(literal: ec.Literal) -> Names:
    """The variables that a computation or an aggregate gives a value; none of other conditions."""
    if isinstance(literal, ec.Computation | ec.Aggregate):
        return names(operands(literal)[1])
    return frozenset()


def elsewhere(items: Iterable[ec.Literal], item: ec.Literal) -> Names:
    """The variables that the other conjuncts share with the rest of the clause."""
    return frozenset(name for other in items if other is not item for name in visible(other))


def visible(literal: ec.Literal) -> Names:
    """The variables of a literal that are seen outside it."""
    match literal:
        case ec.Negation():
            return frozenset()
        case ec.FindAll(result=result) | ec.AggregateAll(result=result):
            return names(result)
        case _:
            inside = ec.parts(literal)
            if not inside:
                return names(literal.term)
            return frozenset(name for part in inside for name in visible(part))


def names(*terms: Term | None) -> Names:
    """The names of the variables of some terms."""
    return frozenset(name for term in terms if term is not None for name in variables(term))
