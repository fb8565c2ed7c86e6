"""The plan of a description: rules as chains of operators, component by component.

This is what an engine runs. Components come in an order in which each finds what it reads; within
one, rules that read the component itself are split into what can be known before (a chain that
gives candidates) and what must wait until the component's own past is settled.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal as OneOf

from horai.lang.ec import syntax as ec
from horai.lang.ec.syntax import EventDescription
from horai.lang.terms import Compound, Term, functor
from horai.plan import operators as op
from horai.plan.components import Component, Strata, separated, stratify
from horai.plan.delayed import known_already
from horai.plan.dependencies import DependencyGraph, dependency_graph
from horai.plan.entities import find_entities
from horai.plan.lowering import Lowering
from horai.plan.modes import PythonPredicate, order_body
from horai.plan.ordering import Orderer
from horai.plan.predicates import Predicate, find_predicates, mode_table
from horai.plan.readings import future_times
from horai.plan.scopes import names
from horai.plan.splitting import Split, split_body
from horai.plan.unwrapping import Unwrapping, unwrap
from horai.plan.vertices import Vertex

Key = tuple[str, int]
Names = frozenset[str]
PointRule = ec.Initiation | ec.Termination | ec.EventRule
StaticRule = ec.HoldsForRule | ec.HoldsAtRule
DelayRule = ec.FutureInitiation | ec.FutureTermination


@dataclass(frozen=True, slots=True)
class PointPlan:
    """A rule that says when something happens, begins or ends.

    `terms` are the arguments of the head, followed by the value of a fluent. `domain` are the head
    variables that take their values from the grounding before the chain runs, `given` those and a
    range left open; `open_value` marks a termination of every value, or of all values of a form.
    `split` is there for rules that read their own component.
    """

    kind: OneOf["event", "initiated", "terminated", "initially"]
    key: Key
    terms: tuple[Term, ...]
    time: Term | None
    chain: op.Chain
    domain: Names
    body: ec.And
    clause: ec.Clause
    given: Names = frozenset()
    bounds: tuple[Term, Term] | None = None
    open_value: bool = False
    split: Split | None = None


@dataclass(frozen=True, slots=True)
class StaticPlan:
    """A rule for the interval list of a pair."""

    key: Key
    terms: tuple[Term, ...]
    rule: StaticRule
    result: Term
    chain: op.Chain
    domain: Names
    clause: ec.Clause


@dataclass(frozen=True, slots=True)
class DelayPlan:
    """A delayed effect. `target` is the fluent acted on, with arguments and value."""

    number: int
    rule: DelayRule
    origin_key: Key
    origin: tuple[Term, ...]
    target_key: Key
    target: tuple[Term, ...]
    delay: Term
    time: str | None  # the variable that stands for the time of initiation
    early: op.Chain  # what can be judged when the value is initiated
    full: op.Chain
    clause: ec.Clause

    @property
    def initiates(self) -> bool:
        """False for `ft`, which only ends its origin."""
        return isinstance(self.rule, ec.FutureInitiation)


@dataclass(frozen=True, slots=True)
class GroundingPlan:
    """A grounding. `listing` gives its instances, `check` asks about given ones."""

    key: Key
    terms: tuple[Term, ...]
    value: Term | None
    listing: op.Chain
    check: op.Chain
    calls: tuple[ec.Call, ...]
    clause: ec.Clause


@dataclass(slots=True)
class Stratum:
    """A component with its rules."""

    component: Component
    points: list[PointPlan] = field(default_factory=list)
    initially: list[PointPlan] = field(default_factory=list)
    static: list[StaticPlan] = field(default_factory=list)
    delays: list[DelayPlan] = field(default_factory=list)

    @property
    def fluents(self) -> list[Key]:
        """The simple fluents it settles."""
        found = [plan.key for plan in (*self.points, *self.initially) if plan.kind != "event"]
        found += [delay.target_key for delay in self.delays]
        return list(dict.fromkeys(found))

    @property
    def events(self) -> list[Key]:
        """The output events it settles."""
        return list(dict.fromkeys(p.key for p in self.points if p.kind == "event"))


@dataclass
class Program:
    """Everything an engine needs to know of a description."""

    unwrapping: Unwrapping
    description: EventDescription
    predicates: dict[Key, Predicate]
    lowering: Lowering
    graph: DependencyGraph
    strata: list[Stratum]
    groundings: dict[Key, list[GroundingPlan]]
    background: dict[Key, list[op.Branch]]
    postponable: list[ec.FVP]
    dynamic: frozenset[Key]

    @cached_property
    def determined(self) -> frozenset[Key]:
        """The fluents with values that interval lists determine."""
        return frozenset(plan.key for stratum in self.strata for plan in stratum.static)

    @cached_property
    def initiations_read(self) -> frozenset[Key]:
        """The fluents whose initiations some rule, or a delay elsewhere, reads."""
        return self._read(ec.InitiatedAt) | self.origins_elsewhere

    @cached_property
    def terminations_read(self) -> frozenset[Key]:
        """The fluents whose terminations some rule, or a delay elsewhere, reads."""
        return self._read(ec.TerminatedAt) | self.origins_elsewhere

    @cached_property
    def origins_elsewhere(self) -> frozenset[Key]:
        """Fluents whose initiations have a delayed effect in another component."""
        return frozenset(
            delay.origin_key
            for stratum in self.strata
            for delay in stratum.delays
            if delay.origin_key not in stratum.fluents
        )

    def _read(self, kind: type[ec.InitiatedAt] | type[ec.TerminatedAt]) -> frozenset[Key]:
        bodies = [body for rule in self.description.rules if (body := getattr(rule, "body", None))]
        return frozenset(
            key_of(part.fvp.fluent)
            for body in bodies
            for part in ec.walk(body)
            if isinstance(part, kind)
        )

    @property
    def procedures(self) -> op.Procedures:
        """The clauses of procedures."""
        return self.lowering.procedures


def compile_program(
    description: EventDescription, python: Iterable[PythonPredicate] = ()
) -> Program:
    """The plan of a checked description."""
    given = tuple(python)
    unwrapping = unwrap(description)
    flat = unwrapping.description
    predicates = find_predicates(flat, given)
    table = mode_table(predicates, given)
    lowering = Lowering(predicates, table)
    graph = dependency_graph(flat, find_entities(flat))
    maker = _Maker(lowering, Orderer(flat, table), graph)
    components = [part for whole in _outputs(stratify(graph)) for part in separated(graph, whole)]
    strata = [maker.stratum(component) for component in components]
    groundings: dict[Key, list[GroundingPlan]] = {}
    for rule in flat.rules:
        if isinstance(rule, ec.Grounding):
            plan = maker.grounding(rule)
            groundings.setdefault(plan.key, []).append(plan)
    return Program(
        unwrapping,
        flat,
        predicates,
        lowering,
        graph,
        strata,
        groundings,
        {k: [lowering.branch(r) for r in p.rules] for k, p in predicates.items() if p.is_relation},
        [rule.fvp for rule in flat.rules if isinstance(rule, ec.Postponable)],
        frozenset(key for key, p in predicates.items() if p.dynamic),
    )


def _outputs(strata: Strata) -> list[Component]:
    return [c for c in strata.components if not set(c.vertices) <= strata.graph.inputs]


class _Maker:
    """Makes the plans of rules."""

    def __init__(self, lowering: Lowering, orderer: Orderer, graph: DependencyGraph) -> None:
        self.lowering = lowering
        self.orderer = orderer
        self.graph = graph
        self._delays = 0

    def stratum(self, component: Component) -> Stratum:
        """A component with its rules as chains."""
        found = Stratum(component)
        members = frozenset(component.vertices)
        seen: set[int] = set()
        for vertex in component.vertices:
            for rule in self.graph.rules[vertex]:
                if id(rule) not in seen:
                    seen.add(id(rule))
                    self._add(found, rule, members)
        return found

    def _add(self, stratum: Stratum, rule: ec.Rule, members: frozenset[Vertex]) -> None:
        match rule:
            case ec.Initiation() | ec.Termination() | ec.EventRule():
                stratum.points.append(self._point(rule, members))
            case ec.Initially(fvp=fvp):
                order = self.orderer.order(rule)
                terms = (*_args(fvp.fluent), fvp.value)
                chain = self.lowering.chain(order.body, order.from_grounding, names(*terms))
                stratum.initially.append(
                    PointPlan(
                        "initially",
                        key_of(fvp.fluent),
                        terms,
                        None,
                        chain,
                        order.from_grounding,
                        rule.body,
                        rule.clause,
                    )
                )
            case ec.HoldsForRule() | ec.HoldsAtRule():
                stratum.static.append(self._static(rule))
            case ec.FutureInitiation() | ec.FutureTermination():
                stratum.delays.append(self._delay(rule))
            case _:
                pass

    def _point(self, rule: PointRule, members: frozenset[Vertex]) -> PointPlan:
        order = self.orderer.order(rule)
        entity: Term
        if isinstance(rule, ec.EventRule):
            kind, entity, value, bounds = "event", rule.event, None, None
        else:
            kind = "initiated" if isinstance(rule, ec.Initiation) else "terminated"
            entity, value, bounds = rule.fvp.fluent, rule.fvp.value, rule.bounds
        terms = _args(entity) if value is None else (*_args(entity), value)
        open_value = (
            kind == "terminated"
            and value is not None
            and not names(value) <= order.bound | order.from_grounding
        )
        whole_run = names(*bounds) - _asked(rule.body) if bounds else frozenset()
        given = order.from_grounding | whole_run
        needed = names(*terms, rule.time, *(bounds or ()))
        split = split_body(rule.body, rule.time, given, needed, members, self.graph, self.lowering)
        chain = op.Chain() if split is not None else self.lowering.chain(order.body, given, needed)
        return PointPlan(
            kind,  # type: ignore[arg-type]
            key_of(entity),
            terms,
            rule.time,
            chain,
            order.from_grounding,
            rule.body,
            rule.clause,
            given,
            bounds,
            open_value,
            split,
        )

    def _static(self, rule: StaticRule) -> StaticPlan:
        order = self.orderer.order(rule)
        terms = (*_args(rule.fvp.fluent), rule.fvp.value)
        result = rule.intervals if isinstance(rule, ec.HoldsForRule) else rule.time
        given = order.from_grounding
        if isinstance(rule, ec.HoldsAtRule):
            given |= names(rule.time)
        chain = self.lowering.chain(order.body, given, names(*terms, result))
        chain = _telling_rows_apart(chain)
        key = key_of(rule.fvp.fluent)
        return StaticPlan(key, terms, rule, result, chain, order.from_grounding, rule.clause)

    def _delay(self, rule: DelayRule) -> DelayPlan:
        self._delays += 1
        target = rule.target if isinstance(rule, ec.FutureInitiation) else rule.origin
        times = future_times(rule.body)
        time = times[0] if times else None
        origin = (*_args(rule.origin.fluent), rule.origin.value)
        aim = (*_args(target.fluent), target.value)
        goals = tuple(ec.conjuncts(rule.body))
        known = known_already(goals, time) if time is not None else goals
        return DelayPlan(
            self._delays,
            rule,
            key_of(rule.origin.fluent),
            origin,
            key_of(target.fluent),
            aim,
            rule.delay,
            time,
            self._delay_chain(rule, known, origin, time, (rule.delay,)),
            self._delay_chain(rule, goals, origin, time, (rule.delay, *aim)),
            rule.clause,
        )

    def _delay_chain(
        self,
        rule: DelayRule,
        goals: tuple[ec.Literal, ...],
        origin: tuple[Term, ...],
        time: str | None,
        wanted: tuple[Term, ...],
    ) -> op.Chain:
        given = names(*origin) | ({time} if time else set())
        body = ec.And(goals, rule.body.term)
        ordered = order_body(body, given, self.lowering.table, given | names(*wanted)).body
        return self.lowering.chain(ordered, given, names(*wanted))

    def grounding(self, rule: ec.Grounding) -> GroundingPlan:
        """A grounding, ready to be listed and to be asked."""
        terms = _args(rule.entity)
        head = names(*terms, rule.value)
        table = self.lowering.table
        listed = order_body(rule.body, (), table, head).body
        asked = order_body(rule.body, head, table, head).body
        calls = tuple(part for part in ec.conjuncts(rule.body) if isinstance(part, ec.Call))
        return GroundingPlan(
            key_of(rule.entity),
            terms,
            rule.value,
            self.lowering.chain(listed, frozenset(), head),
            self.lowering.chain(asked, head, frozenset()),
            calls,
            rule.clause,
        )


def _asked(body: ec.And) -> Names:
    """The variables that conditions other than comparisons speak of."""
    found: Names = frozenset()
    for literal in ec.walk(body):
        match literal:
            case ec.Happens() | ec.HoldsAt() | ec.Call():
                found |= names(literal.term)
            case ec.Is(target=target):
                found |= names(target)
            case _:
                pass
    return found


def key_of(entity: Term) -> Key:
    """Name and arity of an event or fluent."""
    return functor(entity) or ("", -1)


def _args(entity: Term) -> tuple[Term, ...]:
    return entity.args if isinstance(entity, Compound) else ()


def _telling_rows_apart(chain: op.Chain) -> op.Chain:
    """A chain that keeps the variables of its fluents where intervals are looked at as wholes.

    Such lists are remembered by the bindings of their row, so these have to tell rows apart.
    """
    whole = [s for s in chain.steps if isinstance(s, op.SpanOperation)]
    if all(isinstance(step.literal, ec.IntervalOp) for step in whole):
        return chain
    lookups = [step for step in chain.steps if isinstance(step, op.Lookup)]
    kept = names(*(term for step in lookups for term in step.terms))
    return op.Chain(chain.steps, tuple(needed | kept for needed in chain.needed), chain.bound)
