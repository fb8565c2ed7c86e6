"""Splitting a component whose rules bring several entities together.

`rendezVous(V1,V2)` reads something of V1 and something of V2. It can be split by V1 all the same,
if some condition that the rule needs, such as `proximity(V1,V2)`, tells which others V1 is with:
rows about V2 then go to the buckets of all V1 that `proximity` names beside it. That is a join on
the entities, and nothing is sent to where nobody asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from horai.lang.ec.syntax import Compare, Or, Rule, conjuncts
from horai.lang.terms import Term, Var, is_anonymous
from horai.plan.demands import Demand, EntityKey, Part, Path, key_terms
from horai.plan.entities import Kind


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
class JoinedKey:
    """A way to split a component: places of keys, and what comes by joins."""

    places: tuple[tuple[EntityKey, Path], ...]
    joins: tuple[Join, ...]


def joined_keys(demands: list[Demand], raw: set[EntityKey]) -> Iterator[JoinedKey]:
    """Ways to split by a key that not all conditions carry; `raw` is what no rule makes."""
    own = {demand.parts[0].entity for demand in demands if demand.is_rule}
    for places, joins in _solve(demands, own, raw, {}, ()):
        if joins:
            yield JoinedKey(tuple(places.items()), tuple(dict.fromkeys(joins)))


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


def _anchors(body: list[Part], key: Var, own: set[EntityKey]) -> list[Part]:
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
    part: Part, key: Var, anchors: list[Part], places: dict[EntityKey, Path], rule: Rule
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


def _alternatives(term: Var, rule: Rule) -> list[Term]:
    """The variables one of which a variable is: `(V = V1 ; V = V2)`."""
    body = getattr(rule, "body", None)
    for literal in conjuncts(body) if body is not None else ():
        if isinstance(literal, Or):
            found = [_equal(term, branch) for branch in literal.items]
            if all(other is not None for other in found):
                return [other for other in found if other is not None]
    return []


def _equal(term: Var, branch: object) -> Term | None:
    for literal in conjuncts(branch):  # type: ignore[arg-type]
        match literal:
            case Compare(op="=" | "==", left=Var() as left, right=Var() as right):
                if term in (left, right):
                    return right if left == term else left
            case _:
                pass
    return None


def _paths(term: Term, wanted: Term) -> list[Path]:
    return [path for path, found in key_terms(term) if found == wanted]
