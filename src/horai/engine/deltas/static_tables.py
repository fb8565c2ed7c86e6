"""What a rule makes of its lists, as tables: for each combination of lists, is it in the result?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, assert_never

import numpy as np

from horai.engine.deltas.reasons import NotByChange
from horai.engine.deltas.static_outline import Operation, list_name
from horai.lang.core.terms import ListTerm, Term
from horai.lang.ec import syntax as ec
from horai.plan import operators as op
from horai.temporal.spans import Mask
from horai.temporal.sweeps import MOST


class Leaf(NamedTuple):
    """A list that is there as such: that of a lookup, or what an operation chose."""

    is_lookup: bool
    place: int  # among the lookups, or among the operations


class Combination(NamedTuple):
    """A list of a rule as a combination of some that are there."""

    leaves: tuple[Leaf, ...]
    table: Mask


def combinations(
    wanted: list[Term], lookups: list[op.Lookup], operations: list[Operation]
) -> list[Combination]:
    """How some lists of a rule are put together."""
    leaves: dict[str, tuple[Leaf, ...]] = {
        list_name(one.result): (Leaf(True, place),) for place, one in enumerate(lookups)
    }
    made: dict[str, ec.IntervalOp] = {}
    for place, literal in enumerate(operations):
        name = list_name(literal.result)
        if isinstance(literal, ec.IntervalOp):
            made[name] = literal
            every = [leaf for one in _operands(literal) for leaf in leaves[one]]
            leaves[name] = tuple(dict.fromkeys(every))
        else:
            leaves[name] = (Leaf(False, place),)
    return [_combined(list_name(one), leaves, made) for one in wanted]


def _combined(
    name: str, leaves: Mapping[str, tuple[Leaf, ...]], made: Mapping[str, ec.IntervalOp]
) -> Combination:
    mine = leaves[name]
    if len(mine) > MOST:
        raise NotByChange(f"one of its lists is made of more than {MOST} others")
    codes = np.arange(1 << len(mine))
    return Combination(mine, _members(name, mine, codes, leaves, made))


def _members(
    name: str,
    mine: tuple[Leaf, ...],
    codes: np.ndarray,
    leaves: Mapping[str, tuple[Leaf, ...]],
    made: Mapping[str, ec.IntervalOp],
) -> Mask:
    """Which combinations are in a list."""
    if name not in made:
        bit: Mask = (codes >> mine.index(leaves[name][0])) & 1 == 1
        return bit
    literal = made[name]
    operands = [_members(one, mine, codes, leaves, made) for one in _operands(literal)]
    nothing = np.zeros(len(codes), np.bool_)
    found: Mask
    match literal.kind:
        case "union_all":
            found = np.logical_or.reduce([nothing, *operands])
        case "intersect_all":
            found = np.logical_and.reduce(operands) if operands else nothing
        case "complement_all":
            found = ~np.logical_or.reduce([nothing, *operands])
        case "relative_complement_all":
            base, *others = operands
            found = base & ~np.logical_or.reduce([nothing, *others])
        case _:
            assert_never(literal.kind)
    return found


def _operands(literal: ec.IntervalOp) -> list[str]:
    """The lists of an operation, the base of a relative complement first."""
    assert isinstance(literal.lists, ListTerm)  # rules of which that is not so are not possible
    base = [] if literal.base is None else [literal.base]
    return [list_name(one) for one in [*base, *literal.lists.items]]
