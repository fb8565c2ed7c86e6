"""Limits for the times of a chain: `T0 < T, T - T0 < 60` says where to look for T0.

Without them two time variables of one rule would meet in every pair of points.
"""

from __future__ import annotations

from dataclasses import replace

from horai.lang.terms import Compound, Int, Term, Var
from horai.plan import operators as op
from horai.plan.scopes import names
from horai.plan.timing import constraints

Names = frozenset[str]


def with_bounds(chain: op.Chain, bound: Names) -> op.Chain:
    """The chain with the limits that later comparisons set to the times of its scans."""
    known = set(bound)
    steps: list[op.Operator] = []
    for index, step in enumerate(chain.steps):
        if isinstance(step, op.Scan) and isinstance(step.time, Var) and step.time.name not in known:
            found = _limits(step.time.name, chain.steps[index + 1 :], known)
            step = replace(step, bounds=tuple(found))
        steps.append(step)
        known |= names(step.term) if not isinstance(step, op.AntiJoin) else set()
    return replace(chain, steps=tuple(steps))


def _limits(time: str, later: tuple[op.Operator, ...], known: set[str]) -> list[op.Bound]:
    found: list[op.Bound] = []
    for step in later:
        if not isinstance(step, op.Filter):
            continue
        for x, y, k in constraints(step.literal):
            if x == time and y in known:  # time <= y + k
                found.append(op.Bound(False, _plus(y, k)))
            elif y == time and x in known:  # x <= time + k
                found.append(op.Bound(True, _plus(x, -k)))
    return found


def _plus(name: str, constant: int) -> Term:
    return Compound("+", (Var(name), Int(constant))) if constant else Var(name)
