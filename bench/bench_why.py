"""How long proofs take after a run, in CPU time.

    python bench/bench_why.py [--events N] [--questions N] [--only a,b,...]

Questions are about what the run found: intervals and events all over the answer, each by a time at
which it is so. The first question prepares what others use, so it is told apart, as is the first
one about each fluent or event.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from statistics import median

from engine_measure import ENTITIES, Table, workload

from horai.cli.workload import keep_memory
from horai.io import quote_atom, to_source
from horai.result import Result

DEFAULT = ("maritime",)


def questions(result: Result, number: int) -> Iterator[tuple[str, str, int]]:
    """A name, a question about it, and a time at which it is so."""
    rows = result.rows("final")
    for row in random.Random(7).sample(rows, min(number, len(rows))):
        args = f"({','.join(map(to_source, row.args))})" if row.args else ""
        name = quote_atom(row.name) + args
        if row.kind == "event":
            assert row.time is not None
            yield row.name, name, row.time
        elif row.start is not None and row.start <= result.last.query:
            yield row.name, f"{name}={to_source(row.value)}", row.start


def measure(name: str, events: int, number: int) -> tuple[str, ...]:
    """A row of the table for an application."""
    stream = workload(name, events, ENTITIES)
    first, last = stream.span
    begin = time.process_time()
    result = stream.rules.run(stream.narrative, start=first - 1, end=last)
    run = time.process_time() - begin
    asked = list(questions(result, number))
    seen: set[str] = set()
    took: list[float] = []
    firsts: list[float] = []
    for about, what, at in asked:
        begin = time.process_time()
        result.why(what, at)
        ms = (time.process_time() - begin) * 1000
        if about in seen:
            took.append(ms)
        else:
            firsts.append(ms)
        seen.add(about)
    took.sort()
    return (
        name,
        f"{events:,}",
        f"{run:.1f}",
        f"{len(asked):,}",
        f"{firsts[0]:.0f}",
        f"{max(firsts):.0f}",
        f"{median(took):.1f}",
        f"{took[int(len(took) * 0.99)]:.1f}",
        f"{took[-1]:.1f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--only", type=lambda text: tuple(text.split(",")), default=DEFAULT)
    given = parser.parse_args()
    keep_memory()
    table = Table(
        "proofs after a run, ms of CPU",
        (
            *("application", "events", "run, CPU s", "questions", "first", "first of a name"),
            *("median", "99 %", "most"),
        ),
        width=16,
    )
    for name in given.only:
        table.add(*measure(name, given.events, given.questions))


if __name__ == "__main__":
    main()
