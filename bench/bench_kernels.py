"""The kernels of horai.temporal beside numpy, polars and duckdb: 1,000,000 rows of 10,000 keys.

    python bench/bench_kernels.py [rows] [keys]

Every line is one operation on the same columns, in ns of CPU per input row (best of three, one
thread) with the ratio to the kernel. Every answer is compared with the kernel's. polars and duckdb
are measured, too; they start from and end with tables
of their own, so handing columns over is not counted.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import kernel_rivals as rivals
import numpy as np

from horai.engine.hashing import build, dense, probe
from horai.temporal.algebra import intersection, union
from horai.temporal.coalesce import coalesce
from horai.temporal.inertia import Changes, inertia
from horai.temporal.sorting import order
from horai.temporal.spans import Spans

Columns = Sequence[Any]
Job = Callable[[], Columns]


def optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed: not measured")
        return None


def cpu(job: Callable[[], object]) -> float:
    """The least CPU time of three runs, in seconds."""
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        job()
        best = min(best, time.process_time() - begin)
    return best


def check(name: str, tool: str, found: Columns, expected: Columns) -> None:
    """A rival that answers something else is no rival; in which order does not matter."""
    for columns in zip(*(in_order(c) for c in (found, expected)), strict=True):
        if not np.array_equal(*columns):
            raise SystemExit(f"{name}: {tool} does not agree with the kernel")


def in_order(columns: Columns) -> list[Any]:
    arrays = [np.asarray(column) for column in columns]
    rows = np.lexsort(arrays[::-1])
    return [array[rows] for array in arrays]


class Bench:
    """Tables in every tool, and one line of the report for each operation."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        os.environ["POLARS_MAX_THREADS"] = "1"
        self.polars, duckdb = optional("polars"), optional("duckdb")
        self.frames: dict[str, Any] = {}
        self.duckdb = duckdb.connect() if duckdb else None
        if self.duckdb:
            self.duckdb.execute("SET threads = 1")
        print(f"{rows:,} rows; ns of CPU per row (times the kernel)")
        print(f"{'':28}{'kernel':>9}{'numpy':>16}{'polars':>16}{'duckdb':>16}")

    def table(self, name: str, **columns: Any) -> None:
        if self.polars:
            self.frames[name] = self.polars.DataFrame(columns)
        if self.duckdb:
            self.duckdb.register("given", columns)
            self.duckdb.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM given")
            self.duckdb.unregister("given")

    def line(self, name: str, rival: str, kernel: Job, by_numpy: Job, sides: int = 1) -> None:
        expected = kernel()
        check(name, "numpy", by_numpy(), expected)
        seconds: list[float | None] = [cpu(kernel), cpu(by_numpy), None, None]
        if self.polars:
            query = rivals.POLARS[rival]
            check(name, "polars", query(self.polars, self.frames).get_columns(), expected)
            seconds[2] = cpu(lambda: query(self.polars, self.frames))
        if self.duckdb:
            sql = f"CREATE OR REPLACE TABLE answer AS {rivals.DUCKDB[rival]}"
            self.duckdb.execute(sql)
            answer = self.duckdb.execute("FROM answer").fetchnumpy()
            check(name, "duckdb", list(answer.values()), expected)
            seconds[3] = cpu(lambda: self.duckdb.execute(sql))
        per_row = [s and s / (sides * self.rows) * 1e9 for s in seconds]
        base = per_row[0] or 1.0
        cells = [f"{ns:.1f} ({ns / base:.1f})" if ns else "-" for ns in per_row[1:]]
        print(f"{name:28}{base:9.1f}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


def random_spans(dice: np.random.Generator, rows: int, keys: int) -> Spans:
    """Spans of 1 to 99 seconds with gaps between them, sorted."""
    key = np.sort(dice.integers(0, keys, rows))
    start = np.cumsum(dice.integers(100, 200, rows))
    start -= start[np.searchsorted(key, key)]  # every key begins at 0
    return Spans(key, start, start + dice.integers(1, 100, rows))


def random_changes(dice: np.random.Generator, rows: int, keys: int) -> Changes:
    """Starts and ends of one value at distinct times of each key, sorted."""
    key = np.sort(dice.integers(0, keys, rows))
    when = np.cumsum(dice.integers(1, 60, rows))
    return Changes(key, when, np.zeros(rows, np.int64), dice.random(rows) < 0.5)


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    keys = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    dice = np.random.default_rng(7)
    bench = Bench(rows)

    key = dice.integers(0, keys, rows)
    arrival = np.arange(rows, dtype=np.int64) // 2
    for name, when in (
        ("in time order", arrival),
        ("some rows late", arrival - dice.integers(0, 3600, rows)),
    ):
        bench.table("items", key=key, time=when)

        def sort(when: Any = when) -> Columns:
            positions = order(key, when)
            return key[positions], when[positions]

        bench.line(f"sort, {name}", "sort", sort, partial(rivals.numpy_sort, key, when))

    left, right = random_spans(dice, rows, keys), random_spans(dice, rows, keys)
    loose = Spans(left.key, left.start, left.end + dice.integers(0, 120, rows))
    bench.table("spans", key=loose.key, start=loose.start, stop=loose.end)
    bench.line(
        "coalesce", "coalesce", lambda: coalesce(loose), lambda: rivals.numpy_coalesce(loose)
    )

    bench.table("a", key=left.key, start=left.start, stop=left.end)
    bench.table("b", key=right.key, start=right.start, stop=right.end)
    for name, kernel in (("union", union), ("intersection", intersection)):
        bench.line(
            name,
            name,
            partial(kernel, left, right),
            partial(rivals.numpy_sweep, left, right, 1 if name == "union" else 2),
            sides=2,
        )

    changes = random_changes(dice, rows, keys)
    bench.table("changes", key=changes.key, time=changes.time, initiates=changes.initiates)

    def hold() -> Columns:
        spans = inertia(changes)
        return spans.key, spans.start, spans.end

    bench.line("inertia", "inertia", hold, lambda: rivals.numpy_inertia(changes))

    facts = dice.permutation(keys)
    bench.table("items", key=key, row=np.arange(rows))
    bench.table("facts", key=facts, fact=np.arange(keys))
    bench.line(
        "join", "join", lambda: probe([key], build([facts])), lambda: rivals.numpy_join(key, facts)
    )

    vessel, area = key * 7_919 + 227_000_000, dice.integers(0, 1_000_000, rows)
    bench.table("items", first=vessel, second=area)

    def number() -> Columns:
        _, first = dense([vessel, area], rows)
        return ([len(first)],)

    bench.line("number, two columns", "number", number, lambda: rivals.numpy_number(vessel, area))


if __name__ == "__main__":
    main()
