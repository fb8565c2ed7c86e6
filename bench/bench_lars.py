"""LARS engines on the programs of Ticker's evaluation: time points per second of CPU.

    python bench/bench_lars.py [--points N] [--only batch|live|solver] [--quick]

`batch` works out all query times of BASIC together with the plan engine; `live` asks plan, asp and
tms point by point, as a running system would; `solver` has CONTENT, which has several answers. The
first points, in which windows fill and groundings are made, are part of it. Compare engines within
one run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from itertools import count

from generators.lars import FORMS, Story, basic, content, reach

from horai.engine.lars.evaluation import Evaluation
from horai.engine.lars.signals import Signals
from horai.engine.symbols import Symbols
from horai.lang.lars.clock import Clock
from horai.lang.lars.points import in_points
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Program
from horai.lars_engines import Changes, lars_engine
from horai.lars_plan import planned, rows_of
from horai.lars_signals import Signal
from horai.temporal.spans import INF


def program_of(story: Story) -> Program:
    """The program, with windows in time points."""
    program, findings = read_text(story.text)
    assert not findings, findings[0].render()
    return in_points(program, Clock.parse("1s"))


def changes_of(story: Story) -> list[Changes]:
    """What comes at each query time."""
    numbers = count()
    return [
        (time, [Signal(time, next(numbers), atom) for atom in atoms], [])
        for time, atoms in enumerate(story.ticks)
    ]


def live(engine: str, story: Story) -> float:
    """Time points per second, asked one after the other."""
    session = lars_engine(engine)(program_of(story), start=0)
    changes = changes_of(story)
    begun = time.process_time()
    for query, added, removed in changes:
        session.advance(query, added, removed)
    return len(changes) / (time.process_time() - begun)


def together(story: Story) -> float:
    """Time points per second of the plan engine, all worked out at once; reading is left out."""
    plan = planned(program_of(story), 0)
    known = {signal: [query, INF] for query, added, _ in changes_of(story) for signal in added}
    symbols = Symbols()
    rows = rows_of(known, symbols)
    last = len(story.ticks) - 1
    best = float("inf")
    for _ in range(2):  # the first one loads compiled code
        begun = time.process_time()
        Evaluation(plan, Signals(rows, symbols, 0), symbols, 0, 0, last).answers()
        best = min(best, time.process_time() - begun)
    return len(story.ticks) / best


def table(title: str, columns: Sequence[str], rows: dict[str, Sequence[float]]) -> None:
    """Print figures, one row each."""
    print(f"\n{title}: time points per second of CPU")
    print(f"{'':12}" + "".join(f"{column:>14}" for column in columns))
    for name, figures in rows.items():
        print(f"{name:12}" + "".join(f"{figure:14,.0f}" for figure in figures))


def batch_part(points: int) -> None:
    """BASIC n=32, p=.5, all query times at once."""
    many = 10 * points
    figures = {form: [together(basic(form, 32, k, 0.5, many)) for k in (50, 500)] for form in FORMS}
    table(f"BASIC n=32 p=.5, {many} points together, plan", ("k=50", "k=500"), figures)


def live_part(points: int) -> None:
    """BASIC and REACH, point by point."""
    engines = ("plan", "asp", "tms")
    for n in (1, 32):
        figures = {
            form: [live(engine, basic(form, n, 50, 0.5, points)) for engine in engines]
            for form in FORMS
        }
        table(f"BASIC n={n} k=50 p=.5, point by point", engines, figures)
    few = max(10, points // 4)
    rows = {
        f"n={n}": [live(engine, reach("t some", n, 50, 0.5, few)) for engine in engines]
        for n in (8, 32)
    }
    table("REACH k=50 p=.5, t some, point by point", engines, rows)


def solver_part(points: int) -> None:
    """CONTENT, which needs choices."""
    engines = ("asp", "tms")
    few = max(10, points // 8)
    rows = {
        f"i={i}": [live(engine, content(10, i, 50, few)) for engine in engines] for i in (4, 64)
    }
    table("CONTENT n=10 k=50, one answer a point", engines, rows)


PARTS: dict[str, Callable[[int], None]] = {
    "batch": batch_part,
    "live": live_part,
    "solver": solver_part,
}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs")
    given = parser.parse_args()
    points = 20 if given.quick else given.points
    for name, part in PARTS.items():
        if given.only in (None, name):
            part(points)


if __name__ == "__main__":
    main()
