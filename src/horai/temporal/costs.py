"""What an operation on intervals is predicted to cost, from scratch and from changes.

The model that decides differs from that of the paper on incremental evaluation in three ways:
changes are looked up, not merged; old results are copied, not merged; and there are calls, which
cost as much as hundreds of rows. `bench/bench_deltas.py` measures the rates; only their proportions
matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from horai.temporal.changes import is_sparse

OPERATIONS = ("union_all", "intersect_all", "relative_complement_all")


# Rates of this code, in nanoseconds, set by hand after two runs of `bench/bench_deltas.py` on a
# busy machine. LOOK_UP is less than it prints (16 to 22, one changed span in a thousand rows): the
# choice is close only for more changes, and there a step of a search was measured at 11 to 13.
CALL = 4_500.0  # a compiled function, with the handling of columns around it
MERGE = 13.0  # a row of a union, an intersection or a difference of two lists
COMPARE = 2.3  # a row of the symmetric difference of two lists
LOOK_UP = 13.0  # a step of a search, for each changed span and list
COPY = 1.9  # a row of an old result that stays


class Sizes(NamedTuple):
    """Lengths of one operand: its list, the spans deleted from it and those inserted."""

    list: int
    gone: int
    new: int


def from_scratch_cost(result: int, operands: Sequence[Sizes], known: bool = True) -> float:
    """Merging the new lists one after the other, and comparing with the old result.

    Lists that are not known have to be made first.
    """
    rows, so_far = 0.0, operands[0].list
    for operand in operands[1:]:
        rows += so_far + operand.list
        so_far = max(so_far, result)
    cost = CALL * len(operands) + MERGE * rows + COMPARE * 2 * result
    for operand in operands:
        if not known and operand.gone + operand.new:
            cost += _apply_cost(operand.list, operand.gone + operand.new)
    return cost


def change_cost(operation: str, result: int, operands: Sequence[Sizes]) -> float:
    """Looking every candidate up in every list, and applying the change to the old result."""
    gone = sum(operand.gone for operand in operands)
    new = sum(operand.new for operand in operands)
    if operation == "relative_complement_all":
        first, others = operands[0], operands[1:]
        gone = first.gone + sum(other.new for other in others)
        new = first.new + sum(other.gone for other in others)
    if not gone + new:
        return 0.0
    cost = _apply_cost(result, gone + new)
    for candidates in (gone, new):
        if candidates:
            cost += sum(CALL * 2 + _look_up_cost(o.list, candidates) for o in operands)
    return cost


def _look_up_cost(rows: int, times: int) -> float:
    """The farther apart the rows, the longer the search between them."""
    return LOOK_UP * times * (1 + log2(1 + rows / times))


def _apply_cost(rows: int, spans: int) -> float:
    if is_sparse(rows, spans):
        return CALL * 5 + COPY * rows + _look_up_cost(rows, spans)
    return CALL * 2 + MERGE * rows


def cheaper(operation: str, result: int, operands: Sequence[Sizes], known: bool = True) -> str:
    """`"changes"` or `"scratch"`: which way to a new result and its change costs less.

    `result` is the length of the old result; `known` says if the new lists of the operands are
    at hand.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"no operation {operation}")
    by_changes = change_cost(operation, result, operands)
    return "changes" if by_changes < from_scratch_cost(result, operands, known) else "scratch"
