"""Runs of LARS programs in buckets: the same program, input and answers as in one process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import pyarrow as pa

from horai.engines import SPARK
from horai.errors import RunError
from horai.inputs import read_input
from horai.io import DeadLetter, ItemTable, Narrative
from horai.lang.lars.syntax import Atom
from horai.lars_engines import AUTO, ONE
from horai.lars_job import Job, Told, told
from horai.lars_result import LarsAnswer, LarsResult, in_course
from horai.lars_signals import files_of
from horai.lars_tables import formed, said_by, said_in, table_of
from horai.plan.lars.findings import place_of
from horai.plan.lars.keys import Unsplit
from horai.plan.lars.parts import Parts, parts_of
from horai.spark.batch import Outcome, Send, reader
from horai.spark.grid import Grid
from horai.spark.lars import Found, PartTask, Ran, execute, sent, tasks_of
from horai.spark.records import ANSWERS, Record, unpacked
from horai.spark_results import check
from horai.sparking import pieces_for

H = TypeVar("H")
NOTHING = table_of([])


@dataclass(frozen=True)
class Asked:
    """Runs a session over a bucket; `form` is that of the answers, None for all that is said."""

    job: Job
    files: tuple[str, ...]
    form: str | None = None

    def __call__(
        self, part: PartTask, bucket: int, tables: Sequence[ItemTable], queries: range
    ) -> Found:
        """What a bucket has to say."""
        whole = part.tells is None and not part.is_split
        job = replace(self.job, points=part.program, wanted=self.job.wanted if whole else ONE)
        if not (tables or part.program.rules):
            return Found(NOTHING)
        try:
            session = job.session(queries.start, AUTO)
            signals = Narrative(tuple(tables), [])
            said = list(told(session, signals, self.files, queries))
        except RunError as error:
            return Found(NOTHING, problem=str(error))
        letters = session.arrivals.finish(queries.stop - 1)
        if not whole:
            said = _own(said, part, bucket)
        return Found(self._table(said), letters)

    def _table(self, said: list[Told]) -> pa.Table:
        numbered, revised = self.job.wanted.is_numbered, self.job.lateness is not None
        if self.form is None:
            # What nobody says anything of is nothing, unless something was said before.
            return said_in(one for one in said if revised or one.answer.models != ((),))
        return table_of(formed(said, self.form, numbered, revised))


def _own(said: Iterable[Told], part: PartTask, bucket: int) -> list[Told]:
    """What a bucket tells of: its own atoms."""
    owned: dict[Atom, bool] = {}

    def own(atom: Atom) -> bool:
        if atom not in owned:
            owned[atom] = part.owns(bucket, atom)
        return owned[atom]

    return [
        Told(arrived, replace(answer, models=tuple(tuple(filter(own, m)) for m in answer.models)))
        for arrived, answer in said
    ]


def run_job(grid: Grid[H], job: Job, input: object, buckets: int) -> LarsResult:
    """Run a job, and bring its answers here."""
    parts = parts_of(job.points)
    ran = execute_job(grid, job, input, parts, buckets)
    try:
        check(ran.outcome)
        found = [r for records in ran.records for r in grid.collect(records, [ANSWERS])]
        return result_of(job, parts, ran.outcome, found)
    finally:
        grid.forget(ran.records)


def execute_job(
    grid: Grid[H],
    job: Job,
    input: object,
    parts: Parts,
    buckets: int,
    form: str | None = None,
    items: Callable[[Send], H] | None = None,
) -> Ran[H]:
    """Send the signals to their buckets and ask all of them; `items` does the first, if given."""
    tasks = tasks_of(job.points, parts, buckets)
    send = partial(sent, tasks)
    signals = load(grid, job, input, send) if items is None else items(send)
    ask = Asked(job, tuple(files_of(input)), form)
    return execute(grid, tasks, signals, job.queries, ask)


def load(grid: Grid[H], job: Job, input: object, send: Send) -> H:
    """The signals of a job on their way to buckets: files are read by workers."""
    pieces = pieces_for(input, job.format)
    if pieces is None:
        narrative = read_input(input, job.schema, job.times, format=job.format, strict=job.strict)
        return grid.scatter(list(send(0, narrative)))
    return grid.read(len(pieces), reader(send, pieces, job.options, job.format))


def result_of(job: Job, parts: Parts, outcome: Outcome, found: Iterable[Record]) -> LarsResult:
    """The result of a run whose answers are here."""
    said = _merged(found, job.queries(outcome.extent))
    numbered = job.wanted.is_numbered
    if job.lateness is None:
        answers, revised = [answer for _, answer in said], None
    else:
        answers, revised = in_course(said, numbered)
    reasons = [told_why(part.unsplit) for part in parts.parts if part.unsplit is not None]
    return LarsResult(answers, letters_of(outcome), numbered, revised, SPARK, reasons)


def letters_of(outcome: Outcome) -> list[DeadLetter]:
    """Rows that were not used; several parts may have read a row, and say the same of it."""
    return sorted(set(outcome.letters), key=lambda letter: (letter.file, letter.line))


def told_why(unsplit: Unsplit) -> str:
    """Why something is not split, in a line."""
    place = None if unsplit.rule is None else place_of(unsplit.rule)
    return f"{unsplit.reason}{f' ({place})' if place else ''}, so one bucket works it out"


def _merged(found: Iterable[Record], queries: range) -> Iterator[Told]:
    """What all buckets together said: revised answers, then the new one, query by query."""
    news: dict[int, dict[int, dict[tuple[int, int], LarsAnswer]]] = {}
    for record in found:
        source = (record.run, record.bucket)
        for arrived, answer in said_by(unpacked(record.blob)):
            news.setdefault(arrived, {}).setdefault(answer.query, {})[source] = answer
    parts: dict[int, dict[tuple[int, int], LarsAnswer]] = {}
    known: dict[int, LarsAnswer] = {}
    for arrived in queries:
        for query in sorted({*news.get(arrived, {}), arrived}):
            mine = parts.setdefault(query, {})
            mine.update(news.get(arrived, {}).get(query, {}))
            answer = LarsAnswer.together(query, list(mine.values()))
            if query == arrived or answer != known[query]:
                yield Told(arrived, answer)
            known[query] = answer
