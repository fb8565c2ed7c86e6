"""LARS engines on the programs of Ticker's evaluation: time points per second of CPU.

    python bench/bench_lars.py [--points N] [--only batch|live|solver|session|large] [--quick]

`batch` works out all query times of BASIC together with the plan engine; `live` asks plan, asp and
tms point by point, as a running system would; `solver` has CONTENT, which has several answers;
`session` compares an engine alone, which gets atoms, with all that is around it: text rows given to
a session of the Python interface, and lines read by `horai run --live`; `large` has joins over many
rows and long windows. The first points, in which windows fill and groundings are made, are part of
it. Compare engines within one run.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from io import StringIO
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from generators.lars import FORMS, Story, basic, content, diamond, reach

import horai
from horai import io
from horai.engine.arrow_items import ORDER
from horai.engine.columns import column_of
from horai.engine.lars.run import LarsRun, Signal
from horai.engine.rows import Rows
from horai.lang.lars.clock import Clock
from horai.lang.lars.reader import read_text
from horai.lang.lars.syntax import Program
from horai.lang.lars.walk import in_points
from horai.runtime.lars.admission import Changes
from horai.runtime.lars.compiled import planned
from horai.runtime.lars.engines import lars_engine
from horai.runtime.values import plain


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


def set_aside() -> None:
    """Let the collector of garbage pass over all that is there, which nobody measures."""
    gc.collect()
    gc.freeze()


def live(engine: str, story: Story) -> float:
    """Time points per second, asked one after the other."""
    session = lars_engine(engine)(program_of(story), start=0)
    changes = changes_of(story)
    set_aside()
    begun = time.process_time()
    for query, added, removed in changes:
        session.advance(query, added, removed)
    return len(changes) / (time.process_time() - begun)


def together(story: Story) -> float:
    """Time points per second of the plan engine, all worked out at once; reading is left out."""
    run = LarsRun(planned(program_of(story), 0), 0)
    signals = [signal for _, added, _ in changes_of(story) for signal in added]
    (key,) = {signal.atom.predicate for signal in signals}
    args = zip(*(signal.atom.args for signal in signals), strict=True)
    columns = tuple(column_of(list(terms), run.words.symbols) for terms in args)
    at = np.array([signal.time for signal in signals])
    rows = {key: Rows({"start": at, "since": at, ORDER: np.arange(len(at))}, columns)}
    best = float("inf")
    for _ in range(2):
        run.begin()
        begun = time.process_time()
        run.steps_of_rows(range(len(story.ticks)), rows)
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


def rows_of(story: Story) -> list[list[str]]:
    """The signals of each time point as rows of text."""
    return [
        ["|".join([a.name, str(time), str(time), *(str(plain(x)) for x in a.args)]) for a in atoms]
        for time, atoms in enumerate(story.ticks)
    ]


def through_session(engine: str, story: Story) -> float:
    """Seconds of CPU that a time point takes through a session; no answer is listed."""
    session = horai.loads(story.text, language="lars").session(start=0, engine=engine)
    rows = rows_of(story)
    set_aside()
    begun = time.process_time()
    for query, given in enumerate(rows):
        session.advance(query, given)
    return (time.process_time() - begun) / len(rows)


def through_command(engine: str, story: Story, answers: str) -> float:
    """Seconds of CPU that a time point takes through `horai run --live`, without its start.

    That is the difference of two runs, each the best of three.
    """
    rows = rows_of(story)
    few = len(rows) // 10

    def took(given: list[list[str]], folder: Path) -> float:
        return min(took_once(given, folder) for _ in range(3))

    def took_once(given: list[list[str]], folder: Path) -> float:
        rules = folder / "rules.lars"
        rules.write_text(story.text, encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        options = ("--engine", engine, "--answers", answers, "--format", "jsonl")
        subprocess.run(
            [sys.executable, "-m", "horai", "run", rules, "--live", "--input", "-", *options],
            input="".join(f"{row}\n" for point in given for row in point).encode(),
            stdout=subprocess.DEVNULL,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    with TemporaryDirectory() as folder:
        begun = took(rows[:few], Path(folder))
        return (took(rows, Path(folder)) - begun) / (len(rows) - few)


def writing(story: Story) -> float:
    """Seconds of CPU that it takes to write the lines of all answers, which are there already."""
    rules, end = horai.loads(story.text, language="lars"), len(story.ticks) - 1
    table = rules.run([row for rows in rows_of(story) for row in rows], start=0, end=end)
    lines = StringIO()
    io.write_answers(table.table("windows"), lines)
    points: dict[str, list[str]] = {}
    for line in lines.getvalue().splitlines(keepends=True):
        points.setdefault(line.partition(",")[2].partition(",")[0], []).append(line)
    with Path(os.devnull).open("wb", buffering=0) as out:
        begun = time.process_time()
        for one in points.values():
            out.write("".join(one).encode())
        return (time.process_time() - begun) / len(story.ticks)


def session_part(points: int) -> None:
    """What is around an engine, in microseconds of CPU per time point and as a ratio.

    Whole answers are compared with an engine and with writing the same bytes, too.
    """
    stories = {
        "BASIC n=32": ("plan", basic("t some", 32, 50, 0.5, 4 * points)),
        "REACH n=32": ("plan", reach("t some", 32, 50, 0.5, 4 * points)),
        "CONTENT i=64": ("asp", content(10, 64, 50, max(20, points // 8))),
    }
    names = ("engine", "session", "ratio", "changelog", "ratio", "windows", "ratio", "+ bytes")
    print("\nk=50 p=.5: microseconds of CPU per time point")
    print(f"{'':14}" + "".join(f"{name:>11}" for name in names))
    for name, (engine, story) in stories.items():
        both = [(1 / live(engine, story), through_session(engine, story)) for _ in range(5)]
        alone, session = (min(some) for some in zip(*both, strict=True))
        changelog, windows = (
            through_command(engine, story, form) for form in ("changelog", "windows")
        )
        cells = "".join(
            f"{1e6 * way:11,.0f}{way / alone:11.1f}" for way in (session, changelog, windows)
        )
        fair = windows / (alone + writing(story))
        print(f"{name:14}{1e6 * alone:11,.0f}{cells}{fair:11.1f}")


def large_part(points: int) -> None:
    """Joins over many rows, and windows of many signals: microseconds of CPU per time point."""
    few = max(10, points // 10)
    stories = {
        "diamond, 200 triples a point, window of 20": diamond(1000, few),
        "REACH n=32 k=5": reach("t some", 32, 5, 0.5, few),
        "BASIC n=32 # always k=50": basic("# always", 32, 50, 0.5, 4 * points),
        "BASIC n=32 # always k=50000": basic("# always", 32, 50_000, 0.5, 4 * points),
    }
    print("\nthrough a session: microseconds of CPU per time point")
    for name, story in stories.items():
        print(f"{name:45}{1e6 * min(through_session('plan', story) for _ in range(3)):11,.0f}")


PARTS: dict[str, Callable[[int], None]] = {
    "batch": batch_part,
    "live": live_part,
    "solver": solver_part,
    "session": session_part,
    "large": large_part,
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
