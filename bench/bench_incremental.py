"""What overlapping windows cost: afresh, and incrementally.

    python bench/bench_incremental.py [--only a,b,...] [--applications A,B] [--ratios R,...]
                                      [--delayed S,...] [--json FILE] [--quick]

| part | what is measured |
|---|---|
| a | shares of delayed items against window/step, as in Figures 9 to 11 of Tsilionis, Artikis and Paliouras, JAIR 73, 2022 |
| b | retracted items, up to all of them; windows that do not overlap |
| c | nothing late: a window against a fresh session that gets only the items of its step |

A step always has `--events-per-step` events; the window grows. Times are CPU milliseconds per window,
the median of `--windows`, of both modes in turn within one run (they are told in incremental_measure). Delays have a mean of eight steps, as
in the paper, but none is longer than the window, unless `--untruncated` is given.
"""  # noqa: E501 (a row of a table cannot be broken)

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from engine_measure import Table, workload
from incremental_measure import (
    INCREMENTAL,
    MODES,
    WARM,
    Configuration,
    Course,
    Sizes,
    course,
    session_of,
    side_by_side,
    taken,
)

from horai.cli.workload import keep_memory

APPLICATIONS = ("maritime", "fleet")
STANDARD = Sizes()
Record = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """Which configurations are measured."""

    applications: tuple[str, ...] = APPLICATIONS
    sizes: Sizes = STANDARD
    ratios: tuple[int, ...] = (1, 2, 4, 8, 16)
    delayed: tuple[float, ...] = (0.05, 0.1, 0.2, 0.4, 0.8)
    retracted: tuple[float, ...] = (0.0, 0.1, 0.4, 1.0)
    ratio: int = 8  # where items are retracted
    late: float = 0.05  # likewise
    on_time_ratios: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)


QUICK = Options(
    sizes=Sizes(events_per_step=300, windows=2),
    ratios=(1, 2),
    delayed=(0.2,),
    retracted=(0.0, 1.0),
    ratio=2,
    on_time_ratios=(1, 2),
)


@dataclass
class Report:
    """Everything that was measured, by part."""

    records: dict[str, list[Record]] = field(default_factory=dict)

    def add(self, part: str, record: Record) -> None:
        """Keep a record."""
        self.records.setdefault(part, []).append(record)


# --- parts -----------------------------------------------------------------------------------


def late_ones(options: Options) -> list[Configuration]:
    """Every share of delayed items with every size of window."""
    return [
        Configuration(name, ratio, late)
        for name in options.applications
        for late in options.delayed
        for ratio in options.ratios
    ]


def delays(options: Options, report: Report) -> None:
    """Part a."""
    compare("a", "delayed items", late_ones(options), options, report)


def retractions(options: Options, report: Report) -> None:
    """Part b."""
    wanted = [
        Configuration(name, ratio, options.late, share)
        for name in options.applications
        for ratio in (1, options.ratio)
        for share in options.retracted
    ]
    compare("b", "retracted items", wanted, options, report)


def compare(
    part: str, title: str, wanted: Iterable[Configuration], options: Options, report: Report
) -> None:
    """A row for each configuration: times, how much less than from scratch, changes."""
    table = Table(
        f"({part}) {title}: CPU ms per window of {options.sizes.events_per_step:,} events per step",
        (
            "application, window/step",
            *("delayed", "retracted", "arriving", "changes"),
            *MODES,
            *(f"{name}/{INCREMENTAL}" for name in MODES[:-1]),
        ),
        width=17,
    )
    for one in wanted:
        found = side_by_side(course(one, options.sizes, max(options.ratios)))
        report.add(part, asdict(one) | asdict(found))
        least = found.seconds[INCREMENTAL]
        table.add(
            f"{one.application}, {one.ratio}",
            f"{one.delayed:.0%}",
            f"{one.retracted:.0%}",
            f"{found.arriving:,.0f}",
            f"{found.changes:,.0f}",
            *(f"{found.seconds[name] * 1e3:,.1f}" for name in MODES),
            *(f"{found.seconds[name] / least:.2f}" for name in MODES[:-1]),
        )


def on_time(options: Options, report: Report) -> None:
    """Part c."""
    sizes = options.sizes
    table = Table(
        "(c) nothing late: CPU ms per window, and times a fresh session over one step",
        ("application, window/step", "one step", *MODES, *(f"{name}/step" for name in MODES)),
        width=17,
    )
    for name in options.applications:
        for ratio in options.on_time_ratios:
            given = course(Configuration(name, ratio), sizes, max(options.on_time_ratios))
            plain = one_step(given)
            found = side_by_side(given)
            record = asdict(Configuration(name, ratio)) | asdict(found) | {"step": plain}
            report.add("c", record)
            times = [found.seconds[mode] for mode in MODES]
            table.add(
                f"{name}, {ratio}",
                f"{plain * 1e3:,.1f}",
                *(f"{seconds * 1e3:,.1f}" for seconds in times),
                *(f"{seconds / plain:.2f}" for seconds in times),
            )


def one_step(given: Course) -> float:
    """Median CPU seconds of fresh sessions, each over the items of one of the steps."""

    def fresh(number: int) -> float:
        before, query = given.queries[number - 1], given.queries[number]
        tables = given.batches[number]
        # Intervals arrive when they are over: the earliest begins before the step.
        first = min((pc.min(t.table["start"]).as_py() for t in tables), default=before)
        start = min(before, first - 1)
        session = session_of(given.rules, start, query - start)
        return taken(session, query, tables)[1]

    numbers = range(1 + WARM, len(given.queries))
    return median(map(fresh, numbers))


# --- the command -----------------------------------------------------------------------------

PARTS: dict[str, Callable[[Options, Report], None]] = {
    "a": delays,
    "b": retractions,
    "c": on_time,
}


def parts_of(text: str) -> list[str]:
    """The letters of `--only`."""
    letters = [letter.strip() for letter in text.split(",")]
    unknown = [letter for letter in letters if letter not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no part {', '.join(unknown)}; there are a to c")
    return letters


def numbers(kind: Callable[[str], Any]) -> Callable[[str], tuple[Any, ...]]:
    """Reads numbers with commas between them."""
    return lambda text: tuple(kind(part) for part in text.split(","))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measurements of incremental evaluation.")
    parser.add_argument("--only", type=parts_of, default=list(PARTS), help="parts: a,b,...")
    parser.add_argument("--applications", default=",".join(APPLICATIONS))
    parser.add_argument("--events-per-step", type=int, default=STANDARD.events_per_step)
    parser.add_argument("--ratios", type=numbers(int), default=Options.ratios, help="of part a")
    parser.add_argument("--delayed", type=numbers(float), default=Options.delayed, help="likewise")
    parser.add_argument("--windows", type=int, default=STANDARD.windows, help="measured, each time")
    parser.add_argument("--untruncated", action="store_true", help="let items come too late")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there, too")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it works")
    return parser.parse_args()


def options_of(given: argparse.Namespace) -> Options:
    """What the command line asks for; a quick run has its own sizes."""
    if given.quick:
        return QUICK
    sizes = Sizes(given.events_per_step, given.windows, not given.untruncated)
    return Options(tuple(given.applications.split(",")), sizes, given.ratios, given.delayed)


def main() -> None:
    given = arguments()
    keep_memory()  # as `horai run` does
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    options, report = options_of(given), Report()
    for name in options.applications:
        workload(name, 200, 20).run()  # compiled code is loaded, or made
    for letter in given.only:
        PARTS[letter](options, report)
    if given.json is not None:
        found = {"sizes": asdict(options.sizes), "modes": MODES, **report.records}
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
