"""Delayed effects, attempt by attempt: `fi`, `ft` and `p` for components settled cell by cell.

An initiation of F=V is an attempt to do something R later. It comes to nothing if F=V is broken
strictly between; with p(F=V) a new initiation, at the deadline too, restarts the clock; without p
an earlier attempt that has acted in between settles the matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from horai.engine.clockstate import ClockState, Pending
from horai.engine.columns import Column, codes, codes_of, ints, narrow
from horai.engine.frames import Frame, unit
from horai.engine.heads import Heads
from horai.engine.matching import build, take_apart
from horai.engine.moments import Moments, Node, Owner, Saying
from horai.lang.core.terms import Term, Var
from horai.lang.ec.errors import blaming
from horai.plan.program import DelayPlan, Plan, Stratum


@dataclass(frozen=True, slots=True)
class Attempt:
    """An initiation of a pair at `since` that a rule may turn into an effect."""

    rule: int
    owner: Owner
    value: int
    since: int

    @property
    def source(self) -> tuple[int, Owner, int]:
        """The rule and the pair."""
        return self.rule, self.owner, self.value


class Attempts:
    """The attempts of a component and their deadlines."""

    def __init__(self, program: Plan, stratum: Stratum, heads: Heads, moments: Moments) -> None:
        self.plans = stratum.delays
        self.postponable = program.postponable
        self.heads = heads
        self.symbols = heads.symbols
        self.moments = moments
        self.due: dict[int, dict[Attempt, None]] = {}
        self.restored: set[Attempt] = set()
        self.acted: dict[tuple[int, Owner, int], set[int]] = {}

    def attempt(self, owner: Owner, value: int, t: int) -> set[int]:
        """Note an initiation; returns its deadlines that fall into the run so far."""
        deadlines: set[int] = set()
        for index in range(len(self.plans)):
            attempt = Attempt(index, owner, value, t)
            for deadline in self._deadlines(attempt):
                self.due.setdefault(deadline, {})[attempt] = None
                if deadline <= self.heads.world.query:
                    deadlines.add(deadline)
        return deadlines

    def restore(self, state: ClockState) -> set[int]:
        """Take up the attempts of an earlier query; returns their deadlines in the run so far."""
        deadlines: set[int] = set()
        places = {plan.number: index for index, plan in enumerate(self.plans)}
        for pending in state.pending:
            index = places[pending.rule]
            attempt = Attempt(index, pending.owner, pending.value, pending.since)
            self.restored.add(attempt)
            for deadline in self._deadlines(attempt):
                self.due.setdefault(deadline, {})[attempt] = None
                if deadline <= self.heads.world.query:
                    deadlines.add(deadline)
        return deadlines

    def carried(self, cut: int) -> ClockState:
        """The attempts that nothing up to the cut has cancelled, and that are due after it."""
        found: dict[Pending, None] = {}
        for deadline, attempts in self.due.items():
            for attempt in attempts if deadline > cut else ():
                if attempt.since <= cut and not self._cancelled(attempt, cut + 1):
                    number = self.plans[attempt.rule].number
                    found[Pending(number, attempt.owner, attempt.value, attempt.since)] = None
        return ClockState(list(found))

    def act(self, t: int, nodes: set[Node]) -> Iterator[Saying]:
        """What attempts due at t do to the given fluents.

        The moments of a cell are asked in their order, however often: an attempt that acts settles
        the matter for those that are due later, in the same cell too.
        """
        due = [
            attempt
            for attempt in self.due.get(t, ())
            if ("fluent", self.plans[attempt.rule].target_key) in nodes
        ]
        for attempt in due:
            self.acted.setdefault(attempt.source, set()).discard(t)
        for attempt in due:
            for saying in self._effects(attempt, t):
                self.acted[attempt.source].add(t)
                yield saying

    def _effects(self, attempt: Attempt, t: int) -> Iterator[Saying]:
        plan = self.plans[attempt.rule]
        if self._cancelled(attempt, t):
            return
        for args, value in self._targets(attempt, t):
            if not plan.initiates:
                yield ("terminated", plan.target_key, args, value, t)
            else:
                inside = self._allowed(plan, args, value)
                yield ("initiated" if inside else "ghost", plan.target_key, args, value, t)

    def _allowed(self, plan: DelayPlan, args: tuple[int, ...], value: int) -> bool:
        columns = tuple(_one(code) for code in args)
        groundings = self.heads.groundings
        return bool(groundings.allows(plan.target_key, columns, _one(value), 1)[0])

    def _cancelled(self, attempt: Attempt, t: int) -> bool:
        owner, value, since = attempt.owner, attempt.value, attempt.since
        moments = self.moments
        known = attempt in self.restored
        withdrawn = not known and not moments.initiated_in(owner, value, since - 1, since)
        if withdrawn or moments.broken_between(owner, value, since, t):
            return True
        if self.may_postpone(owner, value):
            return moments.initiated_in(owner, value, since, t)
        return any(since < earlier < t for earlier in self.acted.get(attempt.source, ()))

    def may_postpone(self, owner: Owner, value: int) -> bool:
        """Is there a p(F=V) for the pair?"""
        (name, arity), args = owner
        terms = [self.symbols.term(code) for code in (*args, value)]
        for fvp in self.postponable:
            patterns = (*getattr(fvp.fluent, "args", ()), fvp.value)
            same = getattr(fvp.fluent, "name", "") == name and len(patterns) == arity + 1
            env: dict[str, Term] = {}
            if same and all(take_apart(p, t, env) for p, t in zip(patterns, terms, strict=True)):
                return True
        return False

    def _deadlines(self, attempt: Attempt) -> list[int]:
        """When an attempt is due, as far as can be known when it is made."""
        with blaming(self.plans[attempt.rule].clause):
            frame = self._begun(attempt)
            delays = frame.columns["#delay"].data.tolist() if frame.rows else []
        found = [attempt.since + delay for delay in delays if delay > 0]
        return [due for due in found if due > self.heads.world.start]  # nothing acts before the run

    def _targets(self, attempt: Attempt, t: int) -> Iterator[tuple[tuple[int, ...], int]]:
        """What an attempt aims at that is due now: those due later may ask what is not known."""
        plan = self.plans[attempt.rule]
        with blaming(plan.clause):
            frame = self._begun(attempt)
            if frame.rows:
                frame = frame.where(frame.columns["#delay"].data == t - attempt.since)
            if frame.rows:
                frame = self.heads.evaluator.run(plan.late, frame)
            if not frame.rows:
                return
            terms = [
                codes_of(build(t, frame.columns, frame.rows, self.symbols), self.symbols).tolist()
                for t in plan.target
            ]
        for row in zip(*terms, strict=True):
            yield tuple(row[:-1]), row[-1]

    def _begun(self, attempt: Attempt) -> Frame:
        """The ways to satisfy what can be judged at the time of initiation, with their delays."""
        plan = self.plans[attempt.rule]
        key, args = attempt.owner
        if key != plan.origin_key:
            return Frame(0)
        frame = self._bound(plan, (*args, attempt.value), attempt.since)
        frame = self.heads.evaluator.run(plan.early, frame) if frame.rows else frame
        if not frame.rows:
            return frame
        delays = build(plan.delay, frame.columns, frame.rows, self.symbols)
        return self.heads.evaluator.whole("#delay", frame.with_columns({"#delay": delays}))

    def _bound(self, plan: DelayPlan, row: tuple[int, ...], since: int) -> Frame:
        frame = unit()
        for pattern, code in zip(plan.origin, row, strict=True):
            if frame.rows:
                frame = self.heads.evaluator.bind(pattern, frame, narrow(_one(code), self.symbols))
        if plan.time is not None and frame.rows:
            frame = self.heads.evaluator.bind(Var(plan.time), frame, ints(np.array([since])))
        return self.heads.aimed(plan, frame)


def _one(code: int) -> Column:
    return codes(np.array([code], np.int64))
