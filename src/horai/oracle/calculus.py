"""Conditions of the Event Calculus: events, points, fluents, interval operations."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from horai.lang.ec.syntax import (
    Allen,
    Duration,
    Edge,
    Happens,
    HoldsAt,
    HoldsFor,
    InitiatedAt,
    IntervalOp,
    TerminatedAt,
)
from horai.lang.terms import Int, ListTerm, Term, Var, is_ground, variables
from horai.oracle import intervals as span
from horai.oracle.arithmetic import EvaluationError, evaluate
from horai.oracle.context import Context, FutureRead, Stuck, once
from horai.oracle.scopes import names
from horai.oracle.unify import Env, covers, ground, resolve, unify, unify_all, walk
from horai.oracle.world import Key, interval_term, key_of, term_intervals


class CalculusConditions(Context):
    """How each temporal condition is satisfied."""

    def _time(self, term: Term, env: Env) -> int | None:
        """The time-point a term stands for, None while it is unbound."""
        term = walk(term, env)
        if isinstance(term, Var):
            return None
        value = evaluate(term, env)
        if not isinstance(value, int):
            raise EvaluationError(f"not a time-point: {value}")
        return value

    def _happens(self, goal: Happens, env: Env) -> Iterator[Env]:
        event = resolve(goal.event, env)
        key = key_of(event)
        by_time = self.world.events.get(key, {})
        t = self._time(goal.time, env)
        if key in self.events:
            self._refuse_future(key, t)
        for moment in sorted(by_time) if t is None else [t]:
            at = unify(goal.time, Int(moment), env) if t is None else env
            for occurrence in list(by_time.get(moment, ())):
                if at is not None:
                    yield from once(unify(event, occurrence, at))

    def _edge(self, goal: Edge, env: Env) -> Iterator[Env]:
        t = self._time(goal.time, env)
        pattern = (resolve(goal.fvp.fluent, env), resolve(goal.fvp.value, env))
        key = key_of(pattern[0])
        if key in self.members:
            self._refuse_future(key, t)
        for fluent, value, moment in self.world.edges(key, goal.kind, t):
            at = unify(goal.time, Int(moment), env) if t is None else env
            if at is not None:
                yield from once(unify_all(pattern, (fluent, value), at))

    def _points(self, goal: InitiatedAt | TerminatedAt, env: Env) -> Iterator[Env]:
        world = self.world
        store = world.initiations if isinstance(goal, InitiatedAt) else world.terminations
        pattern = (resolve(goal.fvp.fluent, env), resolve(goal.fvp.value, env))
        key = key_of(pattern[0])
        by_time = store.get(key, {})
        t = self._time(goal.time, env)
        if key in self.members:
            self._refuse_future(key, t)
        for moment in sorted(by_time) if t is None else [t]:
            if not world.in_run(moment):
                continue
            at = unify(goal.time, Int(moment), env) if t is None else env
            if at is None or not self._within(goal.bounds, moment, at):
                continue
            for fluent, values in list(by_time.get(moment, {}).items()):
                matched = unify(pattern[0], fluent, at)
                for value in list(values) if matched is not None else ():
                    yield from self._value_point(fluent, value, pattern[1], matched or at)

    def _value_point(
        self, fluent: Term, value: Term | None, pattern: Term, env: Env
    ) -> Iterator[Env]:
        """A point as seen for one value; a termination may be one of many values."""
        if value is not None and is_ground(value):
            yield from once(unify(pattern, value, env))
            return
        known = self.world.spans.get(key_of(fluent), {}).get(fluent, {})
        candidates = [resolve(pattern, env)] if ground(pattern, env) else list(known)
        for candidate in candidates:
            if covers(value, candidate) and self.in_domain(fluent, candidate):
                yield from once(unify(pattern, candidate, env))

    def _within(self, bounds: tuple[Term, Term] | None, t: int, env: Env) -> bool:
        if bounds is None:
            return True
        low, high = self._time(bounds[0], env), self._time(bounds[1], env)
        return (low is None or low <= t) and (high is None or t < high)

    def _holds_at(self, goal: HoldsAt, env: Env) -> Iterator[Env]:
        t = self._time(goal.time, env)
        pattern = (resolve(goal.fvp.fluent, env), resolve(goal.fvp.value, env))
        key = key_of(pattern[0])
        if key in self.members:
            self._refuse_future(key, t)
        for fluent, value, intervals in self.known(pattern):
            if t is not None:
                if span.contains(intervals, t):
                    yield from once(unify_all(pattern, (fluent, value), env))
                continue
            for moment in self._all_points(intervals, key):
                at = unify(goal.time, Int(moment), env)
                if at is not None:
                    yield from once(unify_all(pattern, (fluent, value), at))

    def _refuse_future(self, key: Key, t: int | None) -> None:
        """What the component being settled says is known up to the cell in work only."""
        if t is not None and self.horizon is not None and t >= self.horizon:
            raise FutureRead(key)

    def known(self, pattern: tuple[Term, Term]) -> list[tuple[Term, Term, span.Intervals]]:
        """The pairs that may fit a pattern, with their intervals."""
        fluent, value = pattern
        key = key_of(fluent)
        if not variables(fluent):
            values = self.world.spans.get(key, {}).get(fluent, {})
            if not variables(value):
                return [(fluent, value, values.get(value, []))]
            return [(fluent, found, intervals) for found, intervals in values.items()]
        return list(self.world.instances(key))

    def _all_points(self, intervals: span.Intervals, key: Key) -> Iterator[int]:
        """The time-points of some intervals up to now."""
        world = self.world
        last = world.query
        if key in self.members and self.horizon is not None:
            last = min(last, self.horizon - 1)
        for start, end in intervals:
            t = max(start, world.start + 1)
            t = t if world.grid.cell(t) == t else world.grid.next(t)
            while t <= last and t < end:
                yield t
                t += world.grid.tick

    def _holds_for(self, goal: HoldsFor, env: Env) -> Iterator[Env]:
        free = [
            name for name in names(goal.fvp.fluent, goal.fvp.value) if not ground(Var(name), env)
        ]
        if any(name not in self.domains for name in free):
            raise Stuck(goal)
        if key_of(goal.fvp.fluent) in self.members:
            raise FutureRead(key_of(goal.fvp.fluent))  # a list of intervals has no end yet
        for values in product(*(self.domains[name] for name in free)):
            bound = unify_all(tuple(Var(name) for name in free), values, env)
            if bound is not None:
                found = self.world.intervals(
                    resolve(goal.fvp.fluent, bound), resolve(goal.fvp.value, bound)
                )
                yield from once(unify(goal.intervals, interval_term(found), bound))

    def _interval_operation(self, goal: IntervalOp | Duration | Allen, env: Env) -> span.Intervals:
        world = self.world
        match goal:
            case IntervalOp(kind=kind, base=base):
                lists = self._interval_lists(goal.lists, env)
                everything: span.Intervals = [(world.grid.next(world.start), span.INF)]
                if kind == "union_all":
                    return span.union(lists)
                if kind == "intersect_all":
                    return span.intersection(lists)
                if kind == "complement_all":
                    return span.difference(everything, lists)
                return span.difference(self._intervals(base, env), lists)
            case Duration(op=op, open_counts=open_counts):
                bound = evaluate(goal.bound, env)
                given = self._intervals(goal.intervals, env)
                return span.longer_or_shorter(given, op, bound, world.query, open_counts)
            case Allen(relation=relation, mode=mode):
                sources = self._intervals(goal.source, env)
                targets = self._intervals(goal.target, env)
                return span.allen(relation, sources, targets, mode, world.grid, world.allen_memory)

    def _intervals(self, term: Term | None, env: Env) -> span.Intervals:
        found = term_intervals(resolve(term, env)) if term is not None else None
        if found is None:
            raise EvaluationError("not a list of intervals")
        return span.coalesce(found)

    def _interval_lists(self, term: Term, env: Env) -> list[span.Intervals]:
        full = resolve(term, env)
        if not isinstance(full, ListTerm):
            raise EvaluationError("not a list of interval lists")
        return [self._intervals(item, env) for item in full.items]
