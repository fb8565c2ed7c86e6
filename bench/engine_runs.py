"""Measurements within one process: throughput, linearity, windows, the reference, chains."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from engine_measure import (
    ENTITIES,
    EVENTS_PER_ENTITY,
    Options,
    Table,
    Workload,
    cpu,
    workload,
)

import horai
from horai.io import Narrative
from horai.io.items.rows import Item

TARGETS = {"maritime": 1e6, "citytransport": 1e6, "netbill": 3e5, "voting": 3e5}
FIRST = 200  # events of the smallest stream
TOGGLE = """
    initiatedAt(lamp(X)=on, T) :- happensAt(press(X), T), \\+ holdsAt(lamp(X)=on, T).
    initiatedAt(lamp(X)=off, T) :- happensAt(press(X), T), holdsAt(lamp(X)=on, T).
"""
COUNTER = """
    initially(pressed(desk)=0).
    initiatedAt(pressed(X)=N1, T) :-
        happensAt(press(X), T), holdsAt(pressed(X)=N, T), N1 is N + 1.
"""


def sizes(largest: int) -> Iterator[int]:
    """Ten times as many each time, up to the largest."""
    size = FIRST
    while size * 10 < largest:
        yield size
        size *= 10
    yield largest


def entities(events: int) -> int:
    """As many as grow with events, and not more than there are."""
    return max(20, min(ENTITIES, events // EVENTS_PER_ENTITY))


class Found:
    """Remembers how many rows the last run found."""

    rows = 0

    def run(self, stream: Workload) -> None:
        """Run over a stream."""
        self.rows = stream.run()


def throughput(options: Options) -> None:
    """Events per second in one window. Where the budget is too small, fewer events."""
    table = Table(
        f"(a) recognition in one window, {options.events:,} events wanted, best of {options.runs}",
        ("application", "events", "entities", "rows", "CPU s", "events/s", "target", "reached"),
        width=13,
    )
    for name in options.applications:
        seconds, events, rows = 0.0, 0, 0
        for size in sizes(options.events):
            # Twice the proportional time: an engine that is not linear shows it here.
            if events and seconds / events * size * 2 > options.budget:
                break
            stream, found = workload(name, size, entities(size)), Found()
            seconds = cpu(partial(found.run, stream), options.runs, options.budget / 8)
            events, rows = size, found.rows
        speed, target = events / seconds, TARGETS.get(name)
        table.add(
            name,
            f"{events:,}",
            f"{entities(events):,}",
            f"{rows:,}",
            f"{seconds:.2f}",
            f"{speed:,.0f}",
            f"{target:,.0f}" if target else "-",
            f"{speed / target:.2f}" if target else "-",
        )


def linearity(options: Options) -> None:
    """Time per event as streams grow, with the same entities and with more of them."""
    counts = [int(options.events * factor) for factor in options.factors]
    table = Table(
        "(b) ns of CPU per event as the stream grows (best of up to "
        f"{options.runs}; once above 3 s)",
        ("application, entities", *(f"{count:,}" for count in counts), "max/min"),
    )
    for name in [n for n in ("maritime", "citytransport") if n in options.applications]:
        for growing in (False, True):
            each = []
            for count in counts:
                many = max(20, count // EVENTS_PER_ENTITY) if growing else entities(counts[1])
                stream = workload(name, count, many)
                each.append(cpu(stream.run, options.runs, 3.0) / count * 1e9)
                del stream
            label = f"{name}, {'growing' if growing else f'{entities(counts[1]):,}'}"
            table.add(label, *(f"{ns:,.0f}" for ns in each), f"{max(each) / min(each):.2f}")


def windows(options: Options) -> None:
    """Windows of four steps beside one window over the same stream."""
    stream = workload("maritime", options.events, entities(options.events))
    first, last = stream.span
    step = max(1, -(-(last - first + 1) // options.windows))
    number = -(-(last - first + 1) // step)
    one = cpu(stream.run, options.runs, options.budget)
    many = cpu(lambda: stream.run_windows(4 * step, step), options.runs, options.budget / 4)
    table = Table(
        f"(d) maritime, {options.events:,} events in {number} windows of 4 steps, changes at each",
        ("", "CPU s", "events/s", "ms per window"),
    )
    each = f"{many / number * 1e3:.1f}"
    table.add("windows", f"{many:.2f}", f"{options.events / many:,.0f}", each)
    table.add("one window", f"{one:.2f}", f"{options.events / one:,.0f}", f"{one * 1e3:.1f}")
    table.add("ratio", f"{many / one:.1f}", "", "")


def reference(options: Options) -> None:
    """Both engines on a small stream."""
    table = Table(
        f"(e) columnar and reference, {options.small:,} events, CPU s",
        ("application", "columnar", "reference", "ratio"),
    )
    for name in [n for n in ("maritime", "citytransport") if n in options.applications]:
        stream = workload(name, options.small, max(16, options.small // 125))
        fast = cpu(stream.run, max(2, options.runs))
        slow = cpu(partial(stream.run, "reference"), 1)
        table.add(name, f"{fast:.3f}", f"{slow:.2f}", f"{slow / fast:.1f}")


def presses(rules: str, number: int) -> Workload:
    """One lamp, pressed again and again."""
    (table,) = Narrative.from_items(
        [Item(1, "press", "event", "points", 1, 1, None, None, ("desk",), "", 1)]
    ).tables
    times = pa.array(np.arange(1, number + 1, dtype=np.int64))
    columns = table.table.take(pa.array(np.zeros(number, np.int64)))
    for name in ("arrival", "start"):
        columns = columns.set_column(columns.column_names.index(name), name, times)
    grown = type(table)(table.name, table.arity, table.kind, table.form, columns)
    return Workload(horai.loads(rules), Narrative((grown,), []))


def chains(options: Options) -> None:
    """Alternations of one entity, each of which asks for what the one before has set."""
    table = Table(
        "(g) a chain in one entity, microseconds of CPU per alternation",
        ("rule", *(f"{count:,}" for count in options.chains), "max/min"),
    )
    for name, rules in (("toggle", TOGGLE), ("counter", COUNTER)):
        each: list[float] = []
        for count in options.chains:
            if each and each[-1] * count / 1e6 * 2 > options.budget:
                break
            stream = presses(rules, count)
            rows = stream.run()
            assert rows in (count, count + 1), f"{name}: {rows} intervals of {count} alternations"
            each.append(cpu(stream.run, options.runs, options.budget / 4) / count * 1e6)
        cells = [f"{us:,.2f}" for us in each] + ["-"] * (len(options.chains) - len(each))
        table.add(name, *cells, f"{max(each) / min(each):.2f}")
