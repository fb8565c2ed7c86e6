"""Delayed effects: `fi`, `ft` and `p`.

An initiation of F=V is an attempt to do something R later. It comes to nothing if F=V is broken
strictly between; with p(F=V) a new initiation, at the deadline too, restarts the clock; without p
an earlier attempt that has acted in between settles the matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.lang.ec.syntax import (
    FVP,
    Call,
    Compare,
    FutureInitiation,
    Happens,
    HoldsAt,
    Is,
    Literal,
    Not,
    conjuncts,
    walk,
)
from horai.lang.terms import Int, Term, Var
from horai.oracle.errors import Unsupported, blaming
from horai.oracle.groundings import Groundings
from horai.oracle.points import Points, Said
from horai.oracle.scopes import names
from horai.oracle.solver import Solver
from horai.oracle.strata import DelayRule, Node
from horai.oracle.unify import Env, resolve, unify_all
from horai.oracle.world import key_of


@dataclass(frozen=True, slots=True)
class Attempt:
    """An initiation of a pair at `since` that a rule may turn into an effect."""

    rule: int
    fluent: Term
    value: Term
    since: int


class Delays:
    """The attempts of a component and their deadlines."""

    def __init__(
        self,
        rules: list[DelayRule],
        postponable: list[FVP],
        points: Points,
        groundings: Groundings,
        solver: Solver,
    ) -> None:
        self.rules = rules
        self.postponable = postponable
        self.points = points
        self.groundings = groundings
        self.solver = solver
        self._due: dict[int, dict[Attempt, None]] = {}
        self._acted: dict[tuple[int, Term, Term], set[int]] = {}

    def attempt(self, fluent: Term, value: Term, t: int) -> set[int]:
        """Note an initiation; returns its deadlines that fall into the run so far."""
        deadlines: set[int] = set()
        for index, rule in enumerate(self.rules):
            attempt = Attempt(index, fluent, value, t)
            for env in self._solutions(attempt, at_deadline=False):
                deadline = _deadline(rule, attempt, env)
                if deadline is not None and deadline <= self.solver.world.query:
                    self._due.setdefault(deadline, {})[attempt] = None
                    deadlines.add(deadline)
        return deadlines

    def act(self, t: int, nodes: list[Node]) -> Iterator[Said]:
        """What attempts due at t do to the given fluents."""
        for attempt in list(self._due.get(t, ())):
            yield from self._effects(attempt, t, nodes)

    def remember(self, t: int, nodes: list[Node]) -> None:
        """Note which attempts have acted at t, once that is settled."""
        for attempt in self._due.get(t, ()):
            if next(self._effects(attempt, t, nodes), None) is not None:
                source = (attempt.rule, attempt.fluent, attempt.value)
                self._acted.setdefault(source, set()).add(t)

    def _effects(self, attempt: Attempt, t: int, nodes: list[Node]) -> Iterator[Said]:
        rule = self.rules[attempt.rule]
        acts_on = rule.target if isinstance(rule, FutureInitiation) else rule.origin
        if Node("simple", key_of(acts_on.fluent)) not in nodes or self._cancelled(attempt, t):
            return
        for env in self._solutions(attempt, at_deadline=True):
            if _deadline(rule, attempt, env) != t:
                continue
            fluent, value = resolve(acts_on.fluent, env), resolve(acts_on.value, env)
            if not isinstance(rule, FutureInitiation):
                yield ("terminated", fluent, value, t)
            elif self.groundings.allows(self.solver, fluent, value):
                yield ("initiated", fluent, value, t)
            else:
                yield ("ghost", fluent, value, t)

    def _cancelled(self, attempt: Attempt, t: int) -> bool:
        fluent, value, since = attempt.fluent, attempt.value, attempt.since
        withdrawn = not self.points.initiated(fluent, value, since - 1, since)
        if withdrawn or self.points.broken_between(fluent, value, since, t):
            return True
        if self._may_postpone(fluent, value):
            return self.points.initiated(fluent, value, since, t)
        acted = self._acted.get((attempt.rule, fluent, value), set())
        return any(since < earlier < t for earlier in acted)

    def _may_postpone(self, fluent: Term, value: Term) -> bool:
        return any(
            unify_all((fvp.fluent, fvp.value), (fluent, value), {}) is not None
            for fvp in self.postponable
        )

    def _solutions(self, attempt: Attempt, at_deadline: bool) -> list[Env]:
        """Ways to satisfy the conditions of a rule, as far as they can be known at that time."""
        rule = self.rules[attempt.rule]
        pair = (rule.origin.fluent, rule.origin.value)
        env = unify_all(pair, (attempt.fluent, attempt.value), {})
        if env is None:
            return []
        with blaming(rule.clause):
            goals = tuple(conjuncts(rule.body))
            time = initiation_time(rule)
            if time is not None:
                env = {**env, time: Int(attempt.since)}
                if not at_deadline:
                    goals = _known_already(goals, time)
            return list(self.solver.solve(goals, env))


def _deadline(rule: DelayRule, attempt: Attempt, env: Env) -> int | None:
    delay = resolve(rule.delay, env)
    return attempt.since + delay.value if isinstance(delay, Int) and delay.value > 0 else None


def initiation_time(rule: DelayRule) -> str | None:
    """The variable of a body that stands for the time of initiation.

    It is the one at which fluents are looked at, or from which a later time is computed, and
    that nothing else gives a value to.
    """
    looked_at: dict[str, None] = {}
    happening: dict[str, None] = {}
    given = set(names(rule.origin.term, rule.delay))
    if isinstance(rule, FutureInitiation):
        given |= names(rule.target.term)
    for literal in walk(rule.body):
        match literal:
            case HoldsAt(time=time):
                looked_at.update(dict.fromkeys(names(time)))
            case Happens(time=time):
                happening.update(dict.fromkeys(names(time)))
            case Is(target=target, expression=expression):
                given |= names(target)
                looked_at.update(dict.fromkeys(names(expression)))
            case Call(term=term):
                given |= names(term)
            case _:
                pass
    free = [name for name in looked_at if name not in given]
    alone = [name for name in free if name not in happening]
    choice = alone or free or [name for name in happening if name not in given]
    if len(choice) > 1:
        raise Unsupported(f"which of {', '.join(choice)} is the time of initiation?")
    return choice[0] if choice else None


def _known_already(goals: tuple[Literal, ...], time: str) -> tuple[Literal, ...]:
    """The conditions that can be judged when the value is initiated.

    The others look at a later point, or ask about a value that only such a condition gives.
    """
    now = [goal for goal in goals if not _looks_ahead(goal, time)]
    later = names(*(goal.term for goal in goals if goal not in now))
    given = names(*(goal.term for goal in now if not isinstance(goal, Compare | Not)))
    missing = later - given - {time}
    return tuple(goal for goal in now if not names(goal.term) & missing)


def _looks_ahead(goal: Literal, time: str) -> bool:
    """Does the condition look at a point that is known only at the deadline?"""
    return any(
        isinstance(part, HoldsAt | Happens) and part.time != Var(time) for part in walk(goal)
    )
