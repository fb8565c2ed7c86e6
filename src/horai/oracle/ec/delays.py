"""Delayed effects: `fi`, `ft` and `p`.

An initiation of F=V is an attempt to do something R later. It comes to nothing if F=V is broken
strictly between; with p(F=V) a new initiation, at the deadline too, restarts the clock; without p
an earlier attempt that has acted in between settles the matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from horai.lang.core.terms import Compound, Int, Term, Var
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import UnboundVariable, Unsupported, blaming
from horai.oracle.ec.background import Background
from horai.oracle.ec.groundings import Groundings
from horai.oracle.ec.points import Points, Said
from horai.oracle.ec.scopes import Names, names, visible
from horai.oracle.ec.strata import DelayRule, OracleNode
from horai.oracle.ec.terms import Env, resolve, unify, unify_all
from horai.oracle.ec.world import Key, key_of

# The part of a condition whose variables have values once it is met, whatever times it looks at.
_SUBJECT: dict[type, Callable[[Any], Term]] = {
    **dict.fromkeys((ec.HoldsAt, ec.Edge, ec.InitiatedAt, ec.TerminatedAt), attrgetter("fvp.term")),
    **dict.fromkeys((ec.FindAll, ec.AggregateAll), attrgetter("result")),
    ec.Happens: attrgetter("event"),
    ec.HoldsFor: attrgetter("term"),
    ec.Is: attrgetter("target"),
}


@dataclass
class _Found:
    """Time variables without a value: at some fluents are looked at, at others things happen."""

    looked: set[str] = field(default_factory=set)
    happening: set[str] = field(default_factory=set)


class Initiations:
    """Finds times of initiation; `inside` are the helpers that are being looked into."""

    def __init__(self, background: Background, inside: tuple[Key, ...] = ()) -> None:
        self.background = background
        self.inside = inside

    def time_of(self, rule: DelayRule) -> str | None:
        """The variable of a body that stands for the time of initiation.

        It is the one at which fluents are looked at, or from which such a time is computed, and
        that nothing else gives a value to. Without such a one it is that at which something
        happens.
        """
        found = _Found()
        self._look(rule.body, names(rule.origin.term), self._times(rule.body), found)
        choice = sorted((found.looked - found.happening) or found.looked or found.happening)
        if len(choice) > 1:
            raise Unsupported(f"which of {', '.join(choice)} is the time of initiation?")
        return choice[0] if choice else None

    def _within(self, call: ec.Call) -> Initiations:
        return Initiations(self.background, (*self.inside, call.key))

    def _rules(self, call: ec.Call) -> list[tuple[ec.BackgroundRule, list[tuple[Var, Term]]]]:
        """The rules of a helper with what their variables stand for in a call."""
        if call.key in self.inside:
            return []
        found = []
        for rule in self.background.rules.get(call.key, ()):
            head = rule.head.args if isinstance(rule.head, Compound) else ()
            leaves = _leaves(zip(head, call.args, strict=True))
            if rule.body.items and leaves is not None:
                found.append((rule, leaves))
        return found

    def _times(self, body: ec.Literal, times: Names = frozenset()) -> Names:
        """The variables that stand for times, and those that such times are computed from."""
        found = times
        while True:
            more = found.union(*(self._more_times(part, found) for part in ec.walk(body)))
            if more == found:
                return found
            found = more

    def _more_times(self, literal: ec.Literal, times: Names) -> Names:
        match literal:
            case ec.HoldsAt() | ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
                return names(literal.time)
            case ec.Is(target=target, expression=expression) if names(target) & times:
                return names(expression)
            case ec.Call():
                found: Names = frozenset()
                for rule, leaves in self._rules(literal):
                    inside = self._times_inside(literal, rule, leaves, times)
                    found |= names(*(outer for inner, outer in leaves if inner.name in inside))
                return found
            case _:
                return frozenset()

    def _times_inside(
        self, call: ec.Call, rule: ec.BackgroundRule, leaves: list[tuple[Var, Term]], times: Names
    ) -> Names:
        given = frozenset(inner.name for inner, outer in leaves if names(outer) & times)
        return _closed(self._within(call)._times(rule.body, given), rule.body)

    def _found_inside(
        self,
        call: ec.Call,
        rule: ec.BackgroundRule,
        leaves: list[tuple[Var, Term]],
        known: Names,
        times: Names,
    ) -> _Found:
        """The variables of a helper's rule that stand for times without a value."""
        given = frozenset(inner.name for inner, outer in leaves if names(outer) <= known)
        asked = self._times_inside(call, rule, leaves, times)
        found = _Found()
        self._within(call)._look(rule.body, given, asked, found)
        return _Found(
            set(_closed(found.looked, rule.body)), set(_closed(found.happening, rule.body))
        )

    def _look(self, literal: ec.Literal, known: Names, times: Names, found: _Found) -> None:
        """Find the times of a condition without a value, given the variables that have one."""
        match literal:
            case ec.HoldsAt(time=time):
                found.looked |= names(time) - known
            case ec.Is(target=target, expression=expression) if names(target) & times:
                found.looked |= names(expression) - known
            case ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
                found.happening |= names(literal.time) - known
            case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
                inside = self._gives((condition, then), known)
                self._look(condition, inside, times, found)
                self._look(then, inside, times, found)
                self._look(otherwise, known, times, found)
            case ec.Conjunction(items=items):
                inside = self._gives(items, known)
                for part in items:
                    self._look(part, inside, times, found)
            case ec.Call():
                for rule, leaves in self._rules(literal):
                    inner = self._found_inside(literal, rule, leaves, known, times)
                    for var, outer in leaves:
                        if var.name in inner.looked:
                            found.looked |= names(outer) - known
                        if var.name in inner.happening:
                            found.happening |= names(outer) - known
            case _:
                for part in ec.parts(literal):
                    self._look(part, known, times, found)

    def _gives(self, goals: tuple[ec.Literal, ...], known: Names) -> Names:
        """The variables with a value once conditions are true, whatever times they look at."""
        found, before = known, None
        while found != before:  # one may give what the one before it waits for
            before = found
            for goal in goals:
                found |= self._given(goal, found)
        return found

    def _given(self, goal: ec.Literal, known: Names) -> Names:
        if type(goal) in _SUBJECT:
            return names(_SUBJECT[type(goal)](goal))
        match goal:
            case ec.Conjunction(items=items):
                return self._gives(items, known)
            case ec.Disjunction(items=items):
                return frozenset.intersection(*(self._given(item, known) for item in items))
            case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise):
                return self._gives((condition, then), known) & self._given(otherwise, known)
            case ec.Call():
                return self._given_by_helper(goal, known)
            case ec.Compare(op="=") if names(goal.left) <= known or names(goal.right) <= known:
                return names(goal.left, goal.right)
            case _:
                return frozenset()

    def _given_by_helper(self, call: ec.Call, known: Names) -> Names:
        found = names(call.term)
        for rule, leaves in self._rules(call):
            before = frozenset(n.name for n, outer in leaves if names(outer) <= known)
            after = self._within(call)._given(rule.body, before)
            found -= names(*(outer for inner, outer in leaves if inner.name not in after))
        return found


def _leaves(pairs: Iterable[tuple[Term, Term]]) -> list[tuple[Var, Term]] | None:
    """The terms that variables of a head stand for in a call; None if the head does not fit."""
    found: list[tuple[Var, Term]] = []
    for head, call in pairs:
        if isinstance(head, Var):
            found.append((head, call))
        elif isinstance(head, Compound) and isinstance(call, Compound):
            if (head.name, len(head.args)) != (call.name, len(call.args)):
                return None
            inner = _leaves(zip(head.args, call.args, strict=True))
            if inner is None:
                return None
            found += inner
        elif not names(call) and not names(head) and head != call:
            return None
    return found


def _closed(some: Iterable[str], body: ec.Literal) -> Names:
    """Variables, and those that a body says to be equal to them."""
    found = set(some)
    pairs = [{left.name, right.name} for left, right in _equations(body)]
    for _ in pairs:
        found = found.union(*(pair for pair in pairs if pair & found))
    return frozenset(found)


def _equations(body: ec.Literal) -> Iterator[tuple[Var, Var]]:
    for part in ec.conjuncts(body):
        match part:
            case ec.Compare(op="=", left=Var() as left, right=Var() as right):
                yield left, right
            case _:
                pass


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


class Delays:
    """The attempts of a component and their deadlines."""

    def __init__(
        self,
        rules: list[DelayRule],
        postponable: list[ec.FVP],
        points: Points,
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
        due = [one for one in self._due.get(t, ()) if self._node(one) in nodes]
        for attempt in due:
            self._acted.setdefault(attempt.source, set()).discard(t)
        for attempt in due:
            said = list(self._effects(attempt, t))
            if said:
                self._acted[attempt.source].add(t)
            yield from said

    def _node(self, attempt: Attempt) -> OracleNode:
        """The fluent that an attempt acts on."""
        return OracleNode("simple", key_of(_acts_on(self.rules[attempt.rule]).fluent))

    def _effects(self, attempt: Attempt, t: int) -> Iterator[Said]:
        rule = self.rules[attempt.rule]
        acts_on = _acts_on(rule)
        if self._cancelled(attempt, t):
            return
        for env in self._solutions(attempt, t):
            if _deadline(rule, attempt, env) != t:
                continue
            fluent, value = resolve(acts_on.fluent, env), resolve(acts_on.value, env)
            if not isinstance(rule, ec.FutureInitiation):
                yield ("terminated", fluent, value, t)
            elif self.groundings.allows(fluent, value):
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
        return any(since < earlier < t for earlier in self._acted.get(attempt.source, ()))

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


def _acts_on(rule: DelayRule) -> ec.FVP:
    return rule.target if isinstance(rule, ec.FutureInitiation) else rule.origin


def _deadline(rule: DelayRule, attempt: Attempt, env: Env) -> int | None:
    delay = resolve(rule.delay, env)
    if isinstance(delay, Var):
        raise Unsupported(f"the delay {delay.name} is known only after the initiation")
    return attempt.since + delay.value if isinstance(delay, Int) and delay.value > 0 else None
