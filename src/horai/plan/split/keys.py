"""Partition keys: which arguments can route items so that every join stays in one bucket.

A component can be split by a key when all conditions of each of its rules carry the same term at
the key's place: then items with equal keys meet in one bucket and no others need to. A place is
a path into the arguments: `(0,)` is the first argument, `(0, 1)` the second argument of a
compound first argument. Background relations go to every bucket and ask for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from horai.lang.core.terms import Term, Var
from horai.lang.ec.syntax import Clause, EventDescription
from horai.plan.ec.components import Component, Strata
from horai.plan.ec.entities import Kind
from horai.plan.split.demands import (
    Demand,
    EntityKey,
    EntityPart,
    Path,
    demands_of,
    key_terms,
    label,
)

# More alternatives than this help nobody: one key is enough to split by.
ENOUGH = 16


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """The place of the key in every entity a component defines or reads."""

    places: tuple[tuple[EntityKey, Path], ...]

    def place(self, kind: Kind, name: str, arity: int) -> Path | None:
        """Where the key is in an entity's arguments; None for an entity that is not involved."""
        return dict(self.places).get((kind, name, arity))

    def __str__(self) -> str:
        return ", ".join(
            f"{name}/{arity} by argument {'.'.join(str(i + 1) for i in path)}"
            for (_, name, arity), path in self.places
        )


@dataclass(frozen=True, slots=True)
class Partitioning:
    """The keys a component can be split by, or why there is none; `key` is the one chosen.

    `stage` groups components that can run in one pass over the same buckets; a component of a
    later stage needs what earlier stages found to be routed anew.
    """

    component: Component
    keys: tuple[PartitionKey, ...]
    reason: str | None
    clause: Clause | None = None
    key: PartitionKey | None = None
    stage: int = 0


def partition(description: EventDescription, strata: Strata) -> list[Partitioning]:
    """A partitioning of every component that rules define, in processing order."""
    demands = demands_of(description, strata)
    found: list[Partitioning] = []
    for component in strata.components:
        if component.level == 0:
            continue
        found.append(_split(component, demands.get(component.number, [])))
    return _stages(found, strata)


# --- finding keys ------------------------------------------------------------------------------


def _split(component: Component, demands: list[Demand]) -> Partitioning:
    heads = dict.fromkeys((v.kind, v.name, v.arity) for v in component.vertices)
    keys, reason, clause = find_keys(heads, demands)
    return Partitioning(component, keys, reason, clause, keys[0] if keys else None)


def find_keys(
    heads: Iterable[EntityKey], demands: list[Demand]
) -> tuple[tuple[PartitionKey, ...], str | None, Clause | None]:
    """The keys by which rules can be split, or why there is none and the rule at fault."""
    bare = [name for _, name, arity in heads if arity == 0]
    if bare:
        clause = demands[0].rule.clause if demands else None
        return (), f"{bare[0]} has no arguments to split by", clause
    keys = tuple(islice(_solve(demands, {}), ENOUGH))
    return (keys, None, None) if keys else ((), *_why_not(demands))


def _solve(demands: list[Demand], places: dict[EntityKey, Path]) -> Iterator[PartitionKey]:
    """All consistent choices, rule by rule."""
    if not demands:
        yield PartitionKey(tuple(places.items()))
        return
    seen: set[PartitionKey] = set()
    for chosen in _satisfy(demands[0].parts, None, places):
        for key in _solve(demands[1:], chosen):
            if key not in seen:
                seen.add(key)
                yield key


def _satisfy(
    parts: tuple[EntityPart, ...], term: Term | None, places: dict[EntityKey, Path]
) -> Iterator[dict[EntityKey, Path]]:
    """Choices of places for the entities of one rule that all hold the same term."""
    if not parts:
        yield places
        return
    first, rest = parts[0], parts[1:]
    fixed = places.get(first.entity)
    # Variables before constants: a constant would send everything to one bucket.
    places_first = sorted(key_terms(first.term), key=lambda pair: not isinstance(pair[1], Var))
    for path, found in places_first:
        if fixed is not None and path != fixed:
            continue
        if term is not None and found != term:
            continue
        yield from _satisfy(rest, found, {**places, first.entity: path})


def _why_not(demands: list[Demand]) -> tuple[str, Clause | None]:
    """The first rule that has no key of its own, or the first that disagrees with the others."""
    for demand in demands:
        if next(_satisfy(demand.parts, None, {}), None) is None:
            return _no_common_term(demand), demand.rule.clause
    for count in range(2, len(demands) + 1):
        if next(_solve(demands[:count], {}), None) is None:
            rule = demands[count - 1].rule
            reason = "its rules do not agree on an argument: this one joins by another argument"
            return f"{reason} than the rules before it", rule.clause
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


# --- stages ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Stage:
    """The places of the keys of one stage; a stage in one bucket has none."""

    places: dict[EntityKey, Path] | None

    def takes(self, key: PartitionKey) -> bool:
        return self.places is not None and agrees(key, self.places)


def _stages(found: list[Partitioning], strata: Strata) -> list[Partitioning]:
    """Components with agreeing keys share a stage; the others come after what they read."""
    stages: list[_Stage] = []
    stage_of: dict[int, int] = {}
    placed: list[Partitioning] = []
    for item in found:
        reads = _read_components(item.component, strata)
        earliest = max((stage_of[n] for n in reads if n in stage_of), default=0)
        stage, key = _fit(item, earliest, stages)
        if stage == len(stages):
            key = _most_shared(item, found) if item.keys else None
            stages.append(_Stage(None if key is None else {}))
        places = stages[stage].places
        if key is not None and places is not None:
            places.update(dict(key.places))
        stage_of[item.component.number] = stage
        placed.append(replace(item, key=key, stage=stage))
    return placed


def _read_components(component: Component, strata: Strata) -> set[int]:
    edges = strata.graph.i_edges | strata.graph.f_edges
    mine = set(component.vertices)
    return {strata.component_of[a].number for a, b in edges if b in mine and a not in mine}


def _fit(
    item: Partitioning, earliest: int, stages: list[_Stage]
) -> tuple[int, PartitionKey | None]:
    """The first stage that can take a component, or the number of a new one."""
    for number in range(earliest, len(stages)):
        if not item.keys and stages[number].places is None:
            return number, None
        for key in item.keys:
            if stages[number].takes(key):
                return number, key
    return len(stages), None


def _most_shared(item: Partitioning, found: list[Partitioning]) -> PartitionKey:
    """The key that most other components could share."""

    def shared(key: PartitionKey) -> int:
        mine = dict(key.places)
        return sum(any(agrees(other, mine) for other in one.keys) for one in found)

    return max(item.keys, key=shared)


def agrees(key: PartitionKey, known: dict[EntityKey, Path]) -> bool:
    """Has the key the places that are known already?"""
    return all(known.get(entity, path) == path for entity, path in key.places)
