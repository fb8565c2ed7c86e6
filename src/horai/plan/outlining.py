"""From a program to its outline: components in processing order with their rules, groundings."""

from __future__ import annotations

from horai.lang.ec import syntax as ec
from horai.plan.components import stratify
from horai.plan.entity_finding import find_entities
from horai.plan.finality import looks_of
from horai.plan.operator_outlines import OperatorOutlines, plain, told
from horai.plan.outline import (
    ComponentOutline,
    GroundingOutline,
    InputOutline,
    PartOutline,
    PlanOutline,
    RuleOutline,
)
from horai.plan.partition import Partitioning, PartitionKey, partition
from horai.plan.places import place_of
from horai.plan.program import (
    DelayPlan,
    GroundingPlan,
    Key,
    PointPlan,
    Program,
    StaticPlan,
    Stratum,
)
from horai.plan.rule_estimates import RuleEstimates
from horai.plan.scopes import names
from horai.plan.settling import Settling, settling
from horai.plan.sizes import UNIT, InputSize, Sizes, Source
from horai.plan.unify import may_match

_KINDS = {"event": "event", "initiated": "initiation", "terminated": "termination"}


def outline(program: Program, inputs: dict[Source, InputSize] | None = None) -> PlanOutline:
    """The outline of a program; `inputs` are the sizes of a given input."""
    return _Outliner(program, inputs).plan()


class _Outliner:
    def __init__(self, program: Program, inputs: dict[Source, InputSize] | None) -> None:
        self.program = program
        self.inputs = inputs
        self.estimates = RuleEstimates(program, Sizes(program.unwrapping, inputs))
        self.operators = OperatorOutlines(program, self.estimates.operators)
        parts = partition(program.description, stratify(program.graph))
        self.partitions = {part.component.number: part for part in parts}

    def plan(self) -> PlanOutline:
        """All of it."""
        groundings = [one for plans in self.program.groundings.values() for one in plans]
        return PlanOutline(
            counted=self.inputs is not None,
            inputs=self._inputs(),
            components=tuple(
                self._component(number, stratum)
                for number, stratum in enumerate(self.program.strata, 1)
            ),
            groundings=tuple(self._grounding(one) for one in groundings),
        )

    def _inputs(self) -> tuple[InputOutline, ...]:
        found: dict[Source, InputOutline] = {}
        for entity in find_entities(self.program.description).inputs:
            source = (str(entity.kind), self.estimates.sizes.as_read(entity.key))
            size = (self.inputs or {}).get(source)
            rows = UNIT if self.inputs is None else size.rows if size else 0
            found[source] = InputOutline(source[0], *source[1], rows)
        return tuple(found.values())

    def _component(self, number: int, stratum: Stratum) -> ComponentOutline:
        component = stratum.component
        split: Partitioning | None = self.partitions.get(component.number)
        how = settling(stratum, self.program)
        plans: list[PointPlan | StaticPlan] = [*stratum.initially, *stratum.points, *stratum.static]
        rules = [(plan.clause, self._rule(plan, stratum, how)) for plan in plans]
        rules += [(plan.clause, self._delay(plan, stratum)) for plan in stratum.delays]
        named = tuple(dict.fromkeys(_name((v.name, v.arity)) for v in component.vertices))
        ordered = sorted(rules, key=lambda one: (named.index(one[1].defines), one[0].span[0]))
        return ComponentOutline(
            number=number,
            level=component.level,
            names=named,
            members=tuple(str(vertex) for vertex in component.vertices),
            cyclic=component.cyclic,
            settling=how,
            key=_split_by(split.key) if split and split.key else None,
            no_key=split.reason if split else None,
            rules=tuple(rule for _, rule in ordered),
            id=id(stratum),
        )

    def _rule(self, plan: PointPlan | StaticPlan, stratum: Stratum, how: Settling) -> RuleOutline:
        if isinstance(plan, PointPlan):
            kind = _KINDS.get(plan.kind, plan.kind)
            parts = self._point_parts(plan, how)
        else:
            formula = isinstance(plan.rule, ec.HoldsAtRule)
            kind = "formula" if formula else "intervals"
            given = plan.domain | (names(plan.result) if formula else frozenset())
            parts = (PartOutline("", self.operators.chain(plan.chain, given)),)
        head = plan.clause.head
        return RuleOutline(
            defines=_name(plan.key),
            kind=kind,
            head=plain(head) if head is not None else "",
            place=place_of(plan.clause),
            parts=parts,
            grounded=told(plan.domain) or (("_",) if plan.domain else ()),
            looks=looks_of(plan, stratum, self.program),
            estimate=self.estimates.rows.get(id(plan), 0.0),
            effect=None,
            id=id(plan),
            roots=_roots(parts),
        )

    def _point_parts(self, plan: PointPlan, how: Settling) -> tuple[PartOutline, ...]:
        if plan.split is None:
            return (PartOutline("", self.operators.chain(plan.chain, plan.given)),)
        split = plan.split
        known = split.candidates.bound | plan.given | names(plan.time)
        wait = "asked at every time-point"
        if split.timed:
            wait = (
                "tested in time order"
                if how.way in ("clockwork", "machine")
                else "asked in each cell"
            )
        elif split.waits:
            wait = "asked whenever the component acts"
        candidates = self.operators.chain(split.candidates, plan.given)
        first = (PartOutline("candidates", candidates),) if candidates else ()
        return (*first, PartOutline(wait, self.operators.chain(split.remainder, known)))

    def _delay(self, plan: DelayPlan, stratum: Stratum) -> RuleOutline:
        given = names(*plan.origin) | ({plan.time} if plan.time else frozenset())
        early, full = (self.operators.chain(one, given) for one in (plan.early, plan.full))
        labelled = (PartOutline("at the initiation", early), PartOutline("at the deadline", full))
        # Mostly all can be judged when the value is initiated, and is judged again when it is due.
        same = [one.text for one in early] == [one.text for one in full]
        shown = (PartOutline("", full),) if same else labelled
        head = plan.clause.head
        return RuleOutline(
            defines=_name(plan.target_key),
            kind="delayed initiation" if plan.initiates else "delayed termination",
            head=plain(head) if head is not None else "",
            place=place_of(plan.clause),
            parts=tuple(part for part in shown if part.operators),
            grounded=(),
            looks=looks_of(plan, stratum, self.program),
            estimate=self.estimates.rows.get(id(plan), 0.0),
            effect=self._effect(plan),
            id=id(plan),
            roots=_roots(labelled),
        )

    def _effect(self, plan: DelayPlan) -> str:
        origin, delay = plain(plan.rule.origin.term), plain(plan.delay)
        does = f"ends {origin} {delay} after it begins"
        if isinstance(plan.rule, ec.FutureInitiation):
            does = f"initiates {plain(plan.rule.target.term)} {delay} after {origin} begins"
        again = any(may_match(one.term, plan.rule.origin.term) for one in self.program.postponable)
        return f"{does}; a new initiation restarts the clock" if again else does

    def _grounding(self, plan: GroundingPlan) -> GroundingOutline:
        rows = self.estimates.estimator.grounding(plan).rows
        head = plan.clause.head
        entity = head.args[0] if head is not None and hasattr(head, "args") else None
        return GroundingOutline(
            entity=plain(entity) if entity is not None else _name(plan.key),
            place=place_of(plan.clause),
            operators=self.operators.chain(plan.listing, frozenset()),
            estimate=rows,
        )


def _roots(parts: tuple[PartOutline, ...]) -> tuple[int, ...]:
    return tuple(one.path[0] for part in parts for one in part.operators)


def _split_by(key: PartitionKey) -> str:
    """The arguments to split by, those at the same place together."""
    places: dict[str, list[str]] = {}
    for (_, name, arity), path in key.places:
        places.setdefault(".".join(str(i + 1) for i in path), []).append(_name((name, arity)))
    return "; ".join(f"argument {place} of {', '.join(who)}" for place, who in places.items())


def _name(key: Key) -> str:
    return f"{key[0]}/{key[1]}"
