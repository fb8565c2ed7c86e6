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

from horai.io.items.tables import extent
from horai.result import Result
from horai.runtime.batch import StagedRun, execute, packed
from horai.runtime.inputs import read_input
from horai.runtime.jobs import SparkJob, job_of, task_of
from horai.runtime.records import ANSWERS, Exchanger, Record
from horai.runtime.spark.batch import check, run_job
from horai.runtime.spark.connect import connect
from horai.runtime.spark.shuffle import SparkGrid
from horai.settings import RunSettings
from horai.testing import compare

BUCKETS = 3
SLOTS = 4  # what there is to know about all jobs goes to each of them
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
    """Runs over everything at once, all of them in the same few jobs."""
    jobs = [job_of(given.rules, given.narrative, RunSettings(**given.settings)) for given in cases]
    wrong: list[str] = []
    for given, found in zip(cases, run_jobs(grid, jobs), strict=True):
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
        settings = RunSettings(**(given.settings | {"engine": "compiled"}))
        try:
            found: Result | Exception = run_job(
                grid, job_of(given.rules, given.narrative, settings), BUCKETS
            )
        except Exception as error:
            if "has no instructions for" in str(error):
                continue
            found = error
        ran += 1
        if told(found) != _in_one_process(given):
            wrong.append(f"{given.name}: not the answer of one process")
    return ran, wrong


def run_jobs(grid: Exchanger[Any], jobs: Sequence[SparkJob]) -> list[Result | Exception]:
    """Several jobs that share their rounds: their results, or what went wrong."""
    runs = [
        StagedRun(task_of(job, number, BUCKETS), job.schedule) for number, job in enumerate(jobs)
    ]
    records: list[Record] = []
    problems: dict[int, Exception] = {}
    for job, run in zip(jobs, runs, strict=True):
        try:
            strict = job.settings.strict
            narrative = read_input(job.input, job.rules.schema, job.clock, strict=strict)
            job.schedule(extent(narrative.tables))
            records += packed(run.task.plan.routes, run.number, 0, narrative)
        except Exception as problem:
            problems[run.number] = problem
    fine = [run for run in runs if run.number not in problems]
    ran = execute(grid, fine, [grid.scatter(records)], most=SLOTS)
    found: dict[int, list[Record]] = {run.number: [] for run in runs}
    for some in ran.of([ANSWERS]):
        for record in grid.collect(some, [ANSWERS]):
            found[record.run].append(record)
    grid.forget(ran.all)
    results: list[Result | Exception] = []
    for job, run in zip(jobs, runs, strict=True):
        try:
            if run.number in problems:
                raise problems[run.number]
            check(run.outcome)
            results.append(job.result(run.outcome, found[run.number]))
        except Exception as problem:
            results.append(problem)
    return results


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
