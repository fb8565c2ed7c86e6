"""What others do in place of the kernels: numpy functions, polars and duckdb queries.

Each is the best way known to us in that tool. For set operations that is a sweep: starts and ends
in one sorted list, and a running count of the spans that are open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from horai.temporal.inertia import Changes
from horai.temporal.spans import INF, Ints, Spans

WIDE = 1 << 40  # more than any time of the benchmark, so key * WIDE + time sorts as both do


def numpy_sort(key: Ints, time: Ints) -> tuple[Ints, ...]:
    positions = np.lexsort((time, key))
    return key[positions], time[positions]


def numpy_coalesce(spans: Spans) -> tuple[Ints, ...]:
    start, end = spans.key * WIDE + spans.start, spans.key * WIDE + spans.end
    reach = np.maximum.accumulate(end)
    fresh = np.concatenate(([True], start[1:] > reach[:-1]))
    last = np.concatenate((fresh[1:], [True]))
    return spans.key[fresh], spans.start[fresh], reach[last] % WIDE


def numpy_sweep(left: Spans, right: Spans, depth: int) -> tuple[Ints, ...]:
    """Where one side or both hold. Starts come first at one time, so that touching spans merge."""
    starts = np.concatenate([s.key * WIDE + s.start for s in (left, right)])
    ends = np.concatenate([s.key * WIDE + s.end for s in (left, right)])
    edges = np.sort(np.concatenate((starts * 2, ends * 2 + 1)))
    step = np.where(edges & 1, -1, 1)
    open_spans = np.cumsum(step)
    edges >>= 1
    begin = edges[(step == 1) & (open_spans == depth)]
    end = edges[(step == -1) & (open_spans == depth - 1)]
    real = begin < end  # touching spans of two sides share no point
    return begin[real] // WIDE, begin[real] % WIDE, end[real] % WIDE


def numpy_inertia(changes: Changes) -> tuple[Ints, ...]:
    """For a single value, and no two changes at one time."""
    first = np.concatenate(([True], changes.key[1:] != changes.key[:-1]))
    before = np.concatenate(([False], changes.initiates[:-1])) & ~first
    turns = changes.initiates != before
    key, time, begins = changes.key[turns], changes.time[turns] + 1, changes.initiates[turns]
    ends = np.concatenate((time[1:], [INF]))
    ends[np.concatenate((key[1:] != key[:-1], [True]))] = INF
    return key[begins], time[begins], ends[begins]


def numpy_join(keys: Ints, facts: Ints) -> tuple[Ints, ...]:
    rows = np.argsort(facts, kind="stable")
    low = np.searchsorted(facts[rows], keys, "left")
    count = np.searchsorted(facts[rows], keys, "right") - low
    left = np.repeat(np.arange(len(keys)), count)
    nth = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return left, rows[np.repeat(low, count) + nth]


def numpy_number(first: Ints, second: Ints) -> tuple[list[int]]:
    groups, _ = np.unique(first * (int(second.max()) + 1) + second, return_inverse=True)
    return ([len(groups)],)


def _polars_coalesce(pl: Any, spans: Any) -> Any:
    reach = pl.col("stop").cum_max().shift(1).over("key")
    fresh = (pl.col("start") > reach).fill_null(True)
    grouped = spans.with_columns(island=fresh.cum_sum()).group_by("island")
    return grouped.agg(pl.col("key").first(), pl.col("start").first(), pl.col("stop").max()).drop(
        "island"
    )


def _polars_intersection(pl: Any, t: dict[str, Any]) -> Any:
    both = pl.concat([t["a"], t["b"]])
    edges = pl.concat(
        [
            both.select("key", time="start", step=pl.lit(1, pl.Int8)),
            both.select("key", time="stop", step=pl.lit(-1, pl.Int8)),
        ]
    ).sort("key", "time", "step")
    running = edges.with_columns(
        depth=pl.col("step").cast(pl.Int64).cum_sum(), stop=pl.col("time").shift(-1)
    )
    return running.filter(pl.col("depth") == 2).select("key", "time", "stop")


def _polars_inertia(pl: Any, t: dict[str, Any]) -> Any:
    before = pl.col("initiates").shift(1).over("key").fill_null(False)
    turns = t["changes"].filter(pl.col("initiates") != before)
    ends = (pl.col("time") + 1).shift(-1).over("key").fill_null(INF)
    spans = turns.with_columns(stop=ends).filter("initiates")
    return spans.select("key", pl.col("time") + 1, "stop")


def _polars_number(pl: Any, t: dict[str, Any]) -> Any:
    ids = t["items"].select(pl.struct("first", "second").rank("dense"))
    return ids.select(pl.all().max().cast(pl.Int64))


POLARS: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "sort": lambda pl, t: t["items"].sort("key", "time"),
    "coalesce": lambda pl, t: _polars_coalesce(pl, t["spans"]),
    "union": lambda pl, t: _polars_coalesce(pl, pl.concat([t["a"], t["b"]]).sort("key", "start")),
    "intersection": _polars_intersection,
    "inertia": _polars_inertia,
    "join": lambda pl, t: t["items"].join(t["facts"], on="key").select("row", "fact"),
    "number": _polars_number,
}

_COALESCE = """
    SELECT key, min(start) AS start, max(stop) AS stop FROM (
        SELECT *, sum(fresh) OVER (
            PARTITION BY key ORDER BY start ROWS UNBOUNDED PRECEDING
        ) AS island FROM (
            SELECT *, CASE WHEN start <= max(stop) OVER (
                PARTITION BY key ORDER BY start ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) THEN 0 ELSE 1 END AS fresh FROM {spans}
        )
    ) GROUP BY key, island"""

DUCKDB = {
    "sort": "SELECT key, time FROM items ORDER BY key, time",
    "coalesce": _COALESCE.format(spans="spans"),
    "union": _COALESCE.format(spans="(FROM a UNION ALL FROM b)"),
    "intersection": """
        SELECT key, time, stop FROM (
            SELECT key, time, sum(step) OVER w AS depth, lead(time) OVER w AS stop FROM (
                SELECT key, start AS time, 1 AS step FROM (FROM a UNION ALL FROM b)
                UNION ALL SELECT key, stop, -1 FROM (FROM a UNION ALL FROM b)
            ) WINDOW w AS (PARTITION BY key ORDER BY time, step
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
        ) WHERE depth = 2""",
    "inertia": f"""
        SELECT key, time + 1 AS start, stop FROM (
            SELECT *, coalesce(lead(time + 1) OVER (PARTITION BY key ORDER BY time), {INF}) AS stop
            FROM (
                SELECT *, lag(initiates, 1, false) OVER (PARTITION BY key ORDER BY time) AS before
                FROM changes
            ) WHERE initiates <> before
        ) WHERE initiates""",
    "join": "SELECT i.row, f.fact FROM items i JOIN facts f ON i.key = f.key",
    "number": """
        SELECT max(id) FROM (SELECT dense_rank() OVER (ORDER BY first, second) AS id FROM items)""",
}
