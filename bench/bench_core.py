"""What the compiled engine takes, in CPU time.

    python bench/bench_core.py [--events N] [--quick] [--applications a,b] [--threads N]

| part | what is measured |
|---|---|
| bulk | all items in one window, from Arrow tables to the columns of all answers |
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
from collections.abc import Callable, Sequence
from functools import partialmethod
from statistics import median
from typing import Any
from unittest.mock import patch

from engine_measure import APPLICATIONS, EVENTS_PER_ENTITY, Workload, workload
from generators import maritime
from generators.lateness import Lateness, delayed

import horai
from horai.engine.core.shards import Shards
from horai.io.items.tables import by_arrival, extent
from horai.runtime.engines import AUTO, engine_named


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
    print(f"  {name}: {best / events * 1e9:.0f} ns an event", flush=True)


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
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--applications", default=",".join(APPLICATIONS))
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    events = 1_000 if given.quick else given.events
    print("bulk")
    for name in given.applications.split(","):
        bulk(name, events, max(events // EVENTS_PER_ENTITY, 5))
    if given.threads > 1:
        print("threads")
        for name in given.applications.split(","):
            threads(name, events, max(events // EVENTS_PER_ENTITY, 5), given.threads)
    print("live")
    live(events // 10, 5 if given.quick else 500)
    print("steps")
    steps(max(events // 50, 40))


if __name__ == "__main__":
    main()
