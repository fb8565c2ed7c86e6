"""What literals need bound before they can be evaluated, and what they bind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from horai.lang.ec import syntax as ec
from horai.lang.ec.builtins import BUILTINS
from horai.plan.ec.literals import Names, given_by, names

# The argument positions that must be bound; several sets are alternatives.
Modes = tuple[frozenset[int], ...]


@dataclass(frozen=True, slots=True)
class PythonPredicate:
    """A predicate registered from Python, with the number of its parameters if known.

    Called with one argument more than it has parameters, it computes the last one; otherwise it
    tests its arguments.
    """

    name: str
    parameters: int | None = None

    def inputs(self, arguments: int) -> int:
        """How many arguments of a call must be bound."""
        return arguments if self.parameters is None else min(arguments, self.parameters)

    def accepts(self, arguments: int) -> bool:
        """True when it can be called with so many arguments."""
        return self.parameters is None or arguments - self.parameters in (0, 1)


@dataclass(frozen=True, slots=True)
class ModeTable:
    """The modes of callable predicates; a predicate that is not listed binds everything."""

    background: Mapping[tuple[str, int], Modes] = field(default_factory=dict)
    python: Mapping[str, PythonPredicate] = field(default_factory=dict)
    # Arguments that any value satisfies, as in `price(_, 10)`: neither needed nor given a value.
    open: Mapping[tuple[str, int], frozenset[int]] = field(default_factory=dict)
    # In rules for interval lists, variables of `holdsFor` range over all who are known.
    ranging: bool = False

    def of(self, call: ec.Call) -> Modes:
        """The alternatives of argument positions that a call needs bound."""
        key = call.key
        if key in self.background:
            return self.background[key]
        if call.name in self.python:
            inputs = self.python[call.name].inputs(len(call.args))
            return (frozenset(range(inputs)),)
        if call.name in ("var", "nonvar"):
            return (frozenset({0}),)
        if key in BUILTINS:
            modes = BUILTINS[key].modes
            return (frozenset(i for i, mode in enumerate(modes) if mode == "+"),)
        return (frozenset(),)


def binds(literal: ec.Literal, table: ModeTable) -> Names:
    """The variables that a condition gives a value, or has a value of already."""
    if isinstance(literal, ec.Computation | ec.Aggregate):
        return given_by(literal)
    match literal:
        case ec.Negation() | ec.TruthValue():
            return frozenset()
        case ec.Compare(op=sign):
            return names(literal.term) if sign == "=" else frozenset()
        case ec.Call():
            open_args = table.open.get(literal.key, frozenset())
            return names(*(arg for i, arg in enumerate(literal.args) if i not in open_args))
        case ec.Conjunction(items=items):
            return _all(items, table)
        case ec.Disjunction() | ec.IfThenElse():
            return shared(branches_bind(literal, table))
        case _:
            return names(literal.term)


def branches_bind(literal: ec.Literal, table: ModeTable) -> list[Names]:
    """The variables that each branch that can succeed binds; none where there are no branches."""
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


def shared(sets: list[Names]) -> Names:
    """The variables that all of them have."""
    return frozenset.intersection(*sets) if sets else frozenset()


def _all(literals: Iterable[ec.Literal], table: ModeTable) -> Names:
    return frozenset().union(*(binds(literal, table) for literal in literals))


def _can_succeed(item: ec.Literal) -> bool:
    return all(part.value for part in ec.conjuncts(item) if isinstance(part, ec.TruthValue))
