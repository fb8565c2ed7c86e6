"""Which changes of the lists a rule reads can change what it makes of them, and where.

What lists have in common changes only where all of them hold, now or before. So a change of one
vessel reaches those of its many pairs that were near each other at that time, and no others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from horai.engine.deltas.static_outline import Operation, list_name
from horai.lang.core.terms import ListTerm, Term
from horai.lang.ec import syntax as ec
from horai.plan import operators as op

Places = frozenset[int]  # of lookups


class Needs(NamedTuple):
    """What a list is made of.

    A change of a lookup in `direct` can change it at the same time; outside of any lookup in
    `required` it is empty.
    """

    direct: Places
    required: Places


def needs_of(
    wanted: list[Term], lookups: list[op.Lookup], operations: list[Operation]
) -> list[Needs]:
    """What some lists of a rule are made of."""
    found: dict[str, Needs] = {}
    for place, lookup in enumerate(lookups):
        found[list_name(lookup.result)] = Needs(frozenset({place}), frozenset({place}))
    for literal in operations:
        found[list_name(literal.result)] = _made_by(literal, found)
    return [found[list_name(one)] for one in wanted]


def _made_by(literal: Operation, known: Mapping[str, Needs]) -> Needs:
    match literal:
        case ec.DurationFilter(intervals=intervals):
            # Which intervals are long enough is looked at on its own.
            return Needs(frozenset(), known[list_name(intervals)].required)
        case ec.IntervalOp(kind=kind, base=base, lists=ListTerm(items=items)):
            listed = [known[list_name(one)] for one in items]
            every = [*listed, *([known[list_name(base)]] if base is not None else [])]
            direct = frozenset[int]().union(*(one.direct for one in every))
            return Needs(direct, _required(kind, base, listed, known))
        case ec.Allen(source=source, target=target, mode=mode):
            # Likewise which are in the relation.
            sides = known[list_name(source)].required, known[list_name(target)].required
            return Needs(frozenset(), _compared(mode, *sides))
        case _:
            raise AssertionError(f"not possible by change: {literal}")


def _compared(mode: str, source: Places, target: Places) -> Places:
    """Outside of which lookups there is nothing that a mode could return."""
    match mode:
        case "source" | "relative_complement":
            return source
        case "target" | "relative_complement_inverse":
            return target
        case "intersection":
            return source | target
        case _:
            return source & target


def _required(
    kind: str, base: Term | None, listed: list[Needs], known: Mapping[str, Needs]
) -> Places:
    nothing: Places = frozenset()
    if base is not None:
        return known[list_name(base)].required
    if kind == "intersect_all":
        return nothing.union(*(one.required for one in listed))
    if kind == "union_all" and listed:
        return listed[0].required.intersection(*(one.required for one in listed[1:]))
    return nothing
