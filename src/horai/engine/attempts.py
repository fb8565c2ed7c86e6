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
from horai.engine.errors import blaming
from horai.engine.frames import Frame, unit
from horai.engine.heads import Heads
from horai.engine.matching import build, take_apart
from horai.engine.moments import Moments, Node, Owner, Saying
from horai.lang.terms import Term, Var
from horai.plan import operators as op
from horai.plan.program import DelayPlan, Program, Stratum


@dataclass(frozen=True, slots=True)
class Attempt:
    """An initiation of a pair at `since` that a rule may turn into an effect."""

    rule: int
    owner: Owner
    value: int
    since: int


class Attempts:
    """The attempts of a component and their deadlines."""

    def __init__(self, program: Program, stratum: Stratum, heads: Heads, moments: Moments) -> None:
        self.plans = stratum.delays
        self.postponable = program.postponable
        self.heads = heads
        self.symbols = heads.symbols
        self.moments = moments
        self.due: dict[int, dict[Attempt, None]] = {}
        self.restored: set[Attempt] = set()
        self.acted: dict[tuple[int, Owner, int], list[int]] = {}

    def attempt(self, owner: Owner, value: int, t: int) -> set[int]:
        """Note an initiation; returns its deadlines that fall into the run so far."""
        deadlines: set[int] = set()
        for index, plan in enumerate(self.plans):
            attempt = Attempt(index, owner, value, t)
            for deadline, _, _ in self._solutions(attempt, plan.early, False):
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
            for deadline, _, _ in self._solutions(attempt, self.plans[index].early, False):
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
        """What attempts due at t do to the given fluents."""
        for attempt in list(self.due.get(t, ())):
            if ("fluent", self.plans[attempt.rule].target_key) in nodes:
                yield from self._effects(attempt, t)

    def remember(self, t: int) -> None:
        """Note which attempts have acted at t, once that is settled."""
        for attempt in self.due.get(t, ()):
            if next(self._effects(attempt, t), None) is not None:
                source = (attempt.rule, attempt.owner, attempt.value)
                self.acted.setdefault(source, []).append(t)

    def _effects(self, attempt: Attempt, t: int) -> Iterator[Saying]:
        plan = self.plans[attempt.rule]
        if self._cancelled(attempt, t):
            return
        for deadline, args, value in self._solutions(attempt, plan.full, True):
            if deadline != t:
                continue
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
        acted = self.acted.get((attempt.rule, owner, value), ())
        return any(since < earlier < t for earlier in acted)

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

    def _solutions(
        self, attempt: Attempt, chain: op.Chain, at_deadline: bool
    ) -> Iterator[tuple[int, tuple[int, ...], int]]:
        """Deadline and target of an attempt, as far as they can be known at that time."""
        plan = self.plans[attempt.rule]
        key, args = attempt.owner
        if key != plan.origin_key:
            return
        with blaming(plan.clause):
            frame = self._bound(plan, (*args, attempt.value), attempt.since)
            frame = self.heads.evaluator.run(chain, frame) if frame.rows else frame
            if not frame.rows:
                return
            yield from self._rows(plan, frame, attempt.since, at_deadline)

    def _bound(self, plan: DelayPlan, row: tuple[int, ...], since: int) -> Frame:
        frame = unit()
        for pattern, code in zip(plan.origin, row, strict=True):
            if frame.rows:
                frame = self.heads.evaluator.bind(pattern, frame, narrow(_one(code), self.symbols))
        if plan.time is not None and frame.rows:
            frame = self.heads.evaluator.bind(Var(plan.time), frame, ints(np.array([since])))
        return frame

    def _rows(
        self, plan: DelayPlan, frame: Frame, since: int, at_deadline: bool
    ) -> Iterator[tuple[int, tuple[int, ...], int]]:
        delays = build(plan.delay, frame.columns, frame.rows, self.symbols)
        whole = self.heads.evaluator.whole("#delay", frame.with_columns({"#delay": delays}))
        listed = whole.columns["#delay"].data.tolist()
        if not at_deadline:
            yield from ((since + delay, (), 0) for delay in listed if delay > 0)
            return
        terms = [
            codes_of(build(t, whole.columns, whole.rows, self.symbols), self.symbols).tolist()
            for t in plan.target
        ]
        for delay, row in zip(listed, zip(*terms, strict=True), strict=True):
            if delay > 0:
                yield since + delay, tuple(row[:-1]), row[-1]


def _one(code: int) -> Column:
    return codes(np.array([code], np.int64))
