"""All cases on Spark, wherever it runs: which of them do not say what one process says.

As a program it asks a cluster: MASTER SETTINGS WHAT FOLDER.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tests.spark.feeding import feed_of
from tests.spark.given_cases import Given, project_cases, shared_cases
from tests.spark.lars_runs import alone, case_runs, in_buckets
from tests.spark.streamed_cases import final, on_spark, wanted
from tests.spark.support import told

from horai.result import Result
from horai.runtime.jobs import SparkJob
from horai.runtime.records import Exchanger
from horai.runtime.spark.batch import run_job
from horai.runtime.spark.connect import connect
from horai.runtime.spark.shuffle import SparkGrid
from horai.settings import RunSettings
from horai.testing import compare

BUCKETS = 3
Wrong = tuple[int, list[str]]  # how many cases there are, and what is wrong


@cache
def all_cases() -> list[Given]:
    """Ours and the shared ones."""
    return [*project_cases(), *shared_cases()]


def some_cases() -> list[Given]:
    """Every fourth of a file, beginning with its first: all that there are cases about."""
    files: defaultdict[Path | None, list[Given]] = defaultdict(list)
    for given in all_cases():
        files[given.case.file if given.case else None].append(given)
    return [given for cases in files.values() for given in cases[::4]]


def in_batch(grid: Exchanger[Any], cases: Sequence[Given]) -> Wrong:
    """Runs over everything at once."""
    wrong: list[str] = []
    for given in cases:
        found = _in_buckets(grid, given, given.settings)
        if given.case is not None and isinstance(found, Result):
            different = compare(given.case, found)
            wrong += [f"{given.name}: {d.place}: {d.sign} {d.text}" for d in different]
        if told(found) != _in_one_process(given):
            wrong.append(f"{given.name}: not the answer of one process")
    return len(cases), wrong


def on_compiled(grid: Exchanger[Any], cases: Sequence[Given]) -> Wrong:
    """The same on the compiled engine: how many have instructions, and what is wrong with these."""
    ran, wrong = 0, []
    for given in cases:
        found = _in_buckets(grid, given, given.settings | {"engine": "compiled"})
        if "has no instructions for" in str(found):
            continue
        ran += 1
        if told(found) != _in_one_process(given):
            wrong.append(f"{given.name}: not the answer of one process")
    return ran, wrong


def _in_buckets(grid: Exchanger[Any], given: Given, settings: dict[str, Any]) -> Result | Exception:
    """The result of a run, or what went wrong."""
    try:
        job = SparkJob.of(given.rules, given.narrative, RunSettings(**settings))
        return run_job(grid, job, BUCKETS)
    except Exception as problem:
        return problem


def _in_one_process(given: Given) -> dict[str, Any]:
    try:
        return told(given.rules.run(given.narrative, **given.settings))
    except Exception as error:
        return told(error)


def as_streams(folder: Path) -> Wrong:
    """A stream for each, in chunks and out of order, which is stopped or fails on the way."""
    cases = all_cases()
    wrong: list[str] = []
    for number, given in enumerate(cases):
        feed = feed_of(given, number, in_time=number % 2 == 0, most=3)
        said = on_spark(feed, folder / str(number), seed=number)
        if said != wanted(feed):
            wrong.append(f"{given.name}: not what one process says")
        if not feed.forgets and said.final != final(given):
            wrong.append(f"{given.name}: not what the case says in the end")
    return len(cases), wrong


def of_lars(grid: Exchanger[Any]) -> Wrong:
    """Programs of the other language, which run over a history only."""
    runs = case_runs()
    return len(runs), [name for name, run in runs.items() if in_buckets(run, grid) != alone(run)]


WAYS: dict[str, Callable[[SparkGrid, Path], Wrong]] = {
    "batch": lambda grid, _: in_batch(grid, all_cases()),
    "stream": lambda _, folder: as_streams(folder),
    "lars": lambda grid, _: of_lars(grid),
}

if __name__ == "__main__":
    master, settings, what, folder = sys.argv[1:]
    spark = connect(master, json.loads(settings))
    number, wrong = WAYS[what](SparkGrid(spark), Path(folder))
    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    print(json.dumps({"cases": number, "wrong": wrong, "executors": executors}))
    spark.stop()
