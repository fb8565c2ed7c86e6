"""Components that depend on themselves, settled cell by cell in time order: the general way.

A rule is split by the plan: candidates are made for all entities at once, and what reads the
component itself is asked of the candidates of each cell. What several rules say at one and the same
moment is settled layer by layer within it. Cost grows with the cells at which something can happen.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from horai.engine.attempts import Attempts
from horai.engine.columns import codes_of, ints
from horai.engine.domains import Domains
from horai.engine.errors import FutureRead, NotSettled, blaming
from horai.engine.findings import Findings
from horai.engine.frames import Frame
from horai.engine.heads import Heads, Said
from horai.engine.live import LiveWorld
from horai.engine.matching import build
from horai.engine.memory import Memory
from horai.engine.moments import Moments, Node, Saying
from horai.engine.origins_elsewhere import settled_elsewhere
from horai.engine.simple import Held
from horai.engine.step_layers import Layer, has_computed_time, layers_of, node_of, read_elsewhere
from horai.engine.world import World
from horai.lang.terms import Term
from horai.plan.program import PointPlan, Program, Stratum

Key = tuple[str, int]
MAX_ROUNDS = 500


@dataclass(slots=True)
class Rule:
    """A rule of the component with its candidates, sorted by time and cut into cells."""

    plan: PointPlan
    frame: Frame
    cells: dict[int, tuple[int, int]] = field(default_factory=dict)
    fixed: dict[int, list[Saying]] = field(default_factory=dict)
    looks_elsewhere: Key | None = None
    said: dict[int, frozenset[Saying]] = field(default_factory=dict)


class Stepwise:
    """Settles one component."""

    def __init__(
        self,
        program: Program,
        stratum: Stratum,
        heads: Heads,
        held: dict[Key, Held],
        memory: Memory,
    ) -> None:
        self.memory = memory
        self.low = memory.cut
        self.program = program
        self.stratum = stratum
        self.heads = heads
        self.evaluator = heads.evaluator
        self.base: World = heads.world
        self.symbols = heads.symbols
        self.tick = self.base.tick
        self.held = held
        self.live = LiveWorld(self.base, set(stratum.fluents), set(stratum.events))
        self.moments = Moments(self.live)
        self.live.held = self.moments.held
        self.live.determined = program.determined
        self.agenda: list[int] = []
        self.between: dict[int, set[int]] = {}
        self.layers = layers_of(stratum, program)
        self.attempts = Attempts(program, stratum, heads, self.moments)
        self.rules = [self._rule(plan) for plan in stratum.points]

    # --- what can happen when --------------------------------------------------------------------

    def cell_of(self, t: int) -> int:
        """The last time-point not after t."""
        return t - t % self.tick

    def visit(self, t: int) -> None:
        """Something can happen at t."""
        if t <= self.low:
            return
        cell = self.cell_of(t)
        self.between.setdefault(cell, set()).add(t)
        heapq.heappush(self.agenda, cell)

    def _rule(self, plan: PointPlan) -> Rule:
        if plan.split is None:
            rule = Rule(plan, Frame(0))
            for saying in self.sayings(plan, self.heads.run(plan)):
                rule.fixed.setdefault(self.cell_of(saying[4]), []).append(saying)
                self.visit(saying[4])
            return rule
        with blaming(plan.clause):
            self.evaluator.domains = Domains(plan.body, self.base, self.heads.groundings)
            frame = self.evaluator.run(plan.split.candidates, self.heads.start(plan))
            self.evaluator.domains = {}
        rule = Rule(plan, frame, looks_elsewhere=read_elsewhere(plan, self.live, self.program))
        if plan.split.timed and frame.rows:
            rule.frame = self._by_time(plan, frame, rule)
        elif frame.rows and not plan.split.waits:
            first = self.low + self.tick - self.low % self.tick
            for t in [self.low + 1, *range(first, self.base.query + 1, self.tick)]:
                self.visit(t)
        for key in self.stratum.events:
            for t in np.unique(self.base.scan("event", key).columns[-1].data).tolist():
                self.visit(t)
        return rule

    def _by_time(self, plan: PointPlan, frame: Frame, rule: Rule) -> Frame:
        assert plan.time is not None
        column = build(plan.time, frame.columns, frame.rows, self.symbols)
        frame = self.evaluator.whole("#at", frame.with_columns({"#at": column}))
        at = frame.columns["#at"].data
        frame = frame.where((at > self.low) & (at <= self.base.query))
        at = frame.columns["#at"].data
        frame = frame.take(np.argsort(at, kind="stable"))
        times = frame.columns["#at"].data
        cells, firsts = np.unique(times - times % self.tick, return_index=True)
        ends = [*firsts[1:].tolist(), frame.rows][: len(cells)]
        for cell, first, end in zip(cells.tolist(), firsts.tolist(), ends, strict=True):
            rule.cells[cell] = (first, end)
        for t in np.unique(times).tolist():
            self.visit(t)
        return frame

    # --- running ---------------------------------------------------------------------------------

    def run(self, cut: int, found: Findings) -> None:
        """Settle every cell that can matter, in order."""
        evaluator = self.evaluator
        evaluator.world = self.live
        try:
            self._start()
            last: int | None = None
            while self.agenda:
                cell = heapq.heappop(self.agenda)
                if cell > cut and found.clock is None:
                    found.clock = self.attempts.carried(cut)
                if cell != last:
                    self._settle(cell)
                last = cell
            if found.clock is None:
                found.clock = self.attempts.carried(cut)
            self.live.horizon = None
            self._look_back()
        finally:
            evaluator.world = self.base
        self._publish(found)

    def _start(self) -> None:
        at_start = self.low == self.base.start
        before = self.base.start - (self.base.start % self.tick or self.tick)
        for key, held in self.held.items():
            columns = [codes_of(column, self.symbols).tolist() for column in held.args]
            rows = zip(*columns, strict=True) if columns else [()] * len(held)
            values, starts = held.value.tolist(), held.start.tolist()
            for args, value, since in zip(rows, values, starts, strict=True):
                owner = (key, tuple(args))
                self.moments.hold(owner, value, since)
                if since > self.base.start or not at_start:
                    continue
                self.moments.enter(("initiated", key, tuple(args), value, before))
                self.moments.history.setdefault(owner, []).append(before)
                for deadline in self.attempts.attempt(owner, value, before):
                    self.visit(deadline)
        for key in dict.fromkeys(delay.origin_key for delay in self.stratum.delays):
            if key not in self.stratum.fluents:
                for owner, value, since in settled_elsewhere(key, self.moments, self.low):
                    for deadline in self.attempts.attempt(owner, value, since):
                        self.visit(deadline)
        if self.memory.clock is not None and not at_start:
            for deadline in self.attempts.restore(self.memory.clock):
                self.visit(deadline)

    def _moments(self, cell: int) -> list[int]:
        found = {cell, *self.between.get(cell, ())}
        return sorted(t for t in found if self.low < t <= self.base.query)

    def _settle(self, cell: int) -> None:
        self.live.horizon = cell + self.tick
        self.moments.cell = self._moments(cell)
        attempted: set[tuple[object, ...]] = set()
        again = True
        while again:  # a deadline may fall into the very cell that sets it
            for layer in self.layers:
                self._settle_layer(cell, layer)
            again = self._make_attempts(cell, attempted)
        for t in self.moments.cell:
            self.attempts.remember(t)
        for key in self.stratum.fluents:
            self.moments.settle(key, cell)
        self.moments.cell = []
        self.live.fresh.clear()

    def _settle_layer(self, cell: int, layer: Layer) -> None:
        nodes = set(layer.nodes)
        before: dict[Saying, None] = {}
        self._replace(cell, nodes, before)
        for _ in range(MAX_ROUNDS):
            found = dict.fromkeys(self._round(cell, nodes))
            if found == before:
                return
            self._replace(cell, nodes, found)
            if not layer.circular:
                return
            before = found
        error = NotSettled(f"at {cell} these rules are true if, and only if, they are not")
        clauses = [rule.plan.clause for rule in self.rules if node_of(rule.plan) in nodes]
        error.clause = clauses[0] if clauses else None
        raise error

    def _replace(self, cell: int, nodes: set[Node], found: dict[Saying, None]) -> None:
        self.moments.replace(nodes, self.moments.cell, found)
        for kind, key in nodes:
            if kind == "fluent":
                self.moments.show_edges(key, cell)

    def _round(self, cell: int, nodes: set[Node]) -> Iterator[Saying]:
        for rule in self.rules:
            if node_of(rule.plan) in nodes:
                yield from rule.fixed.get(cell, ())
                if rule.plan.split is not None:
                    said = list(self.fire(rule, cell))
                    if rule.looks_elsewhere is not None:
                        rule.said[cell] = frozenset(said)
                    yield from said
        for t in self.moments.cell:
            yield from self.attempts.act(t, nodes)

    def fire(self, rule: Rule, cell: int) -> Iterator[Saying]:
        """What a rule that reads the component says in a cell."""
        plan = rule.plan
        assert plan.split is not None
        if plan.split.timed:
            if cell not in rule.cells:
                return
            first, end = rule.cells[cell]
            frame = rule.frame.take(np.arange(first, end))
        else:
            frame = self._at_moments(rule, cell)
        with blaming(plan.clause):
            found = self.evaluator.run(plan.split.remainder, frame)
            said = self.heads.said(plan, found)
        yield from self.sayings(plan, said)

    def _at_moments(self, rule: Rule, cell: int) -> Frame:
        """Candidates without a time are asked about the moments of the cell."""
        plan, base = rule.plan, self.base
        assert plan.split is not None and plan.time is not None
        times = [t for t in [cell] if self.low < t <= base.query]
        if plan.split.waits:
            times = self.moments.cell
        elif self.tick > 1 and has_computed_time(plan):
            times = [t for t in range(cell, cell + self.tick) if self.low < t <= base.query]
        rows = np.repeat(np.arange(rule.frame.rows), len(times))
        frame = rule.frame.take(rows)
        column = ints(np.tile(np.array(times, np.int64), rule.frame.rows))
        return self.evaluator.bind(plan.time, frame, column)

    def _make_attempts(self, cell: int, attempted: set[tuple[object, ...]]) -> bool:
        """Note the deadlines of the cell's initiations; True if one is in the cell itself."""
        inside = False
        for t in list(self.moments.cell):
            for owner, values in list(self.moments.initiated.get(t, {}).items()):
                for value in values:
                    if (owner, value, t) in attempted:
                        continue
                    attempted.add((owner, value, t))
                    for deadline in self.attempts.attempt(owner, value, t):
                        self.visit(deadline)
                        inside |= self.cell_of(deadline) == cell
        if inside:
            self.moments.cell = self._moments(cell)
        return inside

    def _look_back(self) -> None:
        """Rules that look at other times must say the same now that all is known."""
        for rule in self.rules:
            for cell, said in rule.said.items():
                self.moments.cell = self._moments(cell)
                if frozenset(self.fire(rule, cell)) != said:
                    assert rule.looks_elsewhere is not None
                    error = FutureRead(rule.looks_elsewhere)
                    error.clause = rule.plan.clause
                    raise error

    # --- in and out ------------------------------------------------------------------------------

    def sayings(self, plan: PointPlan, said: Said) -> Iterator[Saying]:
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

    def _publish(self, found: Findings) -> None:
        """Hand what was settled to the world."""
        for key in self.stratum.fluents:
            fluent = self.live.members[key].fluent()
            found.fluents[key] = fluent
            self.base.add_fluent(key, fluent)
            if key in self.program.initiations_read:
                rows = self.live.said_rows("initiated", key)
                found.points["initiated", key] = rows
                self.base.add_points("initiated", key, rows)
            if key in self.program.terminations_read:
                ended = self.live.own_terminations(key)
                found.terminations[key] = ended
                self.base.terminations.setdefault(key, []).extend(ended)
        for key in self.stratum.events:
            rows = self.live.said_rows("event", key)
            found.points["event", key] = rows
            self.base.add_points("event", key, rows)
