"""How fast the columnar engine is, on one core, in CPU time.

    python bench/bench_engine.py [--only a,b,...] [--events N] [--quick]

| part | what is measured |
|---|---|
| a | recognition of seven applications in one window, from Arrow tables to answers |
| b | time per event as the stream grows, with as many entities and with more |
| c | peak memory beyond the input, in a process of its own |
| d | about a hundred windows that overlap |
| e | the same small stream on both engines |
| f | `horai run` from file to file |
| g | chains of alternations in one entity |

Figures are the best of some runs (`--runs`). An application that would take longer than `--budget`
seconds is measured with fewer events, which the table says. `--quick` is only to see that
everything works.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import engine_processes as processes
import engine_runs as runs
import pyarrow as pa
from engine_measure import APPLICATIONS, Options, workload

from horai.cli.workload import keep_memory

PARTS: dict[str, Callable[[Options], None]] = {
    "a": runs.throughput,
    "b": runs.linearity,
    "c": processes.memory,
    "d": runs.windows,
    "e": runs.reference,
    "f": processes.end_to_end,
    "g": runs.chains,
}
QUICK = Options(
    events=1_000,
    runs=1,
    budget=2.0,
    applications=("maritime", "citytransport"),
    chains=(10, 100),
    factors=(0.5, 1, 2),
    small=100,
    windows=4,
)


def options_of(given: argparse.Namespace) -> Options:
    """What the command line asks for; a quick run has its own sizes."""
    if given.quick:
        return QUICK
    return Options(
        events=given.events,
        runs=given.runs,
        budget=given.budget,
        applications=tuple(given.applications.split(",")),
    )


def parts_of(text: str) -> list[str]:
    """The letters of `--only`."""
    letters = [letter.strip() for letter in text.split(",")]
    unknown = [letter for letter in letters if letter not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no part {', '.join(unknown)}; there are a to g")
    return letters


def main() -> None:
    parser = argparse.ArgumentParser(description="Measurements of the columnar engine.")
    parser.add_argument("--only", type=parts_of, default=list(PARTS), help="parts: a,b,...")
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--budget", type=float, default=60.0, help="CPU seconds per run")
    parser.add_argument("--applications", default=",".join(APPLICATIONS))
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    given = parser.parse_args()
    keep_memory()  # as `horai run` does
    options = options_of(given)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    for name in options.applications[:2] if not given.quick else ():
        workload(name, 100_000, 500).run()  # compiled code is loaded, or made
    for letter in given.only:
        PARTS[letter](options)


if __name__ == "__main__":
    main()
