"""The readings of a rule: its temporal conditions with sign and timing, helper predicates unfolded.

When a condition looks, compared with the time of the head, follows from difference constraints. A
body such as `happensAt(a, T0), T - T0 < 60, T0 < T` is a set of constraints `x <= y + k`, and from
them follows for every time variable an upper bound relative to the time of the head: T0 is at most
T-1. Cycles are legal only when every condition looks at what is already settled, so the bound
decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from horai.lang.core.terms import Compound, Int, Term, Var, variables
from horai.lang.ec import syntax as ec
from horai.plan.ec.delays import Effect, initiation_times
from horai.plan.ec.unify import Renamer
from horai.plan.unfolding import Helpers


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

    def within(self, literals: Iterable[ec.Literal]) -> ScopeTimes:
        """The clock inside a conjunction: its comparisons are known there too."""
        found: list[Constraint] = []
        for literal in literals:
            found += constraints(literal)
            if isinstance(literal, ec.Is) and literal.expression in self.due:
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


def timing_of(literal: ec.Literal, clock: ScopeTimes) -> Timing:
    """When a temporal literal looks."""
    match literal:
        # `startI` and `endI` are the point after the change: known as soon as the change is.
        case ec.HoldsAt(time=time) | ec.Edge(kind="startI" | "endI", time=time):
            latest = clock.latest(time)
            return Timing.SETTLED if latest is not None and latest <= 0 else Timing.ANYTIME
        case (
            ec.Happens(time=time)
            | ec.Edge(time=time)
            | ec.InitiatedAt(time=time)
            | ec.TerminatedAt(time=time)
        ):
            latest = clock.latest(time)
            if latest is None or latest > 0:
                return Timing.ANYTIME
            return Timing.INSTANT if latest == 0 else Timing.SETTLED
        case _:
            return Timing.ANYTIME


def _linear(term: Term) -> tuple[Counter[str], int] | None:
    """A sum of variables with whole coefficients, and a constant."""
    match term:
        case Int(value=value):
            return Counter(), value
        case Var(name=name):
            return Counter({name: 1}), 0
        case Compound(name="+" | "-" as sign, args=(left, right)):
            one, other = _linear(left), _linear(right)
            if one is None or other is None:
                return None
            terms = Counter(one[0])
            if sign == "+":
                terms.update(other[0])
                return terms, one[1] + other[1]
            terms.subtract(other[0])
            return terms, one[1] - other[1]
        case _:
            return None


def constraints(literal: ec.Literal) -> list[Constraint]:
    """The bound that a comparison puts on the difference of two variables."""
    match literal:
        case ec.Compare(op="<", left=left, right=right):
            return _at_most(left, right, -1)
        case ec.Compare(op="=<", left=left, right=right):
            return _at_most(left, right, 0)
        case ec.Compare(op=">", left=left, right=right):
            return _at_most(right, left, -1)
        case ec.Compare(op=">=", left=left, right=right):
            return _at_most(right, left, 0)
        case ec.Compare(op="=" | "=:=" | "==", left=left, right=right):
            return _at_most(left, right, 0) + _at_most(right, left, 0)
        case ec.Is(target=target, expression=expression):
            return _at_most(target, expression, 0) + _at_most(expression, target, 0)
        case _:
            return []


def _at_most(left: Term, right: Term, slack: int) -> list[Constraint]:
    """`left <= right + slack` as a difference of two variables, if it is one."""
    difference = _linear(Compound("-", (left, right)))
    if difference is None:
        return []
    terms, constant = difference
    rest = {count: name for name, count in terms.items() if count}
    if sorted(count for count in terms.values() if count) != [-1, 1]:
        return []
    return [(rest[1], rest[-1], slack - constant)]


@dataclass(frozen=True, slots=True)
class Reading:
    """One temporal condition of a rule. `through` names the background predicates it sits in."""

    literal: ec.Temporal
    positive: bool
    aggregated: bool
    timing: Timing
    through: tuple[tuple[str, int], ...] = ()
    # How far before and after the head's time it may look; None without bound.
    back: int | None = None
    ahead: int | None = None

    @property
    def monotone(self) -> bool:
        """True when more of what is read can only make the rule fire more often."""
        return self.positive and not self.aggregated


@dataclass(frozen=True, slots=True)
class _Scope:
    clock: ScopeTimes
    positive: bool = True
    aggregated: bool = False
    through: tuple[tuple[str, int], ...] = ()


def _rule_clock(rule: ec.Rule, helpers: Helpers) -> ScopeTimes:
    """The clock of a rule's body: its reference is the time at which the head takes effect."""
    match rule:
        case ec.Initiation(time=time) | ec.Termination(time=time) | ec.EventRule(time=time):
            return ScopeTimes(time)
        case ec.FutureInitiation() | ec.FutureTermination():
            return _future_clock(rule, helpers)
        case _:
            # A name no reader produces: nothing is known relative to it.
            return ScopeTimes(Var("(no time)"))


def _future_clock(rule: Effect, helpers: Helpers) -> ScopeTimes:
    """The effect comes at T+R, where T is the time of initiation; both are settled by then."""
    names, delay = initiation_times(rule, helpers), rule.delay
    due = Var("(deadline)")
    least = delay.value if isinstance(delay, Int) else 1
    known = [(name, due.name, -least) for name in names]
    if isinstance(delay, Int):
        known += [(due.name, name, delay.value) for name in names]
    starts = [Var(name) for name in names]
    sums = [Compound("+", pair) for t in starts for pair in ((t, delay), (delay, t))]
    return ScopeTimes(due, tuple(known), tuple(sums))


def readings(rule: ec.Rule, helpers: Helpers) -> list[Reading]:
    """The temporal conditions of a rule, in the order written."""
    body = ec.body_of(rule)
    if body is None or isinstance(rule, ec.Grounding | ec.BackgroundRule):
        return []
    found = list(_read(body, _Scope(_rule_clock(rule, helpers)), helpers, Renamer()))
    taken_away = _subtracted(body)
    return [_mark_subtracted(reading, taken_away) for reading in found]


def _read(
    literal: ec.Literal, scope: _Scope, helpers: Helpers, names: Renamer
) -> Iterator[Reading]:
    match literal:
        case (
            ec.Happens()
            | ec.Edge()
            | ec.HoldsAt()
            | ec.HoldsFor()
            | ec.InitiatedAt()
            | ec.TerminatedAt()
        ):
            timing = timing_of(literal, scope.clock)
            back = ahead = None
            if not isinstance(literal, ec.HoldsFor):
                back, ahead = scope.clock.earliest(literal.time), scope.clock.latest(literal.time)
            yield Reading(
                literal, scope.positive, scope.aggregated, timing, scope.through, back, ahead
            )
        case ec.Conjunction():
            # Helpers may compute a deadline, or a time before it.
            whole = helpers.unfolded(literal) if scope.clock.due else literal
            inner = replace(scope, clock=scope.clock.within(ec.conjuncts(whole)))
            for item in literal.items:
                yield from _read(item, inner, helpers, names)
        case ec.Disjunction(items=items):
            for item in items:
                yield from _read(item, scope, helpers, names)
        case ec.Negation(item=item):
            inner = replace(scope, positive=not scope.positive)
            yield from _read(item, inner, helpers, names)
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            # The condition also decides the else branch, so it counts as negated too.
            yield from _read(condition, replace(scope, positive=False), helpers, names)
            yield from _read(then, scope, helpers, names)
            yield from _read(otherwise, scope, helpers, names)
        case ec.FindAll(goal=goal) | ec.AggregateAll(goal=goal):
            yield from _read(goal, replace(scope, aggregated=True), helpers, names)
        case ec.Call() if literal.key in helpers.temporal and literal.key not in scope.through:
            inner = replace(scope, through=(*scope.through, literal.key))
            for body in helpers.bodies(literal, names):
                yield from _read(body, inner, helpers, names)


def _subtracted(body: ec.Conjunction) -> set[str]:
    """Interval variables that only ever take away: the later arguments of complements."""
    added: set[str] = set()
    removed: set[str] = set()
    for literal in ec.walk(body):
        match literal:
            case ec.IntervalOp(base=base, lists=lists):
                (removed if literal.operator.takes_away else added).update(variables(lists))
                added.update(variables(base) if base is not None else ())
            case ec.Allen(source=source, target=target):
                added.update(variables(source), variables(target))
    return removed - added


def _mark_subtracted(reading: Reading, taken_away: set[str]) -> Reading:
    literal = reading.literal
    if isinstance(literal, ec.HoldsFor) and set(variables(literal.intervals)) & taken_away:
        return replace(reading, positive=not reading.positive)
    return reading
