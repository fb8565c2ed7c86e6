"""Helpers: background predicates with bodies, and the conditions that stand in their place.

They may hide temporal conditions (`busy(X,T) :- holdsAt(working(X)=true,T).`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from horai.lang.core.terms import Compound, Constant, functor, substitute, variables
from horai.lang.ec.syntax import (
    AggregateAll,
    BackgroundRule,
    Call,
    Compare,
    Conjunction,
    Disjunction,
    Edge,
    EventDescription,
    FindAll,
    Happens,
    HoldsAt,
    HoldsFor,
    IfThenElse,
    InitiatedAt,
    Literal,
    Negation,
    TerminatedAt,
    conjuncts,
    walk,
)
from horai.plan.ec.unify import Bindings, Renamer, substitute_literal, unify

TEMPORAL = (Happens, Edge, HoldsAt, HoldsFor, InitiatedAt, TerminatedAt)
Key = tuple[str, int]


class Helpers:
    """Background rules by name and arity; those that hide temporal conditions are `temporal`."""

    def __init__(self, description: EventDescription) -> None:
        self.rules: dict[Key, list[BackgroundRule]] = {}
        for rule in description.rules:
            if isinstance(rule, BackgroundRule):
                key = functor(rule.head)
                if key is not None:
                    self.rules.setdefault(key, []).append(rule)
        self.facts = frozenset(description.facts)
        self.temporal = self._find_temporal()

    def _find_temporal(self) -> frozenset[Key]:
        calls: dict[Key, set[Key]] = {}
        found: set[Key] = set()
        for key, rules in self.rules.items():
            inside = [literal for rule in rules for literal in walk(rule.body)]
            calls[key] = {literal.key for literal in inside if isinstance(literal, Call)}
            if any(isinstance(literal, TEMPORAL) for literal in inside):
                found.add(key)
        return callers(calls, found)

    def bodies(self, call: Call, names: Renamer) -> Iterator[Conjunction]:
        """The conditions of the rules of a helper when it is called so."""
        for rule in self.rules[call.key]:
            renaming = names.fresh(*variables(rule.head), *variables(rule.body.term))
            head = Compound(call.name, call.args) if call.args else Constant(call.name)
            body = substitute_literal(rule.body, renaming)
            # What the caller says comes last: its names stay.
            unifier = unify(substitute(rule.head, renaming), head, _equated(body))
            if unifier is not None:
                yield substitute_literal(body, unifier)

    def unfolded(self, literal: Literal) -> Literal:
        """A condition in which the bodies of helpers stand in the place of calls."""
        return self._unfold(literal, (), Renamer())

    def _unfold(self, literal: Literal, through: tuple[Key, ...], names: Renamer) -> Literal:
        def inside(part: Literal) -> Literal:
            return self._unfold(part, through, names)

        match literal:
            case Call(key=key) if key in self.rules and key not in through:
                bodies = [body for body in self.bodies(literal, names) if body.items]
                parts = [self._unfold(body, (*through, key), names) for body in bodies]
                if len(parts) == len(self.rules[key]) == 1 and key not in self.facts:
                    return parts[0]
                return Disjunction(tuple(parts), literal.term) if parts else literal
            case Conjunction():
                each = [inside(item) for item in dict.fromkeys(conjuncts(literal))]
                return Conjunction(
                    tuple(part for one in each for part in conjuncts(one)), literal.term
                )
            case Disjunction(items=items):
                return replace(literal, items=tuple(inside(item) for item in items))
            case Negation(item=item):
                return replace(literal, item=inside(item))
            case FindAll(goal=goal) | AggregateAll(goal=goal):
                return replace(literal, goal=inside(goal))
            case IfThenElse(condition=condition, then=then, otherwise=otherwise):
                return IfThenElse(inside(condition), inside(then), inside(otherwise), literal.term)
            case _:
                return literal


def _equated(body: Conjunction) -> Bindings:
    """The equations of a body."""
    found: Bindings = {}
    for part in conjuncts(body):
        if isinstance(part, Compare) and part.op == "=":
            found = unify(part.left, part.right, found) or found
    return found


def callers(calls: dict[Key, set[Key]], found: set[Key]) -> frozenset[Key]:
    """The given predicates and all that call them, directly or not."""
    reached = set(found)
    while True:
        more = {key for key, called in calls.items() if called & reached} - reached
        if not more:
            return frozenset(reached)
        reached |= more
