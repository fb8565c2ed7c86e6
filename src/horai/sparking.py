"""Runs on Spark: the same rules, input and answers, in buckets of entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from horai import io
from horai.inputs import is_files, read_input
from horai.io.pieces import Piece, pieces_of
from horai.result import Result
from horai.signals import positions_of, read_positions
from horai.spark import rawframes
from horai.spark.batch import Extent, execute, packed, reader, sender
from horai.spark.front import batch_task, derive_all
from horai.spark.grid import Grid
from horai.spark.records import ANSWERS as FOUND
from horai.spark.records import Record
from horai.spark.tasks import Clockwork, RunTask
from horai.spark.tracks import TrackTask

if TYPE_CHECKING:
    pass

from horai.spark_jobs import Job, task_of
from horai.spark_results import check, result_of

H = TypeVar("H")
SLOTS = 4  # of jobs that share rounds: what there is to know about all of them goes to each slot


def load(grid: Grid[H], job: Job, task: RunTask) -> list[H]:
    """The input of a job on its way to buckets: files are read by workers."""
    if job.feed is not None:
        front = batch_task(job.feed, task)
        return derive_all(grid, _positions(grid, job, front), front)
    pieces, send = pieces_for(job.input, job.format), sender(task)
    if pieces is None:
        narrative = read_input(
            job.input, job.rules.schema, job.clock, format=job.format, strict=job.strict
        )
        return [grid.scatter(list(send(0, narrative)))]
    return [grid.read(len(pieces), reader(send, pieces, job.options, job.format))]


def _positions(grid: Grid[H], job: Job, front: TrackTask) -> H:
    """Positions in files, or in memory, on their way to the buckets of their entities."""
    files = files_of(job.input)
    if files is None:
        given: Any = job.input
        layout, is_stdin = front.feed.layout, is_files(given)  # which only this process has
        found = (
            read_positions(given, layout, job.format) if is_stdin else positions_of(given, layout)
        )
        return grid.scatter(list(rawframes.send(front, rawframes.Take(job.strict), 0, found)))
    return grid.read(
        len(files), rawframes.files(files, front, rawframes.Take(job.strict), job.format, False)
    )


def run_job(grid: Grid[H], job: Job, buckets: int) -> Result:
    """Run a job, and bring its answers here."""
    task = task_of(job, 0, buckets)
    ran = execute(grid, [task], load(grid, job, task), [job.schedule])
    try:
        check(ran.outcomes[0])
        found = [r for records in ran.of(FOUND) for r in grid.collect(records, [FOUND])]
        return result_of(job, task, ran.outcomes[0], found)
    finally:
        grid.forget(ran.all)


def run_jobs(grid: Grid[H], jobs: Sequence[Job], buckets: int) -> list[Result | Exception]:
    """Run several jobs at once over input that is read here: their results, or what went wrong."""
    tasks = [task_of(job, number, buckets) for number, job in enumerate(jobs)]
    records: list[Record] = []
    problems: dict[int, Exception] = {}
    for job, task in zip(jobs, tasks, strict=True):
        try:
            narrative = read_input(job.input, job.rules.schema, job.clock, strict=job.strict)
            records += packed(task.plan.routes, task.number, 0, narrative)
        except Exception as problem:
            problems[task.number] = problem

    def scheduler(number: int) -> Any:
        def schedule(extent: Extent | None) -> Clockwork | None:
            try:
                return None if number in problems else jobs[number].schedule(extent)
            except Exception as problem:
                problems[number] = problem
                return None

        return schedule

    schedules = [scheduler(task.number) for task in tasks]
    ran = execute(grid, tasks, [grid.scatter(records)], schedules, most=SLOTS)
    by_run: dict[int, list[Record]] = {}
    for some in ran.of(FOUND):
        for record in grid.collect(some, [FOUND]):
            by_run.setdefault(record.run, []).append(record)
    grid.forget(ran.all)
    results: list[Result | Exception] = []
    for job, task, outcome in zip(jobs, tasks, ran.outcomes, strict=True):
        try:
            if task.number in problems:
                raise problems[task.number]
            check(outcome)
            results.append(result_of(job, task, outcome, by_run.get(task.number, [])))
        except Exception as problem:
            results.append(problem)
    return results


def pieces_for(given: object, format: io.Format | None) -> list[Piece] | None:
    """The files of an input in pieces that workers can read; None for what is in memory."""
    files = files_of(given)
    return None if files is None else [p for file in files for p in pieces_of(file, format)]


def files_of(given: object) -> list[str] | None:
    """The files that an input names; None for what is in memory, or only here."""
    if isinstance(given, io.Narrative) or not is_files(given):
        return None
    files = [str(path) for path in (given if isinstance(given, list | tuple) else [given])]
    return None if "-" in files else files
