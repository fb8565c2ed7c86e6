"""Moments that are no time-points: which rules can act at them.

A rule acts between two time-points only where a condition names or computes its time; a condition
that merely looks at fluents is asked at time-points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.core.values import parameter_count
from horai.lang.ec import syntax as ec
from horai.oracle.ec.background import INPUTS, Background
from horai.oracle.ec.scopes import names
from horai.oracle.ec.solver import PythonPredicate
from horai.oracle.ec.world import Key


def disjuncts(literal: ec.Literal) -> Iterator[ec.Literal]:
    """The alternatives of a condition, disjunctions written out."""
    match literal:
        case ec.Conjunction(items=items, term=term):
            for choice in product(*(list(disjuncts(item)) for item in items)):
                yield ec.Conjunction(
                    tuple(part for item in choice for part in ec.conjuncts(item)), term
                )
        case ec.Disjunction(items=items):
            for item in items:
                yield from disjuncts(item)
        case _:
            yield literal


class NamedTimes:
    """Which bodies name their time."""

    def __init__(self, background: Background, python: Mapping[str, PythonPredicate]) -> None:
        self.background, self.python = background, python

    def names(self, body: ec.Literal, time: Term, seen: frozenset[Key] = frozenset()) -> bool:
        """Does a condition name or compute its time, which may lie off the grid?"""
        return isinstance(time, Int) or any(
            self._says(literal, time, seen) for literal in ec.conjuncts(body)
        )

    def _says(self, literal: ec.Literal, time: Term, seen: frozenset[Key]) -> bool:
        match literal:
            case ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
                return literal.time == time
            case ec.Is(target=target):
                return target == time
            case ec.Compare(op="=", left=left, right=right):
                return time in (left, right)
            case ec.FindAll(result=result) | ec.AggregateAll(result=result):
                return bool(names(time) & names(result))
            case ec.Call(args=args) if names(time) & names(*args):
                return self._says_by_helper(literal, time, seen)
            case _:
                return False

    def _says_by_helper(self, call: ec.Call, time: Term, seen: frozenset[Key]) -> bool:
        background = self.background
        if call.key in INPUTS or call.name in self.python:
            inputs = INPUTS.get(call.key)
            if inputs is None:
                inputs = tuple(range(parameter_count(self.python[call.name])))
            return not names(time) <= names(*(call.args[position] for position in inputs))
        if call.key in background.listable or call.key not in background.rules:
            return True  # a row of a table says it
        heads = (
            (rule, rule.head.args if isinstance(rule.head, Compound) else ())
            for rule in background.rules[call.key]
            if call.key not in seen
        )
        return any(
            not isinstance(parameter, Var) or self.names(rule.body, parameter, seen | {call.key})
            for rule, head in heads
            for argument, parameter in zip(call.args, head, strict=True)
            if argument == time
        )
