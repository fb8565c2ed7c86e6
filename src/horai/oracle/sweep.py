"""Simple fluents and output events, settled time-point by time-point.

A body at T sees only fluent values settled before T, so going through time in order gives every
cycle its meaning. What several rules say at one and the same time-point (output events, starts and
ends, initiations read by other rules) is settled layer by layer within it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from horai.lang.ec.syntax import (
    Call,
    EventDescription,
    EventRule,
    Happens,
    HoldsAt,
    Initially,
    Initiation,
    Is,
    Literal,
    Postponable,
    walk,
)
from horai.lang.terms import Int, Term, Var, is_ground
from horai.oracle.delays import Delays
from horai.oracle.errors import NotSettled as NotSettled
from horai.oracle.errors import blaming
from horai.oracle.groundings import Groundings
from horai.oracle.heads import head_solutions
from horai.oracle.hindsight import Hindsight
from horai.oracle.points import Points, Said
from horai.oracle.scopes import Names, names
from horai.oracle.solver import Solver
from horai.oracle.static import holds_for_domains
from horai.oracle.strata import Layer, Node, PointRule, Strata
from horai.oracle.timeline import Members, Variant, variants
from horai.oracle.unify import Env, resolve, unify
from horai.oracle.world import World, key_of

MAX_ROUNDS = 500


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
        self.events = frozenset(node.key for node in component if node.kind == "event")
        self.defined = strata.defined
        self.layers = strata.layers(component)
        self.groundings = groundings
        self.solver = solver
        self.world: World = solver.world
        self.points = Points(solver.world)
        postponable = [rule.fvp for rule in description.rules if isinstance(rule, Postponable)]
        delays = [rule for node in component for rule in self.defined.delays.get(node, ())]
        self.delays = Delays(delays, postponable, self.points, groundings, solver)
        # Fluents settled before, whose initiations have a delayed effect here.
        self.origins = {key_of(rule.origin.fluent) for rule in delays} - self.keys
        self.agenda: list[int] = []
        self.attempted: set[tuple[Term, Term, int]] = set()  # in the cell being settled
        members = Members(self.keys, self.events)
        self.variants: dict[Node, list[Variant]] = {
            node: [v for rule in rules for v in variants(rule, members, solver)]
            for node in component
            if (rules := self.defined.points.get(node))
        }
        every = [variant for found in self.variants.values() for variant in found]
        self.hindsight = Hindsight(every, members, solver.background)
        self.domains = {id(v): holds_for_domains(v.body, solver, groundings) for v in every}

    def run(self) -> None:
        """Settle every cell that can matter, in order."""
        for found in self.variants.values():
            for t in {t for variant in found for t in variant.visits}:
                self._visit(t)
        self._start()
        self.solver.members, self.solver.events = self.keys, self.events
        last: int | None = None
        while self.agenda:
            cell = heapq.heappop(self.agenda)
            if cell != last:
                self._settle(cell)
            last = cell
        self.solver.members = self.solver.events = frozenset()
        self.solver.horizon = None
        for key in self.keys:
            self.world.merge(key)
        self.hindsight.check(self._fire)

    def _visit(self, t: int) -> None:
        heapq.heappush(self.agenda, self.world.grid.cell(t))

    # --- the start of the run --------------------------------------------------------------------

    def _start(self) -> None:
        """Values that hold from the start on, and deadlines that lower components have set."""
        for node in self.nodes:
            if node.kind == "simple":
                self._start_fluent(self.defined.initially.get(node, []))
        for key in self.origins:
            for t, points in self.world.initiations.get(key, {}).items():
                if self.world.in_run(t):
                    self._visit(t)  # its conditions may ask what this component says by then
                    continue
                for fluent, values in points.items():
                    for value in values:
                        self._attempt(fluent, value, t)

    def _start_fluent(self, rules: list[Initially]) -> None:
        held: dict[Term, dict[Term, None]] = {}
        for rule in rules:
            fluent, value = rule.fvp.fluent, rule.fvp.value
            with blaming(rule.clause):
                found = head_solutions(self.solver, self.groundings, rule.body, fluent, value, {})
            for env in found:
                held.setdefault(resolve(fluent, env), {})[resolve(value, env)] = None
        for fluent, values in held.items():
            value = next(iter(values))
            # Initiated together, two values cancel each other.
            if len(values) == 1 and self.groundings.allows(self.solver, fluent, value):
                self.points.hold_from_start(fluent, value)
                self._attempt(fluent, value, self.world.grid.prev(self.world.start))

    def _attempt(self, fluent: Term, value: Term | None, t: int) -> set[int]:
        deadlines = set() if value is None else self.delays.attempt(fluent, value, t)
        for deadline in deadlines:
            self.world.note(deadline)
            self._visit(deadline)
        return deadlines

    # --- one cell --------------------------------------------------------------------------------

    def _settle(self, cell: int) -> None:
        self.solver.horizon = self.world.grid.next(cell)
        self.points.cell = cell
        self.attempted = set()
        again = True
        while again:  # a deadline may fall into the very cell that sets it
            for layer in self.layers:
                self._settle_layer(cell, layer)
            again = self._make_attempts(cell)
        for t in self.world.moments(cell):
            self.delays.remember(t, self.nodes)
        self.points.cell = None
        for key in self.keys:
            self.points.settle(key, cell)
        self.world.new_edges.clear()

    def _settle_layer(self, cell: int, layer: Layer) -> None:
        before: dict[Said, None] = {}
        self._replace(cell, layer, before)
        for _ in range(MAX_ROUNDS):
            found = self._round(cell, layer)
            if found == before:
                return
            self._replace(cell, layer, found)
            if not layer.circular:
                return
            before = found
        rules = [v.rule for node in layer.nodes for v in self.variants.get(node, ())]
        error = NotSettled(f"at {cell} these rules are true if, and only if, they are not")
        error.clause = rules[0].clause if rules else None
        raise error

    def _replace(self, cell: int, layer: Layer, found: dict[Said, None]) -> None:
        for node in layer.nodes:
            self.points.forget(node, cell)
        self.points.enter(found)
        for node in layer.nodes:
            if node.kind == "simple":
                self.points.show_edges(node.key, cell)

    def _round(self, cell: int, layer: Layer) -> dict[Said, None]:
        found: dict[Said, None] = {}
        for node in layer.nodes:
            for variant in self.variants.get(node, ()):
                for t in variant.moments(cell, self.world):
                    said = list(self._fire(variant, t))
                    self.hindsight.note(variant, t, said)
                    found.update(dict.fromkeys(said))
        for t in self.world.moments(cell):
            found.update(dict.fromkeys(self.delays.act(t, layer.nodes)))
        return found

    def _make_attempts(self, cell: int) -> bool:
        """Note the deadlines of the cell's initiations; True if a new one is in the cell itself."""
        inside = False
        for key in (*self.keys, *self.origins):
            for t in self.world.moments(cell):
                for fluent, values in self.world.initiations.get(key, {}).get(t, {}).items():
                    for value in values:
                        if value is not None and (fluent, value, t) not in self.attempted:
                            self.attempted.add((fluent, value, t))
                            deadlines = self._attempt(fluent, value, t)
                            inside |= any(self.world.grid.cell(d) == cell for d in deadlines)
        return inside

    # --- one rule --------------------------------------------------------------------------------

    def _fire(self, variant: Variant, t: int) -> Iterator[Said]:
        """What a rule says at time t."""
        rule = variant.rule
        env = self._time_binding(rule, t)
        if env is None:
            return
        entity, value = rule_head(rule)
        needed = value
        if value is not None and not isinstance(rule, Initiation):
            # A termination may leave its value open; not if a condition asks for it.
            needed = value if names(value) & names(rule.body.term) else None
        self.solver.domains = self.domains[id(variant)]
        with blaming(rule.clause):
            found = head_solutions(self.solver, self.groundings, variant.body, entity, needed, env)
            self.solver.domains = {}
            for one in found:
                if not _in_range(rule, t, one):
                    continue
                yield from self._say(rule, resolve(entity, one), value and resolve(value, one), t)

    def _say(self, rule: PointRule, entity: Term, value: Term | None, t: int) -> Iterator[Said]:
        if isinstance(rule, EventRule):
            if self.groundings.allows(self.solver, entity, None):
                yield ("event", entity, None, t)
        elif isinstance(rule, Initiation):
            inside = self.groundings.allows(self.solver, entity, value)
            yield ("initiated" if inside else "ghost", entity, value, t)
        elif value is not None and not is_ground(value):
            yield ("terminated", entity, None if isinstance(value, Var) else value, t)
        elif self.groundings.allows(self.solver, entity, value):
            yield ("terminated", entity, value, t)

    def _time_binding(self, rule: PointRule, t: int) -> Env | None:
        """The head's time bound to t; a range T1 =< T < T2 left open is the whole run."""
        env: Env = {}
        if not isinstance(rule, EventRule) and rule.bounds is not None:
            whole_run = (Int(self.world.start + 1), Int(self.world.query + 1))
            asked = _given_by(rule.body)
            for bound, default in zip(rule.bounds, whole_run, strict=True):
                if isinstance(bound, Var) and bound.name not in asked:
                    env[bound.name] = default
        return unify(rule.time, Int(t), env)


def rule_head(rule: PointRule) -> tuple[Term, Term | None]:
    """The event, or the fluent and its value."""
    if isinstance(rule, EventRule):
        return rule.event, None
    return rule.fvp.fluent, rule.fvp.value


def _in_range(rule: PointRule, t: int, env: Env) -> bool:
    """Is t in the range that a head with four arguments names?"""
    if isinstance(rule, EventRule) or rule.bounds is None:
        return True
    low, high = (resolve(bound, env) for bound in rule.bounds)
    return isinstance(low, Int) and isinstance(high, Int) and low.value <= t < high.value


def _given_by(body: Literal) -> Names:
    """The variables that conditions other than comparisons speak of."""
    found: Names = frozenset()
    for literal in walk(body):
        match literal:
            case Happens(term=term) | HoldsAt(term=term) | Call(term=term):
                found |= names(term)
            case Is(target=target):
                found |= names(target)
            case _:
                pass
    return found
