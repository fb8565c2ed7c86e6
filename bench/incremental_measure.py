"""What measurements of incremental evaluation share: streams, and runs side by side.

All runs of a configuration get the same items at the same query times, one after the other within
each window, so that a slow moment of the machine hits all of them. The first query fills the window
at once; it is not measured, and neither is the one after it.

| mode | what it is |
|---|---|
| `afresh` | a new session of the compiled engine for each window, given all of its items |
| `compiled` | the compiled engine, which takes in what is new |
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import median

import pyarrow as pa
import pyarrow.compute as pc
from engine_measure import Workload, workload
from generators.lateness import Lateness, delayed

from horai.io import ItemTable, Narrative
from horai.io.items.tables import by_arrival
from horai.result import Answer
from horai.rules import Rules
from horai.session import Session

AFRESH, INCREMENTAL = "afresh", "compiled"
MODES = (AFRESH, INCREMENTAL)
EVENTS_PER_ENTITY = 20  # in a step
MEAN_DELAY = 8  # steps, as in the paper
WARM = 1  # windows after the first one that are not measured


def session_of(rules: Rules, start: int, window: int) -> Session:
    """A run that keeps nothing but changes."""
    return rules.session(start=start, window=window, answers="changelog")


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    events_per_step: int = 20_000
    windows: int = 5
    truncated: bool = True


@dataclass(frozen=True)
class Configuration:
    """One point of a plot; `ratio` is window to step, shares are of the items."""

    application: str
    ratio: int
    delayed: float = 0.0
    retracted: float = 0.0


@dataclass(frozen=True)
class Course:
    """A stream cut for one configuration: what arrives by each query time."""

    rules: Rules
    start: int
    window: int
    queries: Sequence[int]
    batches: Sequence[list[ItemTable]]

    @property
    def arriving(self) -> float:
        """How many rows arrive in a step, on the average of those measured."""
        rows = [sum(len(table) for table in batch) for batch in self.batches[1 + WARM :]]
        return sum(rows) / len(rows)


@lru_cache(maxsize=1)
def stream(application: str, steps: int, events_per_step: int) -> Workload:
    """All items on time. The last stream is kept, since configurations share it."""
    entities = max(10, events_per_step // EVENTS_PER_ENTITY)
    return workload(application, steps * events_per_step, entities)


def course(configuration: Configuration, sizes: Sizes, most: int) -> Course:
    """The stream of a configuration. `most` is the largest ratio that it is compared with.

    Query times are the same for all ratios: a smaller window begins later.
    """
    measured = sizes.windows + WARM
    on_time = stream(configuration.application, most + measured, sizes.events_per_step)
    first, last = on_time.span
    step = max(1, (last - first + 1) // (most + measured))
    window, full = configuration.ratio * step, first - 1 + most * step
    queries = [full + number * step for number in range(measured + 1)]
    lateness = Lateness(
        window=window,
        step=step,
        delayed=configuration.delayed,
        retracted=configuration.retracted,
        fraction=MEAN_DELAY / configuration.ratio,
        truncated=sizes.truncated,
        origin=full,
    )
    start = full - window
    arrived = delayed(after(on_time.narrative, start), lateness)
    # What arrives after the last query would otherwise come with it, and wait.
    batches = list(by_arrival(arrived.tables, [*queries, last + window]))[:-1]
    return Course(on_time.rules, start, window, queries, batches)


def after(narrative: Narrative, start: int) -> Narrative:
    """The items after the start of a run: those before would be reported as too late."""
    kept = (
        replace(table, table=table.table.filter(pc.greater(table.table["start"], pa.scalar(start))))
        for table in narrative.tables
    )
    return Narrative(tuple(table for table in kept if len(table)), narrative.dead_letters)


def taken(session: Session, query: int, tables: list[ItemTable]) -> tuple[Answer, float]:
    """The answer at a query time, and the CPU seconds of it."""
    gc.collect()
    begin = time.process_time()
    answer = session.take(query, tables)
    answer.raw.part("gone")
    answer.raw.part("new")
    return answer, time.process_time() - begin


def afresh(given: Course, number: int) -> float:
    """CPU seconds of a new session that gets all items of a window at once."""
    query, found = given.queries[number], []
    start = query - given.window
    for batch in given.batches[: number + 1]:
        for table in batch:
            inside = table.table["start"].to_numpy() > start
            if inside.any():
                found.append(table.where(inside))
    return taken(session_of(given.rules, start, given.window), query, found)[1]


@dataclass(frozen=True)
class Outcome:
    """Median CPU seconds per window of each mode."""

    seconds: dict[str, float]
    arriving: float
    changes: float


def side_by_side(given: Course) -> Outcome:
    """Both modes over the same stream, window by window in turn."""
    session = session_of(given.rules, given.start, given.window)
    seconds: dict[str, list[float]] = {mode: [] for mode in MODES}
    changes: list[int] = []
    for number, (query, tables) in enumerate(zip(given.queries, given.batches, strict=True)):
        for mode in turned(list(MODES), number):
            if mode == INCREMENTAL:
                answer, took = taken(session, query, tables)
                if number > WARM:
                    seconds[mode].append(took)
                    changes.append(len(answer.table("changelog")))
            elif number > WARM:
                seconds[mode].append(afresh(given, number))
    return Outcome({mode: median(seconds[mode]) for mode in MODES}, given.arriving, median(changes))


def turned(names: list[str], number: int) -> Iterator[str]:
    """The names, each time beginning with another, so that none always runs after the same.

    >>> list(turned(["a", "b", "c"], 4))
    ['b', 'c', 'a']
    """
    place = number % len(names)
    yield from names[place:] + names[:place]
