"""Runs on Spark as people ask for them, checked, and as workers need them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from horai import io
from horai.counting import Counting
from horai.engines import incremental_named
from horai.inputs import checked_clock, checked_format, letters_of, time_point
from horai.io.read import Options
from horai.plan.stages import stages_of
from horai.raw import feed_of
from horai.rows import ANSWERS, Answers, answers_named
from horai.schedule import Settings, plan_run
from horai.signals import Feed
from horai.spark.batch import Extent
from horai.spark.routes import Entity
from horai.spark.tasks import Clockwork, Hooks, Plan, RunTask, plan_of

if TYPE_CHECKING:
    from horai.rules import Rules


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
