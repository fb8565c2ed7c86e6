"""What the heads of rules say: rows of arguments, value and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from horai.engine.chains import Evaluator
from horai.engine.columns import Column, codes, codes_of, concat, ints
from horai.engine.domains import Domains, Groundings
from horai.engine.frames import Frame, deduplicated, unit
from horai.engine.matching import build
from horai.engine.relations import Relation
from horai.engine.symbols import Symbols
from horai.engine.world import Terminations, World
from horai.lang.core.terms import Term, Var
from horai.lang.ec.errors import Unsupported, blaming
from horai.plan.ec.literals import names
from horai.plan.program import DelayPlan, PointPlan
from horai.temporal.spans import Ints, Mask

EVERY = -2  # as the code of a value: a termination that ends whatever holds; no term has it


@dataclass(slots=True)
class Said:
    """Points of one event or fluent: arguments, time, and the code of the value for fluents.

    `form` is there for terminations of all values of a form, such as `level(_)`.
    """

    args: tuple[Column, ...]
    time: Ints
    value: Ints | None = None
    form: Term | None = None

    def __len__(self) -> int:
        return len(self.time)

    def where(self, mask: Mask | Ints) -> Said:
        """Some of the points."""
        return Said(
            tuple(column.take(mask) for column in self.args),
            self.time[mask],
            None if self.value is None else self.value[mask],
            self.form,
        )


def nothing(arity: int, has_value: bool) -> Said:
    """No points."""
    empty = np.empty(0, np.int64)
    return Said(tuple(codes(empty) for _ in range(arity)), empty, empty if has_value else None)


def together(parts: list[Said], arity: int, has_value: bool, symbols: Symbols) -> Said:
    """The points of several rules."""
    filled = [part for part in parts if len(part)]
    if not filled:
        return nothing(arity, has_value)
    if len(filled) == 1:
        return filled[0]
    args = tuple(concat([part.args[i] for part in filled], symbols) for i in range(arity))
    time = np.concatenate([part.time for part in filled])
    values = [part.value for part in filled if part.value is not None]
    return Said(args, time, np.concatenate(values) if has_value else None)


def event_rows(said: Said) -> Relation:
    """Points of an event: arguments, time."""
    return Relation((*said.args, ints(said.time)), len(said))


def fluent_rows(said: Said) -> Relation:
    """Points of a fluent: arguments, value, time."""
    assert said.value is not None
    return Relation((*said.args, codes(said.value), ints(said.time)), len(said))


def termination_rows(said: Said) -> Terminations:
    """Terminations as rules see them."""
    if len(said) and said.value is not None and said.value[0] == EVERY:
        return Terminations(event_rows(said), said.form, True)
    return Terminations(fluent_rows(said), None, False)


class Heads:
    """Runs the chains of rules and reads off what their heads say."""

    def __init__(self, world: World, evaluator: Evaluator, groundings: Groundings) -> None:
        self.world = world
        self.evaluator = evaluator
        self.groundings = groundings
        self.symbols = world.symbols
        self.low = world.start  # only points after it are asked for

    def start(self, plan: PointPlan) -> Frame:
        """The bindings a rule begins with: head variables that only a grounding gives."""
        frame = unit()
        if plan.domain:
            args, value = (plan.terms, None) if plan.kind == "event" else _entity(plan)
            frame = deduplicated(self.groundings.complete(frame, plan.key, args, value))
        if plan.bounds is not None:
            frame = self._whole_run(plan, frame)
        return frame

    def aimed(self, plan: DelayPlan, frame: Frame) -> Frame:
        """The origins of a delayed effect, with what only a grounding says of its target."""
        if not plan.domain or not frame.rows:
            return frame
        return self.groundings.complete(frame, plan.target_key, *_entity(plan))

    def _whole_run(self, plan: PointPlan, frame: Frame) -> Frame:
        """A range T1 =< T < T2 that the body leaves open is the whole run."""
        assert plan.bounds is not None
        limits = (self.world.start + 1, self.world.query + 1)
        new: dict[str, Column] = {}
        for bound, limit in zip(plan.bounds, limits, strict=True):
            if isinstance(bound, Var) and bound.name in plan.given:
                new[bound.name] = ints(np.full(frame.rows, limit))
        return frame.with_columns(new)

    def run(self, plan: PointPlan) -> Said:
        """All points that a rule gives, those outside its domain included."""
        return self.candidates(plan)[1]

    def candidates(self, plan: PointPlan) -> tuple[Frame, Said]:
        """The solutions of a rule, or of what can be known of it before, and their points."""
        chain = plan.chain if plan.split is None else plan.split.candidates
        with blaming(plan.clause):
            self.evaluator.domains = Domains(plan.body, self.world, self.groundings)
            try:
                frame = self.evaluator.run(chain, self.start(plan))
            finally:
                self.evaluator.domains = {}
            return self.points_of(plan, frame)

    def said(self, plan: PointPlan, frame: Frame) -> Said:
        """The points of the solutions of a body, those in the run."""
        return self.points_of(plan, frame)[1]

    def points_of(self, plan: PointPlan, frame: Frame) -> tuple[Frame, Said]:
        """The solutions of a body that are points of the run, and these points."""
        has_value = plan.kind != "event"
        arity = plan.key[1]
        if not frame.rows:
            return frame, nothing(arity, has_value)
        frame = self._in_run(plan, frame)
        terms = plan.terms[:arity]
        self._refuse_open(frame, *terms, *(plan.terms[arity:] if not plan.open_value else ()))
        if not frame.rows:
            return frame, nothing(arity, has_value)
        args = tuple(build(term, frame.columns, frame.rows, self.symbols) for term in terms)
        time: Ints = frame.columns["#time"].data
        value, form = self._value(plan, frame)
        return frame, Said(args, time, value, form)

    def _in_run(self, plan: PointPlan, frame: Frame) -> Frame:
        if plan.time is None:
            return frame.with_columns({"#time": ints(np.zeros(frame.rows))})
        time = build(plan.time, frame.columns, frame.rows, self.symbols)
        frame = self.evaluator.whole("#time", frame.with_columns({"#time": time}))
        at = frame.columns["#time"].data
        mask = (at > self.low) & (at <= self.world.query)
        if plan.bounds is not None:
            mask &= self._in_range(plan.bounds, frame, at)
        return frame.where(mask)

    def _in_range(self, bounds: tuple[Term, Term], frame: Frame, at: Ints) -> Mask:
        """Is the time in the range that a head with four arguments names?"""
        mask = np.ones(frame.rows, np.bool_)
        for bound, lower in zip(bounds, (True, False), strict=True):
            if not names(bound) <= set(frame.columns):
                return np.zeros(frame.rows, np.bool_)
            column = build(bound, frame.columns, frame.rows, self.symbols)
            if column.kind == "float":
                return np.zeros(frame.rows, np.bool_)
            data = column.data
            if column.kind == "term":
                mask &= (data & 1).astype(np.bool_)
                data = data >> 1
            mask &= data <= at if lower else at < data
        return mask

    def _value(self, plan: PointPlan, frame: Frame) -> tuple[Ints | None, Term | None]:
        if plan.kind == "event":
            return None, None
        value = plan.terms[-1]
        if plan.open_value:
            form = None if isinstance(value, Var) else value
            return np.full(frame.rows, EVERY), form
        column = build(value, frame.columns, frame.rows, self.symbols)
        return codes_of(column, self.symbols), None

    def _refuse_open(self, frame: Frame, *terms: Term) -> None:
        missing = sorted(names(*terms) - set(frame.columns))
        if missing and frame.rows:
            listed = ", ".join(missing)
            raise Unsupported(f"nothing gives a value to {listed}: a grounding is missing")

    def allowed(self, key: tuple[str, int], said: Said) -> Mask:
        """Which points are in the domain of their entity?"""
        if not self.groundings.restricts(key):
            return np.ones(len(said), np.bool_)
        value = None if said.value is None else Column("term", said.value)
        if said.value is None or not len(said) or said.value[0] != EVERY:
            return self.groundings.allows(key, said.args, value, len(said))
        return np.ones(len(said), np.bool_)


def _entity(plan: PointPlan | DelayPlan) -> tuple[tuple[Term, ...], Term | None]:
    """Arguments and value of a head whose variables a grounding gives.

    A value that is given may be none of the grounding, and still ends the others: whom it is about
    is what the groundings of all values say.
    """
    *args, value = plan.terms if isinstance(plan, PointPlan) else plan.target
    return tuple(args), value if names(value) & plan.domain else None
