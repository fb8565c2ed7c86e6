"""Partition keys: which arguments can route items so that every join stays in one bucket.

A component can be split by a key when all conditions of each of its rules carry the same term at
the key's place: then items with equal keys meet in one bucket and no others need to. A place is
a path into the arguments: `(0,)` is the first argument, `(0, 1)` the second argument of a
compound first argument. Background relations go to every bucket and ask for nothing.

Each rule makes demands: the entities that it brings together, as it mentions them, and which of its
conditions bring those of others together, since every solution has a row of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

from horai.lang.core.printer import show
from horai.lang.core.terms import (
    Compound,
    Constant,
    Int,
    ListTerm,
    Str,
    Term,
    Var,
    args_of,
    is_anonymous,
    key_of,
    substitute,
    variables,
)
from horai.lang.ec import syntax as ec
from horai.lang.ec.syntax import Clause, EventDescription
from horai.plan.ec.components import Component, Strata
from horai.plan.ec.entities import Kind
from horai.plan.ec.literals import body_literals, given_by
from horai.plan.ec.readings import readings
from horai.plan.ec.rule_order import head_entity
from horai.plan.unfolding import Helpers, callers

Needed = frozenset[int]
_NOBODY: frozenset[str] = frozenset()


def needed_literals(rule: ec.Rule) -> Needed:
    """The conditions that a rule needs, by the identity of the literal."""
    body = ec.body_of(rule)
    goals = list(ec.conjuncts(body)) if body is not None else []
    if isinstance(rule, ec.HoldsForRule):
        return _Lists(goals).behind(rule.intervals)
    points = ec.Happens | ec.Edge | ec.HoldsAt | ec.InitiatedAt | ec.TerminatedAt
    return frozenset(id(goal) for goal in goals if isinstance(goal, points))


def loose_variables(rule: ec.Rule) -> frozenset[str]:
    """Variables that a solution may have without a row that names their value.

    They range over all values that are known, whoever else these are known with. Where lists are
    added up, some row names them; where one is taken away from another, it need not. Those of the
    conditions alone count too: while no value of one is known, the rule has no solution.
    """
    if not isinstance(rule, ec.HoldsForRule):
        return _NOBODY
    goals = list(ec.conjuncts(rule.body))
    head = frozenset(n for n, v in variables(rule.fvp.fluent).items() if not is_anonymous(v))
    asked = (variables(goal.fvp.term) for goal in goals if isinstance(goal, ec.HoldsFor))
    return head.union(*asked) - _Lists(goals).naming(rule.intervals)


Found = TypeVar("Found")


class _Lists:
    """Interval lists by their variable, as the conditions of one rule make them."""

    def __init__(self, goals: list[ec.Literal]) -> None:
        self.makers: dict[str, list[ec.Literal]] = {}
        for goal in goals:
            match goal:
                case ec.HoldsFor(intervals=Var(name=name)):
                    self.makers.setdefault(name, []).append(goal)
                case ec.IntervalOp() | ec.DurationFilter() | ec.Allen():
                    for name in given_by(goal):
                        self.makers.setdefault(name, []).append(goal)

    def behind(self, term: Term) -> Needed:
        """The conditions that must have intervals for a list to have any."""
        return self._surely(term, lambda condition: frozenset({id(condition)}), frozenset())

    def naming(self, term: Term) -> frozenset[str]:
        """The variables whose values rows name, wherever a list has intervals."""

        def named(condition: ec.HoldsFor) -> frozenset[str]:
            return frozenset([*variables(condition.fvp.fluent), *variables(condition.fvp.value)])

        return self._surely(term, named, frozenset())

    def _surely(
        self, term: Term, of: Callable[[ec.HoldsFor], frozenset[Found]], seen: frozenset[str]
    ) -> frozenset[Found]:
        """What follows from a list having intervals, by the conditions that must have some too."""
        nothing = frozenset[Found]()
        makers = self.makers.get(term.name, []) if isinstance(term, Var) else []
        if not isinstance(term, Var) or term.name in seen or len(makers) != 1:
            return nothing
        seen = seen | {term.name}

        def inside(part: Term) -> frozenset[Found]:
            return self._surely(part, of, seen)

        match makers[0]:
            case ec.HoldsFor() as condition:
                return of(condition)
            case ec.IntervalOp(base=base, lists=ListTerm(items=items, tail=None)) as made:
                sure = nothing if base is None else inside(base)
                if made.operator.takes_away or not items:
                    return sure
                first, *rest = map(inside, items)
                every = made.operator.gather.needed == "each"
                return sure | (first.union(*rest) if every else first.intersection(*rest))
            case ec.DurationFilter(intervals=intervals):
                return inside(intervals)
            case ec.Allen(source=source, target=target):
                return inside(source) | inside(target)
            case _:
                return nothing


EntityKey = tuple[Kind, str, int]
Path = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class EntityPart:
    """An entity as a rule mentions it; `named` says how, for the reason given to people.

    `needed` marks a condition that every solution of the rule has a row of.
    """

    entity: EntityKey
    term: Term
    named: str
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Demand:
    """The entities that one rule makes meet; the first one is the head."""

    rule: ec.Rule
    parts: tuple[EntityPart, ...]

    @property
    def is_rule(self) -> bool:
        """False for a grounding, which defines nothing."""
        return not isinstance(self.rule, ec.Grounding)


def demands_of(description: ec.EventDescription, strata: Strata) -> dict[int, list[Demand]]:
    """The demands of each component, by its number."""
    helpers = Helpers(description)
    domains = Domains(description)
    made = {head.entity for rule in description.rules if (head := head_part(rule))}
    found: dict[int, list[Demand]] = {}
    for component in strata.components:
        rules = {id(r): r for vertex in component.vertices for r in strata.graph.rules[vertex]}
        demands = [d for rule in rules.values() if (d := _demand(rule, helpers, domains))]
        demands += domains.of_heads({demand.parts[0].entity for demand in demands})
        demands += domains.of_heads(_known_by_groundings(demands) - made)
        demands += domains.of_members(demands, made)
        if demands:
            found[component.number] = demands
    return found


def _known_by_groundings(demands: list[Demand]) -> set[EntityKey]:
    """Readings of rules about all entities that are known; groundings may say which."""
    found: set[EntityKey] = set()
    for demand in demands:
        operations = (
            part for part in body_literals(demand.rule) if isinstance(part, ec.IntervalOp)
        )
        complements = any(part.operator.base == "time" for part in operations)
        if complements or isinstance(demand.rule, ec.HoldsAtRule):
            found |= {part.entity for part in demand.parts[1:]}
    return found


def _demand(rule: ec.Rule, helpers: Helpers, domains: Domains) -> Demand | None:
    head = head_part(rule)
    if head is None:
        return None
    body = [*_body_parts(rule, helpers), *domains.asked(rule)]
    loose = loose_variables(rule)
    if domains.ground(head.entity):
        loose -= frozenset(variables(head.term))
    body += _loose(body, loose)
    if not body:
        # Who has the fluent is then a matter of its grounding, argument by argument.
        head = EntityPart(head.entity, _all_named(head.term), head.named)
    return Demand(rule, tuple(_canonical(part, rule) for part in (head, *body)))


def _loose(body: list[EntityPart], names: frozenset[str]) -> list[EntityPart]:
    """Values of these variables are known by any row that names them, whoever is beside them."""
    return [
        EntityPart(part.entity, _alone(part.term, name), f"what is known of {name} by {part.named}")
        for name in sorted(names)
        for part in body
        if name in variables(part.term)
    ]


def _alone(term: Term, name: str) -> Term:
    """A term in which only one of the variables has a name."""
    others = (other for other in variables(term) if other != name)
    return substitute(term, {other: Var(f"_#{other}") for other in others})


def _all_named(term: Term) -> Term:
    anonymous = (name for name, var in variables(term).items() if is_anonymous(var))
    return substitute(term, {name: Var(f"Any{name}") for name in anonymous})


def head_part(rule: ec.Rule) -> EntityPart | None:
    """The entity that a rule defines."""
    entity = head_entity(rule)
    if isinstance(rule, ec.FutureTermination):
        entity = (rule.origin.fluent, rule.origin.value)
    if entity is None:
        return None
    term, value = entity
    kind = Kind.EVENT if value is None else Kind.FLUENT
    return EntityPart((kind, *key_of(term)), term, "the head")


def _body_parts(rule: ec.Rule, helpers: Helpers) -> Iterator[EntityPart]:
    if isinstance(rule, ec.FutureInitiation):
        origin = rule.origin
        named = f"{label(origin.fluent)} of the fi"
        yield EntityPart((Kind.FLUENT, *origin.key), origin.fluent, named, needed=True)
    needed = needed_literals(rule)
    for reading in readings(rule, helpers):
        literal = reading.literal
        happens = isinstance(literal, ec.Happens)
        term = literal.event if isinstance(literal, ec.Happens) else literal.fvp.fluent
        inside = " (inside an aggregate)" if reading.aggregated else ""
        entity = (Kind.EVENT if happens else Kind.FLUENT, *key_of(term))
        yield EntityPart(entity, term, f"{label(term)}{inside}", id(literal) in needed)


def label(term: Term) -> str:
    match term:
        case Compound(name=name, args=args):
            return f"{show(Constant(name))}({','.join(label(arg) for arg in args)})"
        case Var() if is_anonymous(term):
            return "_"
        case ListTerm():
            return "[..]"
        case _:
            return show(term)


def _canonical(part: EntityPart, rule: ec.Rule) -> EntityPart:
    """The part with variables that the body equates written as one."""
    same = _aliases(rule)
    return replace(part, term=substitute(part.term, same)) if same else part


def _aliases(rule: ec.Rule) -> dict[str, Var]:
    same: dict[str, Var] = {}
    body = ec.body_of(rule)
    for literal in ec.conjuncts(body) if body is not None else ():
        match literal:
            case ec.Compare(op="=" | "==", left=Var() as left, right=Var() as right):
                one, other = (substitute(side, same) for side in (left, right))
                if one != other and isinstance(one, Var) and isinstance(other, Var):
                    same[other.name] = one
    return same


def key_terms(term: Term, path: Path = ()) -> Iterator[tuple[Path, Term]]:
    """The variables and constants inside an entity's arguments, with their places."""
    for number, arg in enumerate(args_of(term)):
        match arg:
            case Compound():
                yield from key_terms(arg, (*path, number))
            case Var() if is_anonymous(arg):
                pass
            case Var() | Constant() | Int() | Str():
                yield (*path, number), arg


class Domains:
    """Dynamic domains: items make their members, so that these have to meet what asks for them."""

    def __init__(self, description: ec.EventDescription) -> None:
        self.groundings = description.of(ec.Grounding)
        self.dynamic = {key_of(rule.domain) for rule in description.of(ec.DynamicDomain)}
        calls: dict[ec.Key, set[ec.Key]] = {}
        for rule in description.of(ec.BackgroundRule):
            inside = {part.key for part in ec.walk(rule.body) if isinstance(part, ec.Call)}
            calls.setdefault(rule.key, set()).update(inside)
        # By dynamic domain, the predicates that ask for its members, itself among them.
        self.asking = {domain: callers(calls, {domain}) for domain in self.dynamic}
        self.hiding = callers(calls, self.dynamic)

    def ground(self, entity: EntityKey) -> bool:
        """Does a grounding say whom a fluent is about?"""
        fluents = (one.key for one in self.groundings if one.value is not None)
        return entity[0] is Kind.FLUENT and entity[1:] in fluents

    def asked(self, rule: ec.Rule) -> Iterator[EntityPart]:
        """The domains that the body of a rule asks for members."""
        for literal in body_literals(rule):
            if isinstance(literal, ec.Call) and literal.key in self.hiding:
                seen = literal.key in self.dynamic
                term = literal.term if seen else Constant(literal.name)
                hidden = "" if seen else " (which asks for members of a dynamic domain)"
                yield EntityPart(
                    (Kind.DOMAIN, *literal.key), term, f"{label(literal.term)}{hidden}"
                )

    def of_heads(self, heads: set[EntityKey]) -> list[Demand]:
        """The demands of the groundings of some entities."""
        return [demand for demand in self._groundings() if demand.parts[0].entity in heads]

    def of_members(self, demands: list[Demand], made: set[EntityKey]) -> list[Demand]:
        """The groundings of what no rule makes: through them items become members."""
        used = self._dynamic_in(demands)
        return [
            demand
            for demand in self._groundings()
            if demand.parts[0].entity not in made and used & self._dynamic_in([demand])
        ]

    def _dynamic_in(self, demands: list[Demand]) -> set[ec.Key]:
        """The dynamic domains whose members are asked for, through helpers too."""
        parts = {part.entity for demand in demands for part in demand.parts}
        asked = {entity[1:] for entity in parts if entity[0] is Kind.DOMAIN}
        return {domain for domain, asking in self.asking.items() if asking & asked}

    def _groundings(self) -> list[Demand]:
        return [demand for rule in self.groundings if (demand := self._grounding(rule))]

    def _grounding(self, rule: ec.Grounding) -> Demand | None:
        asked = list(self.asked(rule))
        kind = Kind.EVENT if rule.value is None else Kind.FLUENT
        named = f"the grounding of {label(rule.entity)}"
        head = EntityPart((kind, *rule.key), rule.entity, named)
        return Demand(rule, (head, *asked)) if asked else None


# More alternatives than this help nobody: one key is enough to split by.
ENOUGH = 16


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of `entity` go where rows of `anchor` with the same term are.

    The term stands at `place` in the entity and at `meeting` in the anchor, whose key is at `key`.
    """

    entity: EntityKey
    place: Path
    anchor: EntityKey
    meeting: Path
    key: Path


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """The place of the key in every entity a component defines or reads.

    What does not carry the key itself comes by `joins`.
    """

    places: tuple[tuple[EntityKey, Path], ...]
    joins: tuple[Join, ...] = ()

    def __str__(self) -> str:
        return ", ".join(
            f"{name}/{arity} by argument {'.'.join(str(i + 1) for i in path)}"
            for (_, name, arity), path in self.places
        )


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The keys a component can be split by, or why there is none; `key` is the one chosen."""

    component: Component
    keys: tuple[PartitionKey, ...]
    reason: str | None
    clause: Clause | None = None
    key: PartitionKey | None = None


def partition(description: EventDescription, strata: Strata) -> list[Partitioning]:
    """A partitioning of every component that rules define, in processing order."""
    demands = demands_of(description, strata)
    places: dict[EntityKey, Path] = {}  # of the components before: one pass serves all of them
    found: list[Partitioning] = []
    for component in strata.components:
        if component.level:
            heads = dict.fromkeys((v.kind, v.name, v.arity) for v in component.vertices)
            keys, reason, clause = find_keys(heads, demands.get(component.number, []))
            key = choose(keys, places) or (keys[0] if keys else None)
            places |= dict(key.places) if key else {}
            found.append(Partitioning(component, keys, reason, clause, key))
    return found


def find_keys(
    heads: Iterable[EntityKey], demands: list[Demand]
) -> tuple[tuple[PartitionKey, ...], str | None, Clause | None]:
    """The keys by which rules can be split, or why there is none and the rule at fault."""
    bare = [name for _, name, arity in heads if arity == 0]
    if bare:
        clause = demands[0].rule.clause if demands else None
        return (), f"{bare[0]} has no arguments to split by", clause
    found = islice(choices(_mentions(demands)), ENOUGH)
    keys = tuple(PartitionKey(tuple(places.items())) for places in found)
    return (keys, None, None) if keys else ((), *_why_not(demands))


def _mentions(demands: Iterable[Demand]) -> list[list[Mention[EntityKey, Path]]]:
    return [[(part.entity, _places(part.term)) for part in demand.parts] for demand in demands]


def _places(term: Term) -> dict[Path, Term]:
    """Variables before constants: a constant would send everything to one bucket."""
    return dict(sorted(key_terms(term), key=lambda pair: not isinstance(pair[1], Var)))


Who = TypeVar("Who", bound=Hashable)
Place = TypeVar("Place", bound=Hashable)
Mention = tuple[Who, Mapping[Place, Term]]
"""Who is mentioned, and the terms at the places where the key may be."""


def choices(rules: Sequence[Sequence[Mention[Who, Place]]]) -> Iterator[dict[Who, Place]]:
    """The ways to choose one place for each of those that rules mention.

    All that one rule mentions must have the same term at its place.
    """
    left: dict[Who, tuple[Place, ...]] = {}
    for who, terms in (mention for rule in rules for mention in rule):
        left[who] = tuple(place for place in left.get(who, tuple(terms)) if place in terms)
    return _chosen(rules, left)


def _chosen(
    rules: Sequence[Sequence[Mention[Who, Place]]], left: dict[Who, tuple[Place, ...]]
) -> Iterator[dict[Who, Place]]:
    narrowed = _narrowed(rules, left)
    if narrowed is None:
        return
    undecided = next((who for who, places in narrowed.items() if len(places) > 1), None)
    if undecided is None:
        yield {who: places[0] for who, places in narrowed.items()}
        return
    for place in narrowed[undecided]:
        yield from _chosen(rules, {**narrowed, undecided: (place,)})


def _narrowed(
    rules: Sequence[Sequence[Mention[Who, Place]]], left: dict[Who, tuple[Place, ...]]
) -> dict[Who, tuple[Place, ...]] | None:
    """Without the places that some rule excludes; None if nothing is left for somebody."""
    left, changed = dict(left), True
    while changed:
        changed = False
        for rule in rules:
            common = set.intersection(*({terms[p] for p in left[who]} for who, terms in rule))
            for who, terms in rule:
                kept = tuple(place for place in left[who] if terms[place] in common)
                if not kept:
                    return None
                if kept != left[who]:
                    left[who], changed = kept, True
    return left


def _why_not(demands: list[Demand]) -> tuple[str, Clause | None]:
    """The first rule that has no key of its own, or the first that disagrees with the others."""
    rules = _mentions(demands)
    for rule, demand in zip(rules, demands, strict=True):
        if not any(choices([rule])):
            return _no_common_term(demand), demand.rule.clause
    for count in range(2, len(demands) + 1):
        if not any(choices(rules[:count])):
            clause = demands[count - 1].rule.clause
            reason = "its rules do not agree on an argument: this one joins by another argument"
            return f"{reason} than the rules before it", clause
    return "it has no rules", None


def _no_common_term(demand: Demand) -> str:
    head, *body = demand.parts
    names = [term for _, term in key_terms(head.term)]
    if not names:
        return f"{label(head.term)} has no argument with a name to split by"
    gaps: list[str] = []
    for name in dict.fromkeys(label(term) for term in names):
        without = [p for p in body if name not in {label(t) for _, t in key_terms(p.term)}]
        if without:
            gaps.append(f"{without[0].named} does not carry {name}")
    if len(gaps) == len(set(names)):
        return "; ".join(gaps)
    return f"{label(head.term)} joins several instances of one entity by different arguments"


def choose(keys: Iterable[PartitionKey], places: dict[EntityKey, Path]) -> PartitionKey | None:
    """The first key that agrees with the places that are known already."""
    agreeing = (k for k in keys if all(places.get(entity, at) == at for entity, at in k.places))
    return next(agreeing, None)
