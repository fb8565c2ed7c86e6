"""Changes of union_all, intersect_all and relative_complement_all from the changes of their lists.

The equations 15, 19 and 23 of the incremental Run-Time Event Calculus give the whole new list for
two operands, from lists that have to be kept for it. What is propagated is the
change, and of it they say, point by point and for any number of operands:

- a point leaves the result only if a list lost it (union, intersection) or, for the relative
  complement, the first one lost it or another one gained it; it has left if it was in the old
  result (intersection, complement) or is in no new list (union);
- a point comes only if a list gained it, or the others of a complement lost it; it has come if it
  is in the new result, or, for a union, was in no old list.

So each half starts with those candidates, and every list in turn takes some of them away. Only the
parts of lists at the candidates are ever looked at, found by galloping; when none is left, no
further list is. Changes come out normalised if those of the operands are. With nothing deleted one
half has no candidates, which leaves the cheap forms: equations 18, 22 and 26.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from horai.temporal.changes import Change, either, except_for
from horai.temporal.clip import clip
from horai.temporal.spans import Ints, Spans, no_spans
from horai.temporal.touched import within


class Operand(NamedTuple):
    """A list at the last query time, what has changed since, and, if it is known, the list now."""

    old: Spans
    change: Change
    new: Spans | None = None

    def before(self, where: Spans) -> Spans:
        """The old list in a region."""
        return within(self.old, where)

    def now(self, where: Spans) -> Spans:
        """The new list in a region (equation 12)."""
        if self.new is not None:
            return within(self.new, where)
        kept = except_for(within(self.old, where), self.change.gone)
        return either(kept, within(self.change.new, where))


def union_all(operands: Sequence[Operand]) -> Change:
    """The change of the union of some lists (equations 15 and 18)."""
    gone = _any(operand.change.gone for operand in operands)
    new = _any(operand.change.new for operand in operands)
    for operand in operands:
        gone = except_for(gone, operand.now(gone))
        new = except_for(new, operand.before(new))
    return Change(gone, new)


def intersect_all(operands: Sequence[Operand]) -> Change:
    """The change of the intersection of some lists (equations 19 and 22)."""
    gone = _any(operand.change.gone for operand in operands)
    new = _any(operand.change.new for operand in operands)
    for operand in operands:
        gone = operand.before(gone)
        new = operand.now(new)
    return Change(gone, new)


def relative_complement_all(first: Operand, others: Sequence[Operand]) -> Change:
    """The change of the points of one list that no other list has (equations 23 and 26)."""
    gone = _any((first.change.gone, *(other.change.new for other in others)))
    new = _any((first.change.new, *(other.change.gone for other in others)))
    gone, new = first.before(gone), first.now(new)
    for other in others:
        gone = except_for(gone, other.before(gone))
        new = except_for(new, other.now(new))
    return Change(gone, new)


def complement_all(keys: Ints, operands: Sequence[Operand], first: int) -> Change:
    """The change of the points from `first` on in no list, for every key of a sorted list.

    The keys and `first` are those of the last query time: what they stand for does not change.
    """
    gone, new = union_all(operands).undone()
    return Change(_of(keys, gone, first), _of(keys, new, first))


def _of(keys: Ints, spans: Spans, first: int) -> Spans:
    """The points of some keys from `first` on."""
    if not len(keys):
        return no_spans()
    at = np.minimum(np.searchsorted(keys, spans.key), len(keys) - 1)
    return clip(spans.where(keys[at] == spans.key), first)


def _any(lists: Iterable[Spans]) -> Spans:
    """The points of any list."""
    found = no_spans()
    for spans in lists:
        found = either(found, spans)
    return found
