"""Delayed effects, asked backwards: which earlier initiation takes effect at a deadline.

What an attempt comes to depends on all points of its fluent since then, the effects of other
attempts among them. So the points of a fluent that has delayed effects are worked out from the
start of the run on, those of the fluents that they come from with them; no others are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from horai.lang.core.terms import Constant, Int, Term, Var, children, is_ground, make, variables
from horai.lang.ec.errors import NotSettled, UnboundVariable
from horai.lang.ec.syntax import (
    FutureInitiation,
    FutureTermination,
    Initiation,
    Postponable,
    Rule,
    Termination,
)
from horai.oracle.ec.delays import Initiations
from horai.oracle.ec.terms import Env, covers, resolve, unify, unify_all
from horai.oracle.ec.world import Key, key_of

if TYPE_CHECKING:
    from horai.explain.conditions import EvidenceSolver

DelayRule = FutureInitiation | FutureTermination
Lengths = dict[tuple[int, Term, Term], list[tuple[int, Env]]]
"""Of delays that are the same whenever they begin: by rule, fluent and value."""
_ROUNDS = 100
"""So often are rules asked anew that look at each other's points."""
_MOST_FORMS = 20
"""Of so many fluents the points are asked for alone; then of all with the same name."""
_ANY = Var("Any")


class DelayedEffect(NamedTuple):
    """A rule with what its variables stand for, and the initiation that it makes an attempt of."""

    rule: DelayRule
    env: Env
    fluent: Term
    value: Term
    since: int
    number: int  # of the rule

    @property
    def acts_on(self) -> tuple[Term, Term]:
        """The fluent and its value that it initiates or terminates."""
        pair = self.rule.target if isinstance(self.rule, FutureInitiation) else self.rule.origin
        return resolve(pair.fluent, self.env), resolve(pair.value, self.env)


class Point(NamedTuple):
    """What is said of a fluent at a time; a termination may leave the value open."""

    kind: str  # "initiated", "terminated", or "ghost": an initiation outside the grounding
    fluent: Term
    value: Term
    t: int


class PointHistory:
    """The points of some fluents from the start of the run on, in the order of time."""

    def __init__(self) -> None:
        self._by_fluent: dict[Term, dict[int, dict[Point, None]]] = {}
        self._times: dict[Term, list[int]] = {}
        self.effects: dict[int, list[DelayedEffect]] = {}

    def add(self, point: Point) -> None:
        """Note a point."""
        by_time = self._by_fluent.setdefault(point.fluent, {})
        by_time.setdefault(point.t, {})[point] = None
        self._times.pop(point.fluent, None)

    def between(self, fluent: Term, low: int, high: int) -> Iterator[Point]:
        """The points of a fluent from `low` to `high`."""
        by_time = self._by_fluent.get(fluent, {})
        if fluent not in self._times:
            self._times[fluent] = sorted(by_time)
        times = self._times[fluent]
        for t in times[bisect_left(times, low) : bisect_right(times, high)]:
            yield from by_time[t]

    def replace(self, before: Iterable[Point], now: Iterable[Point]) -> None:
        """Put points in the place of others."""
        for point in before:
            del self._by_fluent[point.fluent][point.t][point]
        for point in now:
            self.add(point)

    def at(self, t: int) -> Iterator[Point]:
        """The points of all fluents at a time."""
        for by_time in self._by_fluent.values():
            yield from by_time.get(t, ())

    def all(self) -> Iterator[Point]:
        """Every point, those of one fluent after the other."""
        for by_time in self._by_fluent.values():
            for points in by_time.values():
                yield from points

    def fitting(self, fluent: Term) -> list[Term]:
        """The fluents with points that are instances of one."""
        if is_ground(fluent):
            return [fluent] if fluent in self._by_fluent else []
        return [one for one in self._by_fluent if covers(fluent, one)]

    def broken(self, fluent: Term, value: Term, low: int, high: int) -> bool:
        """Is a value terminated, or another one initiated, from `low` to `high`?"""
        return any(
            covers(point.value, value) if point.kind == "terminated" else point.value != value
            for point in self.between(fluent, low, high)
        )

    def initiated(self, fluent: Term, value: Term, low: int, high: int) -> bool:
        """Is a value initiated from `low` to `high`?"""
        points = self.between(fluent, low, high)
        return any(point.kind == "initiated" and point.value == value for point in points)


class DelayedEffects:
    """The points of the fluents that have delayed effects."""

    def __init__(self, solver: EvidenceSolver) -> None:
        self.solver = solver
        rules = solver.description.rules
        self.rules = [one for one in rules if isinstance(one, DelayRule)]
        self._postponable = [one.fvp for one in rules if isinstance(one, Postponable)]
        self._initiations = Initiations(solver.background)
        self._times: dict[int, str | None] = {}  # of initiation, in the body of each rule
        self.keys: set[Key] = {key_of(self._acts_on(rule)) for rule in self.rules}
        self._known: list[tuple[list[Term], PointHistory]] = []

    @staticmethod
    def _acts_on(rule: DelayRule) -> Term:
        fvp = rule.target if isinstance(rule, FutureInitiation) else rule.origin
        return fvp.fluent

    def effects(self, begins: bool, fluent: Term, value: Term, t: int) -> Iterator[DelayedEffect]:
        """The attempts that initiate, or terminate, a value at a time."""
        if key_of(fluent) in self.keys:
            for effect in self.history(fluent).effects.get(t, ()):
                starts = isinstance(effect.rule, FutureInitiation)
                if starts == begins and effect.acts_on == (fluent, value):
                    yield effect

    def points(
        self, begins: bool, fluent: Term, low: int, high: int
    ) -> Iterator[tuple[Term, Term, int]]:
        """What is initiated, or terminated, from `low` to `high`, by rules and by attempts."""
        history = self.history(fluent)
        for one in history.fitting(fluent):
            for point in history.between(one, low, high):
                if (point.kind != "terminated") == begins:
                    yield one, point.value, point.t

    def may_postpone(self, fluent: Term, value: Term) -> bool:
        """Does a new initiation restart the clock?"""
        return any(
            unify_all((fvp.fluent, fvp.value), (fluent, value), {}) is not None
            for fvp in self._postponable
        )

    # --- the points of a fluent ------------------------------------------------------------------

    def history(self, fluent: Term) -> PointHistory:
        """The points of a fluent, or of all its instances."""
        asked = _renamed(fluent)
        for patterns, known in self._known:
            if any(_covers_all(pattern, asked) for pattern in patterns):
                return known
        patterns = self._behind(asked)
        place = len(self._known)
        history = PointHistory()
        self._known.append((patterns, history))
        circular = self._reads_points(patterns)
        for _ in range(_ROUNDS):
            # What asks for points while they are worked out sees those of the round before.
            made = self._worked_out(patterns)
            same = set(made.all()) == set(history.all())
            history = made
            del self._known[place:]  # others, too, that were worked out with those before
            self._known.append((patterns, history))
            if same or not circular:
                return made
        raise NotSettled("rules are true if, and only if, they are not")

    def _behind(self, fluent: Term) -> list[Term]:
        """The fluents whose points those of a fluent come from, itself included."""
        found = [fluent]
        for one in found:
            for rule in self.rules:
                env = unify(self._acts_on(rule), one, {})
                if env is not None:
                    before = _renamed(resolve(rule.origin.fluent, env))
                    if not any(_covers_all(known, before) for known in found):
                        found.append(before if len(found) < _MOST_FORMS else _whole(before))
        return found

    def _rules_about(self, patterns: list[Term]) -> Iterator[Initiation | Termination]:
        keys = {key_of(pattern) for pattern in patterns}
        for rule in self.solver.description.rules:
            if isinstance(rule, Initiation | Termination) and key_of(rule.fvp.fluent) in keys:
                yield rule

    def _reads_points(self, patterns: list[Term]) -> bool:
        """May conditions ask for points that are being worked out?"""
        rules: list[Rule] = [*self._rules_about(patterns), *self.rules]
        return any(self.solver.reads_points(rule) for rule in rules)

    def _worked_out(self, patterns: list[Term]) -> PointHistory:
        """The points that rules say, then what attempts come to, one deadline after the other."""
        history, agenda, lengths = PointHistory(), Agenda(), Lengths()
        for point in self._said(patterns):
            history.add(point)
            self._attempt(point, agenda, lengths)
        acted: dict[tuple[int, Term, Term], list[int]] = {}
        for t, due in agenda:
            rules_say = set(history.at(t))
            said: dict[Point, None] = {}
            for _ in range(_ROUNDS):  # a new initiation at the deadline itself may restart a clock
                acting = [one for one in due if not self._cancelled(one, t, history, acted)]
                points = (point for one in acting for point in self._effect(one, t, patterns))
                now = dict.fromkeys(point for point in points if point not in rules_say)
                if now == said:
                    break
                history.replace(said, now)
                said = now
            else:
                raise NotSettled(f"at {t} effects come about if, and only if, they do not")
            for one in acting:
                acted.setdefault((one.number, one.fluent, one.value), []).append(t)
            history.effects[t] = sorted(acting, key=lambda one: -one.since)
            for point in said:
                self._attempt(point, agenda, lengths)
        return history

    def _said(self, patterns: list[Term]) -> Iterator[Point]:
        """What holds from the start on, and what rules say."""
        solver = self.solver
        first = solver.world.grid.prev(solver.world.start)
        for pattern in patterns:
            for fluent, value, _ in solver.evidence.spans(pattern, _ANY, solver.world.start):
                if not solver.is_static(fluent, value):
                    yield Point("initiated", fluent, value, first)
        for rule in self._rules_about(patterns):
            begins = isinstance(rule, Initiation)
            for pattern in patterns:
                for env in solver.effects(rule, pattern, _ANY, None):
                    fluent, value = resolve(rule.fvp.fluent, env), resolve(rule.fvp.value, env)
                    at = resolve(rule.time, env)
                    assert isinstance(at, Int)
                    kind = "terminated"
                    if begins:
                        kind = "initiated" if solver.in_domain(fluent, value) else "ghost"
                    yield Point(kind, fluent, value, at.value)

    def _attempt(self, point: Point, agenda: Agenda, lengths: Lengths) -> None:
        """Note the deadlines of an initiation."""
        if point.kind != "initiated":
            return
        for number, rule in enumerate(self.rules):
            about = point.fluent, point.value
            for length, env in self._lengths(number, about, point.t, lengths):
                t = point.t + length
                # What would come about at the start itself is not seen any more.
                if point.t < t and self.solver.world.in_run(t):
                    agenda.add(t, DelayedEffect(rule, env, *about, point.t, number))

    def _lengths(
        self, number: int, about: tuple[Term, Term], since: int, known: Lengths
    ) -> list[tuple[int, Env]]:
        """How long a delay may be, with what else the variables then stand for."""
        if (number, *about) in known:
            return known[number, *about]
        rule = self.rules[number]
        env = unify_all((rule.origin.fluent, rule.origin.value), about, {})
        if env is None:
            return []
        if number not in self._times:
            self._times[number] = self._initiations.time_of(rule)
        time = self._times[number]
        is_same = time is None
        if time is not None:
            env = {**env, time: Int(since)}
        try:
            found = self._solutions(rule, env)
        except UnboundVariable:  # conditions look at the deadline before they know it
            is_same = False
            longest = self.solver.world.query - since
            starts = (unify(rule.delay, Int(delay), env) for delay in range(1, longest + 1))
            found = [one for start in starts if start for one in self._solutions(rule, start)]
        delays = [(resolve(rule.delay, one), one) for one in found]
        lengths = [(delay.value, one) for delay, one in delays if isinstance(delay, Int)]
        if is_same:
            known[number, *about] = lengths
        return lengths

    def _solutions(self, rule: DelayRule, env: Env) -> list[Env]:
        if isinstance(rule, FutureTermination):
            return list(self.solver.solve((rule.body,), env))
        target = rule.target.fluent, rule.target.value
        return self.solver.groundings.head_solutions(rule.body, *target, env)

    def _cancelled(
        self,
        effect: DelayedEffect,
        t: int,
        history: PointHistory,
        acted: dict[tuple[int, Term, Term], list[int]],
    ) -> bool:
        """Has something come in between?"""
        fluent, value, since = effect.fluent, effect.value, effect.since
        if history.broken(fluent, value, since + 1, t - 1):
            return True
        if self.may_postpone(fluent, value):
            return history.initiated(fluent, value, since + 1, t)
        return any(since < one for one in acted.get((effect.number, fluent, value), ()))

    def _effect(self, effect: DelayedEffect, t: int, patterns: list[Term]) -> Iterator[Point]:
        fluent, value = effect.acts_on
        kind = "terminated"
        if isinstance(effect.rule, FutureInitiation):
            kind = "initiated" if self.solver.in_domain(fluent, value) else "ghost"
        if any(covers(pattern, fluent) for pattern in patterns):
            yield Point(kind, fluent, value, t)


class Agenda:
    """What is due, given out in the order of time while more comes in."""

    def __init__(self) -> None:
        self._times: list[int] = []
        self._due: dict[int, list[DelayedEffect]] = {}

    def add(self, t: int, effect: DelayedEffect) -> None:
        """Note what is due at a time."""
        if t not in self._due:
            heappush(self._times, t)
        self._due.setdefault(t, []).append(effect)

    def __iter__(self) -> Iterator[tuple[int, list[DelayedEffect]]]:
        while self._times:
            t = heappop(self._times)
            yield t, self._due.pop(t)


def _renamed(term: Term) -> Term:
    """The term with variables that no rule has."""
    return resolve(term, {name: Var("^" + name) for name in variables(term)})


def _covers_all(pattern: Term, term: Term) -> bool:
    """Are all instances of a term instances of a pattern?"""
    named: Env = {name: Constant(name) for name in variables(term)}
    return covers(pattern, resolve(term, named))


def _whole(fluent: Term) -> Term:
    """Any fluent of a name and arity."""
    return make(key_of(fluent)[0], *(Var(f"^{n}") for n, _ in enumerate(children(fluent))))
