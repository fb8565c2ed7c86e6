"""How fast answers become files: 1,000,000 intervals, on one core.

    python bench/bench_write.py [rows]

Prints the CPU seconds, the best of three, from the columns of an engine to sorted rows, and from
these to each format; and of a plain Python loop that writes the same JSON lines from objects that
are there already.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from horai.engine.answer import FluentTable, Part
from horai.engine.columns import Column, codes
from horai.engine.symbols import Symbols
from horai.io import AnswerRow, write_answers
from horai.io.answers import ANSWER_FORMATS
from horai.lang.core.terms import Constant
from horai.runtime.answers import AnswerPart, answer_table
from horai.temporal.spans import INF


def generate(rows: int, symbols: Symbols) -> Part:
    """Half of the fluents have one argument, half have two; one interval in ten is open."""
    dice = np.random.default_rng(7)
    half = rows // 2
    return Part(
        [
            _fluent("stopped", half, (5_000,), dice, symbols),
            _fluent("withinArea", rows - half, (5_000, 900), dice, symbols),
        ]
    )


def _fluent(
    name: str, rows: int, sizes: tuple[int, ...], dice: np.random.Generator, symbols: Symbols
) -> FluentTable:
    start = 1_443_650_400 + dice.integers(0, 10**6, rows)
    end = np.where(dice.random(rows) < 0.1, INF, start + dice.integers(1, 4_000, rows))
    args = tuple(_atoms(f"entity_{size}", size, rows, dice, symbols) for size in sizes)
    return FluentTable(name, args, _atoms("value", 4, rows, dice, symbols), start, end)


def _atoms(word: str, size: int, rows: int, dice: np.random.Generator, symbols: Symbols) -> Column:
    known = symbols.codes(Constant(f"{word}_{i}") for i in range(size))
    return codes(known[dice.integers(0, size, rows)])


def plain_loop(rows: list[AnswerRow], path: Path) -> None:
    with path.open("w", encoding="utf-8") as out:
        for row in rows:
            fields = {"kind": row.kind, "name": row.name, "args": row.args, "value": row.value}
            out.write(json.dumps(fields | {"start": row.start, "end": row.end}) + "\n")


def best_seconds(job: Callable[[], object]) -> float:
    """The least CPU time of three runs."""
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        job()
        best = min(best, time.process_time() - begin)
    return best


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    symbols = Symbols()
    steps = [AnswerPart(generate(rows, symbols))]
    table = answer_table(steps, symbols, lambda *_: True)
    print(f"{rows:,} intervals, seconds of CPU time")
    sorting = best_seconds(lambda: answer_table(steps, symbols, lambda *_: True))
    print(f"columns to sorted rows  {sorting:6.2f}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers"
        for name in ANSWER_FORMATS:
            seconds = best_seconds(partial(write_answers, table, path, format=name))
            print(f"{name:<22}  {seconds:6.2f}")
        objects = table.rows()
        print(f"plain Python loop       {best_seconds(lambda: plain_loop(objects, path)):6.2f}")


if __name__ == "__main__":
    main()
