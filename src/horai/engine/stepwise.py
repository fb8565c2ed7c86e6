"""Components that depend on themselves, settled cell by cell in time order: the general way.

What rules read of the component itself is asked in each cell. What several rules say at one and the
same moment is settled layer by layer within it. Cost grows with the cells at which something can
happen.
"""

from __future__ import annotations

from collections.abc import Iterator

from horai.engine.agenda import Agenda
from horai.engine.attempts import Attempts
from horai.engine.columns import codes_of
from horai.engine.findings import Findings
from horai.engine.heads import Heads
from horai.engine.live import LiveWorld
from horai.engine.memory import Memory
from horai.engine.moments import Moments, Node, Saying
from horai.engine.origins_elsewhere import settled_elsewhere
from horai.engine.simple import Held
from horai.engine.step_layers import Layer, layers_of, node_of
from horai.engine.step_rules import Rules
from horai.engine.world import World
from horai.lang.ec.errors import FutureRead, NotSettled
from horai.plan.program import Plan, Stratum

Key = tuple[str, int]
MAX_ROUNDS = 500


class Stepwise:
    """Settles one component."""

    def __init__(
        self,
        program: Plan,
        stratum: Stratum,
        heads: Heads,
        held: dict[Key, Held],
        memory: Memory,
    ) -> None:
        self.memory = memory
        self.low = memory.cut
        self.program = program
        self.stratum = stratum
        self.evaluator = heads.evaluator
        self.base: World = heads.world
        self.symbols = heads.symbols
        self.tick = self.base.tick
        self.held = held
        self.live = LiveWorld(self.base, set(stratum.fluents), set(stratum.events))
        self.moments = Moments(self.live)
        self.live.held = self.moments.held
        self.live.determined = program.determined
        self.agenda = Agenda(memory.cut, self.base.query, self.base.tick)
        self.layers = layers_of(stratum, program)
        self.attempts = Attempts(program, stratum, heads, self.moments)
        self.rules = Rules(program, stratum, heads, self.live, self.agenda)

    def run(self, cut: int, found: Findings) -> None:
        """Settle every cell that can matter, in order."""
        evaluator = self.evaluator
        evaluator.world = self.live
        try:
            self._start()
            last: int | None = None
            while self.agenda:
                cell = self.agenda.next()
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
                    self.agenda.visit(deadline)
        for key in dict.fromkeys(delay.origin_key for delay in self.stratum.delays):
            if key not in self.stratum.fluents:
                for owner, value, since in settled_elsewhere(key, self.moments, self.low):
                    for deadline in self.attempts.attempt(owner, value, since):
                        self.agenda.visit(deadline)
        if self.memory.clock is not None and not at_start:
            for deadline in self.attempts.restore(self.memory.clock):
                self.agenda.visit(deadline)

    def _settle(self, cell: int) -> None:
        self.live.horizon = cell + self.tick
        self.moments.cell = self.agenda.moments(cell)
        attempted: set[tuple[object, ...]] = set()
        again = True
        while again:  # a deadline may fall into the very cell that sets it
            for layer in self.layers:
                self._settle_layer(cell, layer)
            again = self._make_attempts(cell, attempted)
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
        clauses = [rule.plan.clause for rule in self.rules.listed if node_of(rule.plan) in nodes]
        error.clause = clauses[0] if clauses else None
        raise error

    def _replace(self, cell: int, nodes: set[Node], found: dict[Saying, None]) -> None:
        self.moments.replace(nodes, self.moments.cell, found)
        for kind, key in nodes:
            if kind == "fluent":
                self.moments.show_edges(key, cell)

    def _round(self, cell: int, nodes: set[Node]) -> Iterator[Saying]:
        for rule in self.rules.listed:
            if node_of(rule.plan) in nodes:
                yield from rule.fixed.get(cell, ())
                if rule.plan.split is not None:
                    said = list(self.rules.fire(rule, cell, self.moments.cell))
                    if rule.looks_elsewhere is not None:
                        rule.said[cell] = frozenset(said)
                    yield from said
        for t in self.moments.cell:
            yield from self.attempts.act(t, nodes)

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
                        self.agenda.visit(deadline)
                        inside |= self.agenda.cell_of(deadline) == cell
        if inside:
            self.moments.cell = self.agenda.moments(cell)
        return inside

    def _look_back(self) -> None:
        """Rules that look at other times must say the same now that all is known."""
        for rule in self.rules.listed:
            for cell, said in rule.said.items():
                self.moments.cell = self.agenda.moments(cell)
                if frozenset(self.rules.fire(rule, cell, self.moments.cell)) != said:
                    assert rule.looks_elsewhere is not None
                    error = FutureRead(rule.looks_elsewhere)
                    error.clause = rule.plan.clause
                    raise error

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
