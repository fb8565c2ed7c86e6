"""Runs on Spark as people ask for them, checked, and as workers need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from horai import io
from horai.errors import UsageError
from horai.io import Format
from horai.io.items.blocks import Options
from horai.plan.split.stages import stages_of
from horai.runtime.answers import ANSWERS as FORMS_OF_ANSWERS
from horai.runtime.answers import Answers
from horai.runtime.batch import Extent
from horai.runtime.engines import incremental_named
from horai.runtime.inputs import checked_clock, is_files, letters_of
from horai.runtime.metrics import Counting
from horai.runtime.routes import Entity
from horai.runtime.tasks import Clockwork, Hooks, RunTask, StagePlan, plan_of
from horai.runtime.tracks import check_parts
from horai.settings import RunSettings, plan_run
from horai.signals import Feed, Layout, Pipeline, SettingsError, positions_of, read_positions
from horai.signals.positions import as_letters

if TYPE_CHECKING:
    from horai.rules import Rules


def feed_of(given: object, unit: str | None, time_in: str | None) -> Feed | None:
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


def _feed(given: object, time_in: str | None) -> Feed:
    if isinstance(given, Feed):
        return given
    if isinstance(given, Pipeline):
        return Feed(given, Layout(checked_clock(given.settings.unit, time_in)))
    hint = "give a horai.signals.Pipeline or a Feed, which also says how positions are written"
    raise UsageError(f"positions cannot be {type(given).__name__}", hint)


@dataclass(slots=True)
class SparkJob:
    """A run as people ask for it: rules, input and settings."""

    rules: Rules
    input: object
    settings: RunSettings
    feed: Feed | None = None  # where positions come in the place of items

    @property
    def clock(self) -> io.TimeScale:
        """How times become time-points."""
        return self.settings.scale if self.feed is None else self.feed.layout.clock

    @property
    def format(self) -> Format | None:
        """How the input is written, if that is said."""
        return self.settings.input_format

    @property
    def answers(self) -> Answers | None:
        """The only form of answer that is kept, None for all."""
        return self.settings.answers

    @property
    def forms(self) -> tuple[Answers, ...]:
        """The forms of answer that are kept."""
        return FORMS_OF_ANSWERS if self.answers is None else (self.answers,)

    @property
    def options(self) -> Options:
        """How rows are read."""
        return Options(
            self.rules.schema,
            self.clock,
            strict=self.settings.strict,
            format=self.settings.input_format,
        )

    def schedule(self, extent: Extent | None) -> Clockwork | None:
        """The query times, once it is known what the input covers."""
        found = plan_run(self.settings, extent)
        if found is None:
            return None
        queries = list(found.queries())
        return Clockwork(found.start, queries, found.window, found.tick, found.allen_memory)


def job_of(rules: Rules, input: object, settings: RunSettings) -> SparkJob:
    """A job with these settings."""
    incremental_named(settings.incremental, "spark")
    feed = feed_of(settings.positions, settings.unit, settings.time_in)
    return SparkJob(rules, input, settings, feed)


def plan(
    rules: Rules, buckets: int, include_input: bool = False, goes_on: bool = False
) -> StagePlan:
    """The stages of rules, ready for some number of buckets."""
    description = rules.description
    stages = stages_of(description)
    return plan_of(description, stages, inputs_of(rules), buckets, include_input, goes_on)


def inputs_of(rules: Rules) -> list[Entity]:
    """The input of rules."""
    types = [one for some in rules.schema.types.values() for one in some]
    return [(one.kind, one.name, one.arity) for one in types]


def task_of(job: SparkJob, number: int, buckets: int, goes_on: bool = False) -> RunTask:
    """A job as workers need it."""
    return RunTask(
        number,
        plan(job.rules, buckets, job.settings.include_input, goes_on),
        Hooks(letters_of, Counting),
        job.rules.predicates,
        job.forms,
        job.settings.include_input,
        incremental_named(job.settings.incremental, "spark"),
    )
