"""The new result of an operation on intervals and its change, by whichever way is cheaper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from horai.temporal.algebra import difference as without
from horai.temporal.algebra import intersection, union
from horai.temporal.changes import Change, applied, difference
from horai.temporal.costs import OPERATIONS, Sizes, cheaper
from horai.temporal.deltas import Operand, intersect_all, relative_complement_all, union_all
from horai.temporal.spans import Spans

__all__ = ["OPERATIONS", "by_changes", "from_scratch", "revised"]

MERGES: dict[str, Callable[[Spans, Spans], Spans]] = {
    "union_all": union,
    "intersect_all": intersection,
    "relative_complement_all": without,
}


def revised(operation: str, old: Spans, operands: Sequence[Operand]) -> tuple[Spans, Change]:
    """The new result and what has changed, from the old result.

    The first operand of a relative complement is what the others are taken from.
    """
    sizes = [Sizes(len(o.old), len(o.change.gone), len(o.change.new)) for o in operands]
    known = all(operand.new is not None for operand in operands)
    if cheaper(operation, len(old), sizes, known) == "changes":
        change = by_changes(operation, operands)
        return applied(old, change), change
    new = from_scratch(operation, operands)
    return new, difference(old, new)


def by_changes(operation: str, operands: Sequence[Operand]) -> Change:
    """The change of a result from the changes of its operands."""
    if operation == "union_all":
        return union_all(operands)
    if operation == "intersect_all":
        return intersect_all(operands)
    return relative_complement_all(operands[0], operands[1:])


def from_scratch(operation: str, operands: Sequence[Operand]) -> Spans:
    """The result from the new lists alone."""
    lists = (o.new if o.new is not None else applied(o.old, o.change) for o in operands)
    return reduce(MERGES[operation], lists)
