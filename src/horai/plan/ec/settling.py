"""The strategy by which a component is settled, and why not a faster one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Literal as OneOf

from horai.lang.core.terms import Compound, Term, Var, functor, is_ground
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.ec.machine import Machine, machine_of
from horai.plan.graphs import Digraph
from horai.plan.program import DelayPlan, Key, Plan, PointPlan, Stratum

MANY = 32  # alternatives


@dataclass(frozen=True, slots=True)
class Guard:
    """A fluent has, or has not, a value at the time of the rule."""

    key: Key
    terms: tuple[Term, ...]
    positive: bool


Tests = tuple[Guard, ...]


def guards_of(plan: PointPlan) -> list[Tests] | None:
    """The alternatives under which a candidate counts; None if they are no such tests."""
    if plan.split is None:
        return [()]
    if not plan.split.timed or plan.time is None:
        return None
    bound = plan.split.candidates.bound
    whole = ec.Conjunction(plan.split.rest, plan.body.term)
    found = _alternatives(whole, plan.time, True)
    if found is None or len(found) > MANY:
        return None
    for tests in found:
        for guard in tests:
            if not names(*guard.terms) <= bound:
                return None
    return found


def _alternatives(literal: ec.Literal, time: Term, positive: bool) -> list[Tests] | None:
    match literal:
        case ec.HoldsAt(fvp=fvp, time=at) if at == time:
            args = fvp.fluent.args if isinstance(fvp.fluent, Compound) else ()
            key = functor(fvp.fluent) or ("", -1)
            return [(Guard(key, (*args, fvp.value), positive),)]
        case ec.Negation(item=item):
            return _alternatives(item, time, not positive)
        case ec.Conjunction(items=items):
            return _all(items, time, positive) if positive else _any(items, time, positive)
        case ec.Disjunction(items=items):
            return _any(items, time, positive) if positive else _all(items, time, positive)
        case ec.TruthValue(value=value):
            return [()] if value == positive else []
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise) if positive:
            yes = ec.Conjunction((condition, then), literal.term)
            no = ec.Conjunction((ec.Negation(condition, literal.term), otherwise), literal.term)
            return _any((yes, no), time, True)
        case _:
            return None


def _all(items: tuple[ec.Literal, ...], time: Term, positive: bool) -> list[Tests] | None:
    parts = [_alternatives(item, time, positive) for item in items]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    size = 1
    for part in known:
        size *= len(part)
        if size > MANY:
            return None
    return [tuple(guard for tests in choice for guard in tests) for choice in product(*known)]


def _any(items: tuple[ec.Literal, ...], time: Term, positive: bool) -> list[Tests] | None:
    parts = [_alternatives(item, time, positive) for item in items]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return [tests for part in known for tests in part]


def compiled(stratum: Stratum, static: frozenset[Key]) -> dict[int, list[Tests]] | None:
    """The tests of every rule of a component, by its place; None if one needs more than tests.

    `static` are the fluents with values that are determined by interval lists.
    """
    if stratum.events or set(stratum.fluents) & static:
        return None
    members = set(stratum.fluents)
    found: dict[int, list[Tests]] = {}
    for place, plan in enumerate(stratum.points):
        tests = guards_of(plan)
        if tests is None or any(guard.key not in members for one in tests for guard in one):
            return None
        found[place] = tests
    if any(delay.time is not None or delay.origin_key not in members for delay in stratum.delays):
        return None
    return None if _lead_to_ever_new_values(stratum.delays) else found


def _lead_to_ever_new_values(delays: list[DelayPlan]) -> bool:
    """Can effects of effects go on with values that no rule or fact names?"""
    steps = [(delay.origin_key, delay.target_key) for delay in delays if delay.initiates]
    around = [
        set(members) for members in Digraph(steps, dict.fromkeys(sum(steps, ()))).components()
    ]
    return any(
        delay.initiates
        and not _is_named(delay)
        and any({delay.origin_key, delay.target_key} <= members for members in around)
        for delay in delays
    )


def _is_named(delay: DelayPlan) -> bool:
    """Do the parts of the target come from the origin, from facts, or from the rule itself?"""
    facts = [step for step in delay.full.steps if isinstance(step, op.FactJoin)]
    named = names(*delay.origin, *(term for step in facts for term in step.terms))
    return all(
        is_ground(term) or (isinstance(term, Var) and term.name in named) for term in delay.target
    )


Strategy = OneOf["lists", "points", "plain", "clockwork", "machine", "cells"]
Compiled = dict[int, list[Tests]] | Machine | None  # how a compiled pass settles a component
WORDS: dict[Strategy, str] = {
    "lists": "interval lists",
    "points": "points in time",
    "plain": "plain inertia",
    "clockwork": "compiled clockwork",
    "machine": "compiled machine",
    "cells": "interpreter",
}


@dataclass(frozen=True, slots=True)
class Settling:
    """The strategy, and the reason where it is the slow one."""

    strategy: Strategy
    reason: str | None = None


def settling(stratum: Stratum, program: Plan) -> Settling:
    """The strategy by which an engine settles a component."""
    if not stratum.points and not stratum.initially and not stratum.delays:
        return Settling("lists")
    if _is_plain(stratum):
        return Settling("plain" if stratum.fluents else "points")
    found = compiled_strategy(stratum, program)
    if found is None:
        return Settling("cells", str(machine_of(stratum, program)))
    return Settling("machine" if isinstance(found, Machine) else "clockwork")


def compiled_strategy(stratum: Stratum, program: Plan) -> Compiled:
    """The tests by which a compiled pass settles a component, None if it cannot."""
    if _is_plain(stratum):
        return None
    determined = frozenset(plan.key for one in program.strata for plan in one.static)
    tests = compiled(stratum, determined)
    if tests is not None:
        return tests
    machine = machine_of(stratum, program)
    return None if isinstance(machine, str) else machine


def _is_plain(stratum: Stratum) -> bool:
    return not stratum.delays and all(plan.split is None for plan in stratum.points)
