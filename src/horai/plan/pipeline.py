"""From a checked description to its plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from horai.lang.core.terms import Term, args_of, key_of
from horai.lang.ec import syntax as ec
from horai.lang.ec.unwrapping import unwrap
from horai.plan import operators as op
from horai.plan.ec.components import Component, separated, stratify
from horai.plan.ec.delays import initiation_times
from horai.plan.ec.dependencies import DependencyGraph, Vertex, dependency_graph
from horai.plan.ec.entities import find_entities
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import Names, names
from horai.plan.ec.lowering import Lowering
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.predicates import find_predicates, mode_table
from horai.plan.ec.rule_order import Orderer
from horai.plan.ec.splitting import ComponentMembers, PointRule, alternatives
from horai.plan.program import (
    DelayPlan,
    DelayRule,
    GroundingPlan,
    Key,
    Plan,
    PointPlan,
    StaticPlan,
    StaticRule,
    Stratum,
)


def compile_program(
    description: ec.EventDescription, python: Iterable[PythonPredicate] = ()
) -> Plan:
    """The plan of a checked description."""
    given = tuple(python)
    unwrapping = unwrap(description)
    flat = unwrapping.description
    predicates = find_predicates(flat, given)
    table = mode_table(predicates, given)
    lowering = Lowering(predicates, table)
    graph = dependency_graph(flat, find_entities(flat))
    maker = _Maker(lowering, Orderer(flat, table), graph)
    strata = [
        maker.stratum(part)
        for whole in stratify(graph).components
        if not graph.inputs.issuperset(whole.vertices)
        for part in separated(graph, whole)
    ]
    groundings: dict[Key, list[GroundingPlan]] = {}
    for rule in flat.of(ec.Grounding):
        groundings.setdefault(rule.key, []).append(maker.grounding(rule))
    return Plan(
        unwrapping,
        flat,
        predicates,
        lowering,
        graph,
        strata,
        groundings,
        {k: [lowering.branch(r) for r in p.rules] for k, p in predicates.items() if p.is_relation},
        [rule.fvp for rule in flat.of(ec.Postponable)],
        frozenset(key for key, p in predicates.items() if p.dynamic),
    )


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
                stratum.points += self._points(rule, members)
            case ec.Initially():
                stratum.initially += self._initially(rule)
            case ec.HoldsForRule() | ec.HoldsAtRule():
                stratum.static.append(self._static(rule))
            case ec.FutureInitiation() | ec.FutureTermination():
                stratum.delays.append(self._delay(rule))

    def _points(self, rule: PointRule, members: frozenset[Vertex]) -> list[PointPlan]:
        """The plan of a rule, or of each of its alternatives.

        Where one says whom the head is about and another leaves that to the grounding, together
        they would miss those outside the grounding, whose other values end.
        """
        plan = self._point(rule, members)
        parts = alternatives(rule, plan.domain)
        return [one for part in parts for one in self._points(part, members)] or [plan]

    def _initially(self, rule: ec.Initially) -> list[PointPlan]:
        order = self.orderer.order(rule)
        parts = alternatives(rule, order.from_grounding)
        if parts:
            return [one for part in parts for one in self._initially(part)]
        terms = rule.fvp.columns
        chain = self.lowering.chain(order.body, order.together, names(*terms))
        plan = PointPlan(
            "initially",
            rule.fvp.key,
            terms,
            None,
            chain,
            order.from_grounding,
            rule.body,
            rule.clause,
            order.together,
        )
        return [plan]

    def _point(self, rule: PointRule, members: frozenset[Vertex]) -> PointPlan:
        order = self.orderer.order(rule)
        entity: Term
        if isinstance(rule, ec.EventRule):
            kind, entity, value, bounds = "event", rule.event, None, None
        else:
            kind = "initiated" if isinstance(rule, ec.Initiation) else "terminated"
            entity, value, bounds = rule.fvp.fluent, rule.fvp.value, rule.bounds
        terms = args_of(entity) if value is None else (*args_of(entity), value)
        open_value = (
            kind == "terminated"
            and value is not None
            and not names(value) <= order.bound | order.together
        )
        whole_run = names(*bounds) - _asked(rule.body) if bounds else frozenset()
        given = order.together | whole_run
        needed = names(*terms, rule.time, *(bounds or ()))
        chain = self.lowering.chain(order.body, given, needed)
        own = ComponentMembers(members, self.graph)
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
            any(map(own.reads, ec.conjuncts(rule.body))),
        )

    def _static(self, rule: StaticRule) -> StaticPlan:
        order = self.orderer.order(rule)
        terms = rule.fvp.columns
        result = rule.intervals if isinstance(rule, ec.HoldsForRule) else rule.time
        given = order.from_grounding
        if isinstance(rule, ec.HoldsAtRule):
            given |= names(rule.time)
        chain = self.lowering.chain(order.body, given, names(*terms, result))
        key = rule.fvp.key
        return StaticPlan(key, terms, rule, result, chain, order.from_grounding, rule.clause)

    def _delay(self, rule: DelayRule) -> DelayPlan:
        self._delays += 1
        target = rule.target if isinstance(rule, ec.FutureInitiation) else rule.origin
        times = initiation_times(rule, self.graph.helpers)
        time = times[0] if times else None
        origin = rule.origin.columns
        aim = target.columns
        order = self.orderer.order(rule)
        given = names(*origin) | order.together
        return DelayPlan(
            self._delays,
            rule,
            rule.origin.key,
            origin,
            target.key,
            aim,
            rule.delay,
            time,
            self._delay_chain(rule, given, time, names(rule.delay, *aim)),
            order.from_grounding,
            rule.clause,
        )

    def _delay_chain(
        self, rule: DelayRule, bound: Names, time: str | None, wanted: Names
    ) -> op.Chain:
        given = bound | ({time} if time else set())
        ordered = order_body(rule.body, given, self.lowering.table, given | wanted)
        assert ordered.ok, ordered.stuck
        return self.lowering.chain(ordered.body, given, wanted)

    def grounding(self, rule: ec.Grounding) -> GroundingPlan:
        """A grounding, ready to be listed and to be asked."""
        terms = args_of(rule.entity)
        head = names(*terms, rule.value)
        table = replace(self.lowering.table, ranging=True)
        listed = order_body(rule.body, (), table, head).body
        asked = order_body(rule.body, head, table, head).body
        calls = tuple(part for part in ec.conjuncts(rule.body) if isinstance(part, ec.Call))
        return GroundingPlan(
            rule.key,
            terms,
            rule.value,
            self.lowering.chain(listed, frozenset(), head),
            self.lowering.chain(asked, head, frozenset()),
            calls,
            rule.clause,
        )


def _asked(body: ec.Conjunction) -> Names:
    """The variables that conditions other than comparisons speak of."""
    found: Names = frozenset()
    for literal in ec.walk(body):
        match literal:
            case ec.Happens() | ec.HoldsAt() | ec.Call():
                found |= names(literal.term)
            case ec.Is(target=target):
                found |= names(target)
    return found
