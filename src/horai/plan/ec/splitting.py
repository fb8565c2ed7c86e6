"""Rules that read their own component, and rules as their alternatives."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from horai.lang.core.terms import Term, key_of
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.dependencies import DependencyGraph, Vertex
from horai.plan.ec.entities import Kind
from horai.plan.ec.literals import Names, literal_fvp, names

PointRule = ec.Initiation | ec.Termination | ec.EventRule
AnyPointRule = TypeVar("AnyPointRule", bound=PointRule | ec.Initially)


class ComponentMembers:
    """Tells whether a condition reads a component."""

    def __init__(self, vertices: frozenset[Vertex], graph: DependencyGraph) -> None:
        self.vertices = vertices
        self.helpers = graph.helpers

    def reads(self, literal: ec.Literal) -> bool:
        """Does the condition, or one inside it, read the component?"""
        return any(self._reads(part, frozenset()) for part in ec.walk(literal))

    def _reads(self, literal: ec.Literal, seen: frozenset[op.Key]) -> bool:
        match literal:
            case ec.Happens(event=event):
                return self._has(Kind.EVENT, event)
            case ec.Call(key=key) if key in self.helpers.temporal and key not in seen:
                return any(
                    self._reads(part, seen | {key})
                    for rule in self.helpers.rules[key]
                    for part in ec.walk(rule.body)
                )
        fvp = literal_fvp(literal)
        return fvp is not None and self._has(Kind.FLUENT, fvp.fluent, fvp.value)

    def _has(self, kind: Kind, entity: Term, value: Term | None = None) -> bool:
        key = key_of(entity)
        return any(
            v.kind is kind and (v.name, v.arity) == key and v.meets(entity, value)
            for v in self.vertices
        )


def alternatives(rule: AnyPointRule, asked: Names) -> list[AnyPointRule]:
    """Rules, one for each branch of the first alternative that speaks of some variables."""
    literals = tuple(ec.conjuncts(rule.body))
    for place, literal in enumerate(literals):
        branches = _branches(literal) if names(literal.term) & asked else ()
        if branches:
            before, after = literals[:place], literals[place + 1 :]
            return [
                replace(
                    rule,
                    body=ec.Conjunction((*before, *ec.conjuncts(item), *after), rule.body.term),
                )
                for item in branches
            ]
    return []


def _branches(literal: ec.Literal) -> tuple[ec.Literal, ...]:
    match literal:
        case ec.Disjunction(items=items):
            return items
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise, term=term):
            otherwise = ec.Conjunction((ec.Negation(condition, condition.term), otherwise), term)
            return ec.Conjunction((condition, then), term), otherwise
        case _:
            return ()
