"""Delayed effects: which of several can act at all."""

from __future__ import annotations

from collections.abc import Iterable

from horai.lang.ec.syntax import (
    Compare,
    FutureInitiation,
    FutureTermination,
    Happens,
    HoldsAt,
    Literal,
    Not,
    walk,
)
from horai.lang.terms import Int, Var
from horai.plan.scopes import names
from horai.plan.unify import generalises

Effect = FutureInitiation | FutureTermination


def acting(
    rules: Iterable[FutureInitiation], terminations: Iterable[FutureTermination] = ()
) -> list[FutureInitiation]:
    """The delayed initiations that can act: the shortest delay of every F=V.

    >>> acting([])
    []
    """
    every = list(rules)
    ends = list(terminations)
    return [rule for rule in every if beaten_by(rule, every, ends) is None]


def beaten_by(
    rule: Effect,
    initiations: Iterable[FutureInitiation],
    terminations: Iterable[FutureTermination],
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
    """True when the origin never outlives the delay."""
    if rule.body.items:
        return False
    return isinstance(rule, FutureTermination) or _breaks_itself(rule)


def _breaks_itself(rule: FutureInitiation) -> bool:
    return rule.origin.fluent == rule.target.fluent and rule.origin.value != rule.target.value


def known_already(goals: tuple[Literal, ...], time: str) -> tuple[Literal, ...]:
    """The conditions of a delayed effect that can be judged when its origin is initiated.

    The others look at a later point, or ask about a value that only such a condition gives.
    """
    now = [goal for goal in goals if not _looks_ahead(goal, time)]
    later = names(*(goal.term for goal in goals if goal not in now))
    given = names(*(goal.term for goal in now if not isinstance(goal, Compare | Not)))
    missing = later - given - {time}
    return tuple(goal for goal in now if not names(goal.term) & missing)


def _looks_ahead(goal: Literal, time: str) -> bool:
    return any(
        isinstance(part, HoldsAt | Happens) and part.time != Var(time) for part in walk(goal)
    )
