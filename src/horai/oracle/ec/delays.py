"""Delayed effects: `fi`, `ft` and `p`.

An initiation of F=V is an attempt to do something R later. It comes to nothing if F=V is broken
strictly between; with p(F=V) a new initiation, at the deadline too, restarts the clock; without p
an earlier attempt that has acted in between settles the matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from horai.lang.core.source import rebuilt
from horai.lang.core.terms import Compound, Int, Term, Var, substitute, variables
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import UnboundVariable, Unsupported, blaming
from horai.oracle.ec.background import Background
from horai.oracle.ec.groundings import Groundings
from horai.oracle.ec.points import Said
from horai.oracle.ec.scopes import Names, names, visible
from horai.oracle.ec.strata import DelayRule, OracleNode
from horai.oracle.ec.terms import Env, resolve, unify, unify_all
from horai.oracle.ec.world import Key, key_of

_POINTED = ec.HoldsAt | ec.Happens | ec.Edge | ec.InitiatedAt | ec.TerminatedAt


class Initiations:
    """Finds times of initiation."""

    def __init__(self, background: Background) -> None:
        self.background = background
        self._fresh = count()

    def time_of(self, rule: DelayRule) -> str | None:
        """The variable of a body that stands for the time of initiation.

        It is the one at which fluents are looked at, or from which such a time is computed, and
        that nothing else gives a value to. Without such a one it is that at which something
        happens.
        """
        body = self._unfolded(rule.body, ())
        free = set(_without_value(body, names(rule.origin.term), _times(body)))
        own = names(rule.body.term)  # the times of helpers are their own
        looked = {name for name, is_looked in free if is_looked} & own
        happening = {name for name, is_looked in free if not is_looked} & own
        choice = sorted((looked - happening) or looked or happening)
        if len(choice) > 1:
            raise Unsupported(f"which of {', '.join(choice)} is the time of initiation?")
        return choice[0] if choice else None

    def _unfolded(self, literal: ec.Literal, inside: tuple[Key, ...]) -> ec.Literal:
        """A condition with the bodies of helpers in the place of their calls."""

        def change(part: Any) -> Any:
            return self._unfolded(part, inside) if isinstance(part, ec.Literal) else part

        if not isinstance(literal, ec.Call) or literal.key in inside:
            return rebuilt(literal, change)
        bodies = [
            self._unfolded(body, (*inside, literal.key))
            for rule in self.background.rules.get(literal.key, ())
            if rule.body.items and (body := self._called(rule, literal)) is not None
        ]
        return ec.Disjunction(tuple(bodies), literal.term) if bodies else literal

    def _called(self, rule: ec.BackgroundRule, call: ec.Call) -> ec.Literal | None:
        """The body of a helper's rule in the words of a call; None if its head does not fit."""
        mark = next(self._fresh)

        def apart(part: Any) -> Any:
            if isinstance(part, Term):
                return substitute(part, {n: Var(f"{n}^{mark}") for n in variables(part)})
            return rebuilt(part, apart)

        def said(part: Any) -> Any:
            return resolve(part, env) if isinstance(part, Term) else rebuilt(part, said)

        head, body, own = apart(rule.head), apart(rule.body), names(call.term)
        fitting = unify_all(head.args if isinstance(head, Compound) else (), call.args, {})
        if fitting is None:
            return None
        env = fitting
        for part in ec.conjuncts(body):
            if isinstance(part, ec.Compare) and part.op == "=":
                pair = [resolve(side, env) for side in (part.left, part.right)]
                first, last = sorted(pair, key=lambda side: names(side) <= own)
                if isinstance(first, Var) and isinstance(last, Var) and first.name not in own:
                    env = {**env, first.name: last}  # what the caller says keeps its name
        values = ((arg, resolve(arg, env)) for arg in call.args)
        given = (ec.Compare("=", arg, one, call.term) for arg, one in values if arg != one)
        return ec.Conjunction((*given, said(body)), body.term)


def _times(body: ec.Literal) -> Names:
    """The variables that stand for times, and those that such times are computed from."""
    parts = list(ec.walk(body))
    found = names(*(part.time for part in parts if isinstance(part, _POINTED)))
    sums = [part for part in parts if isinstance(part, ec.Is)]
    while more := names(*(one.expression for one in sums if names(one.target) & found)) - found:
        found |= more
    return found


def _without_value(literal: ec.Literal, known: Names, times: Names) -> Iterator[tuple[str, bool]]:
    """The times of a condition without a value: is a fluent looked at there, or does it happen?"""
    match literal:
        case ec.HoldsAt(time=time):
            yield from ((name, True) for name in names(time) - known)
        case ec.Is(target=target, expression=expression) if names(target) & times:
            yield from ((name, True) for name in names(expression) - known)
        case ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
            yield from ((name, False) for name in names(literal.time) - known)
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            met = ec.Conjunction((condition, then), literal.term)
            yield from _without_value(met, known, times)
            yield from _without_value(otherwise, known, times)
        case _:
            inside = _given(literal, known) if isinstance(literal, ec.Conjunction) else known
            for part in ec.parts(literal):
                yield from _without_value(part, inside, times)


def _given(goal: ec.Literal, known: Names) -> Names:
    """The variables with a value once a condition is true, whatever times it looks at."""
    match goal:
        case ec.HoldsAt() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
            return known | names(goal.fvp.term)
        case ec.Happens(event=subject) | ec.HoldsFor(term=subject) | ec.Call(term=subject):
            return known | names(subject)
        case ec.FindAll(result=subject) | ec.AggregateAll(result=subject) | ec.Is(target=subject):
            return known | names(subject)
        case ec.Compare(op="=") if names(goal.left) <= known or names(goal.right) <= known:
            return known | names(goal.left, goal.right)
        case ec.Conjunction(items=items):
            found, before = known, None
            while found != before:  # one may give what the one before it waits for
                before = found
                for item in items:
                    found |= _given(item, found)
            return found
        case ec.Disjunction(items=items):
            return frozenset.intersection(*(_given(item, known) for item in items))
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
            met = ec.Conjunction((condition, then), goal.term)
            return _given(met, known) & _given(otherwise, known)
        case _:
            return known


@dataclass(frozen=True, slots=True)
class Attempt:
    """An initiation of a pair at `since` that a rule may turn into an effect."""

    rule: int
    fluent: Term
    value: Term
    since: int

    @property
    def source(self) -> tuple[int, Term, Term]:
        """The rule and the pair."""
        return self.rule, self.fluent, self.value


class PointsSoFar(Protocol):
    """What is known of the points of fluents."""

    def initiated(self, fluent: Term, value: Term, after: int, until: int) -> bool:
        """Is F=V initiated at some point in (after, until]?"""

    def broken_between(self, fluent: Term, value: Term, after: int, before: int) -> bool:
        """Is F=V broken at some point strictly between the two?"""


class Delays:
    """The attempts of a component and their deadlines."""

    def __init__(
        self,
        rules: list[DelayRule],
        postponable: list[ec.FVP],
        points: PointsSoFar,
        groundings: Groundings,
    ) -> None:
        self.rules = rules
        self.postponable = postponable
        self.points = points
        self.groundings = groundings
        self.solver = solver = groundings.solver
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
        """The effects of attempts due at t on the given fluents.

        Moments are asked one after the other: what acts at t settles the matter for later ones,
        those of the same cell too.
        """
        due = [one for one in self.due(t) if self._node(one) in nodes]
        for attempt in due:
            self._acted.setdefault(attempt.source, set()).discard(t)
        for attempt in due:
            said = list(self._effects(attempt, t))
            if said:
                self._acted[attempt.source].add(t)
            yield from said

    def due(self, t: int) -> Iterator[Attempt]:
        """The attempts that have a deadline at t."""
        yield from self._due.get(t, ())

    def _node(self, attempt: Attempt) -> OracleNode:
        """The fluent that an attempt acts on."""
        return OracleNode("simple", key_of(acts_on(self.rules[attempt.rule]).fluent))

    def _effects(self, attempt: Attempt, t: int) -> Iterator[Said]:
        rule = self.rules[attempt.rule]
        about = acts_on(rule)
        for env in self.acting(attempt, t):
            fluent, value = resolve(about.fluent, env), resolve(about.value, env)
            if not isinstance(rule, ec.FutureInitiation):
                yield ("terminated", fluent, value, t)
            elif self.groundings.allows(fluent, value):
                yield ("initiated", fluent, value, t)
            else:
                yield ("ghost", fluent, value, t)

    def acting(self, attempt: Attempt, t: int) -> Iterator[Env]:
        """The ways in which an attempt acts at t; none if it has come to nothing."""
        if not self._cancelled(attempt, t):
            for env in self._solutions(attempt, t):
                if _deadline(self.rules[attempt.rule], attempt, env) == t:
                    yield env

    def _cancelled(self, attempt: Attempt, t: int) -> bool:
        fluent, value, since = attempt.fluent, attempt.value, attempt.since
        withdrawn = not self.points.initiated(fluent, value, since - 1, since)
        if withdrawn or self.points.broken_between(fluent, value, since, t):
            return True
        if may_postpone(self.postponable, fluent, value):
            return self.points.initiated(fluent, value, since, t)
        return any(since < earlier < t for earlier in self._acted.get(attempt.source, ()))

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
            goals = tuple(ec.conjuncts(rule.body))
            if attempt.rule not in self._times:
                self._times[attempt.rule] = self.initiations.time_of(rule)
            time = self._times[attempt.rule]
            if time is not None:
                env = {**env, time: Int(attempt.since)}
            if deadline is None:
                self.solver.latest = attempt.since
                try:
                    return self._candidates(rule, list(goals), env)
                finally:
                    self.solver.latest = None
            # Longer delays may ask what is not known yet.
            due = unify(rule.delay, Int(deadline - attempt.since), env)
            if due is None:
                return []
            if not isinstance(rule, ec.FutureInitiation):
                return list(self.solver.solve(goals, due))
            fluent, value = rule.target.fluent, rule.target.value
            body = ec.Conjunction(goals, rule.body.term)
            return self.groundings.head_solutions(body, fluent, value, due)

    def _candidates(self, rule: DelayRule, goals: list[ec.Literal], env: Env) -> list[Env]:
        """The solutions known at the time of initiation; at the deadline all is judged again.

        So it may be too much, but never too little: where conditions wait for values, or nothing
        gives them, those that the grounding of the target has are tried, too.
        """
        found, left = self._as_far_as_known(goals, env)
        if not isinstance(rule, ec.FutureInitiation):
            return found
        fluent, value = rule.target.fluent, rule.target.value
        free = names(fluent, value) - frozenset(env)
        if key_of(fluent) in self.groundings.rules and free and (left or free - visible(rule.body)):
            given = value if names(value) & free - visible(rule.body) else None
            for start in self.groundings.complete(fluent, given, env):
                found += self._as_far_as_known(goals, start)[0]
        return found

    def _as_far_as_known(
        self, goals: list[ec.Literal], env: Env
    ) -> tuple[list[Env], list[ec.Literal]]:
        """Ways to satisfy all conditions but those that need what is not known, and these.

        That is a value that only others could give, or what happens after the initiation.
        """
        found, known = [env], tuple[ec.Literal, ...]()
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


def may_postpone(postponable: Iterable[ec.FVP], fluent: Term, value: Term) -> bool:
    """Does a new initiation of F=V restart the clock?"""
    return any(
        unify_all((fvp.fluent, fvp.value), (fluent, value), {}) is not None for fvp in postponable
    )


def acts_on(rule: DelayRule) -> ec.FVP:
    """What a rule initiates or terminates."""
    return rule.target if isinstance(rule, ec.FutureInitiation) else rule.origin


def _deadline(rule: DelayRule, attempt: Attempt, env: Env) -> int | None:
    delay = resolve(rule.delay, env)
    if isinstance(delay, Var):
        raise Unsupported(f"the delay {delay.name} is known only after the initiation")
    return attempt.since + delay.value if isinstance(delay, Int) and delay.value > 0 else None
