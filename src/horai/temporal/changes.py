"""What has changed in a span relation: I- and I+ of the incremental Run-Time Event Calculus.

A change is normalised: what is gone was in the old list, what is new was not. The equations for
operations on intervals (E. Tsilionis, A. Artikis, G. Paliouras, "Incremental Event Calculus for
Run-Time Reasoning", section 4) hold only for such changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.temporal.algebra import union
from horai.temporal.kernels import kernel
from horai.temporal.spans import Ints, Spans, fitted, no_spans, plain


class Change(NamedTuple):
    """The points that left the lists of many keys (I-) and those that came (I+).

    Its length is the number of spans of both.
    """

    gone: Spans
    new: Spans

    def __len__(self) -> int:
        return len(self.gone) + len(self.new)

    def region(self) -> Spans:
        """The points it is about: no others can change whatever is derived point by point."""
        return either(self.gone, self.new)


def no_change() -> Change:
    """Everything stays as it was."""
    return Change(no_spans(), no_spans())


def difference(old: Spans, new: Spans) -> Change:
    """The symmetric difference of two lists, key by key: the change from one to the other.

    >>> one = Spans(np.array([1, 2]), np.array([0, 3]), np.array([6, 5]))
    >>> two = Spans(np.array([1, 2]), np.array([2, 3]), np.array([9, 5]))
    >>> change = difference(one, two)
    >>> [column.tolist() for column in change.gone], [column.tolist() for column in change.new]
    ([[1], [0], [2]], [[1], [6], [9]])
    """
    if not len(old) or not len(new):
        return Change(old, new)
    room = len(old) + len(new)
    gone, came = _both_ways(*plain(*old, *new))
    return Change(Spans(*fitted(gone, room)), Spans(*fitted(came, room)))


def either(left: Spans, right: Spans) -> Spans:
    """The union; most changes have one side only, and then there is nothing to merge."""
    if not len(left) or not len(right):
        return left if len(left) else right
    return union(left, right)


def ranges(first: Ints, after: Ints) -> Ints:
    """All numbers of some ranges."""
    count = after - first
    begin = np.cumsum(count) - count
    rows: Ints = np.arange(int(count.sum()), dtype=np.int64) + np.repeat(first - begin, count)
    return rows


@kernel
def _both_ways(
    key_a: Ints, start_a: Ints, end_a: Ints, key_b: Ints, start_b: Ints, end_b: Ints
) -> tuple[tuple[Ints, Ints, Ints], tuple[Ints, Ints, Ints]]:
    """Each side without the other, in one sweep."""
    n = len(key_a) + len(key_b)
    a_key, a_start, a_end = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    b_key, b_start, b_end = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    i, j, a, b = 0, 0, 0, 0
    from_a, from_b = start_a[0], start_b[0]  # what is left of row i and of row j
    while i < len(key_a) or j < len(key_b):
        a_first = j >= len(key_b) or (i < len(key_a) and key_a[i] < key_b[j])
        b_first = i >= len(key_a) or (j < len(key_b) and key_b[j] < key_a[i])
        same = not a_first and not b_first
        if a_first or (same and from_a < from_b):
            a_key[a], a_start[a] = key_a[i], from_a
            a_end[a] = end_a[i] if a_first else min(end_a[i], from_b)
            from_a = a_end[a]
            a += 1
        elif b_first or (same and from_b < from_a):
            b_key[b], b_start[b] = key_b[j], from_b
            b_end[b] = end_b[j] if b_first else min(end_b[j], from_a)
            from_b = b_end[b]
            b += 1
        else:
            from_a = min(end_a[i], end_b[j])
            from_b = from_a
        if i < len(key_a) and from_a == end_a[i]:
            i += 1
            from_a = start_a[i] if i < len(key_a) else from_a
        if j < len(key_b) and from_b == end_b[j]:
            j += 1
            from_b = start_b[j] if j < len(key_b) else from_b
    return (a_key[:a], a_start[:a], a_end[:a]), (b_key[:b], b_start[:b], b_end[:b])
