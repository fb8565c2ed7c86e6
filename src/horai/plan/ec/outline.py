"""The plan of a description as plain data: what `horai plan` shows.

Components stand in processing order with their rules and groundings, and each rule is a chain of
operators with its words and the variables bound. Rules and components have the `id` of what they
were made from, by which profiles know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal as OneOf

from horai.lang.core.printer import show
from horai.lang.core.terms import Term, functor
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.components import stratify
from horai.plan.ec.entities import find_entities
from horai.plan.ec.literals import Names, names
from horai.plan.ec.reach import Looks, looks_of
from horai.plan.ec.unify import may_match
from horai.plan.program import DelayPlan, GroundingPlan, Key, Plan, PointPlan, StaticPlan, Stratum
from horai.plan.split.keys import Partitioning, PartitionKey, partition

Settled = OneOf["lists", "points", "plain", "time"]
WORDS: dict[Settled, str] = {
    "lists": "interval lists",
    "points": "points in time",
    "plain": "plain inertia",
    "time": "in the order of time",
}


@dataclass(frozen=True, slots=True)
class OperatorOutline:
    """One operator: what it does, the variables it binds, what is inside."""

    operator: str
    text: str
    binds: tuple[str, ...]
    inside: tuple[PartOutline, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class PartOutline:
    """A chain of operators; `label` says what it is for, where there are several."""

    label: str
    operators: tuple[OperatorOutline, ...]


@dataclass(frozen=True, slots=True)
class RuleOutline:
    """A rule: its head, the chains of its body, what its grounding gives, how far it looks."""

    defines: str
    kind: str
    head: str
    place: str
    parts: tuple[PartOutline, ...]
    grounded: tuple[str, ...]
    looks: Looks
    effect: str | None
    id: int


@dataclass(frozen=True, slots=True)
class ComponentOutline:
    """A component; `number` counts components in the order in which they are worked out."""

    number: int
    level: int
    names: tuple[str, ...]
    members: tuple[str, ...]
    cyclic: bool
    settling: Settled
    key: str | None
    no_key: str | None
    rules: tuple[RuleOutline, ...]
    id: int


@dataclass(frozen=True, slots=True)
class GroundingOutline:
    """A grounding and the chain that lists its instances."""

    entity: str
    place: str
    operators: tuple[OperatorOutline, ...]


@dataclass(frozen=True, slots=True)
class InputOutline:
    """An input type."""

    kind: str
    name: str
    arity: int


@dataclass(frozen=True, slots=True)
class PlanOutline:
    """All of it."""

    inputs: tuple[InputOutline, ...]
    components: tuple[ComponentOutline, ...]
    groundings: tuple[GroundingOutline, ...]


CONTROL = (";", ",", "->", "*->", "|", "")
_FRESH = re.compile(r"~\d+")  # what tells the variables of unfolded clauses apart

_WORDS: dict[type, str] = {
    op.Scan: "join",
    op.FactJoin: "join",
    op.Stab: "stab",
    op.Walk: "walk",
    op.Lookup: "lookup",
    op.Filter: "filter",
    op.Unify: "unify",
    op.Extend: "extend",
    op.TruthOp: "truth",
    op.AntiJoin: "anti-join",
    op.Union: "union",
    op.IfThenElseOp: "choice",
    op.AggregateOp: "aggregate",
    op.BuiltinOp: "builtin",
    op.Python: "python",
    op.QueryTime: "query time",
    op.Procedure: "procedure",
}
_SPANS: dict[type, str] = {ec.IntervalOp: "span", ec.DurationFilter: "duration", ec.Allen: "allen"}


class OperatorOutlines:
    """Makes outlines of chains."""

    def __init__(self, program: Plan) -> None:
        self.program = program
        self._calls: list[tuple[op.Key, frozenset[int]]] = []

    def chain(self, chain: op.Chain, known: Names) -> tuple[OperatorOutline, ...]:
        """The operators of a chain that begins with some variables bound."""
        found = []
        for step in chain.steps:
            found.append(self._operator(step, known))
            known |= _binds(step, known)
        return tuple(found)

    def _operator(self, step: op.Operator, known: Names) -> OperatorOutline:
        return OperatorOutline(
            operator=_word(step),
            text=_text(step),
            binds=told(_binds(step, known)),
            inside=self._inside(step, known),
            note=self._note(step),
        )

    def _inside(self, step: op.Operator, known: Names) -> tuple[PartOutline, ...]:
        match step:
            case op.AntiJoin(body=body) | op.AggregateOp(body=body):
                return (PartOutline("", self.chain(body, known)),)
            case op.Union(branches=branches):
                word = "clause" if _is_call(step) else "branch"
                single = len(branches) == 1
                return tuple(
                    PartOutline("" if single else f"{word} {n}", self.chain(one, known))
                    for n, one in enumerate(branches, 1)
                )
            case op.IfThenElseOp(condition=condition, then=then, otherwise=otherwise):
                met = known | condition.bound
                return (
                    PartOutline("if", self.chain(condition, known)),
                    PartOutline("then", self.chain(then, met)),
                    PartOutline("else", self.chain(otherwise, known)),
                )
            case op.Procedure():
                return self._clauses(step)
            case _:
                return ()

    def _clauses(self, step: op.Procedure) -> tuple[PartOutline, ...]:
        call = (step.key, step.bound)
        if call in self._calls:
            return ()
        self._calls.append(call)
        branches = self.program.procedures.branches[call]
        found = []
        for number, branch in enumerate(branches, 1):
            given = names(*(arg for i, arg in enumerate(branch.head) if i in step.bound))
            label = "" if len(branches) == 1 else f"clause {number}"
            found.append(PartOutline(label, self.chain(branch.body, given)))
        self._calls.pop()
        return tuple(found)

    def _note(self, step: op.Operator) -> str | None:
        match step:
            case op.Scan(bounds=bounds, time=time) if bounds:
                return f"only where {', '.join(_limit(time, bound) for bound in bounds)}"
            case op.Procedure(key=key, bound=bound) if (key, bound) in self._calls:
                return "calls itself"
            case op.FactJoin(key=key) if key in self.program.dynamic:
                return "grows with the input"
            case _:
                return None


def plain(term: Term) -> str:
    """A term as it was written, also where its variables have been renamed.

    >>> from horai.lang.core.terms import Var
    >>> plain(Var("Speed~3"))
    'Speed'
    """
    return _FRESH.sub("", show(term))


def told(found: Iterable[str]) -> tuple[str, ...]:
    """Variables that have a name, in order."""
    return tuple(sorted(_FRESH.sub("", name) for name in found if not name.startswith("_#")))


def _limit(time: Term, bound: op.Bound) -> str:
    limit = plain(bound.term).replace("+ -", "-")
    return f"{plain(time)} {'>=' if bound.lower else '=<'} {limit}"


def _is_call(step: op.Union) -> bool:
    """Does it stand for a procedure, whose clauses are its branches?"""
    return (functor(step.term) or ("", 0))[0] not in CONTROL


def _word(step: op.Operator) -> str:
    if isinstance(step, op.SpanOperation):
        return _SPANS[type(step.literal)]
    if isinstance(step, op.Union) and _is_call(step):
        return "procedure"
    if isinstance(step, op.Union) and len(step.branches) == 1:
        return "group"
    return _WORDS[type(step)]


def _text(step: op.Operator) -> str:
    match step:
        case op.AntiJoin():
            return "where there is no"
        case op.Union(branches=branches) if not _is_call(step):
            return "all of" if len(branches) == 1 else "any of"
        case op.IfThenElseOp():
            return "one of two ways"
        case op.AggregateOp(kind=kind, template=template, result=result):
            what = "" if template is None or kind == "count" else f" {plain(template)}"
            return f"{plain(result)} = {kind}{what} over all"
        case _:
            return plain(step.term)


def _binds(step: op.Operator, known: Names) -> Names:
    """The variables that an operator gives a value to."""
    match step:
        case op.AntiJoin() | op.Filter() | op.TruthOp():
            return frozenset()
        case op.Union(branches=branches) if not _is_call(step):
            return frozenset.intersection(*(one.bound for one in branches)) - known
        case op.IfThenElseOp(then=then, otherwise=otherwise):
            return (then.bound & otherwise.bound) - known
        case op.AggregateOp(result=result):
            return names(result) - known
        case _:
            return names(step.term) - known


_KINDS = {"event": "event", "initiated": "initiation", "terminated": "termination"}


def outline(program: Plan) -> PlanOutline:
    """The outline of a program."""
    return _Outliner(program).plan()


def _settled(stratum: Stratum) -> Settled:
    """How a component is settled."""
    if not stratum.points and not stratum.initially and not stratum.delays:
        return "lists"
    if stratum.settles_in_time:
        return "time"
    return "plain" if stratum.fluents else "points"


class _Outliner:
    def __init__(self, program: Plan) -> None:
        self.program = program
        self.operators = OperatorOutlines(program)
        parts = partition(program.description, stratify(program.graph))
        self.partitions = {part.component.number: part for part in parts}

    def plan(self) -> PlanOutline:
        """All of it."""
        groundings = [one for plans in self.program.groundings.values() for one in plans]
        return PlanOutline(
            inputs=self._inputs(),
            components=tuple(
                self._component(number, stratum)
                for number, stratum in enumerate(self.program.strata, 1)
            ),
            groundings=tuple(self._grounding(one) for one in groundings),
        )

    def _inputs(self) -> tuple[InputOutline, ...]:
        found: dict[InputOutline, None] = {}
        for entity in find_entities(self.program.description).inputs:
            fold = self.program.unwrapping.folds.get(entity.key)
            key = entity.key if fold is None else (fold.name, len(fold.parts))
            found[InputOutline(str(entity.kind), *key)] = None
        return tuple(found)

    def _component(self, number: int, stratum: Stratum) -> ComponentOutline:
        component = stratum.component
        split: Partitioning | None = self.partitions.get(component.number)
        plans: list[PointPlan | StaticPlan] = [*stratum.initially, *stratum.points, *stratum.static]
        rules = [(plan.clause, self._rule(plan, stratum)) for plan in plans]
        rules += [(plan.clause, self._delay(plan, stratum)) for plan in stratum.delays]
        named = tuple(dict.fromkeys(_name((v.name, v.arity)) for v in component.vertices))
        ordered = sorted(rules, key=lambda one: (named.index(one[1].defines), one[0].span[0]))
        return ComponentOutline(
            number=number,
            level=component.level,
            names=named,
            members=tuple(str(vertex) for vertex in component.vertices),
            cyclic=component.cyclic,
            settling=_settled(stratum),
            key=_split_by(split.key) if split and split.key else None,
            no_key=split.reason if split else None,
            rules=tuple(rule for _, rule in ordered),
            id=id(stratum),
        )

    def _rule(self, plan: PointPlan | StaticPlan, stratum: Stratum) -> RuleOutline:
        if isinstance(plan, PointPlan):
            kind = _KINDS.get(plan.kind, plan.kind)
            parts = (PartOutline("", self.operators.chain(plan.chain, plan.given)),)
        else:
            formula = isinstance(plan.rule, ec.HoldsAtRule)
            kind = "formula" if formula else "intervals"
            given = plan.domain | (names(plan.result) if formula else frozenset())
            parts = (PartOutline("", self.operators.chain(plan.chain, given)),)
        return self._outlined(plan, plan.key, kind, parts, looks_of(plan, stratum, self.program))

    def _outlined(
        self,
        plan: PointPlan | StaticPlan | DelayPlan,
        key: Key,
        kind: str,
        parts: tuple[PartOutline, ...],
        looks: Looks,
    ) -> RuleOutline:
        head = plan.clause.head
        return RuleOutline(
            defines=_name(key),
            kind=kind,
            head=plain(head) if head is not None else "",
            place=plan.clause.place,
            parts=parts,
            grounded=told(plan.domain) or (("_",) if plan.domain else ()),
            looks=looks,
            effect=None,
            id=id(plan),
        )

    def _delay(self, plan: DelayPlan, stratum: Stratum) -> RuleOutline:
        given = names(*plan.origin) | plan.domain | ({plan.time} if plan.time else frozenset())
        parts = (PartOutline("", self.operators.chain(plan.chain, given)),)
        kind = "delayed initiation" if plan.initiates else "delayed termination"
        looks = looks_of(plan, stratum, self.program)
        whole = self._outlined(plan, plan.target_key, kind, parts, looks)
        return replace(whole, effect=self._effect(plan))

    def _effect(self, plan: DelayPlan) -> str:
        origin, delay = plain(plan.rule.origin.term), plain(plan.delay)
        does = f"ends {origin} {delay} after it begins"
        if isinstance(plan.rule, ec.FutureInitiation):
            does = f"initiates {plain(plan.rule.target.term)} {delay} after {origin} begins"
        again = any(may_match(one.term, plan.rule.origin.term) for one in self.program.postponable)
        return f"{does}; a new initiation restarts the clock" if again else does

    def _grounding(self, plan: GroundingPlan) -> GroundingOutline:
        head = plan.clause.head
        entity = head.args[0] if head is not None and hasattr(head, "args") else None
        return GroundingOutline(
            entity=plain(entity) if entity is not None else _name(plan.key),
            place=plan.clause.place,
            operators=self.operators.chain(plan.listing, frozenset()),
        )


def _split_by(key: PartitionKey) -> str:
    """The arguments to split by, those at the same place together."""
    places: dict[str, list[str]] = {}
    for (_, name, arity), path in key.places:
        places.setdefault(".".join(str(i + 1) for i in path), []).append(_name((name, arity)))
    return "; ".join(f"argument {place} of {', '.join(who)}" for place, who in places.items())


def _name(key: Key) -> str:
    return f"{key[0]}/{key[1]}"
