"""Running a chain of operators over a table of bindings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from horai.engine import intervals
from horai.engine.aggregates import aggregate
from horai.engine.arithmetic import evaluate
from horai.engine.bindings import Names, extended, keeps
from horai.engine.builtins import call
from horai.engine.calls import Procedures
from horai.engine.columns import codes, ints
from horai.engine.comparison import compare
from horai.engine.frames import Frame, deduplicated, gather, is_number, stack
from horai.engine.profile import Profile
from horai.engine.python_predicates import call_python
from horai.engine.relations import join
from horai.lang.core.terms import Constant
from horai.lang.ec.errors import asks, blaming
from horai.plan import operators as op
from horai.plan.ec.literals import names

TEMPORAL = (op.Scan, op.Stab, op.Walk, op.Lookup)


class Evaluator(Procedures):
    """Evaluates chains in a world."""

    profile: Profile | None = None  # only one that is watched has it

    def run(self, chain: op.Chain, frame: Frame) -> Frame:
        """The solutions of a chain that extend a frame."""
        if chain.clause is None:
            return self._run(chain, frame)
        with blaming(chain.clause):
            return self._run(chain, frame)

    def _run(self, chain: op.Chain, frame: Frame) -> Frame:
        for step, needed in zip(chain.steps, chain.needed, strict=True):
            if not frame.rows:
                return Frame(0, {name: c for name, c in frame.columns.items() if is_number(name)})
            frame = self.step(step, frame, needed)
        return frame

    def step(self, step: op.Operator, frame: Frame, needed: Names) -> Frame:
        """One operator; afterwards only what is needed is kept."""
        asks(step.term)
        match step:
            case op.Scan():
                return self._scan(step, frame, needed)
            case op.Stab():
                return self._stab(step, frame, needed)
            case op.Walk():
                return self._walk(step, frame, needed)
            case op.FactJoin(key=key, terms=terms):
                table = self.overrides.get(id(step)) or self.facts(key)
                frame, terms = self.plain(frame, terms)
                return join(frame, table, terms, self.symbols).to_frame(keeps(needed))
            case op.Lookup():
                return self._lookup(step, frame).only(needed)
            case op.SpanOperation(literal=literal):
                spans, valid = intervals.operate(literal, frame, self.world, self.uncut)
                if not valid.all():
                    rows = np.flatnonzero(valid)
                    spans, frame = gather(spans, frame.rows, rows), frame.take(rows)
                return self.bind_list(literal.result, spans, frame).only(needed)
            case op.Filter(literal=literal):
                frame = self.as_columns(frame, names(step.term))
                mask = compare(
                    literal.op, literal.left, literal.right, frame.columns, frame.rows, self.symbols
                )
                return frame.where(mask).only(needed)
            case op.Unify(left=left, right=right):
                return self.unify(left, right, frame).only(needed)
            case op.Extend(literal=literal):
                numbers = evaluate(literal.expression, frame.columns, frame.rows, self.symbols)
                column = numbers.column(self.symbols)
                frame = frame.with_columns({"#is": column}).where(numbers.valid)
                return self._bind(literal.target, frame, "#is").only(needed)
            case op.TruthOp(value=value):
                return frame if value else frame.empty()
            case op.QueryTime(target=target):
                now = ints(np.full(frame.rows, self.world.query))
                return self._bind(target, frame.with_columns({"#now": now}), "#now").only(needed)
            case _:
                return self._inner(step, frame, needed).only(needed)

    def _inner(self, step: op.Operator, frame: Frame, needed: Names) -> Frame:
        match step:
            case op.AntiJoin() if self.nothing_absent and self.is_temporal(step):
                return frame.empty()
            case op.AntiJoin(body=body):
                name = self.number()
                matched = self.run(body, frame.numbered(name))
                mask = np.ones(frame.rows, np.bool_)
                mask[matched.columns[name].data] = False
                return frame.where(mask)
            case op.Union(branches=(branch,)):
                return self.run(branch, frame)
            case op.Union(branches=branches):
                return stack([self.run(branch, frame) for branch in branches], self.symbols)
            case op.IfThenElseOp():
                return self._choice(step, frame)
            case op.AggregateOp():
                return self._aggregate(step, frame)
            case op.BuiltinOp(call=goal):
                frame = self.as_columns(frame, names(step.term))
                found = call(goal.name, goal.args, frame.columns, frame.rows, self.symbols)
                return extended(frame, found)
            case op.Python(call=goal):
                frame = self.as_columns(frame, names(step.term))
                function = self.python[goal.name]
                found = call_python(
                    goal.name, function, goal.args, frame.columns, frame.rows, self.symbols
                )
                return extended(frame, found)
            case op.Procedure():
                return self.procedure(step, frame, self.run)
            case _:
                raise TypeError(f"no such operator: {step}")

    # --- chains inside others --------------------------------------------------------------------

    def _choice(self, step: op.IfThenElseOp, frame: Frame) -> Frame:
        name = self.number()
        met = self.run(step.condition, frame.numbered(name))
        unmet = np.ones(frame.rows, np.bool_)
        unmet[met.columns[name].data] = False
        yes = self.run(step.then, met)
        if self.nothing_absent and any(map(self.is_temporal, step.condition.steps)):
            return yes
        no = self.run(step.otherwise, frame.where(unmet))
        return stack([yes, no], self.symbols)

    def _aggregate(self, step: op.AggregateOp, frame: Frame) -> Frame:
        name = self.number()
        found = self.run(step.body, frame.numbered(name))
        template = step.template or Constant("count")
        found = self.as_columns(found, step.inner | names(template))
        if found.rows:
            found = deduplicated(found, [name, *sorted(step.inner & set(found.columns))])
        else:
            nothing = {inner: codes(np.empty(0, np.int64)) for inner in names(template)}
            found = found.with_columns(nothing)
        kind = "bag" if step.kind == "list" else step.kind
        group = found.columns[name].data
        asks(step.term)
        mask, result = aggregate(kind, group, template, found.columns, frame.rows, self.symbols)
        return self.bind(step.result, frame.where(mask), result)

    # --- what operators look at ------------------------------------------------------------------

    def is_temporal(self, step: op.Operator) -> bool:
        """Does it look at events or fluents?"""
        if id(step) not in self._temporal:
            self._temporal[id(step)] = any(True for _ in self._readings(step, set()))
        return self._temporal[id(step)]

    def fluents_read(self, chain: op.Chain) -> set[op.Key]:
        """The fluents that a chain asks about."""
        seen: set[int] = set()
        return {reading.key for step in chain.steps for reading in self._readings(step, seen)}

    def _readings(
        self, step: op.Operator, seen: set[int]
    ) -> Iterator[op.Scan | op.Stab | op.Walk | op.Lookup]:
        if isinstance(step, TEMPORAL):
            yield step
        chains = list(op.inside(step))
        if isinstance(step, op.Procedure):
            branches = self.procedures.branches[step.key, step.bound]
            chains += [branch.body for branch in branches if id(branch) not in seen]
            seen.update(id(branch) for branch in branches)
        for chain in chains:
            for inner in chain.steps:
                yield from self._readings(inner, seen)
