"""Small operators: edges of spans, filters by duration, shifted points."""

from __future__ import annotations

import numpy as np

from horai.temporal.spans import INF, Points, Spans, previous_point


def start_points(spans: Spans, tick: int = 1) -> Points:
    """The point before each span starts."""
    return Points(spans.key, previous_point(spans.start, tick))


def end_points(spans: Spans, tick: int = 1) -> Points:
    """The last point of each span that has ended."""
    ended = spans.where(spans.end != INF)
    return Points(ended.key, previous_point(ended.end, tick))


def by_duration(spans: Spans, op: str, bound: float, query: int, open_counts: bool = True) -> Spans:
    """The spans whose duration compares with a bound; open ones count up to the query time."""
    duration = np.where(spans.end == INF, query, spans.end) - spans.start
    match op:
        case ">":
            chosen = duration > bound
        case ">=":
            chosen = duration >= bound
        case "<":
            chosen = duration < bound
        case _:
            chosen = duration <= bound
    if not open_counts:
        chosen &= spans.end != INF
    return spans.where(chosen)


def shift(points: Points, delay: int) -> Points:
    """Every point, later."""
    return Points(points.key, points.time + delay)
