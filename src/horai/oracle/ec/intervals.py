"""Lists of maximal intervals as plain Python lists: the definitions, nothing clever.

An interval is `(start, end)`, closed at its start and open at its end; the end of an interval that
still lasts is `INF`. A list is sorted, and its intervals neither overlap nor touch.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from horai.lang.core.arithmetic import COMPARISONS

INF = math.inf
Time = int | float
Interval = tuple[int, Time]
Intervals = list[Interval]


@dataclass(frozen=True, slots=True)
class TickGrid:
    """Time-points `tick` apart."""

    tick: int = 1

    def next(self, t: int) -> int:
        """The time-point after `t`."""
        return t + self.tick - t % self.tick

    def prev(self, t: int) -> int:
        """The time-point before `t`."""
        return t - (t % self.tick or self.tick)

    def cell(self, t: int) -> int:
        """The last time-point not after `t`: everything up to the next one happens "at" it."""
        return t - t % self.tick


def coalesce(intervals: Iterable[Interval]) -> Intervals:
    """Merge intervals that overlap or touch and drop empty ones.

    >>> coalesce([(8, 12), (5, 8), (13, 18), (3, 3)])
    [(5, 12), (13, 18)]
    """
    merged: Intervals = []
    for start, end in sorted(i for i in intervals if i[0] < i[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def contains(intervals: Intervals, t: Time) -> bool:
    """Is `t` a point of one of the intervals?"""
    before = bisect_right(intervals, (t, INF)) - 1  # the last interval that starts by t
    return before >= 0 and t < intervals[before][1]


def union(lists: Iterable[Intervals]) -> Intervals:
    """All points of any list."""
    return coalesce(interval for intervals in lists for interval in intervals)


def intersection(lists: list[Intervals]) -> Intervals:
    """The points that are in every list.

    >>> intersection([[(26, 31)], [(21, 26), (30, 40)]])
    [(30, 31)]
    """
    if not lists:
        return []
    common = lists[0]
    for other in lists[1:]:
        common = _common(common, other)
    return common


def _common(left: Intervals, right: Sequence[tuple[Time, Time]]) -> Intervals:
    found: Intervals = []
    i = j = 0
    while i < len(left) and j < len(right):
        (a, b), (c, d) = left[i], right[j]
        if max(a, c) < min(b, d):
            found.append((int(max(a, c)), min(b, d)))
        if b < d:  # the one that ends first has met all it can
            i += 1
        else:
            j += 1
    return found


def difference(base: Intervals, lists: Iterable[Intervals]) -> Intervals:
    """The points of `base` that are in none of the lists.

    >>> difference([(5, 20), (26, 50)], [[(1, 4), (18, 22)], [(28, 35)]])
    [(5, 18), (26, 28), (35, 50)]
    """
    taken = union(lists)
    ends, starts = [-INF, *(end for _, end in taken)], [*(start for start, _ in taken), INF]
    return _common(base, list(zip(ends, starts, strict=True)))


def longer_or_shorter(
    intervals: Intervals, op: str, bound: float, now: int, open_counts: bool = True
) -> Intervals:
    """The intervals whose duration compares with `bound`; an open one counts up to `now`."""
    compare = COMPARISONS[op]
    return [
        (start, end)
        for start, end in intervals
        if (end != INF or open_counts) and compare((now if end == INF else end) - start, bound)
    ]


def allen_holds(relation: str, source: Interval, target: Interval, grid: TickGrid) -> bool:
    """Does the relation hold between first and last points of two intervals?"""
    a, c = source[0], target[0]
    b = INF if source[1] == INF else grid.prev(int(source[1]))
    d = INF if target[1] == INF else grid.prev(int(target[1]))
    match relation:
        case "before":
            return b < c
        case "meets":
            return b == c and a < c < d
        case "overlaps":
            return a < c < b < d
        case "starts":
            return a == c and b < d
        case "finishes":
            return b == d and a > c
        case "during":
            return a > c and b < d
        case "equal":
            return a == c and b == d
        case _:
            raise ValueError(f"unknown Allen relation {relation}")


def allen(
    relation: str,
    sources: Intervals,
    targets: Intervals,
    mode: str,
    grid: TickGrid,
    memory: int | None = None,
) -> Intervals:
    """The intervals that `mode` makes of all pairs in the relation, coalesced.

    `memory` bounds how far `before` looks back from the first point of the target.
    """
    found: Intervals = []
    for source in sources:
        for target in targets:
            if not allen_holds(relation, source, target, grid):
                continue
            if relation == "before" and memory is not None:
                last = grid.prev(int(source[1]))
                if target[0] - last > memory:
                    continue
            found.extend(_pair(mode, source, target))
    return coalesce(found)


def _pair(mode: str, source: Interval, target: Interval) -> Intervals:
    match mode:
        case "source":
            return [source]
        case "target":
            return [target]
        case "union":
            return [source, target]
        case "intersection":
            return intersection([[source], [target]])
        case "relative_complement":
            return difference([source], [[target]])
        case "relative_complement_inverse":
            return difference([target], [[source]])
        case _:
            raise ValueError(f"unknown mode {mode}")
