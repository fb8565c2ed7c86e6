"""Spans and points as plain Python rows, and back."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from horai.temporal.spans import INF, Ints, Spans, sort_spans

Row = tuple[int, int, int]  # key, start, end
Held = set[tuple[int, int]]

LATE = 250  # all finite times of the tests are earlier, and open spans are looked at up to here


def span_rows(keys: list[int], shortest: int) -> st.SearchStrategy[list[Row]]:
    """Spans in any order. Few are open: an open one swallows all later ones of its key."""
    row = st.tuples(st.sampled_from(keys), st.integers(-8, 16), st.integers(shortest, 12))
    return st.lists(
        row.map(lambda r: (r[0], r[1], INF if r[2] == 12 else r[1] + r[2])), max_size=14
    )


raw_spans = span_rows([-1, 0, 2], -1)
ticks = st.sampled_from([1, 2, 5])


def column(values: list[int]) -> Ints:
    return np.array(values, np.int64)


def columns(rows: list[Row]) -> tuple[Ints, Ints, Ints]:
    return column([r[0] for r in rows]), column([r[1] for r in rows]), column([r[2] for r in rows])


def relation(rows: list[Row]) -> Spans:
    return sort_spans(*columns(rows))


def rows_of(spans: Spans) -> list[Row]:
    return list(zip(*(c.tolist() for c in spans), strict=True))


def held(rows: list[Row]) -> Held:
    """The points of any spans, empty, overlapping or not."""
    return {(k, t) for k, start, end in rows for t in range(start, min(end, LATE))}


def maximal(points_held: Held) -> list[Row]:
    """The sorted maximal spans of a set of points; those that reach `LATE` are open."""
    found: list[Row] = []
    for key, t in sorted(points_held):
        if found and found[-1][0] == key and found[-1][2] == t:
            found[-1] = (key, found[-1][1], t + 1)
        else:
            found.append((key, t, t + 1))
    return [(key, start, INF if end == LATE else end) for key, start, end in found]
