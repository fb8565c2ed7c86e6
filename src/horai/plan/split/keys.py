"""Partition keys: which arguments can route items so that every join stays in one bucket.

A component can be split by a key when all conditions of each of its rules carry the same term at
the key's place: then items with equal keys meet in one bucket and no others need to. A place is
a path into the arguments: `(0,)` is the first argument, `(0, 1)` the second argument of a
compound first argument. Background relations go to every bucket and ask for nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from horai.lang.core.terms import Term, Var
from horai.lang.ec.syntax import Clause, EventDescription
from horai.plan.ec.components import Component, Strata
from horai.plan.split.demands import (
    Demand,
    EntityKey,
    Path,
    demands_of,
    key_terms,
    label,
)

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
