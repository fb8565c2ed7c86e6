"""Runs on Spark: the same rules, input and answers, in buckets of entities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from horai import io
from horai.counting import Counting
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import EventTable, FluentTable, Part, Which
from horai.engine.arrow_items import ItemBatch, read_items
from horai.engine.symbols import Symbols
from horai.engines import incremental_named
from horai.errors import RunError
from horai.inputs import checked_clock, checked_format, is_files, letters_of, read_input, time_point
from horai.io.letters import OF_ENGINES
from horai.io.pieces import Piece, pieces_of
from horai.io.read import Options
from horai.metrics import Metrics
from horai.plan.stages import stages_of
from horai.raw import feed_of
from horai.result import Result
from horai.rows import ANSWERS, Answers, answers_named
from horai.schedule import Settings, plan_run
from horai.session import Answer
from horai.signals import Feed, positions_of
from horai.spark import rawframes
from horai.spark.batch import Extent, Outcome, execute, packed, reader, sender
from horai.spark.front import batch_task, derive_all
from horai.spark.grid import Grid
from horai.spark.records import ANSWERS as FOUND
from horai.spark.records import Label, Record, unpacked
from horai.spark.routes import Entity
from horai.spark.tasks import Clockwork, Hooks, Plan, RunTask, plan_of
from horai.spark.tracks import TrackTask

if TYPE_CHECKING:
    from horai.rules import Rules

H = TypeVar("H")
SLOTS = 4  # of jobs that share rounds: what there is to know about all of them goes to each slot


@dataclass(slots=True)
class Job:
    """A run as people ask for it: rules, input and settings."""

    rules: Rules
    input: object
    settings: Settings
    clock: io.Clock = field(default_factory=io.Clock)
    answers: Answers | None = None
    include_input: bool = False
    incremental: str = "auto"
    strict: bool = False
    format: io.Format | None = None
    feed: Feed | None = None  # where positions come in the place of items

    @property
    def forms(self) -> tuple[Answers, ...]:
        """The forms of answer that are kept."""
        return ANSWERS if self.answers is None else (self.answers,)

    @property
    def options(self) -> Options:
        """How rows are read."""
        return Options(self.rules.schema, self.clock, None, self.strict)

    def schedule(self, extent: Extent | None) -> Clockwork | None:
        """The query times, once it is known what the input covers."""
        found = plan_run(self.settings, extent)
        if found is None:
            return None
        queries = list(found.queries())
        return Clockwork(found.start, queries, found.window, found.tick, found.allen_memory)


def job_of(
    rules: Rules,
    input: object,
    *,
    window: int | None = None,
    step: int | None = None,
    start: int | str | None = None,
    end: int | str | None = None,
    tick: int = 1,
    answers: str | None = None,
    unit: str | None = None,
    time_in: str | None = None,
    input_format: str | None = None,
    strict: bool = False,
    allen_memory: int | None = None,
    include_input: bool = False,
    incremental: str = "auto",
    positions: object = None,
) -> Job:
    """A job with the parameters of `Rules.run`, all of them checked."""
    feed = feed_of(positions, unit, time_in)
    clock = checked_clock(unit, time_in) if feed is None else feed.layout.clock
    settings = Settings(
        window=window,
        step=step,
        start=time_point(start, clock.unit, "start"),
        end=time_point(end, clock.unit, "end"),
        tick=tick,
        allen_memory=allen_memory,
    )
    return Job(
        rules,
        input,
        settings,
        clock,
        None if answers is None else answers_named(answers),
        include_input,
        incremental_named(incremental, "spark"),
        strict,
        checked_format(input_format),
        feed,
    )


def plan(rules: Rules, buckets: int, include_input: bool = False, goes_on: bool = False) -> Plan:
    """The stages of rules, ready for some number of buckets."""
    description = rules.description
    stages = stages_of(description)
    return plan_of(description, stages, inputs_of(rules), buckets, include_input, goes_on)


def inputs_of(rules: Rules) -> list[Entity]:
    """What rules read of the stream."""
    types = [one for some in rules.schema.types.values() for one in some]
    return [(one.kind, one.name, one.arity) for one in types]


def task_of(job: Job, number: int, buckets: int, goes_on: bool = False) -> RunTask:
    """A job as workers need it."""
    return RunTask(
        number,
        plan(job.rules, buckets, job.include_input, goes_on),
        Hooks(letters_of, Counting),
        job.rules.predicates,
        job.forms,
        job.include_input,
        incremental_named(job.incremental, "spark"),
    )


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
        found = positions_of(job.input, front.feed.layout)
        return grid.scatter(list(rawframes.send(front, job.strict, 0, found)))
    return grid.read(len(files), rawframes.files(files, front, job.strict, job.format, False))


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


def check(outcome: Outcome) -> None:
    """Raise what ended a run, as one process would have."""
    if outcome.unreadable is not None:
        raise outcome.unreadable
    if outcome.problem is not None:
        query, text = outcome.problem
        raise RunError(f"{text} (at query time {query})")


def result_of(job: Job, task: RunTask, outcome: Outcome, found: Iterable[Record]) -> Result:
    """The result of a run whose answers are here."""
    queries = [] if task.clock is None else task.clock.queries
    raw = raw_answers(queries, job.forms, list(found))

    def wanted(name: str, arity: int, is_fluent: bool) -> bool:
        return job.include_input or job.rules.is_output(name, arity, is_fluent)

    answers = [Answer(one, wanted) for one in raw]
    compared = "changelog" in job.forms

    def measure() -> Metrics:
        return metrics_of(outcome, [a.revised if compared else None for a in answers])

    letters = sorted(outcome.letters, key=lambda letter: (letter.file, letter.line))
    form = job.answers or "final"
    return Result(job.rules, answers, letters, form, job.clock.unit, measure=measure)


def metrics_of(outcome: Outcome, revised: Sequence[int | None] | None = None) -> Metrics:
    """What became of the items; how many answers were taken back is known only to who compares."""
    counting = Counting.together(outcome.counted)
    unreadable = sum(letter.code not in OF_ENGINES for letter in outcome.letters)
    nothing = [None] * len(counting.windows)
    return counting.metrics(nothing if revised is None else revised, unreadable)


def raw_answers(
    queries: Sequence[int], forms: Sequence[Answers], found: Sequence[Record]
) -> list[EngineAnswer]:
    """Answers as an engine gives them, one for each query time."""
    symbols = Symbols()
    parts: dict[tuple[int, Which], Part] = {}
    for query in queries:
        for form in forms:
            for which in _PARTS[form]:
                if which != "all" or query == queries[-1]:
                    parts[query, which] = Part([], [])
    for record in found:
        label = Label.load(record.label)
        key = label.key
        batch = read_items(io.ItemTable(*key, unpacked(record.blob)), symbols, 1)
        for (query, which), rows in _by_part(label.what, batch).items():
            part = parts[query, which]
            if batch.value is None:
                part.events.append(rows)  # type: ignore[attr-defined]
            else:
                part.fluents.append(rows)  # type: ignore[attr-defined]
    return [
        EngineAnswer(
            query,
            symbols,
            (),
            {which: _giving(part) for (q, which), part in parts.items() if q == query},
        )
        for query in queries
    ]


_PARTS: dict[Answers, tuple[Which, ...]] = {
    "final": ("all",),
    "windows": ("window",),
    "changelog": ("gone", "new"),
}


def _giving(part: Part) -> Any:
    return lambda: part


def _by_part(form: str, batch: ItemBatch) -> dict[tuple[int, Which], FluentTable | EventTable]:
    """The rows of a table by query time, and whether they came or went."""
    found: dict[tuple[int, Which], FluentTable | EventTable] = {}
    came: Which = "all" if form == "final" else "window" if form == "windows" else "new"
    signs: tuple[tuple[int, Which], ...] = ((-1, "gone"), (1, came))
    for query in np.unique(batch.arrival).tolist():
        for op, which in signs:
            rows = np.flatnonzero((batch.arrival == query) & (batch.op == op))
            if not len(rows):
                continue
            args = tuple(column.take(rows) for column in batch.args)
            if batch.value is None:
                table: FluentTable | EventTable = EventTable(batch.name, args, batch.start[rows])
            else:
                value = batch.value.take(rows)
                table = FluentTable(batch.name, args, value, batch.start[rows], batch.end[rows])
            found[query, which] = table
    return found
