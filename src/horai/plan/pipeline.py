"""From a checked description to its plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from horai.lang.core.terms import Term, args_of, key_of
from horai.lang.ec import syntax as ec
from horai.lang.ec.unwrapping import unwrap
from horai.plan.ec.components import Component, separated, stratify
from horai.plan.ec.delays import initiation_times
from horai.plan.ec.dependencies import DependencyGraph, dependency_graph
from horai.plan.ec.literal_order import order_body
from horai.plan.ec.literals import Names, names
from horai.plan.ec.lowering import Lowering
from horai.plan.ec.modes import PythonPredicate
from horai.plan.ec.predicates import find_predicates, mode_table
from horai.plan.ec.rule_order import Orderer
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

PointRule = ec.Initiation | ec.Termination | ec.EventRule
AnyPointRule = TypeVar("AnyPointRule", bound=PointRule | ec.Initially)


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
    graph = dependency_graph(flat)
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
        rules = [rule for vertex in component.vertices for rule in self.graph.rules[vertex]]
        for rule in {id(rule): rule for rule in rules}.values():
            match rule:
                case ec.Initiation() | ec.Termination() | ec.EventRule():
                    found.points += self._points(rule)
                case ec.Initially():
                    found.initially += self._initially(rule)
                case ec.HoldsForRule() | ec.HoldsAtRule():
                    found.static.append(self._static(rule))
                case ec.FutureInitiation() | ec.FutureTermination():
                    found.delays.append(self._delay(rule))
        clauses = {id(plan.clause) for plan in found.points}
        found.settles_in_time = component.cyclic or any(
            edge.kind == "i" and edge.target in component.vertices and id(edge.clause) in clauses
            for vertex in component.vertices
            for edge in self.graph.edges_from[vertex]
        )
        return found

    def _points(self, rule: PointRule) -> list[PointPlan]:
        """The plan of a rule, or of each of its alternatives.

        Where one says whom the head is about and another leaves that to the grounding, together
        they would miss those outside the grounding, whose other values end.
        """
        plan = self._point(rule)
        parts = alternatives(rule, plan.domain)
        return [one for part in parts for one in self._points(part)] or [plan]

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

    def _point(self, rule: PointRule) -> PointPlan:
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
        given = names(*origin) | order.together | ({time} if time else set())
        wanted = names(rule.delay, *aim)
        ordered = order_body(rule.body, given, self.lowering.table, given | wanted)
        assert ordered.ok, ordered.stuck
        chain = self.lowering.chain(ordered.body, given, wanted)
        return DelayPlan(
            self._delays,
            rule,
            rule.origin.key,
            origin,
            target.key,
            aim,
            rule.delay,
            time,
            chain,
            order.from_grounding,
            rule.clause,
        )

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


def alternatives(rule: AnyPointRule, asked: Names) -> list[AnyPointRule]:
    """Rules, one for each branch of the first alternative that speaks of some variables."""
    literals = tuple(ec.conjuncts(rule.body))
    for place, literal in enumerate(literals):
        branches = _branches(literal) if names(literal.term) & asked else ()
        if branches:
            before, after = literals[:place], literals[place + 1 :]
            return [
                replace(
                    rule,
                    body=ec.Conjunction((*before, *ec.conjuncts(item), *after), rule.body.term),
                )
                for item in branches
            ]
    return []


def _branches(literal: ec.Literal) -> tuple[ec.Literal, ...]:
    match literal:
        case ec.Disjunction(items=items):
            return items
        case ec.IfThenElse(condition=condition, then=then, otherwise=otherwise, term=term):
            otherwise = ec.Conjunction((ec.Negation(condition, condition.term), otherwise), term)
            return ec.Conjunction((condition, then), term), otherwise
        case _:
            return ()
