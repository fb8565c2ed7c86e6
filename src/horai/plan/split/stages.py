"""Stages: what can run at once in buckets, and what has to be exchanged before the next.

A stage is a part of the description that every bucket works out for its own entities. What it
reads of earlier stages is input to it, like items of the stream. Components share a stage if their
keys agree; one that joins entities comes after what it reads; what cannot be split runs in a stage
of a single bucket.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from horai.lang.core.terms import Term, Var, is_anonymous
from horai.lang.ec import syntax as ec
from horai.plan.ec.components import Strata, stratify
from horai.plan.ec.dependencies import dependency_graph
from horai.plan.ec.entities import Kind
from horai.plan.ec.readings import readings
from horai.plan.graphs import Digraph
from horai.plan.split.keys import (
    ENOUGH,
    Demand,
    Domains,
    EntityKey,
    EntityPart,
    Join,
    PartitionKey,
    Path,
    choose,
    demands_of,
    find_keys,
    head_part,
    key_terms,
)
from horai.plan.unfolding import Helpers


def joined_keys(demands: list[Demand], raw: set[EntityKey]) -> Iterator[PartitionKey]:
    """Ways to split by a key that not all conditions carry; `raw` is what no rule makes."""
    own = {demand.parts[0].entity for demand in demands if demand.is_rule}
    for places, joins in _solve(demands, own, raw, {}, ()):
        if joins:
            yield PartitionKey(tuple(places.items()), tuple(dict.fromkeys(joins)))


Found = tuple[dict[EntityKey, Path], tuple[Join, ...]]


def _solve(
    demands: list[Demand],
    own: set[EntityKey],
    raw: set[EntityKey],
    places: dict[EntityKey, Path],
    joins: tuple[Join, ...],
) -> Iterator[Found]:
    if not demands:
        yield places, joins
        return
    head = demands[0].parts[0]
    for path, term in key_terms(head.term):
        if not isinstance(term, Var) or places.get(head.entity, path) != path:
            continue
        found = _rule(demands[0], term, own, raw, {**places, head.entity: path})
        if found is not None:
            yield from _solve(demands[1:], own, raw, found[0], (*joins, *found[1]))


def _rule(
    demand: Demand,
    key: Var,
    own: set[EntityKey],
    raw: set[EntityKey],
    places: dict[EntityKey, Path],
) -> Found | None:
    """How all conditions of a rule meet where its key is, None if one does not."""
    _, *body = demand.parts
    anchors = _anchors(body, key, own)
    joins: list[Join] = []
    for part in body:
        direct = _paths(part.term, key)
        fixed = part.entity in own or part.entity[0] is Kind.DOMAIN
        comes = fixed or part in anchors or part.entity in raw or not anchors
        if direct and comes and places.setdefault(part.entity, direct[0]) in direct:
            continue
        found = [] if fixed else _joins(part, key, anchors, places, demand.rule)
        if not found:
            return None
        joins += found
    return places, tuple(joins)


def _anchors(body: list[EntityPart], key: Var, own: set[EntityKey]) -> list[EntityPart]:
    """Conditions that the rule needs, that have the key, and that also name somebody else."""
    return [
        part
        for part in body
        if part.needed
        and part.entity not in own
        and _paths(part.term, key)
        and any(isinstance(term, Var) and term != key for _, term in key_terms(part.term))
    ]


def _joins(
    part: EntityPart,
    key: Var,
    anchors: list[EntityPart],
    places: dict[EntityKey, Path],
    rule: ec.Rule,
) -> list[Join]:
    """How rows of a condition find the key through an anchor; several if a variable is either."""
    for place, term in key_terms(part.term):
        if not isinstance(term, Var) or is_anonymous(term):
            continue
        for anchor in anchors:
            keys = _paths(anchor.term, key)
            at = places.setdefault(anchor.entity, keys[0])
            if at not in keys:
                continue
            names = [term] if _paths(anchor.term, term) else _alternatives(term, rule)
            meetings = [_paths(anchor.term, name) for name in names]
            if meetings and all(meetings):
                return [Join(part.entity, place, anchor.entity, m[0], at) for m in meetings]
    return []


def _alternatives(term: Var, rule: ec.Rule) -> list[Term]:
    """The variables one of which a variable is: `(V = V1 ; V = V2)`."""
    body = ec.body_of(rule)
    for literal in ec.conjuncts(body) if body is not None else ():
        if isinstance(literal, ec.Disjunction):
            found = [_equal(term, branch) for branch in literal.items]
            if all(other is not None for other in found):
                return [other for other in found if other is not None]
    return []


def _equal(term: Var, branch: object) -> Term | None:
    for literal in ec.conjuncts(branch):  # type: ignore[arg-type]
        match literal:
            case ec.Compare(op="=" | "==", left=Var() as left, right=Var() as right):
                if term in (left, right):
                    return right if left == term else left
    return None


def _paths(term: Term, wanted: Term) -> list[Path]:
    return [path for path, found in key_terms(term) if found == wanted]


@dataclass(frozen=True, slots=True)
class Unsplit:
    """Entities that run in a single bucket, why, and the rule at fault."""

    entities: tuple[EntityKey, ...]
    reason: str
    clause: ec.Clause | None


@dataclass(slots=True)
class Stage:
    """One pass over the buckets.

    `places` tell where the key is in what is made or read; a stage of one bucket has none, and
    `unsplit` says why. `items` come from the stream, `given` from earlier stages.
    """

    number: int
    rules: list[ec.Rule] = field(default_factory=list)
    makes: list[EntityKey] = field(default_factory=list)
    items: list[EntityKey] = field(default_factory=list)
    given: list[EntityKey] = field(default_factory=list)
    places: dict[EntityKey, Path] = field(default_factory=dict)
    joins: list[Join] = field(default_factory=list)
    unsplit: list[Unsplit] = field(default_factory=list)

    @property
    def is_split(self) -> bool:
        """False for a stage of one bucket."""
        return not self.unsplit

    def description(self, whole: ec.EventDescription) -> ec.EventDescription:
        """The rules of the stage, in which what earlier stages make is input."""
        mine, made = {id(rule) for rule in self.rules}, set(self.makes)
        elsewhere = {part.entity for rule in whole.rules if (part := head_part(rule))} - made
        domains = Domains(whole)
        rules = [
            rule
            for rule in whole.rules
            if id(rule) in mine
            or (head_part(rule) is None and _about(rule) not in elsewhere)
            or (isinstance(rule, ec.Grounding) and not any(domains.asked(rule)))
        ]
        return replace(whole, rules=rules)


def _about(rule: ec.Rule) -> EntityKey | None:
    """The entities that a grounding or a `p` mentions.

    A grounding of what an earlier stage made still says who is known; but one that asks for members
    of dynamic domains would make some, as one of an input.
    """
    match rule:
        case ec.Grounding(value=value):
            return (Kind.EVENT if value is None else Kind.FLUENT, *rule.key)
        case ec.Postponable(fvp=fvp):
            return (Kind.FLUENT, *fvp.key)
        case _:
            return None


def stages_of(description: ec.EventDescription) -> list[Stage]:
    """The stages of a description, in the order in which they run."""
    strata = stratify(dependency_graph(description))
    planner = _Planner(description, strata)
    for group in planner.groups():
        planner.add(group)
    return planner.finished()


@dataclass(slots=True)
class _Group:
    """Components that have to share a stage."""

    demands: list[Demand]
    makes: list[EntityKey]
    reads: list[EntityKey]


class _Planner:
    """Puts groups of components into stages, one after the other."""

    def __init__(self, description: ec.EventDescription, strata: Strata) -> None:
        self.description, self.strata = description, strata
        self.made = {part.entity for rule in description.rules if (part := head_part(rule))}
        self.stages: list[Stage] = []
        self.maker: dict[EntityKey, Stage] = {}

    # --- groups ----------------------------------------------------------------------------------

    def groups(self) -> Iterator[_Group]:
        """Components in processing order, those together that cannot be apart."""
        demands = demands_of(self.description, self.strata)
        for numbers in self._together(demands).components():
            some = [demand for number in sorted(numbers) for demand in demands.get(number, ())]
            makes = dict.fromkeys(d.parts[0].entity for d in some if d.is_rule)
            if makes:
                parts = dict.fromkeys(part.entity for d in some for part in d.parts)
                reads = [e for e in parts if e not in makes and e[0] is not Kind.DOMAIN]
                yield _Group(some, list(makes), reads)

    def _together(self, demands: dict[int, list[Demand]]) -> Digraph[int]:
        """The graph of readings between components, in a circle where they cannot be apart.

        Spans and events are exchanged between stages, initiations and terminations are not; and
        what two components tell of one entity has to come together.
        """
        component_of, found = self.strata.component_of, Digraph[int]()
        found.add_nodes(component.number for component in self.strata.components)
        makers: dict[EntityKey, int] = {}
        for component in self.strata.components:
            for vertex in component.vertices:
                entity = (vertex.kind, vertex.name, vertex.arity)
                if component.level:
                    other = makers.setdefault(entity, component.number)
                    found.add_edges([(other, component.number), (component.number, other)])
        for edge in self.strata.graph.edges:
            source, target = component_of[edge.source], component_of[edge.target]
            found.add_edge(source.number, target.number)
        # Values that no rule gives have no vertex; a stage is given all values of what it reads.
        for number, some in demands.items():
            read = {part.entity for demand in some for part in demand.parts[1:]}
            found.add_edges((makers[entity], number) for entity in read & makers.keys())
        for a, b in self._inseparable(makers):
            found.add_edges([(a, b), (b, a)])
        return found

    def _inseparable(self, makers: dict[EntityKey, int]) -> Iterator[tuple[int, int]]:
        helpers = Helpers(self.description)
        for rule in self.description.rules:
            head = head_part(rule)
            if head is None or head.entity not in makers:
                continue
            read = [one.literal for one in readings(rule, helpers)]
            asked = [one.fvp for one in read if isinstance(one, ec.InitiatedAt | ec.TerminatedAt)]
            asked += [rule.origin] if isinstance(rule, ec.FutureInitiation) else []
            for fvp in asked:
                entity = (Kind.FLUENT, *fvp.key)
                if entity in makers:
                    yield makers[entity], makers[head.entity]

    # --- stages ----------------------------------------------------------------------------------

    def add(self, group: _Group) -> None:
        """Put a group into the first stage that can take it, or a new one."""
        keys, reason, clause = find_keys(group.makes, group.demands)
        first = self._last_read(group, default=0)  # what is read may be made beside it
        if not keys and all(arity for _, _, arity in group.makes):
            raw = {entity for entity in group.reads if entity not in self.made}
            keys = tuple(islice(joined_keys(group.demands, raw), ENOUGH))
            first = self._last_read(group, default=-1) + 1 if keys else first
        later = self.stages[first:]
        if not keys:
            stage = next((s for s in later if s.unsplit), None) or self._new()
            stage.unsplit.append(Unsplit(tuple(group.makes), reason or "", clause))
            self._put(group, stage)
            return
        found = ((stage, choose(keys, stage.places)) for stage in later if stage.is_split)
        fitting = ((stage, key) for stage, key in found if key is not None)
        stage, key = next(fitting, None) or (self._new(), keys[0])
        self._put(group, stage, dict(key.places), key.joins)

    def _last_read(self, group: _Group, default: int) -> int:
        """The last stage that makes what a group reads."""
        return max((self.maker[e].number for e in group.reads if e in self.maker), default=default)

    def _new(self) -> Stage:
        self.stages.append(Stage(len(self.stages)))
        return self.stages[-1]

    def _put(
        self,
        group: _Group,
        stage: Stage,
        places: dict[EntityKey, Path] | None = None,
        joins: tuple[Join, ...] = (),
    ) -> None:
        rules = {id(d.rule): d.rule for d in group.demands if d.is_rule}
        stage.rules += rules.values()
        stage.makes += group.makes
        stage.places |= places or {}
        stage.joins += [join for join in joins if join not in stage.joins]
        self.maker |= dict.fromkeys(group.makes, stage)
        for entity in group.reads:
            among = stage.given if entity in self.made else stage.items
            if entity not in among:
                among.append(entity)

    def finished(self) -> list[Stage]:
        """The stages; what is made in a stage is not given to it."""
        for stage in self.stages:
            stage.given = [entity for entity in stage.given if entity not in stage.makes]
        return self.stages
