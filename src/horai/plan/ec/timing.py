"""When a condition looks, compared with the time of the head: difference constraints over time.

A body such as `happensAt(a, T0), T - T0 < 60, T0 < T` is a set of constraints `x <= y + k`. From
them follows for every time variable an upper bound relative to the head's time: T0 is at most T-1.
Cycles are legal only when every condition looks at what is already settled, so the bound decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.ec.syntax import (
    Compare,
    Edge,
    Happens,
    HoldsAt,
    InitiatedAt,
    Is,
    Literal,
    TerminatedAt,
)


class Timing(StrEnum):
    """The part of the read entity that must be known to evaluate the head at T."""

    SETTLED = "settled"  # only effects of points before T
    INSTANT = "instant"  # also what happens at T itself
    ANYTIME = "anytime"  # possibly later points too, or whole interval lists


# x - y <= k, written (x, y, k); y is None for the constant zero.
Constraint = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class ScopeTimes:
    """The time variables of one scope, relative to the head's time.

    `due` are sums that give the head's time, where that is a deadline.
    """

    head: Term
    constraints: tuple[Constraint, ...] = ()
    due: tuple[Term, ...] = ()

    def within(self, literals: Iterable[Literal]) -> ScopeTimes:
        """The clock inside a conjunction: its comparisons are known there too."""
        found: list[Constraint] = []
        for literal in literals:
            found += constraints(literal)
            if isinstance(literal, Is) and literal.expression in self.due:
                found += _at_most(literal.target, self.head, 0)
        return replace(self, constraints=(*self.constraints, *found)) if found else self

    def latest(self, time: Term) -> int | None:
        """The largest k such that `time <= head + k` is known; None when nothing is known.

        >>> from horai.lang.core.terms import Var
        >>> ScopeTimes(Var("T"), (("T0", "T", -1),)).latest(Var("T0"))
        -1
        """
        return self._bound(time, self.constraints)

    def earliest(self, time: Term) -> int | None:
        """The smallest k such that `time >= head - k` is known; None when nothing is known.

        >>> from horai.lang.core.terms import Var
        >>> ScopeTimes(Var("T"), (("T", "T0", 59),)).earliest(Var("T0"))
        59
        """
        return self._bound(time, tuple((y, x, k) for x, y, k in self.constraints))

    def _bound(self, time: Term, known: tuple[Constraint, ...]) -> int | None:
        """The smallest k such that `time - head <= k` follows from constraints."""
        if time == self.head:
            return 0
        if not isinstance(time, Var) or not isinstance(self.head, Var):
            return None
        best = {self.head.name: 0}
        for _ in range(len(known)):
            changed = False
            for x, y, k in known:
                if y in best and (x not in best or best[y] + k < best[x]):
                    best[x] = best[y] + k
                    changed = True
            if not changed:
                break
        return best.get(time.name)


def timing_of(literal: Literal, clock: ScopeTimes) -> Timing:
    """When a temporal literal looks."""
    match literal:
        case HoldsAt(time=time):
            latest = clock.latest(time)
            return Timing.SETTLED if latest is not None and latest <= 0 else Timing.ANYTIME
        case Edge(kind="startI" | "endI", time=time):
            # The point after the change: known as soon as the change is.
            latest = clock.latest(time)
            return Timing.SETTLED if latest is not None and latest <= 0 else Timing.ANYTIME
        case (
            Happens(time=time) | Edge(time=time) | InitiatedAt(time=time) | TerminatedAt(time=time)
        ):
            latest = clock.latest(time)
            if latest is None or latest > 0:
                return Timing.ANYTIME
            return Timing.INSTANT if latest == 0 else Timing.SETTLED
        case _:
            return Timing.ANYTIME


@dataclass(slots=True)
class _Linear:
    """A sum of variables with whole coefficients, and a constant."""

    terms: dict[str, int] = field(default_factory=dict)
    constant: int = 0


def _linear(term: Term) -> _Linear | None:
    match term:
        case Int(value=value):
            return _Linear({}, value)
        case Var(name=name):
            return _Linear({name: 1}, 0)
        case Compound(name="+" | "-" as sign, args=(left, right)):
            a, b = _linear(left), _linear(right)
            if a is None or b is None:
                return None
            factor = 1 if sign == "+" else -1
            terms = dict(a.terms)
            for name, count in b.terms.items():
                terms[name] = terms.get(name, 0) + factor * count
            return _Linear(terms, a.constant + factor * b.constant)
        case _:
            return None


def constraints(literal: Literal) -> list[Constraint]:
    """The bound that a comparison puts on the difference of two variables."""
    match literal:
        case Compare(op="<", left=left, right=right):
            return _at_most(left, right, -1)
        case Compare(op="=<", left=left, right=right):
            return _at_most(left, right, 0)
        case Compare(op=">", left=left, right=right):
            return _at_most(right, left, -1)
        case Compare(op=">=", left=left, right=right):
            return _at_most(right, left, 0)
        case Compare(op="=" | "=:=" | "==", left=left, right=right):
            return _at_most(left, right, 0) + _at_most(right, left, 0)
        case Is(target=target, expression=expression):
            return _at_most(target, expression, 0) + _at_most(expression, target, 0)
        case _:
            return []


def _at_most(left: Term, right: Term, slack: int) -> list[Constraint]:
    """`left <= right + slack` as a difference of two variables, if it is one."""
    a, b = _linear(left), _linear(right)
    if a is None or b is None:
        return []
    terms = dict(a.terms)
    for name, count in b.terms.items():
        terms[name] = terms.get(name, 0) - count
    rest = {name: count for name, count in terms.items() if count}
    if sorted(rest.values()) != [-1, 1]:
        return []
    (x,) = (name for name, count in rest.items() if count == 1)
    (y,) = (name for name, count in rest.items() if count == -1)
    return [(x, y, b.constant - a.constant + slack)]
