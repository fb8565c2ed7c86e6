"""A stream on Spark beside a batch run and one process: the same rules, events and answers.

    python bench/bench_stream.py [--events N] [--entities N] [--steps N] [--master URL] [--quick]

The maritime stream comes in files, one for each step, and there are as many query times as steps;
each window is two steps long. The stream runs until all is read, with a table of what holds as its
sink. Beside it, one process gets the same query times over the same file. The first steps are left
out of the rate: they start workers and load compiled code, and their windows are not full yet.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from generators import maritime
from spark_measure import family

import horai
from horai.io.letters import DeadLetter
from horai.rules import Rules
from horai.runtime.sinks.table import read_current
from horai.runtime.spark.connect import connect
from horai.runtime.spark.streaming import start
from horai.runtime.streams import StepReport

WARM = 3  # steps that are left out


def cut(path: Path, folder: Path, steps: int) -> list[int]:
    """The lines of a file in as many files, in the order of arrival; returns the last times."""
    lines = path.read_text(encoding="utf-8").splitlines()
    bounds = [len(lines) * place // steps for place in range(steps + 1)]
    last: list[int] = []
    for number, (low, high) in enumerate(pairwise(bounds)):
        part = folder / f"{number:04}.txt"
        part.write_text("\n".join(lines[low:high]) + "\n", encoding="utf-8")
        os.utime(part, (1_700_000_000 + number, 1_700_000_000 + number))
        last.append(int(lines[high - 1].split("|")[1]))
    return last


def in_steps(
    rules: Rules, folder: Path, window: int, step: int, buckets: int | None
) -> list[tuple[StepReport, float]]:
    """What every step took, by the clock and of CPU."""
    reports: list[tuple[StepReport, float]] = []
    before = family()

    def note(report: StepReport, letters: Sequence[DeadLetter], found: object) -> None:
        nonlocal before
        now = family()
        reports.append((report, now - before))
        before = now

    start(
        rules,
        f"rows:{folder}/drop",
        sink=f"table:{folder}/table",
        checkpoint=folder / "kept",
        trigger="available-now",
        files_per_step=1,
        buckets=buckets,
        window=window,
        step=step,
        start=0,
        on_step=note,
    ).wait()
    return reports


def measure(
    rules: Rules, path: Path, folder: Path, steps: int, buckets: int | None, entities: int
) -> None:
    """Take a file in steps, and print what that costs beside one process."""
    (folder / "drop").mkdir(parents=True)
    last = cut(path, folder / "drop", steps)
    with path.open("rb") as lines:
        events = sum(1 for _ in lines)
    step = max(1, last[-1] // steps)
    cpu, began = family(), time.perf_counter()
    reports = in_steps(rules, folder, 2 * step, step, buckets)
    wall, cpu = time.perf_counter() - began, family() - cpu
    rows = read_current(folder / "table").num_rows
    settings: dict[str, Any] = {"window": 2 * step, "step": step, "start": 0}
    mine = time.process_time()
    told = len(rules.run(path, answers="changelog", **settings).table())
    mine = time.process_time() - mine
    final = len(rules.run(path, answers="final", **settings).table())
    assert final == rows, (final, rows)
    later = reports[min(WARM, steps // 2) : -1]
    took, work = sum(r.seconds for r, _ in later), sum(cpu for _, cpu in later)
    items = events / steps * len(later)
    print(f"maritime in a stream, {events:,} events of {entities:,} vessels in {steps} steps")
    print(f"{told:,} changes told, {rows:,} rows hold at the end")
    print(f"state after the last step: {reports[-1][0].state_bytes:,} bytes")
    print(f"stream: {wall:.1f} s in all, {cpu:.1f} s of CPU")
    print(f"later steps: {items / took:,.0f} events/s, {work / items * 1e6:.2f} us of CPU an event")
    print(f"one process, the same query times: {mine:.1f} s, {mine / events * 1e6:.2f} us an event")
    print("seconds of each step:", *(report.seconds for report, _ in reports))
    print("of CPU:", *(round(cpu, 2) for _, cpu in reports))
    print("of the engine:", *(report.engine_seconds for report, _ in reports))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--entities", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--buckets", type=int)
    parser.add_argument("--quick", action="store_true", help="only to see that it works")
    given = parser.parse_args()
    events, entities = (2_000, 50) if given.quick else (given.events, given.entities)
    steps = 2 if given.quick else given.steps
    spark = connect(given.master, {"spark.driver.memory": "4g"})
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "stream.csv"
        maritime.write(path, events, entities)
        rules = horai.loads(*maritime.rules(entities))
        measure(rules, path, Path(name) / "stream", steps, given.buckets, entities)
    spark.stop()


if __name__ == "__main__":
    main()
