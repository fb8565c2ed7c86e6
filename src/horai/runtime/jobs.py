"""Runs on a cluster as people ask for them, as workers need them, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from horai import io
from horai.engine.answer import Answer as EngineAnswer
from horai.engine.answer import EventTable, FluentTable, Part, Which
from horai.engine.arrow_items import read_items
from horai.engine.symbols import Symbols
from horai.errors import UsageError
from horai.io import Format
from horai.io.items.rows import RowReader
from horai.io.letters import OF_ENGINES
from horai.lang.core.diagnostics import Diagnostic
from horai.result import Answer, Result
from horai.runtime.answers import ANSWERS as FORMS_OF_ANSWERS
from horai.runtime.answers import Answers
from horai.runtime.engines import SPARK
from horai.runtime.findings import Spellings, empty, findings_of_parts, unused
from horai.runtime.inputs import files_of, is_files
from horai.runtime.metrics import Counting, Metrics
from horai.runtime.records import BlobLabel, Exchanger, Record, unpacked
from horai.runtime.rounds import Extent, Outcome, Rounds, Send, sender
from horai.runtime.routes import Entity
from horai.runtime.tasks import RunTask, StagePlan, plan_of
from horai.runtime.tracks import check_parts
from horai.settings import RunSettings, Schedule, plan_run
from horai.signals import Feed, Layout, Pipeline, SettingsError, positions_of, read_positions
from horai.signals.positions import as_letters
from horai.tools.codes import judged

if TYPE_CHECKING:
    from horai.rules import Rules

H = TypeVar("H")
Load = Callable[[Rounds[H], Send], set[int]]
"""Reads the input of a run and sends it to its buckets; the rounds it is for come back."""


def feed_of(given: object, unit: io.Unit | None, time_in: io.Unit | None) -> Feed | None:
    """The feed that was asked for, if one was; its time-points are those of the run."""
    if given is None:
        return None
    try:
        check_parts()
        feed = _feed(given, time_in)
    except SettingsError as error:
        raise UsageError(error.problem, error.hint or None) from None
    ours = feed.layout.clock
    for name, theirs, mine in (("unit", unit, ours.unit), ("time-in", time_in, ours.time_in)):
        if theirs is not None and theirs != mine:
            problem = f"positions have the {name} {mine}, the run has {theirs}"
            raise UsageError(problem, f"give both the same {name}, or only positions")
    return feed


def check_format(feed: Feed | None, format: Format | None) -> None:
    """Raise if positions are said to be written as they cannot be."""
    if feed is not None and format == "narrative":
        hint = "use csv, jsonl, parquet or arrow; columns and keys have names"
        raise UsageError("positions cannot be narrative rows", hint)


def derived_items(input: object, settings: RunSettings) -> io.Narrative:
    """Items that are derived from raw positions in this process."""
    feed = feed_of(settings.positions, settings.unit, settings.time_in)
    assert feed is not None
    check_format(feed, settings.input_format)
    layout = feed.layout
    given: Any = input
    if is_files(input):
        rows = read_positions(given, layout, settings.input_format)
    else:
        rows = positions_of(given, layout)
    if settings.strict and rows.letters.num_rows:
        raise io.InputError.from_letter(as_letters(rows.letters)[0])
    return feed.pipeline.run(rows).narrative()


def _feed(given: object, time_in: io.Unit | None) -> Feed:
    if isinstance(given, Feed):
        return given
    if isinstance(given, Pipeline):
        return Feed(given, Layout(io.TimeScale(given.settings.unit, time_in)))
    hint = "give a horai.signals.Pipeline or a Feed, which also says how positions are written"
    raise UsageError(f"positions cannot be {type(given).__name__}", hint)


@dataclass
class Job:
    """A run on a cluster as people ask for it: rules, input and settings."""

    rules: Rules
    input: object
    settings: RunSettings
    feed: Feed | None = None  # where positions come in the place of items

    @classmethod
    def of(cls, rules: Rules, input: object, settings: RunSettings) -> Self:
        """The run that was asked for."""
        feed = feed_of(settings.positions, settings.unit, settings.time_in)
        return cls(rules, input, settings, feed)

    @property
    def clock(self) -> io.TimeScale:
        return self.settings.scale if self.feed is None else self.feed.layout.clock

    @property
    def options(self) -> RowReader:
        asked = self.settings
        return RowReader(
            self.rules.schema, self.clock, strict=asked.strict, format=asked.input_format
        )


class SparkJob(Job):
    """A run of an event description."""

    @property
    def forms(self) -> tuple[Answers, ...]:
        """The forms of answer that are kept."""
        return FORMS_OF_ANSWERS if self.settings.answers is None else (self.settings.answers,)

    def schedule(self, extent: Extent | None) -> Schedule | None:
        """The query times, once it is known what the input covers."""
        return plan_run(self.settings, extent)

    def run(self, grid: Exchanger[H], buckets: int, load: Load[H]) -> Rounds[H]:
        """Run over what is loaded."""
        task, found = task_of(self, buckets), Rounds(grid, buckets)
        task.sought = self._spellings.sought
        rounds = load(found, sender(task))
        if found.outcome.unreadable is None:
            task.schedule = self.schedule(found.outcome.extent)
            if task.schedule is not None:
                found.advance(task, rounds)
        return found

    def result(self, outcome: Outcome, found: Iterable[Record]) -> Result:
        """The result of a run whose answers are here."""
        schedule, rules = self.schedule(outcome.extent), self.rules
        raw = raw_answers(schedule.queries if schedule else (), self.forms, found)

        def wanted(name: str, arity: int, is_fluent: bool) -> bool:
            return self.settings.include_input or rules.is_output(name, arity, is_fluent)

        answers = [Answer(one, wanted) for one in raw]
        compared = "changelog" in self.forms

        def measure() -> Metrics:
            return metrics_of(outcome, [a.revised if compared else None for a in answers])

        letters = sorted(outcome.letters, key=lambda letter: (letter.file, letter.line))
        return Result(
            *(rules, answers, letters, self.settings.answers or "final", self.clock.unit),
            measure=measure,
            warnings=self.warnings(outcome),
            engine=SPARK,
        )

    def warnings(self, outcome: Outcome) -> list[Diagnostic]:
        """What is to be said of the input."""
        letters = sorted(outcome.letters, key=lambda letter: (letter.file, letter.line))
        read = metrics_of(outcome).run
        rest = [*self._misspelt(outcome)]
        rest += [*unused(read.items + read.unreadable, letters), *empty(outcome.empty)]
        return [*self.without_value(outcome), *judged(rest, self.rules.severities)]

    @property
    def _spellings(self) -> Spellings:
        return Spellings(self.rules.description, self.rules.entities)

    def _misspelt(self, outcome: Outcome) -> Iterator[Diagnostic]:
        """Constants of the rules that came in another spelling."""
        found, schedule = self._spellings, self.schedule(outcome.extent)
        queries = schedule.queries if schedule else ()
        found.hear(outcome.spellings, queries, files_of(self.input))
        return found.findings()

    def without_value(self, outcome: Outcome) -> list[Diagnostic]:
        """Conditions that had no value."""
        found = findings_of_parts(outcome.without_value, self.rules.description.sources)
        return judged(found, self.rules.severities)


def plan(
    rules: Rules, buckets: int, include_input: bool = False, goes_on: bool = False
) -> StagePlan:
    """The stages of rules, ready for some number of buckets."""
    return plan_of(rules.description, inputs_of(rules), buckets, include_input, goes_on)


def inputs_of(rules: Rules) -> list[Entity]:
    types = [one for some in rules.schema.types.values() for one in some]
    return [(one.kind, one.name, one.arity) for one in types]


def task_of(job: SparkJob, buckets: int, goes_on: bool = False) -> RunTask:
    """A job as workers need it."""
    settings = job.settings
    return RunTask(
        plan(job.rules, buckets, settings.include_input, goes_on),
        job.rules.predicates,
        job.forms,
        settings.include_input,
    )


def metrics_of(outcome: Outcome, revised: Sequence[int | None] | None = None) -> Metrics:
    """What became of the items; how many answers were taken back is known only to who compares."""
    counting = Counting.together(outcome.counted)
    unreadable = sum(letter.code not in OF_ENGINES for letter in outcome.letters)
    nothing = [None] * len(counting.windows)
    return counting.metrics(nothing if revised is None else revised, unreadable)


_PARTS: dict[Answers, tuple[Which, ...]] = {
    "final": ("all",),
    "windows": ("window",),
    "changelog": ("gone", "new"),
}


def raw_answers(
    queries: Sequence[int], forms: Sequence[Answers], found: Iterable[Record]
) -> list[EngineAnswer]:
    """Answers as an engine gives them, one for each query time."""
    symbols = Symbols()
    fluents: dict[tuple[int, Which], list[FluentTable]] = {}
    events: dict[tuple[int, Which], list[EventTable]] = {}
    for record in found:
        label = BlobLabel.load(record.label)
        batch = read_items(io.ItemTable(*label.key, unpacked(record.blob)), symbols, 1)
        *gone, came = _PARTS[label.what]  # type: ignore[index]
        for query in np.unique(batch.arrival).tolist():
            for op, which in ((1, came), *((-1, one) for one in gone)):
                rows = np.flatnonzero((batch.arrival == query) & (batch.op == op))
                args, start = tuple(c.take(rows) for c in batch.args), batch.start[rows]
                if batch.value is None:
                    table = EventTable(batch.name, args, start)
                    events.setdefault((query, which), []).append(table)
                else:
                    value, end = batch.value.take(rows), batch.end[rows]
                    spans = FluentTable(batch.name, args, value, start, end)
                    fluents.setdefault((query, which), []).append(spans)

    def part(query: int, which: Which) -> Part:
        return Part(fluents.get((query, which), []), events.get((query, which), []))

    kept = [which for form in forms for which in _PARTS[form]]
    return [
        EngineAnswer(
            query,
            symbols,
            (),
            {w: partial(part, query, w) for w in kept if w != "all" or query == queries[-1]},
        )
        for query in queries
    ]
