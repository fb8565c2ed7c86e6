"""The equations of the paper on incremental evaluation, as printed.

E. Tsilionis, A. Artikis, G. Paliouras, "Incremental Event Calculus for Run-Time Reasoning":
equations 15, 19 and 23 give the new list of an operation on A and B from lists of the last query
time and the normalised changes of A and B; 18, 22 and 26 are what is left of them when nothing is
deleted. The steps are those of Tables 7, 10 and 13.
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
