"""Boolean formulas over `holdsAt`: for every row the time at which the formula is true.

Each row carries its time as an interval list (`@when`): a condition intersects it, a negation takes
away. Formulas that count or collect are asked point by point, where any of their fluents changes.
Negation speaks of the time after the start of the run only, as complements do.
"""

from __future__ import annotations

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import ints
from horai.engine.frames import Frame, stack
from horai.engine.overlaps import is_crowded, overlap_join
from horai.engine.relations import join
from horai.lang.core.terms import Var
from horai.lang.ec.errors import Unsupported
from horai.plan import operators as op
from horai.plan.ec.literals import names
from horai.plan.program import StaticPlan
from horai.temporal.algebra import complement, difference, intersection
from horai.temporal.coalesce import sort_spans
from horai.temporal.spans import INF, Ints, Spans, no_spans

WHEN = "@when"


class Formula:
    """A rule `holdsAt(F=V, T) :- ...` in a world."""

    def __init__(self, evaluator: Evaluator, plan: StaticPlan) -> None:
        self.evaluator = evaluator
        self.world = evaluator.world
        self.symbols = evaluator.symbols
        self.plan = plan
        if not isinstance(plan.result, Var):
            raise Unsupported("the time of a holdsAt head must be a variable")
        self.time = plan.result.name

    def evaluate(self, frame: Frame) -> Frame:
        """The rows that make the formula true, each with its times."""
        for name in sorted(self._open(frame)):
            frame = self.evaluator.spread(name, frame)
        if any(self._counts(step) for step in op.walk(self.plan.chain)):
            return self._point_by_point(frame)
        return self.run(self.plan.chain, self._always(frame))

    def _open(self, frame: Frame) -> set[str]:
        """Variables that the formula only asks about: all known instances are meant."""
        found = set(names(*self.plan.terms)) - self._given(self.plan.chain) - set(frame.columns)
        return {name for name in found if self.evaluator.domains.get(name) is not None}

    def _given(self, chain: op.Chain) -> frozenset[str]:
        found: frozenset[str] = frozenset()
        for step in chain.steps:
            if isinstance(step, op.Union):
                inner = [self._given(branch) for branch in step.branches]
                found |= frozenset.intersection(*inner) if inner else frozenset()
            elif isinstance(step, op.IfThenElseOp):
                yes = self._given(step.condition) | self._given(step.then)
                found |= yes & self._given(step.otherwise)
            elif not isinstance(step, op.AntiJoin | op.Filter):
                found |= names(step.term)
        return found

    def _always(self, frame: Frame) -> Frame:
        rows = np.arange(frame.rows)
        whole = Spans(rows, np.full(frame.rows, self.world.start), np.full(frame.rows, INF))
        return Frame(frame.rows, frame.columns, {**frame.lists, WHEN: whole})

    # --- with intervals --------------------------------------------------------------------------

    def run(self, chain: op.Chain, frame: Frame) -> Frame:
        """The solutions of a chain, each with the times at which it is one."""
        for step, needed in zip(chain.steps, chain.needed, strict=True):
            if not frame.rows:
                return frame
            frame = self._watched(step, frame, needed)
        return frame

    def _watched(self, step: op.Operator, frame: Frame, needed: frozenset[str]) -> Frame:
        profile = self.evaluator.profile
        if profile is None:
            return self._step(step, frame, needed)
        return profile.watch(step, frame, lambda: self._step(step, frame, needed))

    def _step(self, step: op.Operator, frame: Frame, needed: frozenset[str]) -> Frame:
        if not self.evaluator.is_temporal(step):
            return self.evaluator.step(step, frame, needed)
        match step:
            case op.Stab() | op.Walk():
                return self._holds(step, frame)
            case op.AntiJoin(body=body):
                return self._cut(frame, self._times(body, frame))
            case op.Union(branches=branches):
                return stack([self.run(branch, frame) for branch in branches], self.symbols)
            case op.IfThenElseOp(condition=condition, then=then, otherwise=otherwise):
                yes = self.run(then, self.run(condition, frame))
                rest = self._cut(frame, self._times(condition, frame))
                return stack([yes, self.run(otherwise, rest)], self.symbols)
            case op.Procedure():
                return self.evaluator.procedure(step, frame, self.run)
            case _:
                raise Unsupported(f"a holdsAt rule cannot ask for {type(step).__name__}")

    def _holds(self, step: op.Stab | op.Walk, frame: Frame) -> Frame:
        frame, terms = self.evaluator.plain(frame, step.terms)
        fluent = self.world.fluent(step.key)
        if is_crowded(frame, fluent, terms, self.symbols):
            found, when = overlap_join(frame, frame.lists[WHEN], fluent, terms, self.symbols)
            joined = found.to_frame(lambda name: name != WHEN)
            return Frame(len(found.left), joined.columns, {**joined.lists, WHEN: when})
        found = join(frame, fluent.pairs, terms, self.symbols)
        joined = found.to_frame(lambda _: True)
        when = intersection(joined.lists[WHEN], fluent.lists(found.source_rows()))
        return self._with(joined, when)

    def _with(self, frame: Frame, when: Spans) -> Frame:
        """The rows that still have a time."""
        there = np.zeros(frame.rows, np.bool_)
        there[when.key] = True
        return Frame(frame.rows, frame.columns, {**frame.lists, WHEN: when}).where(there)

    def _times(self, chain: op.Chain, frame: Frame) -> Spans:
        """For every row the times at which a chain has a solution."""
        name = self.evaluator.number()
        found = self.run(chain, frame.numbered(name))
        if not found.rows:
            return no_spans()
        when = found.lists[WHEN]
        return sort_spans(found.columns[name].data[when.key], when.start, when.end)

    def _cut(self, frame: Frame, away: Spans) -> Frame:
        """Take times away; of the very start nothing is known to be absent."""
        rows = np.arange(frame.rows)
        late = complement(rows, no_spans(), self.world.first)
        return self._with(frame, difference(intersection(frame.lists[WHEN], late), away))

    # --- point by point --------------------------------------------------------------------------

    def _counts(self, step: op.Operator) -> bool:
        return isinstance(step, op.AggregateOp) and self.evaluator.is_temporal(step)

    def _point_by_point(self, frame: Frame) -> Frame:
        cuts = self._cuts()
        later = cuts[cuts >= self.world.first]
        self.evaluator.nothing_absent = True
        try:
            first = self._at(np.array([self.world.start]), frame)
        finally:
            self.evaluator.nothing_absent = False
        found = stack([first, self._at(later, frame)], self.symbols)
        if not found.rows:
            return found
        times = found.columns[self.time].data
        place = np.searchsorted(cuts, times)
        end = np.append(cuts[1:], INF)[place]
        when = Spans(np.arange(found.rows), times, end)
        return Frame(found.rows, found.columns, {WHEN: when})

    def _at(self, times: Ints, frame: Frame) -> Frame:
        rows = np.repeat(np.arange(frame.rows), len(times))
        each = frame.take(rows).with_columns({self.time: ints(np.tile(times, frame.rows))})
        kept = op.Chain(
            self.plan.chain.steps,
            tuple(needed | {self.time} for needed in self.plan.chain.needed),
            self.plan.chain.bound,
        )
        return self.evaluator.run(kept, each)

    def _cuts(self) -> Ints:
        """Where the truth of the formula may change."""
        found = [np.array([self.world.start, self.world.first])]
        for fluent in self.evaluator.fluents_read(self.plan.chain):
            spans = self.world.fluent(fluent).spans
            found += [spans.start, spans.end[spans.end != INF]]
        cuts = np.unique(np.concatenate(found))
        return cuts[cuts >= self.world.start]
