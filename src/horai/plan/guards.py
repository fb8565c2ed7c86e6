"""Conditions on a component's own past that need no joins: which fluents have which values.

Where all that waits in a rule is a Boolean combination of `holdsAt` about pairs that the candidates
name, a compiled pass can test it. The combination is written out as alternatives of tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from horai.lang.ec import syntax as ec
from horai.lang.terms import Compound, Term, functor
from horai.plan.program import Key, PointPlan, Stratum
from horai.plan.scopes import names

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
    whole = ec.And(plan.split.rest, plan.body.term)
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
        case ec.Not(item=item):
            return _alternatives(item, time, not positive)
        case ec.And(items=items):
            return _all(items, time, positive) if positive else _any(items, time, positive)
        case ec.Or(items=items):
            return _any(items, time, positive) if positive else _all(items, time, positive)
        case ec.Truth(value=value):
            return [()] if value == positive else []
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise) if positive:
            yes = ec.And((condition, then), literal.term)
            no = ec.And((ec.Not(condition, literal.term), otherwise), literal.term)
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
    return found
