"""Rows of every rule, estimated component by component: what one gives is what the next reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from horai.lang.ec import syntax as ec
from horai.lang.terms import Term, is_ground
from horai.plan import operators as op
from horai.plan.estimates import Estimator, Rows
from horai.plan.program import DelayPlan, PointPlan, Program, StaticPlan, Stratum
from horai.plan.scopes import names
from horai.plan.sizes import UNIT, FluentSize, Key, Size, Sizes, as_pairs

ROUNDS = 4  # in which what a component reads of itself gets about: enough to tell much from little
Heads = list[tuple[tuple[Term, ...], Rows]]


class RuleEstimates:
    """`rows` has the points or intervals that each rule gives, `operators` those of operators."""

    def __init__(self, program: Program, sizes: Sizes) -> None:
        self.program = program
        self.sizes = sizes
        self.estimator = Estimator(program, sizes)
        self.operators = self.estimator.found
        self.rows: dict[int, float] = {}
        for stratum in program.strata:
            self._stratum(stratum)

    def _stratum(self, stratum: Stratum) -> None:
        for static in stratum.static:
            self._static(static)
        before = _Before(dict(self.sizes.events), dict(self.sizes.fluents))
        ends = {id(plan): self._begin(plan) for plan in (*stratum.points, *stratum.initially)}
        self.rows.update((key, end.rows) for key, end in ends.items())
        self._publish(stratum, ends, before)
        own = [plan for plan in stratum.points if plan.split is not None]
        for _ in range(ROUNDS if own or stratum.delays else 0):
            again = ends | {id(plan): self._rest(plan, ends[id(plan)]) for plan in own}
            self.rows.update((key, end.rows) for key, end in again.items())
            self.rows.update((id(delay), self._delay(delay).rows) for delay in stratum.delays)
            self._publish(stratum, again, before)

    def _rest(self, plan: PointPlan, candidates: Rows) -> Rows:
        """What is left of candidates after the component itself has been asked."""
        assert plan.split is not None
        start = candidates
        if not plan.split.timed and not plan.split.waits:
            start = start.times(UNIT)  # every time-point counts
        if plan.split.timed or not plan.split.waits:
            start = start.binding(names(plan.time))
        return self.estimator.chain(plan.split.remainder, start)

    def _begin(self, plan: PointPlan) -> Rows:
        """The solutions of a rule; where it reads its own component, the candidates."""
        chain = plan.chain if plan.split is None else plan.split.candidates
        return self.estimator.chain(chain, self.estimator.point_start(plan))

    def _static(self, plan: StaticPlan) -> None:
        start = self.estimator.static_start(plan)
        if isinstance(plan.rule, ec.HoldsAtRule):
            start = Rows().binding(names(plan.result))
        end = self.estimator.chain(plan.chain, start)
        read = [s.key for s in op.walk(plan.chain) if isinstance(s, op.Lookup | op.Stab | op.Walk)]
        pairs = as_pairs(_size(plan.terms, end))
        spans = pairs.rows * max([1.0, *(_per_pair(self.sizes.fluent(key)) for key in read)])
        self.rows[id(plan)] = spans
        self._add(plan.key, FluentSize(pairs, spans), self.sizes.fluents.get(plan.key))

    def _delay(self, plan: DelayPlan) -> Rows:
        origin = self.sizes.fluent(plan.origin_key)
        number = origin.initiations or origin.spans
        if is_ground(plan.origin[-1]):
            number /= max(1.0, origin.pairs.distinct[-1])
        start = Rows(number).binding(names(*plan.origin))
        if plan.time is not None:
            start = start.binding(frozenset({plan.time}))
        self.estimator.chain(plan.early, start)
        return self.estimator.chain(plan.full, start)

    # --- what readers see ------------------------------------------------------------------------

    def _publish(self, stratum: Stratum, ends: dict[int, Rows], before: _Before) -> None:
        for key in stratum.events:
            size = _all([(p.terms, ends[id(p)]) for p in stratum.points if p.key == key])
            size = size.with_column(size.rows)
            known = before.events.get(key)
            self.sizes.events[key] = size if known is None else known.plus(size)
        for key in stratum.fluents:
            plans = [p for p in (*stratum.points, *stratum.initially) if p.key == key]
            begun = [(p.terms, ends[id(p)]) for p in plans if p.kind != "terminated"]
            begun += [self._begun_late(one) for one in stratum.delays if one.target_key == key]
            ended = sum(ends[id(p)].rows for p in plans if p.kind == "terminated")
            size = _with_values(_all(begun), begun) if begun else Size(0.0, (1.0,) * (key[1] + 1))
            fluent = FluentSize(as_pairs(size), size.rows, size.rows, ended)
            self._add(key, fluent, before.fluents.get(key))

    def _begun_late(self, delay: DelayPlan) -> tuple[tuple[Term, ...], Rows]:
        """What a delayed effect initiates: as a rule of the target."""
        rows = self.rows.get(id(delay), 0.0) if delay.initiates else 0.0
        return delay.target, Rows(rows).binding(names(*delay.target))

    def _add(self, key: Key, new: FluentSize, old: FluentSize | None) -> None:
        """Several rules, maybe of several components, give the values of one fluent."""
        if old is not None:
            new = FluentSize(
                old.pairs.plus(new.pairs),
                old.spans + new.spans,
                old.initiations + new.initiations,
                old.terminations + new.terminations,
            )
        self.sizes.fluents[key] = new


@dataclass(frozen=True, slots=True)
class _Before:
    """What other components give of the same entities."""

    events: dict[Key, Size]
    fluents: dict[Key, FluentSize]


def _per_pair(fluent: FluentSize) -> float:
    return fluent.spans / fluent.pairs.rows if fluent.pairs.rows else 0.0


def _size(terms: Iterable[Term], end: Rows) -> Size:
    return Size(end.rows, tuple(end.values(term) for term in terms))


def _all(heads: Heads) -> Size:
    first, *rest = (_size(terms, end) for terms, end in heads)
    for size in rest:
        first = first.plus(size)
    return first


def _with_values(size: Size, heads: Heads) -> Size:
    """Constant values of different rules are different values."""
    constants = {terms[-1] for terms, _ in heads if is_ground(terms[-1])}
    values = [end.values(terms[-1]) for terms, end in heads if not is_ground(terms[-1])]
    number = len(constants) + max(values, default=0.0)
    return Size(size.rows, (*size.distinct[:-1], max(1.0, number)))
