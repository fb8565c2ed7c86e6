"""Simple fluents and output events, settled time-point by time-point.

A body at T sees only fluent values settled before T, so going through time in order gives every
cycle its meaning. What several rules say at one and the same time-point (output events, starts and
ends, initiations read by other rules) is settled layer by layer within it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from horai.lang.ec.syntax import EventDescription, EventRule, Initiation, Literal, Postponable
from horai.lang.terms import Int, Term, Var, is_ground
from horai.oracle.delays import Delays
from horai.oracle.groundings import Groundings
from horai.oracle.intervals import INF
from horai.oracle.points import Points, Said
from horai.oracle.scopes import names, visible
from horai.oracle.solver import Solver
from horai.oracle.strata import Node, PointRule, Strata
from horai.oracle.timeline import times_of_rule
from horai.oracle.unify import Env, resolve, unify
from horai.oracle.world import World, key_of

MAX_ROUNDS = 500


class NotSettled(Exception):
    """Rules that depend on their own outcome at one and the same time-point."""


class Sweep:
    """Works out one component of simple fluents and output events."""

    def __init__(
        self,
        component: list[Node],
        description: EventDescription,
        strata: Strata,
        groundings: Groundings,
        solver: Solver,
    ) -> None:
        self.nodes = component
        self.keys = frozenset(node.key for node in component if node.kind == "simple")
        self.defined = strata.defined
        self.layers = strata.layers(component)
        self.groundings = groundings
        self.solver = solver
        self.world: World = solver.world
        self.points = Points(solver.world)
        postponable = [rule.fvp for rule in description.rules if isinstance(rule, Postponable)]
        delays = [rule for node in component for rule in self.defined.delays.get(node, ())]
        self.delays = Delays(delays, postponable, self.points, groundings, solver)
        self.agenda: list[int] = []
        self.attempted: set[tuple[Term, Term | None, int]] = set()  # in the cell being settled

    def run(self) -> None:
        """Settle every cell that can matter, in order."""
        for node in self.nodes:
            for rule in self.defined.points.get(node, ()):
                for t in times_of_rule(rule, self.keys, self.world):
                    self._visit(t)
        self._start()
        self.solver.members = self.keys
        last: int | None = None
        while self.agenda:
            cell = heapq.heappop(self.agenda)
            if cell != last:
                self.solver.horizon = self.world.grid.next(cell)
                self._settle(cell)
            last = cell
        self.solver.members, self.solver.horizon = frozenset(), None

    def _visit(self, t: int) -> None:
        heapq.heappush(self.agenda, self.world.grid.cell(t))

    # --- the start of the run -----------------------------------------------------------------

    def _start(self) -> None:
        """Values that hold from the start on, and deadlines that lower components have set."""
        for node in self.nodes:
            if node.kind == "simple":
                self._start_fluent(node)
        origins = {key_of(rule.origin.fluent) for rule in self.delays.rules} - self.keys
        for key in origins:
            for t, points in self.world.initiations.get(key, {}).items():
                for fluent, value in points:
                    self._attempt(fluent, value, t)

    def _start_fluent(self, node: Node) -> None:
        held: dict[Term, dict[Term, None]] = {}
        for rule in self.defined.initially.get(node, ()):
            for env in self._heads(rule.body, rule.fvp.fluent, rule.fvp.value, {}):
                fluent, value = resolve(rule.fvp.fluent, env), resolve(rule.fvp.value, env)
                held.setdefault(fluent, {})[value] = None
        before = self.world.grid.prev(self.world.start)
        for fluent, values in held.items():
            if len(values) > 1:  # initiated together, two values cancel each other
                continue
            value = next(iter(values))
            if self.groundings.allows(self.solver, fluent, value):
                self.world.add_interval(fluent, value, (self.world.start, INF))
                self.points.enter({("initiated", fluent, value, before): None})
                self._attempt(fluent, value, before)

    def _attempt(self, fluent: Term, value: Term | None, t: int) -> set[int]:
        deadlines = set() if value is None else self.delays.attempt(fluent, value, t)
        for deadline in deadlines:
            self._visit(deadline)
        return deadlines

    # --- one cell -----------------------------------------------------------------------------

    def _settle(self, cell: int) -> None:
        self.attempted = set()
        again = True
        while again:  # a deadline may fall into the very cell that sets it
            for layer in self.layers:
                self._settle_layer(cell, layer)
            again = self._make_attempts(cell)
        for t in self.points.moments(cell):
            self.delays.remember(t, self.nodes)
        for key in self.keys:
            self.points.extend(key, cell)
        self.world.new_edges.clear()

    def _settle_layer(self, cell: int, layer: list[Node]) -> None:
        rules = [rule for node in layer for rule in self.defined.points.get(node, ())]
        before: dict[Said, None] = {}
        self._replace(cell, layer, before)
        for _ in range(MAX_ROUNDS):
            found = self._round(cell, layer, rules)
            if found == before:
                return
            self._replace(cell, layer, found)
            before = found
        raise NotSettled(f"rules at time {cell} depend on their own outcome")

    def _replace(self, cell: int, layer: list[Node], found: dict[Said, None]) -> None:
        for node in layer:
            self.points.forget(node, cell)
        self.points.enter(found)
        for node in layer:
            if node.kind == "simple":
                self.points.show_edges(node.key, cell)

    def _round(self, cell: int, layer: list[Node], rules: list[PointRule]) -> dict[Said, None]:
        found: dict[Said, None] = {}
        for t in self.points.moments(cell):
            for rule in rules:
                found.update(dict.fromkeys(self._fire(rule, t)))
            found.update(dict.fromkeys(self.delays.act(t, layer)))
        return found

    def _make_attempts(self, cell: int) -> bool:
        """Note the deadlines of the cell's initiations; True if a new one is in the cell itself."""
        inside = False
        for key in self.keys:
            for t in self.points.moments(cell):
                for fluent, value in self.world.initiations.get(key, {}).get(t, {}):
                    if (fluent, value, t) not in self.attempted:
                        self.attempted.add((fluent, value, t))
                        deadlines = self._attempt(fluent, value, t)
                        inside |= any(self.world.grid.cell(d) == cell for d in deadlines)
        return inside

    # --- one rule -----------------------------------------------------------------------------

    def _fire(self, rule: PointRule, t: int) -> Iterator[Said]:
        """What a rule says at time t."""
        env = self._time_binding(rule, t)
        if env is None:
            return
        if isinstance(rule, EventRule):
            for found in self._heads(rule.body, rule.event, None, env):
                event = resolve(rule.event, found)
                if self.groundings.allows(self.solver, event, None):
                    yield ("event", event, None, t)
            return
        value_needed = rule.fvp.value if isinstance(rule, Initiation) else None
        for found in self._heads(rule.body, rule.fvp.fluent, value_needed, env):
            fluent, value = resolve(rule.fvp.fluent, found), resolve(rule.fvp.value, found)
            if value_needed is None:  # a termination without a value is one of every value
                yield ("terminated", fluent, value if is_ground(value) else None, t)
            elif self.groundings.allows(self.solver, fluent, value):
                yield ("initiated", fluent, value, t)
            else:
                yield ("ghost", fluent, value, t)

    def _time_binding(self, rule: PointRule, t: int) -> Env | None:
        """The head's time bound to t; a range T1 =< T < T2 left open is the whole run."""
        env: Env = {}
        if not isinstance(rule, EventRule) and rule.bounds is not None:
            grid = self.world.grid
            whole_run = (Int(grid.next(self.world.start)), Int(grid.next(self.world.query)))
            for bound, default in zip(rule.bounds, whole_run, strict=True):
                if isinstance(bound, Var):
                    env[bound.name] = default
            low, high = (resolve(bound, env) for bound in rule.bounds)
            if not (isinstance(low, Int) and isinstance(high, Int) and low.value <= t < high.value):
                return None
        return unify(rule.time, Int(t), env)

    def _heads(self, body: Literal, entity: Term, value: Term | None, env: Env) -> Iterator[Env]:
        """Solutions of a body in which the head has no free variable.

        Variables that no condition can bind range over the grounding of the entity, and have to
        be bound first: conditions such as negations may need them.
        """
        head = names(entity, value)
        starts = [env]
        if not head - frozenset(env) <= visible(body, None):
            starts = list(self.groundings.complete(self.solver, entity, value, env))
        for start in starts:
            for found in self.solver.solve((body,), start):
                if all(is_ground(resolve(Var(name), found)) for name in head):
                    yield found
                else:
                    yield from self.groundings.complete(self.solver, entity, value, found)
