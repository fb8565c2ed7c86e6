"""How fast a narrative is read: 1,000,000 rows of mixed types, on one core.

    python bench/bench_read.py [rows]

Prints rows per second of `horai.io.items.read`, the best of three, and of a plain loop over the
same file that splits the fields with the csv module and turns times into integers (and does no
checks, no typing and no columns), in the same run. CPU time is what counts on a busy machine.
"""

from __future__ import annotations

import csv
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from horai.io import InputSchema, InputType, read

SCHEMA = InputSchema.of(
    [
        InputType("velocity", "event", 4),
        InputType("change_in_heading", "event", 1),
        InputType("stop_start", "event", 1),
        InputType("entersArea", "event", 2),
        InputType("proximity", "fluent", 2, "intervals"),
    ]
)


def generate(path: Path, rows: int) -> None:
    """Rows as ships send them: mostly speeds, some events, some intervals, a few retractions."""
    dice = random.Random(7)
    with path.open("w", encoding="utf-8") as out:
        for i in range(rows):
            t = 1_443_650_400 + i // 20
            vessel = 227_000_000 + dice.randrange(5_000)
            arrival = t + dice.randrange(60)
            kind = dice.random()
            if kind < 0.7:
                speed, heading = dice.random() * 25, dice.randrange(360)
                course = dice.random() * 360
                row = f"velocity|{arrival}|{t}|{vessel}|{speed:.2f}|{heading}|{course:.1f}"
            elif kind < 0.8:
                row = f"change_in_heading|{arrival}|{t}|{vessel}"
            elif kind < 0.85:
                row = f"stop_start|{arrival}|{t}|{vessel}"
            elif kind < 0.9:
                row = f"entersArea|{arrival}|{t}|{vessel}|area_{dice.randrange(900)}"
            else:
                end = t + dice.randrange(1, 4_000)
                other = 227_000_000 + dice.randrange(5_000)
                row = f"proximity|{end}|{t}|{end}|true|{vessel}|{other}"
            out.write(("-" if dice.random() < 0.002 else "") + row + "\n")


def plain_loop(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as text:
        rows = [
            (fields[0], int(fields[1]), int(fields[2]), fields[3:])
            for fields in csv.reader(text, delimiter="|")
        ]
    return len(rows)


def horai_read(path: Path) -> int:
    return len(read(path, SCHEMA))


def best_seconds(job: Callable[[Path], int], path: Path, rows: int) -> tuple[float, float]:
    """The least wall time and the least CPU time of three runs."""
    wall, cpu = float("inf"), float("inf")
    for _ in range(3):
        begin, cpu_begin = time.perf_counter(), time.process_time()
        count = job(path)
        wall = min(wall, time.perf_counter() - begin)
        cpu = min(cpu, time.process_time() - cpu_begin)
        assert count == rows, f"{count} of {rows} rows were read"
    return wall, cpu


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "narrative.csv"
        generate(path, rows)
        megabytes = path.stat().st_size / 1e6
        ours = best_seconds(horai_read, path, rows)
        loop = best_seconds(plain_loop, path, rows)
    print(f"{rows:,} rows, {megabytes:.0f} MB        by wall clock      by CPU time")
    print(f"horai.io.items.read      {rows / ours[0]:12,.0f} rows/s {rows / ours[1]:12,.0f} rows/s")
    print(f"plain Python loop  {rows / loop[0]:12,.0f} rows/s {rows / loop[1]:12,.0f} rows/s")
    print(f"ratio              {loop[0] / ours[0]:12.1f}        {loop[1] / ours[1]:12.1f}")


if __name__ == "__main__":
    main()
