"""Spark beside one process: the same rules, the same file, the same answers.

    python bench/bench_spark.py [--events N] [--entities N] [--master URL] [--buckets N] [--quick]

A file with the maritime stream is read and reasoned over in one window, until all intervals and
events are found and counted. One process does it with `Rules.run`; Spark with `Rules.spark`, whose
workers read the file and whose answers stay with them. The first run of each is left out: it loads
compiled code, and workers start. CPU time is that of all processes taking part. Compare the two
within one run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from generators import maritime

import horai
from horai.rules import Rules
from horai.spark.connect import connect

TICKS = os.sysconf("SC_CLK_TCK")


class Took(NamedTuple):
    """Seconds by the clock, seconds of CPU, and how many rows were found."""

    wall: float
    cpu: float
    rows: int


def family() -> float:
    """Seconds of CPU of this process and all that it started, directly or not."""
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it is over
            parents[int(entry.name)] = int(fields[1])
            # Its own, and that of children which are over.
            used[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    return sum(seconds for pid, seconds in used.items() if _is_ours(pid, parents))


def _is_ours(pid: int, parents: dict[int, int]) -> bool:
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = parents.get(pid, 0)
    return False


def took(job: Callable[[], int], runs: int) -> Took:
    """The best of some runs, after one that does not count."""
    job()
    found: list[Took] = []
    for _ in range(runs):
        cpu, began = family(), time.perf_counter()
        rows = job()
        found.append(Took(time.perf_counter() - began, family() - cpu, rows))
    return min(found, key=lambda one: one.cpu)


def in_one_process(rules: Rules, path: Path) -> int:
    """Intervals and events found."""
    return len(rules.run(path, answers="final").table())


def on_spark(rules: Rules, path: Path, buckets: int | None) -> int:
    """The same on Spark, counted there."""
    found = rules.spark(path, buckets=buckets)
    rows = found.count("fluent") + found.count("event")
    found.unpersist()
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--entities", type=int, default=5_000)
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--buckets", type=int)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="only to see that it works")
    given = parser.parse_args()
    events, entities = (2_000, 50) if given.quick else (given.events, given.entities)
    spark = connect(given.master, {"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stream.csv"
        maritime.write(path, events, entities)
        rules = horai.loads(*maritime.rules(entities))
        one = took(lambda: in_one_process(rules, path), given.runs)
        many = took(lambda: on_spark(rules, path, given.buckets), given.runs)
    spark.stop()
    assert one.rows == many.rows, (one.rows, many.rows)
    print(f"maritime, {events:,} events of {entities:,} vessels, {one.rows:,} rows found")
    print(f"{'':<14}{'wall s':>10}{'events/s':>12}{'CPU s':>10}")
    for name, found in (("one process", one), (f"Spark {given.master}", many)):
        speed = f"{events / found.wall:,.0f}"
        print(f"{name:<14}{found.wall:>10.2f}{speed:>12}{found.cpu:>10.2f}")
    print(f"{'ratio':<14}{many.wall / one.wall:>10.2f}{'':>12}{many.cpu / one.cpu:>10.2f}")


if __name__ == "__main__":
    main()
