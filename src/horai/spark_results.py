"""What became of a run on Spark, as a result like that of one process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from horai import io
from horai.counting import Counting
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import EventTable, FluentTable, Part, Which
from horai.engine.arrow_items import ItemBatch, read_items
from horai.engine.symbols import Symbols
from horai.errors import RunError
from horai.io.letters import OF_ENGINES
from horai.metrics import Metrics
from horai.result import Result
from horai.rows import Answers
from horai.session import Answer
from horai.spark.batch import Outcome
from horai.spark.records import Label, Record, unpacked
from horai.spark.tasks import RunTask

if TYPE_CHECKING:
    pass

from horai.spark_jobs import Job


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
