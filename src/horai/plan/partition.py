"""Partition keys: which arguments can route items so that every join stays in one bucket.

A component can be split by a key when all conditions of each of its rules carry the same term at
the key's place: then items with equal keys meet in one bucket and no others need to. A place is
a path into the arguments: `(0,)` is the first argument, `(0, 1)` the second argument of a
compound first argument. Background relations go to every bucket and ask for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from horai.lang.ec.syntax import (
    Clause,
    Compare,
    EventDescription,
    FutureInitiation,
    FutureTermination,
    Happens,
    Rule,
    conjuncts,
)
from horai.lang.printer import show
from horai.lang.terms import Atom, Compound, Int, ListTerm, Str, Term, Var, functor, is_anonymous
from horai.plan.components import Component, Strata
from horai.plan.entities import Kind, literal_fvp
from horai.plan.ordering import head_entity
from horai.plan.readings import Helpers, Reading, readings

EntityKey = tuple[Kind, str, int]
Path = tuple[int, ...]
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


@dataclass(frozen=True, slots=True)
class _Part:
    """An entity as a rule mentions it; `named` says how, for the reason given to people."""

    entity: EntityKey
    term: Term
    named: str


@dataclass(frozen=True, slots=True)
class _Demand:
    """The entities that one rule makes meet."""

    rule: Rule
    parts: tuple[_Part, ...]


def partition(description: EventDescription, strata: Strata) -> list[Partitioning]:
    """A partitioning of every component that rules define, in processing order."""
    demands = _demands(description, strata)
    found: list[Partitioning] = []
    for component in strata.components:
        if component.level == 0:
            continue
        found.append(_split(component, demands.get(component.number, [])))
    return _stages(found, strata)


def _demands(description: EventDescription, strata: Strata) -> dict[int, list[_Demand]]:
    helpers = Helpers(description)
    found: dict[int, list[_Demand]] = {}
    for component in strata.components:
        rules = {id(r): r for vertex in component.vertices for r in strata.graph.rules[vertex]}
        for rule in rules.values():
            head = _head(rule)
            if head is not None:
                parts = [_canonical(part, rule) for part in (head, *_body_parts(rule, helpers))]
                found.setdefault(component.number, []).append(_Demand(rule, tuple(parts)))
    return found


def _head(rule: Rule) -> _Part | None:
    if isinstance(rule, FutureTermination):
        return _fluent_part(rule.origin.fluent, "the head")
    entity = head_entity(rule)
    if entity is None:
        return None
    term, value = entity
    if value is not None:
        return _fluent_part(term, "the head")
    key = functor(term)
    return None if key is None else _Part((Kind.EVENT, *key), term, "the head")


def _fluent_part(fluent: Term, named: str) -> _Part | None:
    key = functor(fluent)
    return None if key is None else _Part((Kind.FLUENT, *key), fluent, named)


def _body_parts(rule: Rule, helpers: Helpers) -> Iterator[_Part]:
    if isinstance(rule, FutureInitiation):
        origin = _fluent_part(rule.origin.fluent, f"{_label(rule.origin.fluent)} of the fi")
        if origin is not None:
            yield origin
    for reading in readings(rule, helpers):
        part = _reading_part(reading)
        if part is not None:
            yield part


def _reading_part(reading: Reading) -> _Part | None:
    literal = reading.literal
    fvp = literal_fvp(literal)
    term = literal.event if isinstance(literal, Happens) else (fvp.fluent if fvp else None)
    key = functor(term) if term is not None else None
    if term is None or key is None:
        return None
    inside = " (inside an aggregate)" if reading.aggregated else ""
    kind = Kind.EVENT if isinstance(literal, Happens) else Kind.FLUENT
    return _Part((kind, *key), term, f"{_label(term)}{inside}")


def _label(term: Term) -> str:
    match term:
        case Compound(name=name, args=args):
            return f"{show(Atom(name))}({','.join(_label(arg) for arg in args)})"
        case Var() if is_anonymous(term):
            return "_"
        case ListTerm():
            return "[..]"
        case _:
            return show(term)


def _canonical(part: _Part, rule: Rule) -> _Part:
    """The part with variables that the body equates written as one."""
    same = _aliases(rule)
    return _Part(part.entity, _rename(part.term, same), part.named) if same else part


def _aliases(rule: Rule) -> dict[str, str]:
    same: dict[str, str] = {}
    body = getattr(rule, "body", None)
    for literal in conjuncts(body) if body is not None else ():
        match literal:
            case Compare(op="=" | "==", left=Var(name=a), right=Var(name=b)):
                first, second = same.get(a, a), same.get(b, b)
                same = {name: first if to == second else to for name, to in same.items()}
                same[second] = first
            case _:
                pass
    return same


def _rename(term: Term, same: dict[str, str]) -> Term:
    match term:
        case Var(name=name) if name in same:
            return Var(same[name])
        case Compound(name=name, args=args):
            return Compound(name, tuple(_rename(arg, same) for arg in args))
        case _:
            return term


# --- finding keys ------------------------------------------------------------------------------


def _split(component: Component, demands: list[_Demand]) -> Partitioning:
    heads = dict.fromkeys((v.kind, v.name, v.arity) for v in component.vertices)
    bare = [name for _, name, arity in heads if arity == 0]
    if bare:
        reason = f"{bare[0]} has no arguments to split by"
        return Partitioning(component, (), reason, demands[0].rule.clause if demands else None)
    keys = tuple(islice(_solve(demands, {}), ENOUGH))
    if keys:
        return Partitioning(component, keys, None, None, keys[0])
    reason, clause = _why_not(demands)
    return Partitioning(component, (), reason, clause)


def _solve(demands: list[_Demand], places: dict[EntityKey, Path]) -> Iterator[PartitionKey]:
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
    parts: tuple[_Part, ...], term: Term | None, places: dict[EntityKey, Path]
) -> Iterator[dict[EntityKey, Path]]:
    """Choices of places for the entities of one rule that all hold the same term."""
    if not parts:
        yield places
        return
    first, rest = parts[0], parts[1:]
    fixed = places.get(first.entity)
    # Variables before constants: a constant would send everything to one bucket.
    places_first = sorted(_key_terms(first.term), key=lambda pair: not isinstance(pair[1], Var))
    for path, found in places_first:
        if fixed is not None and path != fixed:
            continue
        if term is not None and found != term:
            continue
        yield from _satisfy(rest, found, {**places, first.entity: path})


def _key_terms(term: Term, path: Path = ()) -> Iterator[tuple[Path, Term]]:
    """The variables and constants inside an entity's arguments, with their places."""
    for number, arg in enumerate(term.args if isinstance(term, Compound) else ()):
        match arg:
            case Compound():
                yield from _key_terms(arg, (*path, number))
            case Var() if is_anonymous(arg):
                pass
            case Var() | Atom() | Int() | Str():
                yield (*path, number), arg
            case _:
                pass


def _why_not(demands: list[_Demand]) -> tuple[str, Clause | None]:
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


def _no_common_term(demand: _Demand) -> str:
    head, *body = demand.parts
    names = [term for _, term in _key_terms(head.term)]
    if not names:
        return f"{_label(head.term)} has no argument with a name to split by"
    gaps: list[str] = []
    for name in dict.fromkeys(_label(term) for term in names):
        without = [p for p in body if name not in {_label(t) for _, t in _key_terms(p.term)}]
        if without:
            gaps.append(f"{without[0].named} does not carry {name}")
    if len(gaps) == len(set(names)):
        return "; ".join(gaps)
    return f"{_label(head.term)} joins several instances of one entity by different arguments"


# --- stages ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Stage:
    """The places of the keys of one stage; a stage in one bucket has none."""

    places: dict[EntityKey, Path] | None

    def takes(self, key: PartitionKey) -> bool:
        return self.places is not None and _agrees(key, self.places)


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
        return sum(any(_agrees(other, mine) for other in one.keys) for one in found)

    return max(item.keys, key=shared)


def _agrees(key: PartitionKey, known: dict[EntityKey, Path]) -> bool:
    return all(known.get(entity, path) == path for entity, path in key.places)
