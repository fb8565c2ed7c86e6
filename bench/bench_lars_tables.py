"""Tables B.1 to B.13 of Ticker's evaluation with our engines: time points per second of CPU.

    python bench/bench_lars_tables.py [--table B.4 ...] [--seconds S] [--points N] [--json FILE]

Every engine is asked at every time point, as a running system would: `plan`, `asp`, `tms`; beside
them clingo with the static encoding, as a library (a fresh one for every time point) and as one
process per time point. Time counts from the moment on when windows are full, until N points or S
seconds are over; if filling takes longer than S seconds by itself, from then on. What a process
needs to start is measured by an empty program and told apart. `--json` keeps all figures for
`plot_lars.py`. CONTENT uses matching constants, so that there is something to reason about.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from clingo import Control
from generators.lars import Story
from generators.lars_static import question
from lars_experiments import Configuration, Table, tables

from horai.engine.lars.run import Signal
from horai.lang.lars.clock import Clock
from horai.lang.lars.reader import read_text
from horai.lang.lars.walk import in_points
from horai.runtime.lars.engines import lars_engine

BASELINES = ("library", "process")
_CLINGO = [sys.executable, "-m", "clingo", "--models=1", "-V1", "-"]
Ask = Callable[[int], object]


def own_engine(engine: str, story: Story) -> Ask:
    """Asks one of our engines, point by point."""
    program, findings = read_text(story.text)
    assert not findings, findings[0].render()
    session = lars_engine(engine)(in_points(program, Clock.parse("1s")), start=0)
    numbers = count()

    def ask(now: int) -> object:
        signals = [Signal(now, next(numbers), atom) for atom in story.ticks[now]]
        return session.advance(now, signals, ())

    return ask


def library(configuration: Configuration, story: Story) -> Ask:
    """Asks a fresh clingo in this process."""
    static = configuration.static()

    def ask(now: int) -> object:
        control = Control(["--models=1", "--warn=none"])
        control.add("base", [], question(static, story.ticks, now))
        control.ground([("base", [])])
        return control.solve().satisfiable

    return ask


def process(configuration: Configuration, story: Story) -> Ask:
    """Asks clingo in a process of its own."""
    static = configuration.static()
    return lambda now: run_clingo(question(static, story.ticks, now))


def run_clingo(text: str) -> None:
    """One process of clingo, which must find an answer."""
    done = subprocess.run(_CLINGO, input=text, text=True, capture_output=True)
    assert "\nSATISFIABLE" in done.stdout, done.stderr


def cpu() -> float:
    """Seconds of CPU of this process and of those it waited for."""
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def measured(ask: Ask, points: int, full: int, seconds: float, fills: bool) -> float:
    """Time points per second, once windows are full."""
    first = 0 if fills else full  # who keeps nothing needs no filling
    begun = cpu()
    done, now = 0, first
    filling = fills and full > 0
    while done < points:
        ask(now)
        now += 1
        if filling:
            if now > full or cpu() - begun > seconds:
                filling, begun = False, cpu()
            continue
        done += 1
        if cpu() - begun > seconds:
            break
    return done / max(cpu() - begun, 1e-9)


def row(
    configuration: Configuration, engines: tuple[str, ...], points: int, seconds: float
) -> dict[str, Any]:
    """All figures of a configuration."""
    full = configuration.size
    story = configuration.story(full + points + 1)
    found: dict[str, Any] = {"form": configuration.form, "varied": configuration.varied}
    for engine in engines:
        begun = cpu()
        ask = own_engine(engine, story)
        found[f"{engine} init"] = cpu() - begun
        found[engine] = measured(ask, points, full, seconds, True)
    for name, make in (("library", library), ("process", process)):
        limit = points if name == "library" else max(2, points // 50)
        found[name] = measured(make(configuration, story), limit, full, seconds, False)
    return found


def shown(name: str, table: Table, rows: list[dict[str, Any]]) -> None:
    """Print a table in the layout of the thesis: form, what varies, time points per second."""
    columns = [*table.engines, *BASELINES]
    print(f"\n**{name}** {table.title}: time points per second of CPU\n")
    print("| | | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 2) + "|")
    for one in rows:
        figures = " | ".join(f"{one[column]:,.0f}" for column in columns)
        print(f"| {one['form']} | {one['varied']} | {figures} |", flush=True)


def main() -> None:
    """Measure the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--table", action="append", choices=tables())
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=2.0, help="at most, for each figure")
    parser.add_argument("--share", type=float, default=0.1, help="p of STRATEGY")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="a row of each, to see that it runs")
    given = parser.parse_args()
    points, seconds = (3, 0.02) if given.quick else (given.points, given.seconds)
    begun = cpu()
    run_clingo("")
    start = cpu() - begun
    print(f"a process of clingo needs {1000 * start:.0f} ms of CPU to start")
    found: dict[str, Any] = {"start": start, "points": points, "seconds": seconds, "tables": {}}
    for name, table in tables(given.share).items():
        if given.table is None or name in given.table:
            chosen = table.rows[:1] if given.quick else table.rows
            rows = [row(one, table.engines, points, seconds) for one in chosen]
            shown(name, table, rows)
            found["tables"][name] = {"title": table.title, "rows": rows}
            if given.json is not None:  # after each, for a run may take hours
                given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
