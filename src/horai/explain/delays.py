"""Delayed effects, asked backwards: which earlier initiation takes effect at a deadline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from horai.lang.core.terms import Int, Term, Var, variables
from horai.lang.ec.syntax import FutureInitiation, FutureTermination, Postponable
from horai.oracle.ec.delays import Initiations
from horai.oracle.ec.terms import Env, resolve, unify, unify_all

if TYPE_CHECKING:
    from horai.explain.conditions import EvidenceSolver

T = TypeVar("T")
_DEEPEST = 8
"""How often an effect may be that of an effect that changes nothing else."""
DelayRule = FutureInitiation | FutureTermination


class DelayedEffect(NamedTuple):
    """A rule with what its variables stand for, and the initiation that it makes an attempt of."""

    rule: DelayRule
    env: Env
    fluent: Term
    value: Term
    since: int


class DelayedEffects:
    """The attempts that act at a time."""

    def __init__(self, solver: EvidenceSolver) -> None:
        self.solver = solver
        rules = solver.description.rules
        self.rules = [one for one in rules if isinstance(one, DelayRule)]
        self._postponable = [one.fvp for one in rules if isinstance(one, Postponable)]
        self._initiations = Initiations(solver.background)
        self._depth = 0

    @contextmanager
    def anew(self) -> Iterator[None]:
        """While another statement is proved, what is asked here does not count."""
        before, self._depth = self._depth, 0
        try:
            yield
        finally:
            self._depth = before

    def points(
        self, begins: bool, fluent: Term, value: Term, t: int
    ) -> Iterator[tuple[Term, Term, int]]:
        """What attempts initiate, or terminate, at a time."""
        for rule, env, _, _, _ in self.effects(begins, fluent, value, t):
            acts_on = rule.target if isinstance(rule, FutureInitiation) else rule.origin
            yield resolve(acts_on.fluent, env), resolve(acts_on.value, env), t

    def effects(self, begins: bool, fluent: Term, value: Term, t: int) -> Iterator[DelayedEffect]:
        """The attempts that initiate, or terminate, a value at a time."""
        if self._depth >= _DEEPEST:
            return
        self._depth += 1
        try:
            for rule in self.rules:
                if isinstance(rule, FutureInitiation) == begins:
                    yield from self._of_rule(rule, fluent, value, t)
        finally:
            self._depth -= 1

    def _of_rule(
        self, rule: DelayRule, fluent: Term, value: Term, t: int
    ) -> Iterator[DelayedEffect]:
        acts_on = rule.target if isinstance(rule, FutureInitiation) else rule.origin
        renamed = tuple(resolve(term, _apart(term)) for term in (fluent, value))
        env = unify_all((acts_on.fluent, acts_on.value), renamed, {})
        if env is None:
            return
        for origin, held, since in self._attempts(rule, env, t):
            start = unify_all((rule.origin.fluent, rule.origin.value), (origin, held), env)
            due = None if start is None else unify(rule.delay, Int(t - since), start)
            if due is None or self._cancelled(rule, origin, held, since, t):
                continue
            for one in self._solutions(rule, due, since):
                if resolve(rule.delay, one) == Int(t - since):
                    yield DelayedEffect(rule, one, origin, held, since)

    def _solutions(self, rule: DelayRule, env: Env, since: int) -> list[Env]:
        time = self._initiations.time_of(rule)
        if time is not None:
            env = {**env, time: Int(since)}
        if isinstance(rule, FutureTermination):
            return list(self.solver.solve((rule.body,), env))
        target = rule.target.fluent, rule.target.value
        return self.solver.groundings.head_solutions(rule.body, *target, env)

    def _attempts(self, rule: DelayRule, env: Env, t: int) -> Iterator[tuple[Term, Term, int]]:
        """The initiations that may act at a time, the latest first."""
        world = self.solver.world
        origin = resolve(rule.origin.fluent, env), resolve(rule.origin.value, env)
        delay = resolve(rule.delay, env)
        first = world.grid.prev(world.start)
        low, high = (t - delay.value,) * 2 if isinstance(delay, Int) else (first, t - 1)
        at, within = (low, None) if low == high else (None, (low, high))
        if low <= high:
            yield from self._different(self.solver.points(True, *origin, at, within))
        if low <= first <= high:
            for fluent, value, intervals in self.solver.evidence.spans(*origin, world.start):
                if intervals:
                    yield fluent, value, first

    @staticmethod
    def _different(found: Iterator[T]) -> Iterator[T]:
        seen: set[T] = set()
        for one in found:
            if one not in seen:
                seen.add(one)
                yield one

    def may_postpone(self, fluent: Term, value: Term) -> bool:
        """Does a new initiation restart the clock?"""
        return any(
            unify_all((fvp.fluent, fvp.value), (fluent, value), {}) is not None
            for fvp in self._postponable
        )

    def _cancelled(self, rule: DelayRule, fluent: Term, value: Term, since: int, t: int) -> bool:
        """Has something come in between?"""
        solver = self.solver
        if self._broken(fluent, value, since, t):
            return True
        if self.may_postpone(fluent, value):
            return any(True for _ in solver.points(True, fluent, value, None, (since + 1, t)))
        delay = rule.delay
        if not isinstance(delay, Int) or isinstance(rule, FutureTermination):
            return False
        # An attempt before that has acted since settles the matter.
        earlier = (since - delay.value + 1, since - 1)
        return any(
            not self._cancelled(rule, fluent, value, moment, moment + delay.value)
            for _, _, moment in solver.points(True, fluent, value, None, earlier)
        )

    def _broken(self, fluent: Term, value: Term, since: int, t: int) -> bool:
        """Is a value broken strictly between its initiation and a deadline?"""
        solver, begun = self.solver, self.solver.world.grid.next(since)
        for _, _, intervals in solver.evidence.spans(fluent, value, begun):
            return intervals[0][1] <= t
        # It was broken as soon as it was initiated.
        between = (since + 1, t - 1)
        if between[0] > between[1]:
            return False
        if any(True for _ in solver.points(False, fluent, value, None, between)):
            return True
        others = solver.points(True, fluent, Var("Other"), None, between)
        return any(other != value for _, other, _ in others)


def _apart(term: Term) -> Env:
    return {name: Var("^" + name) for name in variables(term)}
