"""Delayed effects: `fi`, `ft` and `p`.

An initiation of F=V is an attempt to do something R later. It comes to nothing if F=V is broken
strictly between; with p(F=V) a new initiation, at the deadline too, restarts the clock; without p
an earlier attempt that has acted in between settles the matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.lang.core.terms import Int, Term, Var
from horai.lang.ec.errors import UnboundVariable, Unsupported, blaming
from horai.lang.ec.syntax import FVP, Conjunction, FutureInitiation, Literal, conjuncts
from horai.oracle.ec.groundings import Groundings, head_solutions
from horai.oracle.ec.initiations import Initiations
from horai.oracle.ec.points import Points, Said
from horai.oracle.ec.scopes import names, visible
from horai.oracle.ec.solver import Solver
from horai.oracle.ec.strata import DelayRule, OracleNode
from horai.oracle.ec.terms import Env, resolve, unify, unify_all
from horai.oracle.ec.world import key_of


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
        self.initiations = Initiations(solver.background)
        self._times: dict[int, str | None] = {}  # of initiation, by rule
        self._due: dict[int, dict[Attempt, None]] = {}
        self._acted: dict[tuple[int, Term, Term], set[int]] = {}

    def attempt(self, fluent: Term, value: Term, t: int) -> set[int]:
        """Note an initiation; returns its deadlines that fall into the run so far."""
        deadlines: set[int] = set()
        for index, rule in enumerate(self.rules):
            attempt = Attempt(index, fluent, value, t)
            for env in self._solutions(attempt, None):
                deadline = _deadline(rule, attempt, env)
                if deadline is not None and deadline <= self.solver.world.query:
                    self._due.setdefault(deadline, {})[attempt] = None
                    deadlines.add(deadline)
        return deadlines

    def act(self, t: int, nodes: list[OracleNode]) -> Iterator[Said]:
        """What attempts due at t do to the given fluents."""
        for attempt in list(self._due.get(t, ())):
            yield from self._effects(attempt, t, nodes)

    def remember(self, t: int, nodes: list[OracleNode]) -> None:
        """Note which attempts have acted at t, once that is settled."""
        for attempt in self._due.get(t, ()):
            if next(self._effects(attempt, t, nodes), None) is not None:
                source = (attempt.rule, attempt.fluent, attempt.value)
                self._acted.setdefault(source, set()).add(t)

    def _effects(self, attempt: Attempt, t: int, nodes: list[OracleNode]) -> Iterator[Said]:
        rule = self.rules[attempt.rule]
        acts_on = rule.target if isinstance(rule, FutureInitiation) else rule.origin
        if OracleNode("simple", key_of(acts_on.fluent)) not in nodes or self._cancelled(attempt, t):
            return
        for env in self._solutions(attempt, t):
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

    def _solutions(self, attempt: Attempt, deadline: int | None) -> list[Env]:
        """Ways to satisfy the conditions of a rule at a deadline.

        Without one, as far as they can be known when the attempt is made.
        """
        rule = self.rules[attempt.rule]
        pair = (rule.origin.fluent, rule.origin.value)
        env = unify_all(pair, (attempt.fluent, attempt.value), {})
        if env is None:
            return []
        with blaming(rule.clause):
            goals = tuple(conjuncts(rule.body))
            if attempt.rule not in self._times:
                self._times[attempt.rule] = self.initiations.time_of(rule)
            time = self._times[attempt.rule]
            if time is not None:
                env = {**env, time: Int(attempt.since)}
            if deadline is None:
                now = frozenset([time] if time is not None else [])
                known = [goal for goal in goals if not self.initiations.looks_ahead(goal, now)]
                return self._candidates(rule, known, env)
            # Longer delays may ask what is not known yet.
            due = unify(rule.delay, Int(deadline - attempt.since), env)
            if due is None:
                return []
            if not isinstance(rule, FutureInitiation):
                return list(self.solver.solve(goals, due))
            fluent, value = rule.target.fluent, rule.target.value
            body = Conjunction(goals, rule.body.term)
            return head_solutions(self.solver, self.groundings, body, fluent, value, due)

    def _candidates(self, rule: DelayRule, goals: list[Literal], env: Env) -> list[Env]:
        """What can be known at the time of initiation; at the deadline all is judged again.

        So it may be too much, but never too little: where conditions wait for values, or nothing
        gives them, those that the grounding of the target has are tried, too.
        """
        found, left = self._as_far_as_known(goals, env)
        if not isinstance(rule, FutureInitiation):
            return found
        fluent, value = rule.target.fluent, rule.target.value
        free = names(fluent, value) - frozenset(env)
        if key_of(fluent) in self.groundings.rules and free and (left or free - visible(rule.body)):
            given = value if names(value) & free - visible(rule.body) else None
            for start in self.groundings.complete(self.solver, fluent, given, env):
                found += self._as_far_as_known(goals, start)[0]
        return found

    def _as_far_as_known(self, goals: list[Literal], env: Env) -> tuple[list[Env], list[Literal]]:
        """Ways to satisfy all conditions but those that need a value only others could give.

        And the conditions that are left out for it.
        """
        found, known = [env], tuple[Literal, ...]()
        again = True
        while again:
            again = False
            for goal in goals:
                try:
                    found = list(self.solver.solve((*known, goal), env))
                except UnboundVariable:
                    continue
                known, again = (*known, goal), True
                goals = [other for other in goals if other is not goal]
                break
        return found, goals


def _deadline(rule: DelayRule, attempt: Attempt, env: Env) -> int | None:
    delay = resolve(rule.delay, env)
    if isinstance(delay, Var):
        raise Unsupported(f"the delay {delay.name} is known only after the initiation")
    return attempt.since + delay.value if isinstance(delay, Int) and delay.value > 0 else None
