"""Positions to items: columns against the plain Python way, in one run; and items per second.

    python bench/bench_signals.py [--positions N] [--vessels N] [--plain N] [--quick]
    python bench/bench_signals.py --spark 'local[2]'

The plain way is what people write first: a loop over the rows of each vessel for critical points,
one `intersects` for each row and area, and for pairs a dictionary of grid cells for each minute. It
does not clean, and gets `--plain` positions only; figures are per position. Both find as much.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely
from spark_measure import took

import horai
from horai.signals import Areas, MotionLimits, Pipeline, positions_of, read_positions
from horai.signals.cleaning import believed, clean
from horai.signals.pipeline import TrackMemory, start
from horai.signals.proximity import close_pairs

LIMITS = MotionLimits()
RULES = """
initiatedAt(stopped(V)=true, T) :- happensAt(stop_start(V), T).
terminatedAt(stopped(V)=true, T) :- happensAt(stop_end(V), T).
terminatedAt(stopped(V)=true, T) :- happensAt(gap_start(V), T).
initiatedAt(fast(V)=true, T) :- happensAt(velocity(V, Speed, _, _), T), Speed > 12.
terminatedAt(fast(V)=true, T) :- happensAt(velocity(V, Speed, _, _), T), Speed =< 12.
initiatedAt(in(V, A)=true, T) :- happensAt(entersArea(V, A), T).
terminatedAt(in(V, A)=true, T) :- happensAt(leavesArea(V, A), T).
collectIntervals(proximity(_, _)=true).
holdsFor(meeting(V, W)=true, I) :-
    holdsFor(proximity(V, W)=true, P), holdsFor(stopped(V)=true, J), holdsFor(stopped(W)=true, K),
    intersect_all([P, J, K], I).
"""
EVERY = 10  # seconds between two positions of a vessel


def traffic(positions: int, vessels: int, seed: int = 7) -> pa.Table:
    """Vessels that wander about an area of some hundred miles, in the order of time."""
    dice = np.random.default_rng(seed)
    each = max(positions // vessels, 2)
    phase = each // 8 + 1
    speed = np.repeat(dice.choice([0.2, 3.0, 8.0, 14.0], (vessels, 8)), phase, axis=1)[:, :each]
    speed = np.abs(speed + dice.normal(0, 0.1, speed.shape))
    turns = dice.normal(0, 25, speed.shape) * (dice.random(speed.shape) < 0.02)
    course = (dice.uniform(0, 360, (vessels, 1)) + np.cumsum(turns, axis=1)) % 360
    far = speed * EVERY / 3600 / 60  # degrees of latitude
    lat = 50 + dice.uniform(0, 3, (vessels, 1)) + np.cumsum(far * np.cos(np.radians(course)), 1)
    over = far * np.sin(np.radians(course)) / np.cos(np.radians(51.5))
    lon = 2 + dice.uniform(0, 5, (vessels, 1)) + np.cumsum(over, 1)
    when = np.arange(each) * EVERY + dice.integers(0, EVERY, (vessels, 1))
    when = when + (np.arange(each) > each // 2) * dice.choice([0, 1200], (vessels, 1))
    order = np.argsort(when, axis=None, kind="stable")
    names = np.repeat(np.arange(vessels), each)
    columns = {"vessel": names, "time": when, "lon": lon, "lat": lat, "speed": speed}
    columns["course"] = course
    return pa.table({name: np.ravel(column)[order] for name, column in columns.items()})


def squares(many: int = 60) -> Areas:
    """Areas here and there."""
    dice = np.random.default_rng(3)
    west, south = dice.uniform(2, 7, many), dice.uniform(50, 53, many)
    shapes = [shapely.Point(x, y).buffer(0.05) for x, y in zip(west, south, strict=True)]
    return Areas([f"area_{i}" for i in range(many)], ["some"] * many, shapes)


def measured(work: Callable[[], Any], runs: int = 3) -> tuple[float, Any]:
    """Seconds of CPU of the best run, and what came of it."""
    best = math.inf
    for _ in range(runs):
        began = time.process_time()
        found = work()
        best = min(best, time.process_time() - began)
    return best, found


def plain_points(rows: dict[int, list[tuple[float, ...]]]) -> int:
    """Critical points by a loop over the rows of every vessel; no cleaning."""
    found = 0
    last = max(own[-1][0] for own in rows.values())
    for own in rows.values():
        own.sort()
        since, told, slow_since, slow_told, changing, turned = None, False, None, False, False, None
        before: tuple[float, ...] | None = None
        for row in own:
            when, _, _, speed, course = row
            if before is not None and when - before[0] > LIMITS.gap_after:
                found += 2 + told + slow_told + changing
                since, told, slow_since, slow_told, changing = None, False, None, False, False
                turned, before = None, None
            found += 1  # its velocity
            if speed < LIMITS.stop_speed:
                since = when if since is None else since
                if not told and when - since >= LIMITS.stop_time:
                    found, told = found + 1, True
            else:
                found += told
                since, told = None, False
            if LIMITS.stop_speed <= speed < LIMITS.slow_speed:
                slow_since = when if slow_since is None else slow_since
                if not slow_told and when - slow_since >= LIMITS.slow_time:
                    found, slow_told = found + 1, True
            else:
                found += slow_told
                slow_since, slow_told = None, False
            now = before is not None and abs(speed - before[3]) > max(
                LIMITS.speed_change * before[3], LIMITS.speed_noise
            )
            found += now != changing
            changing = now
            if speed >= LIMITS.stop_speed:
                if turned is None:
                    turned = course
                elif min(abs(course - turned), 360 - abs(course - turned)) > LIMITS.turn:
                    found, turned = found + 1, course
            before = row
        if last - own[-1][0] > LIMITS.gap_after:
            found += 1 + told + slow_told + changing
    return found


def plain_areas(rows: dict[int, list[tuple[float, ...]]], areas: Areas) -> int:
    """One question for each position and area whose box it is in."""
    boxes = [shape.bounds for shape in areas.shapes]
    for shape in areas.shapes:
        shapely.prepare(shape)
    found = 0
    for own in rows.values():
        inside: set[int] = set()
        last = None
        for when, lon, lat, _, _ in own:
            begins = last is None or when - last > LIMITS.gap_after
            now = {
                number
                for number, (west, south, east, north) in enumerate(boxes)
                if west <= lon <= east
                and south <= lat <= north
                and areas.shapes[number].intersects(shapely.Point(lon, lat))
            }
            found += len(now if begins else now - inside) + len(inside - now)
            inside, last = now, when
    return found


def haversine(a: tuple[float, float], b: tuple[float, float]) -> float:
    up = math.sin(math.radians(b[1] - a[1]) / 2) ** 2
    over = math.sin(math.radians(b[0] - a[0]) / 2) ** 2
    scale = math.cos(math.radians(a[1])) * math.cos(math.radians(b[1]))
    return 2 * 6_371_008.8 * math.asin(math.sqrt(up + scale * over))


def plain_pairs(rows: dict[int, list[tuple[float, ...]]]) -> int:
    """Pairs of all minutes: a dictionary of cells, and all who are in cells beside each other."""
    minutes: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
    for vessel, own in rows.items():
        for (t0, x0, y0, *_), (t1, x1, y1, *_) in pairwise(own):
            if t1 - t0 > LIMITS.gap_after:
                continue
            tick = (int(t0) // 60 + 1) * 60
            while tick <= t1:
                share = (tick - t0) / (t1 - t0)
                place = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
                minutes[tick].append((vessel, *place))
                tick += 60
    found = 0
    for there in minutes.values():
        cells: dict[tuple[int, int], list[tuple[int, float, float]]] = defaultdict(list)
        for one in there:
            cells[int(one[1] / 0.01), int(one[2] / 0.006)].append(one)
        for (x, y), some in cells.items():
            for dx, dy in ((0, 0), (1, 0), (-1, 1), (0, 1), (1, 1)):
                for number, one in enumerate(some):
                    beside = (
                        some[number + 1 :]
                        if (dx, dy) == (0, 0)
                        else cells.get((x + dx, y + dy), ())
                    )
                    found += sum(haversine(one[1:], o[1:]) <= LIMITS.close for o in beside)
    return found


def by_vessel(table: pa.Table) -> dict[int, list[tuple[float, ...]]]:
    rows: dict[int, list[tuple[float, ...]]] = defaultdict(list)
    for vessel, *rest in zip(*(table.column(i).to_pylist() for i in range(6)), strict=True):
        rows[vessel].append(tuple(rest))
    return rows


def ours(table: pa.Table, areas: Areas) -> dict[str, tuple[float, int]]:
    """Each part by itself, and then the whole."""
    pipeline = Pipeline(LIMITS, areas)
    found: dict[str, tuple[float, int]] = {}
    spent, positions = measured(lambda: positions_of(table))
    found["typed columns"] = spent, len(positions)
    rows = positions.table
    last = int(np.max(table.column("time")))
    codes = np.asarray(rows.column("entity").combine_chunks().indices).astype(np.int64)

    def cleaning() -> Any:
        memory = TrackMemory(start().tracks, int(codes.max()) + 1)
        return clean(rows, codes, memory.clean_ints, memory.clean_floats, LIMITS)

    spent, cleaned = measured(cleaning)
    found["sorting, cleaning"] = spent, len(believed(cleaned)[0])
    spent, traced = measured(lambda: Pipeline(LIMITS).trace(start(), rows, last))
    points = sum(table.num_rows for table in traced.items)
    found["the same, and critical points"] = spent, points
    base = spent
    spent, with_areas = measured(lambda: pipeline.trace(start(), rows, last))
    visits = sum(table.num_rows for table in with_areas.items) - points
    found["areas"] = max(spent - base, 0.0), visits
    spent, pairs = measured(lambda: close_pairs(traced.samples, LIMITS))
    found["pairs"] = spent, pairs.num_rows
    spent, whole = measured(lambda: pipeline.run(positions))
    found["the whole, from typed columns to items"] = spent, whole.items.num_rows
    kinds = Counter(whole.items.column("type").to_pylist())
    print("items: " + ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()))
    return found


def on_spark(table: pa.Table, areas: Areas, master: str) -> None:
    """The same from Parquet files in one process and on Spark: items, and what rules find."""
    from horai.runtime.spark.connect import connect
    from horai.runtime.spark.frames import derive

    pipeline, rules = Pipeline(LIMITS, areas), horai.loads(RULES)
    spark = connect(master)

    def items_there() -> int:
        found = derive(spark.read.parquet(folder), pipeline)
        rows = int(found.items.count())
        found.unpersist()
        return rows

    def spans_there() -> int:
        answers = rules.spark(sorted(map(str, Path(folder).iterdir())), positions=pipeline)
        rows = answers.count("fluent")
        answers.unpersist()
        return rows

    def items_here() -> int:
        return int(pipeline.run(read_positions(sorted(Path(folder).iterdir()))).items.num_rows)

    def spans_here() -> int:
        found = pipeline.run(read_positions(sorted(Path(folder).iterdir())))
        return len(rules.run(found.narrative(), answers="final").table())

    with tempfile.TemporaryDirectory() as folder:
        for number in range(4):
            size = table.num_rows // 4 + 1
            pq.write_table(table.slice(number * size, size), f"{folder}/{number}.parquet")
        print(f"{'':<30}{'wall s':>8}{'CPU s':>10}{'rows':>12}")
        for name, here, there in (
            ("items", items_here, items_there),
            ("items and rules", spans_here, spans_there),
        ):
            both = [took(here, 1), took(there, 1)]
            for where, one in zip(("one process", master), both, strict=True):
                print(f"{name + ', ' + where:<30}{one.wall:>8.2f}{one.cpu:>10.2f}{one.rows:>12,}")
    spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--positions", type=int, default=2_000_000)
    parser.add_argument("--vessels", type=int, default=2_000)
    parser.add_argument("--plain", type=int, default=100_000)
    parser.add_argument("--spark", metavar="MASTER", help="only Spark against one process")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    asked = parser.parse_args()
    if asked.quick:
        asked.positions, asked.vessels, asked.plain = 4000, 20, 4000
    areas = squares()
    table = traffic(asked.positions, asked.vessels)
    if asked.spark:
        on_spark(table, areas, asked.spark)
        return
    print(f"{table.num_rows:,} positions of {asked.vessels:,} vessels, {len(areas)} areas")
    for name, (spent, many) in ours(table, areas).items():
        each = spent / table.num_rows * 1e9
        print(f"{name:40} {spent:7.2f} s CPU {each:7.0f} ns each {many:>10,} found")
    share = max(asked.vessels * asked.plain // asked.positions, 2)
    few = traffic(asked.plain, share)
    print(f"\nthe plain way: {few.num_rows:,} positions of {share} vessels")
    rows = by_vessel(few)
    plain = {
        "the same, and critical points": measured(lambda: plain_points(rows)),
        "areas": measured(lambda: plain_areas(rows, areas)),
        "pairs": measured(lambda: plain_pairs(rows)),
    }
    again = ours(few, areas)
    whole = sum(spent for spent, _ in plain.values())
    for name, (spent, many) in plain.items():
        mine, found = again[name]
        ratio = spent / max(mine, 1e-9)
        print(f"{name:40} {spent / few.num_rows * 1e9:7.0f} ns, {ratio:5.1f} times ours; ", end="")
        print(f"{many:,} found, ours {found:,}")
    mine = again["the whole, from typed columns to items"][0]
    print(f"{'all of it':40} {whole / few.num_rows * 1e9:7.0f} ns, {whole / mine:5.1f} times ours")


if __name__ == "__main__":
    main()
