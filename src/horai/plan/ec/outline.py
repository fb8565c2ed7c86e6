"""The plan of a description as plain values: what `horai plan` shows.

Components stand in processing order with their rules and groundings, and each rule is a chain of
operators with its words and the variables bound. Its keys are stable: new ones may come, none goes
or changes its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from typing import Literal as OneOf

from horai.lang.core.printer import show
from horai.lang.core.terms import Term, args_of, functor
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.plan.ec.components import stratify
from horai.plan.ec.entities import find_entities
from horai.plan.ec.literals import Names, names
from horai.plan.ec.reach import looks_of
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


Json = dict[str, Any]


class Actual(Protocol):
    """What a run says of components and rules, by the identity of their plans."""

    def component(self, plan: int, rules: Sequence[int]) -> Json:
        """What is told of a component with its rules."""

    def rule(self, plan: int) -> Json:
        """What is told of a rule."""


CONTROL = (";", ",", "->", "*->", "|", "")
_FRESH = re.compile(r"~\d+")  # what tells the variables of unfolded clauses apart

_WORDS: dict[type, str] = {
    op.Scan: "join",
    op.FactJoin: "join",
    op.Stab: "stab",
    op.Lookup: "lookup",
    op.Filter: "filter",
    op.Unify: "unify",
    op.Extend: "extend",
    op.TruthOp: "truth",
    op.AntiJoin: "anti-join",
    op.Union: "union",
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

    def part(self, label: str, chain: op.Chain, known: Names) -> Json:
        """A chain that begins with some variables bound, and what it is for if there are more.

        Each operator tells what it does, the variables it binds and what is inside.
        """
        found = []
        for step in chain.steps:
            found.append(
                {
                    "id": "",
                    "operator": _word(step, known),
                    "text": _text(step),
                    "note": self._note(step),
                    "binds": told(_binds(step, known)),
                    "inside": self._inside(step, known),
                }
            )
            known |= _binds(step, known)
        return {"label": label, "operators": found}

    def _inside(self, step: op.Operator, known: Names) -> list[Json]:
        match step:
            case op.AntiJoin(body=body) | op.AggregateOp(body=body):
                return [self.part("", body, known)]
            case op.Union(branches=(met, unmet)) if _is_choice(step):
                return self._choice(met, unmet, known)
            case op.Union(branches=branches):
                word = "clause" if _is_call(step) else "branch"
                single = len(branches) == 1
                return [
                    self.part("" if single else f"{word} {n}", one, known)
                    for n, one in enumerate(branches, 1)
                ]
            case op.Procedure():
                return self._clauses(step)
            case _:
                return []

    def _choice(self, met: op.Chain, unmet: op.Chain, known: Names) -> list[Json]:
        """`(C -> A ; B)`: its branches are `C, A` and `\\+ C, B`."""
        none, *otherwise = unmet.steps
        assert isinstance(none, op.AntiJoin)
        condition = none.body
        then = met.steps[len(condition.steps) :]
        return [
            self.part("if", condition, known),
            self.part("then", op.Chain(then), known | condition.bound),
            self.part("else", op.Chain(tuple(otherwise)), known),
        ]

    def _clauses(self, step: op.Procedure) -> list[Json]:
        call = (step.key, step.bound)
        if call in self._calls:
            return []
        self._calls.append(call)
        branches = self.program.procedures.branches[call]
        found = []
        for number, branch in enumerate(branches, 1):
            given = names(*(arg for i, arg in enumerate(branch.head) if i in step.bound))
            label = "" if len(branches) == 1 else f"clause {number}"
            found.append(self.part(label, branch.body, given))
        self._calls.pop()
        return found

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


def told(found: Iterable[str]) -> list[str]:
    """Variables that have a name, in order."""
    return sorted(_FRESH.sub("", name) for name in found if not name.startswith("_#"))


def _limit(time: Term, bound: op.Bound) -> str:
    limit = plain(bound.term).replace("+ -", "-")
    return f"{plain(time)} {'>=' if bound.lower else '=<'} {limit}"


def _is_call(step: op.Union) -> bool:
    """Does it stand for a procedure, whose clauses are its branches?"""
    return (functor(step.term) or ("", 0))[0] not in CONTROL


def _is_choice(step: op.Union) -> bool:
    """Does it stand for `(C -> A ; B)`?"""
    whole = step.term
    return functor(whole) == (";", 2) and functor(args_of(whole)[0]) == ("->", 2)


def _word(step: op.Operator, known: Names) -> str:
    if isinstance(step, op.Stab) and not names(step.time) <= known:
        return "walk"
    if isinstance(step, op.SpanOperation):
        return _SPANS[type(step.literal)]
    if isinstance(step, op.Union) and _is_call(step):
        return "procedure"
    if isinstance(step, op.Union) and _is_choice(step):
        return "choice"
    if isinstance(step, op.Union) and len(step.branches) == 1:
        return "group"
    return _WORDS[type(step)]


def _text(step: op.Operator) -> str:
    match step:
        case op.AntiJoin():
            return "where there is no"
        case op.Union() if _is_choice(step):
            return "one of two ways"
        case op.Union(branches=branches) if not _is_call(step):
            return "all of" if len(branches) == 1 else "any of"
        case op.AggregateOp(kind=kind, template=template, result=result):
            what = "" if template is None or kind == "count" else f" {plain(template)}"
            return f"{plain(result)} = {kind}{what} over all"
        case _:
            return plain(step.term)


def _binds(step: op.Operator, known: Names) -> Names:
    """The variables that an operator gives a value to."""
    is_call = isinstance(step, op.Union) and _is_call(step)
    return (names(step.term) if is_call else op.binds(step)) - known


_KINDS = {"event": "event", "initiated": "initiation", "terminated": "termination"}


def outline(program: Plan, actual: Actual | None = None) -> Json:
    """The outline of a program; with what a run tells, `actual` is there everywhere."""
    return _Outliner(program, actual).plan()


def _settled(stratum: Stratum) -> Settled:
    """How a component is settled."""
    if not stratum.points and not stratum.initially and not stratum.delays:
        return "lists"
    if stratum.settles_in_time:
        return "time"
    return "plain" if stratum.fluents else "points"


class _Outliner:
    def __init__(self, program: Plan, actual: Actual | None) -> None:
        self.program, self.actual = program, actual
        self.operators = OperatorOutlines(program)
        parts = partition(program.description, stratify(program.graph))
        self.partitions = {part.component.number: part for part in parts}

    def plan(self) -> Json:
        """All of it."""
        strata = enumerate(self.program.strata, 1)
        return {
            "inputs": self._inputs(),
            "components": [self._component(number, stratum) for number, stratum in strata],
            "groundings": [
                self._grounding(one) for plans in self.program.groundings.values() for one in plans
            ],
        }

    def _inputs(self) -> list[Json]:
        found: dict[tuple[str, Key], None] = {}
        for entity in find_entities(self.program.description).inputs:
            fold = self.program.unwrapping.folds.get(entity.key)
            key = entity.key if fold is None else (fold.name, len(fold.parts))
            found[str(entity.kind), key] = None
        return [{"kind": kind, "name": name, "arity": arity} for kind, (name, arity) in found]

    def _component(self, number: int, stratum: Stratum) -> Json:
        """A component; numbers count them in the order in which they are worked out."""
        component = stratum.component
        split: Partitioning | None = self.partitions.get(component.number)
        named = list(dict.fromkeys(_name((v.name, v.arity)) for v in component.vertices))
        plans: list[PointPlan | StaticPlan | DelayPlan]
        plans = [*stratum.initially, *stratum.points, *stratum.static, *stratum.delays]
        rules = [(plan, self._rule(plan, stratum)) for plan in plans]
        rules.sort(key=lambda one: (named.index(one[1]["defines"]), one[0].clause.span[0]))
        for place, (_, rule) in enumerate(rules, 1):
            rule["id"] = f"{number}.{place}"
            _number(rule["parts"], rule["id"])
        found: Json = {
            "id": str(number),
            "level": component.level,
            "entities": named,
            "members": [str(vertex) for vertex in component.vertices],
            "cyclic": component.cyclic,
            "settled": _settled(stratum),
            "partition": {
                "key": _split_by(split.key) if split and split.key else None,
                "reason": split.reason if split else None,
            },
            "rules": [rule for _, rule in rules],
        }
        if self.actual is not None:
            found["actual"] = self.actual.component(id(stratum), [id(plan) for plan, _ in rules])
        return found

    def _rule(self, plan: PointPlan | StaticPlan | DelayPlan, stratum: Stratum) -> Json:
        """A rule: its head, the chains of its body, what its grounding gives, how far it looks."""
        effect, key = None, plan.target_key if isinstance(plan, DelayPlan) else plan.key
        if isinstance(plan, PointPlan):
            kind, given = _KINDS.get(plan.kind, plan.kind), plan.given
        elif isinstance(plan, DelayPlan):
            kind = "delayed initiation" if plan.initiates else "delayed termination"
            given = names(*plan.origin) | plan.domain | ({plan.time} if plan.time else frozenset())
            effect = self._effect(plan)
        else:
            is_formula = isinstance(plan.rule, ec.HoldsAtRule)
            kind = "formula" if is_formula else "intervals"
            given = plan.domain | (names(plan.result) if is_formula else frozenset())
        looks, head = looks_of(plan, stratum, self.program), plan.clause.head
        found: Json = {
            "id": "",
            "defines": _name(key),
            "kind": kind,
            "head": plain(head) if head is not None else "",
            "place": plan.clause.place,
            "effect": effect,
            "from_grounding": told(plan.domain) or (["_"] if plan.domain else []),
            "looks": {
                "back": looks.back,
                "ahead": looks.ahead,
                "final": looks.final,
                "words": looks.words,
            },
            "parts": [self.operators.part("", plan.chain, given)],
        }
        if self.actual is not None:
            found["actual"] = self.actual.rule(id(plan))
        return found

    def _effect(self, plan: DelayPlan) -> str:
        origin, delay = plain(plan.rule.origin.term), plain(plan.delay)
        does = f"ends {origin} {delay} after it begins"
        if isinstance(plan.rule, ec.FutureInitiation):
            does = f"initiates {plain(plan.rule.target.term)} {delay} after {origin} begins"
        again = any(may_match(one.term, plan.rule.origin.term) for one in self.program.postponable)
        return f"{does}; a new initiation restarts the clock" if again else does

    def _grounding(self, plan: GroundingPlan) -> Json:
        """A grounding and the chain that lists its instances."""
        head = plan.clause.head
        entity = head.args[0] if head is not None and hasattr(head, "args") else None
        named = plain(entity) if entity is not None else _name(plan.key)
        parts = [self.operators.part("", plan.listing, frozenset())]
        _number(parts, named)
        return {"entity": named, "place": plan.clause.place, "parts": parts}


def _number(parts: Iterable[Json], name: str) -> None:
    """Operators are numbered through all chains of a rule, those inside by what they are in."""
    operators = [one for part in parts for one in part["operators"]]
    for place, one in enumerate(operators, 1):
        one["id"] = f"{name}.{place}"
        _number(one["inside"], one["id"])


def _split_by(key: PartitionKey) -> str:
    """The arguments to split by, those at the same place together."""
    places: dict[str, list[str]] = {}
    for (_, name, arity), path in key.places:
        places.setdefault(".".join(str(i + 1) for i in path), []).append(_name((name, arity)))
    return "; ".join(f"argument {place} of {', '.join(who)}" for place, who in places.items())


def _name(key: Key) -> str:
    return f"{key[0]}/{key[1]}"
