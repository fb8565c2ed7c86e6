"""Helpers: background predicates with bodies, and the conditions that stand in their place.

They may hide temporal conditions (`busy(X,T) :- holdsAt(working(X)=true,T).`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from horai.lang.core.source import rebuilt
from horai.lang.core.terms import Compound, Constant, substitute, variables
from horai.lang.ec import syntax as ec
from horai.plan.ec.unify import Bindings, Renamer, substitute_literal, unify

Key = tuple[str, int]


class Helpers:
    """Background rules by name and arity; those that hide temporal conditions are `temporal`."""

    def __init__(self, description: ec.EventDescription) -> None:
        self.rules: dict[Key, list[ec.BackgroundRule]] = {}
        for rule in description.of(ec.BackgroundRule):
            self.rules.setdefault(rule.key, []).append(rule)
        self.facts = frozenset(description.facts)
        self._parts = {
            key: [part for rule in rules for part in ec.walk(rule.body)]
            for key, rules in self.rules.items()
        }
        self.calls = {
            key: {part.key for part in parts if isinstance(part, ec.Call)}
            for key, parts in self._parts.items()
        }
        self.temporal = self.that_ask(lambda part: isinstance(part, ec.Temporal))

    def that_ask(self, what: Callable[[ec.Literal], bool]) -> frozenset[Key]:
        """The predicates with such a condition, and all that call them, directly or not."""
        return callers(
            self.calls, {key for key, parts in self._parts.items() if any(map(what, parts))}
        )

    def bodies(self, call: ec.Call, names: Renamer) -> Iterator[ec.Conjunction]:
        """The conditions of the rules of a helper when it is called so."""
        for rule in self.rules[call.key]:
            renaming = names.fresh(*variables(rule.head), *variables(rule.body.term))
            head = Compound(call.name, call.args) if call.args else Constant(call.name)
            body = substitute_literal(rule.body, renaming)
            # What the caller says comes last: its names stay.
            unifier = unify(substitute(rule.head, renaming), head, _equated(body))
            if unifier is not None:
                yield substitute_literal(body, unifier)

    def unfolded(self, literal: ec.Literal) -> ec.Literal:
        """A condition in which the bodies of helpers stand in the place of calls."""
        return self._unfold(literal, (), Renamer())

    def _unfold(self, literal: ec.Literal, through: tuple[Key, ...], names: Renamer) -> ec.Literal:
        def inside(part: ec.Literal) -> ec.Literal:
            return self._unfold(part, through, names)

        match literal:
            case ec.Call(key=key) if key in self.rules and key not in through:
                bodies = [body for body in self.bodies(literal, names) if body.items]
                parts = [self._unfold(body, (*through, key), names) for body in bodies]
                if len(parts) == len(self.rules[key]) == 1 and key not in self.facts:
                    return parts[0]
                return ec.Disjunction(tuple(parts), literal.term) if parts else literal
            case ec.Conjunction():
                each = [inside(item) for item in dict.fromkeys(ec.conjuncts(literal))]
                return ec.Conjunction(
                    tuple(part for one in each for part in ec.conjuncts(one)), literal.term
                )
            case _:
                return rebuilt(
                    literal, lambda part: inside(part) if isinstance(part, ec.Literal) else part
                )


def _equated(body: ec.Conjunction) -> Bindings:
    """The equations of a body."""
    found: Bindings = {}
    for part in ec.conjuncts(body):
        if isinstance(part, ec.Compare) and part.op == "=":
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
