"""What the paper on incremental evaluation prints: its equations, and what they cost.

E. Tsilionis, A. Artikis, G. Paliouras, "Incremental Event Calculus for Run-Time Reasoning":
equations 15, 19 and 23 give the new list of an operation on A and B from lists of the last query
time and the normalised changes of A and B; 18, 22 and 26 are what is left of them when nothing is
deleted. The steps are those of Tables 7, 10 and 13. `horai.temporal.deltas` finds the change alone,
and looks only at what the changes touch; these are what it is tested and measured against.

In the model of costs a merge costs the lengths of its two lists, nothing if one is empty, and
results are as long as they can be. The steps with their lengths are in Tables 8, 11 and 14; which
side is cheaper is what Tables 9, 12, 15 and 17 to 19 say. Summing up the steps gives the 45
conditions of Tables 17 to 19 but for 8. In these the coefficient of the length of a change, and
once that of A without B, is another one than printed:

    Table 17, cases 11 and 12: -6 and -1, not -3 and -1/2. The union occurs once in these, not
        twice as in others, so there is nothing to halve.
    Table 18, case 6: -7, not -7/2, for the same reason.
    Table 18, cases 3 and 9: -5/2, not -2. The steps add up to 8, from scratch it is 3.
    Table 18, case 5: -9/2 of A without B, not -5/2. It is case 2 with A and B exchanged.
    Table 19, cases 10 and 14: -5 and -1, not -5/2 and -1/2, again halved once too often.
"""

from __future__ import annotations

from typing import NamedTuple

from horai.temporal.algebra import difference, intersection, union
from horai.temporal.changes import Change
from horai.temporal.spans import Spans


class Known(NamedTuple):
    """What is kept of the last query time: Table 6."""

    a_or_b: Spans
    a_and_b: Spans
    a_not_b: Spans
    b_not_a: Spans


Steps = list[Spans]  # of an equation, in the order of the paper; the last one is the new list


def known(a: Spans, b: Spans) -> Known:
    """The terms that the equations expect to be there."""
    return Known(union(a, b), intersection(a, b), difference(a, b), difference(b, a))


def equation_15(was: Known, a: Change, b: Change) -> Steps:
    """union_all: what both lost, or one and the other never had, goes; what one gained comes."""
    step_1 = union(a.gone, b.gone)
    step_2 = difference(step_1, was.a_and_b)
    step_3 = intersection(a.gone, b.gone)
    step_4 = union(step_2, step_3)
    step_5 = difference(was.a_or_b, step_4)
    step_6 = union(a.new, b.new)
    step_7 = union(step_5, step_6)
    return [step_1, step_2, step_3, step_4, step_5, step_6, step_7]


def equation_18(was: Known, a: Change, b: Change) -> Spans:
    """union_all without deletions."""
    return union(was.a_or_b, union(a.new, b.new))


def equation_19(was: Known, a: Change, b: Change) -> Steps:
    """intersect_all: what one lost goes; what one gained and the other has comes."""
    step_1 = union(a.gone, b.gone)
    step_2 = difference(was.a_and_b, step_1)
    step_3 = difference(was.a_not_b, a.gone)
    step_4 = union(step_3, a.new)
    step_5 = intersection(b.new, step_4)
    step_6 = difference(was.b_not_a, b.gone)
    step_7 = union(step_6, b.new)
    step_8 = intersection(a.new, step_7)
    step_9 = union(step_5, step_8)
    step_10 = union(step_2, step_9)
    return [step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8, step_9, step_10]


def equation_22(was: Known, a: Change, b: Change, new_a: Spans, new_b: Spans) -> Spans:
    """intersect_all without deletions."""
    came = union(intersection(a.new, new_b), intersection(b.new, new_a))
    return union(was.a_and_b, came)


def equation_23(was: Known, a: Change, b: Change) -> Steps:
    """relative_complement_all: what A lost or B gained goes; what B leaves to A comes."""
    step_1 = union(a.gone, b.new)
    step_2 = difference(was.a_not_b, step_1)
    step_3 = difference(was.b_not_a, b.gone)
    step_4 = union(step_3, b.new)
    step_5 = difference(a.new, step_4)
    step_6 = difference(was.a_and_b, a.gone)
    step_7 = union(step_6, a.new)
    step_8 = intersection(b.gone, step_7)
    step_9 = union(step_5, step_8)
    step_10 = union(step_2, step_9)
    return [step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8, step_9, step_10]


def equation_26(was: Known, a: Change, b: Change, new_b: Spans) -> Spans:
    """relative_complement_all without deletions."""
    return union(difference(was.a_not_b, b.new), difference(a.new, new_b))


# --- what they cost -------------------------------------------------------------------------------


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
