"""What the compiled engine takes, in CPU time.

    python bench/bench_core.py [--only PARTS] [--events N] [--quick] [--applications a,b]
                               [--threads N]

| part | what is measured |
|---|---|
| bulk | all items in one window, from Arrow tables to the columns of all answers |
| memory | peak of the resident memory in one window beyond that before, bytes an event (Linux) |
| growth | bulk with a tenth of the events, and with ten times as many (maritime) |
| windows | 100 windows of 4 steps beside one window (maritime) |
| sessions | steps of 100 events, from items in Python to rows of changes (maritime) |
| live | a window of an hour that moves by a minute, from Arrow tables to the columns of changes |
| steps | windows of 16 steps, on time, late and with retractions: a step, and its changes |
| threads | bulk in several threads against one: CPU, and the longest way through it |

A live step has what it costs to admit items and to make columns of answers: the machine alone is
named beside it.

The longest way is the CPU time of what one thread does, and of the slowest thread wherever several
work at the same time. On idle cores a run takes as long; on busy ones the clock says nothing.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partialmethod
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from engine_measure import APPLICATIONS, EVENTS_PER_ENTITY, Workload, workload
from generators import maritime
from generators.lateness import Lateness, delayed

import horai
from horai.engine.core.shards import Shards
from horai.io.items.rows import Item
from horai.io.items.tables import ItemTable, by_arrival, extent
from horai.runtime.engines import AUTO, engine_named

PARTS = ("bulk", "memory", "growth", "windows", "sessions", "live", "steps", "threads")


def session(rules: horai.Rules, start: int, window: int | None) -> Any:
    """A session that leaves its input out of answers and keeps no archive."""
    made = engine_named(AUTO)(
        rules.description,
        start=start,
        window=window,
        tick=1,
        allen_memory=None,
        predicates=rules.predicates,
        archive=window is None,
    )
    made.hide_input()  # type: ignore[attr-defined]
    return made


def spent(work: Callable[[], object]) -> float:
    """CPU seconds of some work."""
    gc.collect()
    begin = time.process_time()
    work()
    return time.process_time() - begin


def bulk(name: str, events: int, entities: int) -> None:
    """One window over everything; the best of two runs."""
    load: Workload = workload(name, events, entities)
    first, last = load.span
    best = float("inf")
    for _ in range(2):
        made = session(load.rules, first - 1, None)
        took = spent(lambda s=made: s.advance(last, load.narrative.tables).part("all"))
        best = min(took, best)
    print(f"  {name}, {events:,}: {best / events * 1e9:.0f} ns an event", flush=True)


def memory(name: str, events: int, entities: int) -> None:
    """What one window over everything takes beside its input, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        run, answered = pool.submit(_grown, name, events, entities).result()
    listed = f"{run / events:.0f} bytes an event, {answered / events:.0f} with answers"
    print(f"  {name}: {listed}", flush=True)


def _grown(name: str, events: int, entities: int) -> tuple[int, int]:
    """By how much the peak grows in a run, and until there are answers."""
    warm = workload(name, 1000, 5)
    made = session(warm.rules, warm.span[0] - 1, None)
    made.advance(warm.span[1], warm.narrative.tables).part("all")
    load = workload(name, events, entities)
    first, last = load.span
    gc.collect()
    before = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here on
    made = session(load.rules, first - 1, None)
    answer = made.advance(last, load.narrative.tables)
    run = _resident("VmHWM")
    answer.part("all")
    return run - before, _resident("VmHWM") - before


def _resident(name: str) -> int:
    """Bytes of the resident memory of this process, or of its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name}")


def windows(events: int, entities: int, steps: int = 100) -> None:
    """Many overlapping windows, with the changes at each, beside one window over everything."""
    load = workload("maritime", events, entities)
    first, last = load.span
    step = (last - first) // steps + 1
    queries = [*range(first - 1 + step, last, step), last]
    batches = list(by_arrival(load.narrative.tables, queries))

    def moving() -> None:
        made = session(load.rules, first - 1, 4 * step)
        for query, tables in zip(queries, batches, strict=True):
            answer = made.advance(query, tables)
            answer.keep(("gone", "new"))  # as sessions do
            answer.part("gone")
            answer.part("new")

    def whole() -> None:
        made = session(load.rules, first - 1, None)
        made.advance(last, load.narrative.tables).part("all")

    one, many = (min(spent(work) for _ in range(2)) for work in (whole, moving))
    print(f"  {len(queries)}: {many:.2f} s, one: {one:.2f} s, {many / one:.1f} times", flush=True)


def sessions(steps: int, entities: int, per_step: int = 100, width: int = 36) -> None:
    """Steps of a session as users have it: items as rows of Python, changes as rows."""
    rules = horai.loads(*maritime.rules(entities))
    narrative = maritime.narrative(per_step * (steps + width), entities)
    items = sorted(
        (item for table in narrative.tables for item in _items(table)), key=lambda item: item.start
    )
    first, last = items[0].start, items[-1].start
    step = max((last - first) // (steps + width), 1)
    made = rules.session(start=first - 1, window=width * step, answers="changelog")
    times: list[float] = []
    at = rows = 0
    gc.collect()
    gc.freeze()
    for query in range(first - 1 + step, last, step):
        some = at
        while items[at].start <= query:
            at += 1
        given = items[some:at]
        begin = time.process_time()
        rows += len(made.advance(query, given).changes)
        times.append(time.process_time() - begin)
    begin = time.process_time()
    for query in range(last, last + 200):
        made.advance(query)
    empty = (time.process_time() - begin) / 200
    gc.unfreeze()
    sizes = sorted(times[width:])
    middle, late = median(sizes), sizes[len(sizes) * 99 // 100]
    print(
        f"  {len(sizes)} steps of {at / len(times):.0f} items and {rows / len(times):.0f} rows: "
        f"{middle * 1e3:.3f} ms, 99 % within {late / middle:.1f} times that, all within "
        f"{sizes[-1] / middle:.0f}; empty {empty * 1e6:.0f} us",
        flush=True,
    )


def _items(table: ItemTable) -> Iterator[Item]:
    names = ["start", *(f"a{place}" for place in range(table.arity))]
    columns = [table.table.column(name).to_pylist() for name in names]
    if table.kind == "event":
        for start, *args in zip(*columns, strict=True):
            yield Item(1, table.name, "event", table.form, start, start, None, None, tuple(args))


def threads(name: str, events: int, entities: int, number: int) -> None:
    """One window over everything in several threads and in one; the best of three runs each."""
    load: Workload = workload(name, events, entities)
    first, last = load.span
    best: dict[int, tuple[float, float]] = {}
    for count in (1, number) * 3:
        with patch.object(Shards, "each", partialmethod(_timed, Shards.each, phases := [])):
            made = session(load.rules, first - 1, None)
            made.threads = count
            took = spent(lambda s=made: s.advance(last, load.narrative.tables).part("all"))
        longest = took - sum(map(sum, phases)) + sum(map(max, phases))
        best[count] = min((longest, took), best.get(count, (longest, took)))
    (one, _), (longest, took) = best[1], best[number]
    print(
        f"  {name}: {one / events * 1e9:.0f} ns an event, in {number} threads"
        f" {longest / events * 1e9:.0f}: {one / longest:.2f} times as fast, with"
        f" {took / one:.2f} times the CPU",
        flush=True,
    )


def _timed(
    shards: Shards,
    each: Callable[..., list[Any]],
    phases: list[list[float]],
    work: Callable[[int, Any], Any],
    many: bool,
) -> list[Any]:
    """What machines do, and how long each of their threads works."""
    times: list[float] = []

    def timed(place: int, machine: Any) -> Any:
        begin = time.thread_time()
        try:
            return work(place, machine)
        finally:
            times.append(time.thread_time() - begin)

    found = each(shards, timed, many)
    if many:
        phases.append(times)
    return found


def stepping(
    label: str, narrative: Any, rules: horai.Rules, queries: Sequence[int], window: int, warm: int
) -> None:
    """Query after query, with the changes at each."""
    made = session(rules, queries[0] - window, window)
    times: list[float] = []
    for query, tables in zip(queries, by_arrival(narrative.tables, queries), strict=True):
        begin = time.process_time()
        answer = made.advance(query, tables)
        answer.keep(("gone", "new"))  # as sessions do
        answer.part("gone")
        answer.part("new")
        times.append(time.process_time() - begin)
    print(f"  {label}: {median(times[warm:]) * 1e3:.2f} ms", flush=True)


def live(events: int, entities: int) -> None:
    """A day of few items at a time."""
    rules = horai.loads(*maritime.rules(entities))
    narrative = maritime.narrative(events, entities)
    first, last = extent(narrative.tables) or (0, 1)
    for step in (60, 10):
        queries = list(range(first + 3600, min(last, first + 3600 + 80 * step), step))
        stepping(f"step of {step} s", narrative, rules, queries, 3600, 20)


def steps(per_step: int) -> None:
    """Many items at a time, in windows of sixteen steps."""
    entities, ratio, more = max(per_step // 20, 2), 16, 4
    rules = horai.loads(*maritime.rules(entities))
    narrative = maritime.narrative((ratio + more) * per_step, entities)
    first, last = extent(narrative.tables) or (0, 1)
    step = (last - first + 1) // (ratio + more) + 1
    queries = [first - 1 + step * ratio + k * step for k in range(more)]
    for late, retracted in ((0.0, 0.0), (0.05, 0.0), (0.8, 0.0), (0.05, 0.1)):
        lateness = Lateness(
            window=ratio * step,
            step=step,
            delayed=late,
            retracted=retracted,
            fraction=8 / ratio,
            origin=queries[0],
        )
        arrived = delayed(narrative, lateness)
        label = f"{late:.0%} late, {retracted:.0%} retracted"
        stepping(label, arrived, rules, queries, ratio * step, 1)


def main() -> None:
    """Run the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--applications", default=",".join(APPLICATIONS))
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    events = 1_000 if given.quick else given.events
    entities = max(events // EVENTS_PER_ENTITY, 5)
    for part in given.only.split(","):
        print(part)
        if part in ("bulk", "memory"):
            for name in given.applications.split(","):
                {"bulk": bulk, "memory": memory}[part](name, events, entities)
        elif part == "threads":
            for name in given.applications.split(",") if given.threads > 1 else ():
                threads(name, events, entities, given.threads)
        elif part == "growth":
            for some in (events // 10, events, 10 * events):
                bulk("maritime", some, max(some // EVENTS_PER_ENTITY, 5))
        elif part == "windows":
            windows(events, entities)
        elif part == "sessions":
            sessions(max(events // 100, 100), 5 if given.quick else 500)
        elif part == "live":
            live(events // 10, 5 if given.quick else 500)
        elif part == "steps":
            steps(max(events // 50, 40))
        else:
            parser.error(f"there is no part {part}: {', '.join(PARTS)}")


if __name__ == "__main__":
    main()
