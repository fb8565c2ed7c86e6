"""Streams in steps: when a step asks, and what it takes to make one."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from horai.errors import UsageError
from horai.schedule import MOST_QUERIES, Settings, before
from horai.spark import checkpoint
from horai.spark.checkpoint import Checkpoint, Identity, Manifest, Seen
from horai.spark.grid import Grid
from horai.spark.refusals import Refused
from horai.spark.steps import Due, Steps
from horai.spark.tasks import Clockwork
from horai.sparking import Job, task_of

H = TypeVar("H")


@dataclass(frozen=True, slots=True)
class Timing:
    """The query times of a stream: start + k*step, as items drive them.

    A query time is due once an item has arrived that is later by more than `delay`.
    """

    settings: Settings
    delay: int = 0

    def __post_init__(self) -> None:
        if self.settings.step is None and self.settings.window is None:
            hint = "give a step, and a window for how far back late items count"
            raise UsageError("a stream needs to know when to ask", hint)

    @property
    def step(self) -> int:
        """The time between two queries."""
        found = self.settings.step or self.settings.window
        assert found is not None
        return found

    def due(self, known: Manifest, seen: Seen | None, finishing: bool) -> Due | None:
        """The query times that are due; None as long as nobody knows where the stream begins."""
        settings = self.settings
        start = known.start if known.start is not None else settings.start
        if start is None and seen is not None:
            start = before(seen.first, settings.tick)
        if start is None:
            return None
        if settings.end is not None and settings.end <= start:
            problem = f"the stream begins after {start}, not before its end, {settings.end}"
            raise UsageError(problem, "choose another start or end")
        asked = start if known.query is None else known.query
        limit = self._limit(seen, asked, finishing)
        ends = settings.end is not None and settings.end <= limit
        queries = [] if known.ended else self._queries(start, asked, limit, finishing or ends)
        clock = Clockwork(start, queries, settings.window, settings.tick, settings.allen_memory)
        return Due(clock, ends and not known.ended)

    def _limit(self, seen: Seen | None, asked: int, finishing: bool) -> int:
        """Up to where query times are due."""
        end = self.settings.end
        if finishing:
            return end if end is not None else asked if seen is None else max(asked, seen.last)
        if seen is None:
            return asked
        reached = max(asked, seen.arrival - self.delay - 1)
        return reached if end is None else min(reached, end)

    def _queries(self, start: int, asked: int, limit: int, whole: bool) -> list[int]:
        """The query times after one and up to a limit; if `whole`, the limit is the last."""
        first = start + ((asked - start) // self.step + 1) * self.step
        if (limit - first) // self.step > MOST_QUERIES:
            raise UsageError(
                f"from {asked} to {limit} by steps of {self.step} there are more than "
                f"{MOST_QUERIES:,} query times",
                "choose a longer step, or a start near the first item",
            )
        queries = list(range(first, limit + 1, self.step))
        if whole and limit > asked and (not queries or queries[-1] < limit):
            queries.append(limit)
        return queries


@dataclass(frozen=True, slots=True)
class StreamJob:
    """A stream as people ask for it."""

    job: Job
    timing: Timing

    def identity(self, buckets: int) -> Identity:
        """What makes it this stream and no other."""
        rules, job = self.job.rules, self.job
        texts = [(source.name, source.text) for source in rules.description.sources]
        settings: dict[str, Any] = asdict(self.timing.settings)
        settings["step"] = self.timing.step
        settings["delay"] = self.timing.delay
        settings["unit"], settings["time_in"] = job.clock.unit, job.clock.time_in
        settings["include_input"] = job.include_input
        return Identity(uuid.uuid4().hex, texts, sorted(rules.predicates), settings, buckets)

    def steps(self, grid: Grid[H], found: Checkpoint, most: int | None = None) -> Steps[H]:
        """The stream, ready to go on."""
        task = task_of(self.job, 0, found.identity.buckets, meet=False)
        return Steps(grid, task, found, self.timing.due, most)


def enter(folder: Path, asked: Identity, given: int | None) -> Checkpoint:
    """The checkpoint in a folder, if it is of the stream that is asked for, or a new one.

    `given` is the number of buckets that was asked for, None if any will do.
    """
    try:
        if not checkpoint.is_checkpoint(folder):
            return checkpoint.create(folder, asked)
        found = checkpoint.open_checkpoint(folder)
    except Refused as error:
        raise UsageError(error.problem, error.hint) from error
    _compare(folder, found.identity, asked, given)
    return found


def _compare(folder: Path, found: Identity, asked: Identity, given: int | None) -> None:
    new = "or begin a new stream in another folder"
    if [text for _, text in found.rules] != [text for _, text in asked.rules]:
        problem = f"{folder} is the checkpoint of a stream with other rules"
        raise UsageError(problem, f"go on with the rules it was begun with, {new}")
    if found.predicates != asked.predicates:
        names = ", ".join(found.predicates) or "none"
        problem = f"{folder} is the checkpoint of a stream with other Python predicates: {names}"
        raise UsageError(problem, f"give the same, {new}")
    for name, value in asked.settings.items():
        then = found.settings.get(name)
        if then != value:
            named = name.replace("_", "-")
            problem = f"{folder} is the checkpoint of a stream with {named} {then}, not {value}"
            raise UsageError(problem, f"give --{named} {then}, {new}")
    if given is not None and given != found.buckets:
        problem = f"{folder} is the checkpoint of a stream in {found.buckets} buckets, not {given}"
        raise UsageError(problem, f"leave the number out, {new} from a savepoint")
