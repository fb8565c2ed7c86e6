"""The rules of a component that is settled cell by cell, and what each says in a cell.

A rule is split by the plan: candidates are made for all entities at once, and what reads the
component itself is asked of the candidates of one cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from horai.engine.agenda import Agenda
from horai.engine.columns import codes_of, ints
from horai.engine.domains import Domains
from horai.engine.frames import Frame
from horai.engine.heads import Heads, Said
from horai.engine.live import LiveWorld
from horai.engine.matching import build
from horai.engine.moments import Saying
from horai.engine.step_layers import has_computed_time, read_elsewhere
from horai.lang.core.terms import Term
from horai.lang.ec.errors import blaming
from horai.plan.program import Plan, PointPlan, Stratum

Key = tuple[str, int]


@dataclass(slots=True)
class Rule:
    """A rule of the component with its candidates, sorted by time and cut into cells."""

    plan: PointPlan
    frame: Frame
    cells: dict[int, tuple[int, int]] = field(default_factory=dict)
    fixed: dict[int, list[Saying]] = field(default_factory=dict)
    looks_elsewhere: Key | None = None
    said: dict[int, frozenset[Saying]] = field(default_factory=dict)


class Rules:
    """The rules of one component; what they can say is on the agenda."""

    def __init__(
        self, program: Plan, stratum: Stratum, heads: Heads, live: LiveWorld, agenda: Agenda
    ) -> None:
        self.program = program
        self.stratum = stratum
        self.heads = heads
        self.live = live
        self.agenda = agenda
        self.evaluator = heads.evaluator
        self.symbols = heads.symbols
        self.listed = [self._rule(plan) for plan in stratum.points]

    def _rule(self, plan: PointPlan) -> Rule:
        base = self.heads.world
        if plan.split is None:
            return self._independent(plan)
        with blaming(plan.clause):
            self.evaluator.domains = Domains(plan.body, base, self.heads.groundings)
            frame = self.evaluator.run(plan.split.candidates, self.heads.start(plan))
            self.evaluator.domains = {}
        rule = Rule(plan, frame, looks_elsewhere=read_elsewhere(plan, self.live, self.program))
        if plan.split.timed and frame.rows:
            rule.frame = self._by_time(plan, frame, rule)
        elif frame.rows and not plan.split.waits:
            self.agenda.visit_all()
        for key in self.stratum.events:
            for t in np.unique(base.scan("event", key).columns[-1].data).tolist():
                self.agenda.visit(t)
        return rule

    def _independent(self, plan: PointPlan) -> Rule:
        """A rule that reads nothing of the component: all that it says is known at once."""
        rule = Rule(plan, Frame(0))
        for saying in self._sayings(plan, self.heads.run(plan)):
            rule.fixed.setdefault(self.agenda.cell_of(saying[4]), []).append(saying)
            self.agenda.visit(saying[4])
        return rule

    def _by_time(self, plan: PointPlan, frame: Frame, rule: Rule) -> Frame:
        assert plan.time is not None
        agenda = self.agenda
        column = build(plan.time, frame.columns, frame.rows, self.symbols)
        frame = self.evaluator.whole("#at", frame.with_columns({"#at": column}))
        at = frame.columns["#at"].data
        frame = frame.where((at > agenda.low) & (at <= agenda.query))
        at = frame.columns["#at"].data
        frame = frame.take(np.argsort(at, kind="stable"))
        times = frame.columns["#at"].data
        cells, firsts = np.unique(times - times % agenda.tick, return_index=True)
        ends = [*firsts[1:].tolist(), frame.rows][: len(cells)]
        for cell, first, end in zip(cells.tolist(), firsts.tolist(), ends, strict=True):
            rule.cells[cell] = (first, end)
        for t in np.unique(times).tolist():
            agenda.visit(t)
        return frame

    def fire(self, rule: Rule, cell: int, moments: list[int]) -> Iterator[Saying]:
        """What a rule that reads the component says in a cell with some moments."""
        plan = rule.plan
        assert plan.split is not None
        if plan.split.timed:
            if cell not in rule.cells:
                return
            first, end = rule.cells[cell]
            frame = rule.frame.take(np.arange(first, end))
        else:
            frame = self._at_moments(rule, cell, moments)
        with blaming(plan.clause):
            found = self.evaluator.run(plan.split.remainder, frame)
            said = self.heads.said(plan, found)
        yield from self._sayings(plan, said)

    def _at_moments(self, rule: Rule, cell: int, moments: list[int]) -> Frame:
        """Candidates without a time are asked about the moments of the cell."""
        plan, tick = rule.plan, self.agenda.tick
        assert plan.split is not None and plan.time is not None
        times = self.agenda.inside([cell])
        if plan.split.waits:
            times = moments
        elif tick > 1 and has_computed_time(plan):
            times = self.agenda.inside([*range(cell, cell + tick)])
        rows = np.repeat(np.arange(rule.frame.rows), len(times))
        frame = rule.frame.take(rows)
        column = ints(np.tile(np.array(times, np.int64), rule.frame.rows))
        return self.evaluator.bind(plan.time, frame, column)

    def _sayings(self, plan: PointPlan, said: Said) -> Iterator[Saying]:
        """Points as single sayings, sorted by what they do."""
        if not len(said):
            return
        allowed = self.heads.allowed(plan.key, said).tolist()
        columns = [codes_of(column, self.symbols).tolist() for column in said.args]
        rows = zip(*columns, strict=True) if columns else [()] * len(said)
        values: list[int | Term | None] = [None] * len(said)
        if said.value is not None:
            values = said.value.tolist()
        if said.form is not None:
            values = [said.form] * len(said)
        for args, value, t, inside in zip(rows, values, said.time.tolist(), allowed, strict=True):
            if plan.kind == "initiated":
                yield ("initiated" if inside else "ghost", plan.key, tuple(args), value, t)
            elif inside:
                yield (plan.kind, plan.key, tuple(args), value, t)
