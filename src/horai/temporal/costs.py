"""What an operation on intervals is predicted to cost, from scratch and from changes.

First the model of the paper (E. Tsilionis, A. Artikis, G. Paliouras, "Incremental Event Calculus
for Run-Time Reasoning"): a merge costs the lengths of its two lists, nothing if one is empty, and
results are as long as they can be. The steps of equations 15, 19 and 23 with their lengths are in
Tables 8, 11 and 14; which side is cheaper is what Tables 9, 12, 15 and 17 to 19 say.

Summing up the steps gives the 45 conditions of Tables 17 to 19 but for 8. In these the coefficient
of the length of a change, and once that of A without B, is another one than printed:

    Table 17, cases 11 and 12: -6 and -1, not -3 and -1/2. The union occurs once in these, not
        twice as in others, so there is nothing to halve.
    Table 18, case 6: -7, not -7/2, for the same reason.
    Table 18, cases 3 and 9: -5/2, not -2. The steps add up to 8, from scratch it is 3.
    Table 18, case 5: -9/2 of A without B, not -5/2. It is case 2 with A and B exchanged.
    Table 19, cases 10 and 14: -5 and -1, not -5/2 and -1/2, again halved once too often.

Then the model of this code, which decides. It differs in three ways: changes are looked up, not
merged; old results are copied, not merged; and there are calls, which cost as much as hundreds of
rows. `bench/bench_deltas.py` measures the rates; only their proportions matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from horai.temporal.changes import is_sparse

OPERATIONS = ("union_all", "intersect_all", "relative_complement_all")


class Lengths(NamedTuple):
    """Lengths of lists: A and B before, what is kept of them (Table 6), and their changes."""

    a: int
    b: int
    a_or_b: int
    a_and_b: int
    a_not_b: int
    b_not_a: int
    gone_a: int
    new_a: int
    gone_b: int
    new_b: int


class Bill:
    """The costs of some steps. Every step returns the greatest length of its result."""

    def __init__(self) -> None:
        self.total = 0

    def pay(self, left: int, right: int) -> None:
        """Walk through two lists, unless one of them is empty."""
        if left and right:
            self.total += left + right

    def union(self, left: int, right: int) -> int:
        self.pay(left, right)
        return left + right

    def difference(self, left: int, right: int) -> int:
        """Every span on the right may cut one on the left in two."""
        self.pay(left, right)
        return left + right if left else 0

    def untouched(self, left: int, right: int) -> int:
        """A difference in the worst case of the tables, in which it takes nothing away."""
        self.pay(left, right)
        return left

    def intersection(self, few: int, many: int, found: int) -> int:
        """As long as the tables say, if none of the two is empty."""
        self.pay(few, many)
        return found if few and many else 0


def paper_from_scratch(of: Lengths) -> int:
    """Equation 14, for all three operations."""
    return of.a + of.gone_a + of.new_a + of.b + of.gone_b + of.new_b


def paper_union(of: Lengths) -> int:
    """Equation 15 by Table 8; in the worst case the two changes delete no common points."""
    bill = Bill()
    gone = bill.union(of.gone_a, of.gone_b)
    cut = bill.difference(gone, of.a_and_b)
    bill.intersection(of.gone_a, of.gone_b, 0)
    kept = bill.difference(of.a_or_b, cut)
    bill.union(kept, bill.union(of.new_a, of.new_b))
    return bill.total


def paper_intersection(of: Lengths) -> float:
    """Equation 19 by Table 11; half of what both gain is found twice, and kept once."""
    bill = Bill()
    kept = bill.untouched(of.a_and_b, bill.union(of.gone_a, of.gone_b))
    for_b = _gained(bill, of.new_b, of.a_not_b, of.gone_a, of.new_a)
    for_a = _gained(bill, of.new_a, of.b_not_a, of.gone_b, of.new_b)
    came: float = bill.union(for_b, for_a)
    if for_a and for_b:
        came -= (of.new_a + of.new_b) / 2
    return bill.total + (kept + came if kept and came else 0)


def _gained(bill: Bill, gained: int, only: int, gone: int, new: int) -> int:
    """What one list gained of the points that the other has and had alone."""
    if not gained:
        return 0
    other = bill.union(bill.difference(only, gone), new)
    return bill.intersection(gained, other, other)


def paper_complement(of: Lengths) -> int:
    """Equation 23 by Table 14."""
    bill = Bill()
    kept = bill.untouched(of.a_not_b, bill.union(of.gone_a, of.new_b))
    came, left = 0, 0
    if of.new_a:
        other = bill.union(bill.untouched(of.b_not_a, of.gone_b), of.new_b)
        came = bill.difference(of.new_a, other)
    if of.gone_b:
        both = bill.difference(of.a_and_b, of.gone_a)
        left = bill.intersection(of.gone_b, bill.union(both, of.new_a), both)
    bill.union(kept, bill.union(came, left))
    return bill.total


PAPER = {
    "union_all": paper_union,
    "intersect_all": paper_intersection,
    "relative_complement_all": paper_complement,
}


def paper_prefers_changes(operation: str, of: Lengths) -> bool:
    """The conditions of Tables 17 to 19, rightly summed up."""
    return PAPER[operation](of) < paper_from_scratch(of)


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
