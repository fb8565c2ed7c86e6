"""Delayed effects: which of several can act at all, and what their conditions are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from horai.lang.core.terms import Int, Var, variables
from horai.lang.ec import syntax as ec
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import Names, given_by, names, visible
from horai.plan.ec.modes import ModeTable
from horai.plan.ec.unify import generalises, may_match
from horai.plan.unfolding import Helpers

Effect = ec.FutureInitiation | ec.FutureTermination
NOBODY: Names = frozenset()
POINTED = (
    ec.HoldsAt,
    ec.Happens,
    ec.Edge,
    ec.InitiatedAt,
    ec.TerminatedAt,
)  # conditions about one time-point


def acting(
    rules: Iterable[ec.FutureInitiation],
    terminations: Iterable[ec.FutureTermination] = (),
    initially: Iterable[ec.Initially] = (),
) -> list[ec.FutureInitiation]:
    """The delayed initiations that can act: the shortest delay of every F=V.

    A value that holds from the start began before it, where nothing acts: what would have ended it
    there leaves it to longer delays.

    >>> acting([])
    []
    """
    every = list(rules)
    ends, first = list(terminations), [one.fvp for one in initially]
    return [
        rule
        for rule in every
        if beaten_by(rule, every, ends) is None
        or any(may_match(rule.origin.term, fvp.term) for fvp in first)
    ]


def beaten_by(
    rule: Effect,
    initiations: Iterable[ec.FutureInitiation],
    terminations: Iterable[ec.FutureTermination],
) -> Effect | None:
    """A delayed effect that always ends F=V before the given one is due.

    Only unconditional effects with a fixed delay end F=V for sure, and an initiation only when it
    gives the same fluent another value.
    """
    effects: list[Effect] = [*initiations, *terminations]
    for other in effects:
        if other is not rule and _is_sooner(other, rule) and _surely_ends(other):
            return other
    return None


def _is_sooner(other: Effect, rule: Effect) -> bool:
    if not isinstance(other.delay, Int) or not isinstance(rule.delay, Int):
        return False
    return other.delay.value < rule.delay.value and generalises(other.origin.term, rule.origin.term)


def _surely_ends(rule: Effect) -> bool:
    """True when the origin never outlives the delay, whatever variables stand for."""
    if rule.body.items or isinstance(rule, ec.FutureTermination):
        return not rule.body.items
    origin, target = rule.origin, rule.target
    return origin.fluent == target.fluent and not may_match(origin.value, target.value)


def initiation_times(rule: Effect, helpers: Helpers) -> list[str]:
    """The variables of a body that may stand for the time of initiation; there should be one.

    It is the variable at which a fluent is looked at, or from which such a time is computed, and
    that nothing else gives a value. Where there is none, it is the one at which something happens.
    """
    body = helpers.unfolded(rule.body)
    found = _free(body, names(rule.origin.term), _computed(body))
    own = names(rule.body.term)  # the times of helpers are their own
    looked, happening = found.looked & own, found.happening & own
    chosen = (looked - happening) or looked or happening
    return [name for name in variables(rule.body.term) if name in chosen]


class _Free(NamedTuple):
    """Time variables without a value: at some fluents are looked at, at others things happen."""

    looked: Names = names()
    happening: Names = names()


def _computed(body: ec.Literal) -> Names:
    """The variables that are times, or from which times are computed."""
    every = list(ec.walk(body))
    found = names(*(part.time for part in every if isinstance(part, POINTED)))
    sums = [part for part in every if isinstance(part, ec.Is)]
    while True:
        more = names(*(one.expression for one in sums if names(one.target) & found))
        if more <= found:
            return found
        found |= more


def _free(literal: ec.Literal, known: Names, times: Names) -> _Free:
    """The times of a condition without a value, where some variables have one."""
    match literal:
        case ec.HoldsAt(time=time):
            return _Free(looked=names(time) - known)
        case ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
            return _Free(happening=names(literal.time) - known)
        case ec.Is(target=target, expression=expression) if names(target) & times:
            return _Free(looked=names(expression) - known)
        case ec.Conjunction(items=items):
            inside = known | _given(literal, known)
            found = [_free(item, inside, times) for item in items]
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            both = ec.Conjunction((condition, then), literal.term)
            found = [_free(both, known, times), _free(otherwise, known, times)]
        case _:
            found = [_free(part, known, times) for part in ec.parts(literal)]
    return _Free(
        names().union(*(one.looked for one in found)),
        names().union(*(one.happening for one in found)),
    )


def _given(literal: ec.Literal, known: Names) -> Names:
    """The variables that a condition gives a value, times that it looks at aside."""
    match literal:
        case ec.Happens(event=event):
            return names(event)
        case ec.Call(term=term) | ec.HoldsFor(term=term):
            return names(term)
        case ec.Edge() | ec.HoldsAt() | ec.InitiatedAt() | ec.TerminatedAt():
            return names(literal.fvp.term)
        case ec.Is() | ec.FindAll() | ec.AggregateAll():
            return given_by(literal)
        case ec.Compare(op="=", left=left, right=right):
            sides = (names(left), names(right))
            return sides[0] | sides[1] if any(side <= known for side in sides) else names()
        case ec.Conjunction(items=items):
            found, before = known, None
            while found != before:  # each may give what another one waits for
                before = found
                for item in items:
                    found |= _given(item, found)
            return found
        case ec.Disjunction(items=items):
            return frozenset.intersection(*(_given(item, known) for item in items))
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            both = ec.Conjunction((condition, then), literal.term)
            return _given(both, known) & _given(otherwise, known)
        case _:
            return names()


def known_already(
    rule: Effect,
    time: str | None,
    table: ModeTable,
    helpers: Helpers,
    grounded: Names = NOBODY,
) -> tuple[ec.Literal, ...]:
    """The conditions of a delayed effect that can be judged when its origin is initiated.

    The others look at a later point, or need a value that only such a condition gives. `grounded`
    are the variables of the target that its grounding gives.
    """
    goals = tuple(ec.conjuncts(rule.body))
    now = [goal for goal in goals if not _looks_ahead(goal, time, helpers)]
    given = names(rule.origin.term) | grounded | ({time} if time is not None else set())
    later = names().union(*(visible(goal) for goal in goals if goal not in now))
    outside = given | later | names(rule.clause.head)
    stuck = order_body(ec.Conjunction(tuple(now), rule.body.term), given, table, outside).waiting
    return tuple(goal for goal in now if goal not in stuck)


def _looks_ahead(goal: ec.Literal, time: str | None, helpers: Helpers) -> bool:
    return any(
        part.key in helpers.temporal  # it calls itself, from time to time
        if isinstance(part, ec.Call)
        else isinstance(part, POINTED) and (time is None or part.time != Var(time))
        for part in ec.walk(helpers.unfolded(goal))
    )
