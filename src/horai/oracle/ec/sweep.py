"""Simple fluents and output events, settled time-point by time-point.

A body at T sees only fluent values settled before T, so going through time in order gives every
cycle its meaning. What several rules say at one and the same time-point (output events, starts and
ends, initiations read by other rules) is settled layer by layer within it. In the end it is checked
that no rule of a cycle depended on what came later.

A rule acts between two time-points, at a moment that is none, only where a condition names or
computes its time; a condition that merely looks at fluents is asked at time-points.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from horai.lang.core.terms import Compound, Int, Term, Var, is_ground, parameter_count
from horai.lang.ec import syntax as ec
from horai.lang.ec.errors import FutureRead, NotSettled, blaming
from horai.oracle.ec.background import INPUTS, Background
from horai.oracle.ec.delays import Delays
from horai.oracle.ec.groundings import Groundings
from horai.oracle.ec.points import Points, Said
from horai.oracle.ec.scopes import Names, names
from horai.oracle.ec.solver import Domains, PythonPredicate, Timed
from horai.oracle.ec.static import holds_for_domains
from horai.oracle.ec.strata import OracleLayer, OracleNode, OracleStrata, PointRule
from horai.oracle.ec.terms import Env, resolve, unify
from horai.oracle.ec.world import Key, World, key_of


def disjuncts(literal: ec.Literal) -> Iterator[ec.Literal]:
    """The alternatives of a condition, disjunctions written out."""
    match literal:
        case ec.Conjunction(items=items, term=term):
            for choice in product(*(list(disjuncts(item)) for item in items)):
                yield ec.Conjunction(
                    tuple(part for item in choice for part in ec.conjuncts(item)), term
                )
        case ec.Disjunction(items=items):
            for item in items:
                yield from disjuncts(item)
        case _:
            yield literal


class NamedTimes:
    """Which bodies name their time."""

    def __init__(self, background: Background, python: Mapping[str, PythonPredicate]) -> None:
        self.background, self.python = background, python

    def names(self, body: ec.Literal, time: Term, seen: frozenset[Key] = frozenset()) -> bool:
        """Does a condition name or compute its time, which may lie off the grid?"""
        return isinstance(time, Int) or any(
            self._says(literal, time, seen) for literal in ec.conjuncts(body)
        )

    def _says(self, literal: ec.Literal, time: Term, seen: frozenset[Key]) -> bool:
        match literal:
            case ec.Happens() | ec.Edge() | ec.InitiatedAt() | ec.TerminatedAt():
                return literal.time == time
            case ec.Is(target=target):
                return target == time
            case ec.Compare(op="=", left=left, right=right):
                return time in (left, right)
            case ec.FindAll(result=result) | ec.AggregateAll(result=result):
                return bool(names(time) & names(result))
            case ec.Call(args=args) if names(time) & names(*args):
                return self._says_by_helper(literal, time, seen)
            case _:
                return False

    def _says_by_helper(self, call: ec.Call, time: Term, seen: frozenset[Key]) -> bool:
        background = self.background
        if call.key in INPUTS or call.name in self.python:
            inputs = INPUTS.get(call.key)
            if inputs is None:
                inputs = tuple(range(parameter_count(self.python[call.name])))
            return not names(time) <= names(*(call.args[position] for position in inputs))
        if call.key in background.listable or call.key not in background.rules:
            return True  # a row of a table says it
        heads = (
            (rule, rule.head.args if isinstance(rule.head, Compound) else ())
            for rule in background.rules[call.key]
            if call.key not in seen
        )
        return any(
            not isinstance(parameter, Var) or self.names(rule.body, parameter, seen | {call.key})
            for rule, head in heads
            for argument, parameter in zip(call.args, head, strict=True)
            if argument == time
        )


@dataclass(slots=True, eq=False)
class Variant:
    """A rule, or one of its alternatives, with the moments at which it can act.

    It acts at no others than `only`, if that is known; off the grid only if it `names` its time.
    Where it reads its own component at other times, at `elsewhere`, it is checked in hindsight.
    """

    rule: PointRule
    body: ec.Literal
    visits: frozenset[int]
    only: frozenset[int] | None
    names: bool
    elsewhere: Key | None
    domains: Domains

    def moments(self, cell: int, world: World) -> Iterator[int]:
        """The moments of a cell at which the rule is to be tried."""
        inside = range(cell, world.grid.next(cell)) if self.names else (cell,)
        return (t for t in inside if world.in_run(t) and (self.only is None or t in self.only))


# The only times at which a condition can hold, apart from moments at which the component itself
# acts; and whether there are no such others.
Known = tuple[frozenset[int], bool]
MAX_ROUNDS = 500


class Sweep:
    """Works out one component of simple fluents and output events."""

    def __init__(
        self,
        component: list[OracleNode],
        description: ec.EventDescription,
        strata: OracleStrata,
        groundings: Groundings,
    ) -> None:
        self.nodes = component
        self.keys = frozenset(node.key for node in component if node.kind == "simple")
        self.events = frozenset(node.key for node in component if node.kind == "event")
        self.defined = strata.defined
        self.layers = strata.layers(component)
        self.groundings = groundings
        self.solver = solver = groundings.solver
        self.world: World = solver.world
        self.points = Points(solver.world)
        postponable = [rule.fvp for rule in description.rules if isinstance(rule, ec.Postponable)]
        delays = [rule for node in component for rule in self.defined.delays.get(node, ())]
        self.named = NamedTimes(solver.background, solver.python)
        self.delays = Delays(delays, postponable, self.points, groundings)
        # Fluents settled before, whose initiations have a delayed effect here.
        self.origins = {key_of(rule.origin.fluent) for rule in delays} - self.keys
        self.agenda: list[int] = []
        self.attempted: set[tuple[Term, Term, int]] = set()  # in the cell being settled
        self.variants: dict[OracleNode, list[Variant]] = {
            node: [v for rule in rules for v in self._alternatives(rule)]
            for node in component
            if (rules := self.defined.points.get(node))
        }
        # What variants that look elsewhere said when they were last asked about a time.
        self.said: dict[tuple[Variant, int], frozenset[Said]] = {}

    def run(self) -> None:
        """Settle every cell that can matter, in order."""
        every = [variant for found in self.variants.values() for variant in found]
        for t in frozenset[int]().union(*(variant.visits for variant in every)):
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
        for (variant, t), said in self.said.items():
            if frozenset(self._fire(variant, t)) != said and variant.elsewhere is not None:
                error = FutureRead(variant.elsewhere)
                error.clause = variant.rule.clause
                raise error

    # --- when a rule can act ---------------------------------------------------------------------

    def _alternatives(self, rule: PointRule) -> Iterator[Variant]:
        """The alternatives of a rule; on a grid of 1 the rule itself is enough."""
        world = self.world
        is_off_grid = world.grid.tick > 1
        for body in disjuncts(rule.body) if is_off_grid else [rule.body]:
            if isinstance(rule.time, Int):
                known: Known | None = (frozenset({rule.time.value}), True)
            else:
                known = self._times(body, rule.time)
            visits, only = self._every_point(), None
            if known is not None:
                visits, only = known[0], known[0] if known[1] else None
            yield Variant(
                rule,
                body,
                frozenset(t for t in visits if world.in_run(t)),
                only,
                is_off_grid and self.named.names(body, rule.time),
                next(self._elsewhere(body, rule.time), None),
                holds_for_domains(body, self.groundings),
            )

    def _every_point(self) -> frozenset[int]:
        world = self.world
        first = world.grid.next(world.start)
        return frozenset({world.start + 1, *range(first, world.query + 1, world.grid.tick)})

    def _times(self, literal: ec.Literal, time: Term) -> Known | None:
        world = self.world
        match literal:
            case ec.Conjunction(items=items):
                known = [k for item in items if (k := self._times(item, time)) is not None]
                return min(known, key=lambda k: (not k[1], len(k[0])), default=None)
            case ec.Disjunction(items=items):
                branches = [self._times(item, time) for item in items]
                all_known = [branch for branch in branches if branch is not None]
                if len(all_known) < len(branches):
                    return None
                union = frozenset(t for times, _ in all_known for t in times)
                return union, all(complete for _, complete in all_known)
            case ec.Happens(event=event, time=at) if at == time:
                key = key_of(event)
                return frozenset(world.events.get(key, ())), key not in self.events
            case ec.Edge(fvp=fvp, time=at, kind=kind) if at == time:
                key = key_of(fvp.fluent)
                if kind in ("startI", "endI") and key in self.keys:
                    return None  # seen one time-point after the component acts
                return frozenset(world.edges(key, kind)), key not in self.keys
            case ec.InitiatedAt(fvp=fvp, time=at) if at == time:
                key = key_of(fvp.fluent)
                return frozenset(world.initiations.get(key, ())), key not in self.keys
            case ec.TerminatedAt(fvp=fvp, time=at) if at == time:
                key = key_of(fvp.fluent)
                return frozenset(world.terminations.get(key, ())), key not in self.keys
            case _:
                return None

    def _elsewhere(self, body: ec.Literal, time: Term) -> Iterator[Key]:
        """What is read of the component itself at a time that is not that of the rule."""
        for literal in ec.walk(body):
            if isinstance(literal, ec.Call):
                if literal.key in self.solver.background.temporal:
                    yield literal.key
            elif isinstance(literal, Timed):
                entity = literal.event if isinstance(literal, ec.Happens) else literal.fvp.fluent
                key = key_of(entity)
                if key in self.keys | self.events and literal.time != time:
                    yield key

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

    def _start_fluent(self, rules: list[ec.Initially]) -> None:
        held: dict[Term, dict[Term, None]] = {}
        for rule in rules:
            fluent, value = rule.fvp.fluent, rule.fvp.value
            with blaming(rule.clause):
                found = self.groundings.head_solutions(rule.body, fluent, value, {})
            for env in found:
                held.setdefault(resolve(fluent, env), {})[resolve(value, env)] = None
        for fluent, values in held.items():
            value = next(iter(values))
            # Initiated together, two values cancel each other.
            if len(values) == 1 and self.groundings.allows(fluent, value):
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
        self.points.cell = None
        for key in self.keys:
            self.points.settle(key, cell)
        self.world.new_edges.clear()

    def _settle_layer(self, cell: int, layer: OracleLayer) -> None:
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

    def _replace(self, cell: int, layer: OracleLayer, found: dict[Said, None]) -> None:
        for node in layer.nodes:
            self.points.forget(node, cell)
        self.points.enter(found)
        for node in layer.nodes:
            if node.kind == "simple":
                self.points.show_edges(node.key, cell)

    def _round(self, cell: int, layer: OracleLayer) -> dict[Said, None]:
        found: dict[Said, None] = {}
        for node in layer.nodes:
            for variant in self.variants.get(node, ()):
                for t in variant.moments(cell, self.world):
                    said = list(self._fire(variant, t))
                    if variant.elsewhere is not None:
                        self.said[variant, t] = frozenset(said)
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
        """The points that a rule gives at time t."""
        rule = variant.rule
        env = time_binding(rule, t, self.world)
        if env is None:
            return
        entity, value = rule_head(rule)
        needed = value
        if value is not None and not isinstance(rule, ec.Initiation):
            # A termination may leave its value open; not if a condition asks for it.
            needed = value if names(value) & names(rule.body.term) else None
        self.solver.domains = variant.domains
        with blaming(rule.clause):
            found = self.groundings.head_solutions(variant.body, entity, needed, env)
            self.solver.domains = {}
            for one in found:
                if not in_range(rule, t, one):
                    continue
                yield from self._say(rule, resolve(entity, one), value and resolve(value, one), t)

    def _say(self, rule: PointRule, entity: Term, value: Term | None, t: int) -> Iterator[Said]:
        if isinstance(rule, ec.EventRule):
            if self.groundings.allows(entity, None):
                yield ("event", entity, None, t)
        elif isinstance(rule, ec.Initiation):
            inside = self.groundings.allows(entity, value)
            yield ("initiated" if inside else "ghost", entity, value, t)
        elif value is not None and not is_ground(value):
            yield ("terminated", entity, None if isinstance(value, Var) else value, t)
        elif self.groundings.allows(entity, value):
            yield ("terminated", entity, value, t)


def time_binding(rule: PointRule, t: int | None, world: World) -> Env | None:
    """The head's time bound to t, if one is given; an open range T1 =< T < T2 is the whole run."""
    env: Env = {}
    if not isinstance(rule, ec.EventRule) and rule.bounds is not None:
        whole_run = (Int(world.start + 1), Int(world.query + 1))
        asked = given_by(rule.body)
        for bound, default in zip(rule.bounds, whole_run, strict=True):
            if isinstance(bound, Var) and bound.name not in asked:
                env[bound.name] = default
    return env if t is None else unify(rule.time, Int(t), env)


def rule_head(rule: PointRule) -> tuple[Term, Term | None]:
    """The event, or the fluent and its value."""
    if isinstance(rule, ec.EventRule):
        return rule.event, None
    return rule.fvp.fluent, rule.fvp.value


def in_range(rule: PointRule, t: int, env: Env) -> bool:
    """Is t in the range that a head with four arguments names?"""
    if isinstance(rule, ec.EventRule) or rule.bounds is None:
        return True
    low, high = (resolve(bound, env) for bound in rule.bounds)
    return isinstance(low, Int) and isinstance(high, Int) and low.value <= t < high.value


def given_by(body: ec.Literal) -> Names:
    """The variables that conditions other than comparisons speak of."""
    found: Names = frozenset()
    for literal in ec.walk(body):
        match literal:
            case ec.Happens(term=term) | ec.HoldsAt(term=term) | ec.Call(term=term):
                found |= names(term)
            case ec.Is(target=target):
                found |= names(target)
            case _:
                pass
    return found
