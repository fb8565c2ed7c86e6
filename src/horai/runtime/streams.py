"""Streams in steps: the settings of one, what came in, what has changed out, what steps did.

A step takes the items of a micro-batch. They drive the clock: a query time is due once an item has
arrived that is later. If some are due, every bucket of every stage goes on from its state to all of
them, stage after stage as in a whole run; if none is, items are kept for a later step. A step has
happened when its manifest is written. Until then it can be done again and gives the same.

Rows whose times lie further ahead of the clock on the wall than the future skew are refused.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.errors import UsageError
from horai.io import DeadLetter, ItemTable, Narrative
from horai.io.letters import AHEAD
from horai.predicates import Predicate
from horai.runtime import checkpoint, savepoint, subscriptions
from horai.runtime.bucket import refuse_items, store_items
from horai.runtime.checkpoint import Checkpoint, Identity, Manifest, Seen
from horai.runtime.inputs import row_text
from horai.runtime.jobs import SparkJob, inputs_of, plan, task_of
from horai.runtime.records import Exchanger, Record
from horai.runtime.refusals import Refused
from horai.runtime.rounds import Heard, Outcome, Rounds, Send, sender
from horai.runtime.savepoint import Change, changing, check_change
from horai.runtime.tasks import RunTask, StagePlan
from horai.runtime.tracks import TrackTask, derive_step, front_of
from horai.settings import MOST_QUERIES, Schedule, before
from horai.signals.positions import Positions, letters_about, parted


def seen_after(outcome: Outcome, known: Manifest) -> Seen | None:
    """The times that items have named so far, those of the step among them."""
    seen = known.seen
    if outcome.extent is not None and outcome.arrival is not None:
        seen = Seen(*outcome.extent, outcome.arrival) | seen
    if seen is not None and known.tracks is not None:
        # All that happens up to here has been told, as far as it can be; something of the first
        # position may be told in hindsight.
        first, arrival = known.tracks.first, max(seen.arrival, known.tracks.until + 1)
        first = seen.first if first is None else min(seen.first, first)
        seen = replace(seen, first=first, arrival=arrival)
    return seen


def add_up(manifest: Manifest, outcome: Outcome) -> None:
    """Add the counts of a step to those of all steps."""
    totals = Counter(manifest.totals)
    totals.update(dead_letters=len(outcome.letters), changes=sum(outcome.found.values()))
    for counted in outcome.counted:
        totals.update(items=counted["items"], outside_run=counted["left_over"])
        for window in counted["windows"]:
            totals.update(window)
    manifest.totals = dict(totals)


H = TypeVar("H")


@dataclass(slots=True)
class Due:
    """The query times of a step, and whether they are the last ones of the stream."""

    schedule: Schedule
    ends: bool = False


# From what is known, what items have named, and whether no more will come.
Timing = Callable[[Manifest, Seen | None, bool], Due | None]
ItemWork = Callable[[RunTask, int, int, list[Record]], Iterable[Record]]


class StreamStep(Rounds[H]):
    """A step that was done, and has not happened yet: `manifest` is what will be known then."""

    def __init__(self, steps: Steps[H], manifest: Manifest) -> None:
        name = f"step {manifest.number}, "
        super().__init__(steps.grid, steps.slots, name, steps.brings_answers)
        self.manifest = manifest
        self.queries: list[int] = []
        self.came = False  # something was read, whether it could be used or not

    @property
    def number(self) -> int:
        """Steps have growing numbers; the one that ends a run is odd."""
        return self.manifest.number

    def go_on(self, task: RunTask, rounds: set[int]) -> None:
        """Go on from the state of the step before to the query times that are due."""
        assert task.schedule is not None
        manifest, self.queries = self.manifest, [*task.schedule.queries]
        stored = self.advance(task, rounds | {file[0] for file in task.items})
        if self.outcome.problem is not None:
            return
        manifest.state, manifest.items = manifest.number, sorted(stored)
        manifest.query = self.queries[-1] if self.queries else manifest.query
        manifest.ended = task.ends
        manifest.refreshed = manifest.number if task.refreshes else manifest.refreshed

    def put_aside(self, task: RunTask, rounds: set[int], do: ItemWork, name: str) -> Heard:
        """Do something with items that no stage runs over."""
        routes = task.plan.routes
        lean = replace(task, plan=StagePlan([], routes))

        def work(bucket: int, records: list[Record]) -> Iterable[Record]:
            for round in sorted({record.round for record in records}):
                yield from do(lean, round, bucket, [r for r in records if r.round == round])

        return self.buckets(rounds, routes.buckets, work, name)


class Steps(Generic[H]):
    """A stream whose steps are done on a grid, in no more than so many slots."""

    def __init__(
        self,
        grid: Exchanger[H],
        task: RunTask,
        checkpoint: Checkpoint,
        timing: Timing,
        slots: int,
    ) -> None:
        self.grid, self.task, self.checkpoint = grid, task, checkpoint
        self.timing, self.slots = timing, min(slots, task.plan.routes.buckets)
        self.front: TrackTask | None = None  # where positions come in the place of items
        self.brings_answers = True  # to the driver; otherwise they stay where they are

    def has_happened(self, batch: int) -> bool:
        """Is the step of a micro-batch known already?"""
        return _number(batch) <= self.checkpoint.last.number

    def take(self, batch: int, items: H) -> StreamStep[H]:
        last = self.checkpoint.last
        manifest = replace(last, number=_number(batch), batch=batch, items=list(last.items))
        return self._do(StreamStep(self, manifest), items, False)

    def finish(self) -> StreamStep[H] | None:
        """The step after the last micro-batch, None if there is nothing left to ask."""
        last = self.checkpoint.last
        if last.ended or last.number % 2:
            return None
        manifest = replace(last, number=last.number + 1, items=list(last.items))
        step = self._do(StreamStep(self, manifest), None, True)
        return step if step.queries else None

    def commit(self, step: StreamStep[H]) -> None:
        """The step has happened: from now on the stream goes on from there."""
        self.checkpoint.commit(step.manifest, step.outcome.letters)
        step.forget()

    def _do(self, step: StreamStep[H], items: H | None, finishing: bool) -> StreamStep[H]:
        manifest, outcome = step.manifest, step.outcome
        heard = Heard() if items is None else step.listen(items)
        if outcome.unreadable is not None:
            return step
        step.came = bool(heard["latest"] or outcome.letters) or outcome.arrival is not None
        rounds = heard.rounds
        if self.front is not None:
            rounds = derive_step(self.front, manifest, heard["latest"], step, finishing)
        manifest.seen = seen_after(outcome, manifest)
        due = self.timing(manifest, manifest.seen, finishing)
        if due is not None:
            manifest.start = due.schedule.start
            self._go_on(step, due, rounds)
        add_up(manifest, outcome)
        return step

    def _go_on(self, step: StreamStep[H], due: Due, rounds: set[int]) -> None:
        """To the query times that are due; items for which there are none wait."""
        manifest = step.manifest
        since = manifest.number - manifest.refreshed
        task = replace(
            self.task,
            schedule=due.schedule,
            frontiers={},
            store=self.checkpoint.store,
            number=manifest.number,
            state=manifest.state,
            items=manifest.items,
            ends=due.ends,
            refreshes=manifest.state is not None and since >= 2 * subscriptions.STEPS,
        )
        if manifest.ended:
            assert manifest.query is not None
            task.schedule = replace(due.schedule, queries=[manifest.query])
            if rounds:
                step.put_aside(task, rounds, refuse_items, "after the end")
        elif due.schedule.queries or due.ends:
            step.go_on(task, rounds)
        elif rounds:
            heard = step.put_aside(task, rounds, store_items, "store items")
            manifest.items += sorted(map(tuple, heard["stored"]))


def _number(batch: int) -> int:
    return 2 * batch + 2


TIMES = ("arrival", "start", "end")


def sending(send: Send, limit: int) -> Send:
    """Sends what lies within the limit; the rest are dead letters."""

    def sent(place: int, narrative: Narrative) -> Iterator[Record]:
        found = [_apart(table, limit) for table in narrative.tables]
        tables = tuple(table for table, _ in found)
        letters = [letter for _, some in found for letter in some]
        yield from send(place, Narrative(tables, [*narrative.dead_letters, *letters]))

    return sent


def positions_within(limit: int) -> Callable[[Positions], Positions]:
    """Leaves out positions that lie beyond the limit; they are dead letters."""

    def within(found: Positions) -> Positions:
        times = found.table.column("time").to_numpy()
        far, kept = parted(found.table, times > limit)
        if not far.num_rows:
            return found
        letters = letters_about(far, _reason(limit), AHEAD)
        return Positions(kept, pa.concat_tables([found.letters, letters]))

    return within


def _apart(table: ItemTable, limit: int) -> tuple[ItemTable, list[DeadLetter]]:
    far = np.zeros(len(table), np.bool_)
    for name in TIMES:
        if name in table.table.column_names:
            beyond = pc.fill_null(pc.greater(table.table.column(name), limit), False)
            far |= beyond.to_numpy()
    if not far.any():
        return table, []
    lost = table.where(far)
    reason = _reason(limit)
    letters = [DeadLetter(row.file, row.line, row_text(row), reason, AHEAD) for row in lost.items()]
    return table.where(~far), letters


def _reason(limit: int) -> str:
    return f"it names a time after {limit}, further ahead of the clock than the stream allows"


@dataclass
class StreamJob(SparkJob):
    """A stream as people ask for it.

    Its query times are start + k*step, as items drive them: one is due once an item has arrived
    that is later by more than the watermark delay.
    """

    def __post_init__(self) -> None:
        settings, feed = self.settings, self.feed
        if settings.step is None and settings.window is None:
            hint = "give a step, and a window for how far back late items count"
            raise UsageError("a stream needs to know when to ask", hint)
        if feed is None or settings.window is None:
            return
        # Items of positions in hindsight have to be in the window still.
        needed = feed.hindsight + self.step - settings.watermark_delay
        if settings.window < needed:
            problem = f"the window, {settings.window}, is too short for what positions tell in "
            hint = f"use a window of at least {needed}: a gap, a stop or a meeting is known up to "
            hint += f"{feed.hindsight} later, and a step more is asked for later still"
            raise UsageError(f"{problem}hindsight", hint)

    @property
    def step(self) -> int:
        found = self.settings.step or self.settings.window
        assert found is not None
        return found

    def limit(self) -> int | None:
        """The last time-point that rows may name now, if there is any."""
        most = self.settings.future_skew
        return None if most is None else self.clock.point(dt.datetime.now(dt.UTC)) + most

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
        limit = self._limit(known, seen, asked, finishing)
        ends = settings.end is not None and settings.end <= limit
        queries = [] if known.ended else self._queries(start, asked, limit, finishing or ends)
        return Due(Schedule.of(settings, start, queries), ends and not known.ended)

    def _limit(self, known: Manifest, seen: Seen | None, asked: int, finishing: bool) -> int:
        """Up to where query times are due."""
        end = self.settings.end
        if finishing:
            return end if end is not None else max(asked, _last(known, seen, asked))
        if seen is None:
            return asked
        reached = max(asked, seen.arrival - self.settings.watermark_delay - 1)
        return reached if end is None else min(reached, end)

    def _queries(self, start: int, asked: int, limit: int, whole: bool) -> list[int]:
        """The query times after one and up to a limit; if `whole`, the limit is the last."""
        first = start + ((asked - start) // self.step + 1) * self.step
        if (limit - first) // self.step > MOST_QUERIES:
            raise UsageError(
                f"from {asked} to {limit} by steps of {self.step} there are more than "
                f"{MOST_QUERIES:,} query times",
                "an item may have its time in another unit: mend or remove it, or leave such rows "
                "out with --future-skew; or begin a new stream with a longer step or a start near "
                "the first item",
            )
        queries = list(range(first, limit + 1, self.step))
        if whole and limit > asked and (not queries or queries[-1] < limit):
            queries.append(limit)
        return queries

    def identity(self, buckets: int) -> Identity:
        rules, asked = self.rules, self.settings
        texts = [(source.name, source.text) for source in rules.description.sources]
        known = ("window", "start", "end", "tick", "allen_memory", "watermark_delay")
        settings: dict[str, Any] = {name: getattr(asked, name) for name in known}
        settings["step"] = self.step
        settings["unit"], settings["time_in"] = self.clock.unit, self.clock.time_in
        settings["include_input"] = asked.include_input
        if self.feed is not None:
            settings |= self.feed.to_dict()
        functions = sorted(rules.predicates)
        return Identity(uuid.uuid4().hex, texts, functions, settings, buckets, buckets)

    def plan(self, identity: Identity) -> StagePlan:
        """Its stages, ready for the groups of a checkpoint."""
        return plan(self.rules, identity.groups, self.settings.include_input, goes_on=True)

    def steps(self, grid: Exchanger[H], found: Checkpoint) -> Steps[H]:
        """The stream, ready to go on."""
        groups = found.identity.groups
        task = task_of(self, groups, goes_on=True)
        steps = Steps(grid, task, found, self.due, found.identity.buckets)
        if self.feed is not None:
            steps.front = front_of(self.feed, groups, sender(task), found.store)
        return steps


def _last(known: Manifest, seen: Seen | None, asked: int) -> int:
    """The last time that items name; if they have all been asked for, that of positions."""
    if seen is None:
        return asked
    if known.tracks is not None and seen.last <= asked:
        return known.tracks.latest  # something was told of them in hindsight, maybe
    return seen.last


def open_or_create_checkpoint(
    folder: Path,
    job: StreamJob,
    buckets: int,
    given: int | None,
    saved: Path | None = None,
    source: str | None = None,
) -> Checkpoint:
    """The checkpoint in a folder, if it is of the stream that is asked for, or a new one.

    `given` is the number of buckets that was asked for, None if any will do. A new one may begin
    from a savepoint.
    """
    asked = replace(job.identity(buckets), source=source)
    if saved is not None:
        return _begin(saved, folder, job, asked, given)
    if not checkpoint.is_checkpoint(folder):
        return checkpoint.create(folder, asked)
    found = checkpoint.open_checkpoint(folder)
    _compare_rules(folder, found.identity, asked)
    _compare(folder, found.identity, asked, given)
    return found


def _begin(
    saved: Path, folder: Path, job: StreamJob, asked: Identity, given: int | None
) -> Checkpoint:
    """A new checkpoint from a savepoint, that of other rules maybe."""
    if not checkpoint.is_checkpoint(saved):
        hint = "make one of a stream that does not run: horai state CHECKPOINT --savepoint NEW"
        raise Refused(f"{saved} is no savepoint", hint)
    found = checkpoint.open_checkpoint(saved)
    _compare(saved, found.identity, asked, None)
    changed = None
    if _texts(found.identity) != _texts(asked):
        changed = _changing(found, job)
    names = asked.predicates
    return savepoint.begin(saved, folder, given, asked.rules, names, job.plan, changed)


def _changing(found: Checkpoint, job: StreamJob) -> Change:
    """How the state of old rules becomes that of new ones, if it can."""
    rules, groups = job.rules, found.identity.groups
    demand_predicates(found.identity, rules.predicates)
    before = rules.again(found.identity.rules)
    old = task_of(replace(job, rules=before), groups, goes_on=True)
    new = task_of(job, groups, goes_on=True)
    check_change(old.plan, new.plan, inputs_of(before), inputs_of(rules))
    return changing(old, new, Schedule.of(job.settings, found.last.start or 0))


def demand_predicates(identity: Identity, predicates: dict[str, Predicate]) -> None:
    """Raise if Python predicates that a stream was begun with are missing."""
    missing = [name for name in identity.predicates if name not in predicates]
    if missing:
        hint = "give the file with them again: --predicates FILE"
        problem = f"the rules of the stream call Python: {', '.join(missing)}"
        raise UsageError(problem, hint)


def _texts(identity: Identity) -> list[str]:
    return [text for _, text in identity.rules]


def _compare_rules(folder: Path, found: Identity, asked: Identity) -> None:
    if _texts(found) != _texts(asked):
        problem = f"{folder} is the checkpoint of a stream with other rules"
        hint = "go on with the rules it was begun with, or with the new ones from a savepoint: "
        raise UsageError(problem, f"{hint}horai state {folder} --savepoint NEW")
    if found.predicates != asked.predicates:
        names = ", ".join(found.predicates) or "none"
        problem = f"{folder} is the checkpoint of a stream with other Python predicates: {names}"
        raise UsageError(problem, f"give the same, {_NEW}")


_NEW = "or begin a new stream in another folder"


def _compare(folder: Path, found: Identity, asked: Identity, given: int | None) -> None:
    if ("limits" in found.settings) != ("limits" in asked.settings):
        of, other = ("positions", "items") if "limits" in found.settings else ("items", "positions")
        problem = f"{folder} is the checkpoint of a stream of {of}, not of {other}"
        raise UsageError(problem, f"read {of} again, {_NEW}")
    if asked.source != found.source and found.source is not None and asked.source is not None:
        problem = f"{folder} is the checkpoint of a stream that reads {found.source}, not "
        raise UsageError(f"{problem}{asked.source}", f"read the same, {_NEW}")
    for name, value in asked.settings.items():
        then = found.settings.get(name)
        if then != value:
            told, hint = _told(name, then, value)
            problem = f"{folder} is the checkpoint of a stream with {told}"
            raise UsageError(problem, f"{hint}, {_NEW}")
    if given is not None and given != found.buckets:
        problem = f"{folder} is the checkpoint of a stream in {found.buckets} buckets, not {given}"
        hint = f"leave the number out, or begin from a savepoint: horai state {folder} --savepoint"
        raise UsageError(problem, f"{hint} NEW")


def _told(name: str, then: Any, value: Any) -> tuple[str, str]:
    """The settings that a stream was begun with, and what to give to go on with it."""
    if name == "areas":
        return "other areas", "give the same --areas"
    if name == "columns":
        pairs = " ".join(f"--column {part}={column}" for part, column in then.items())
        return "other columns", f"give {pairs or 'no --column'}"
    option = "--" + name.replace("_", "-")
    if name == "limits":
        limit = next(limit for limit in value if then.get(limit) != value[limit])
        name, then, value, option = limit, then.get(limit), value[limit], f"--set {limit}"
    else:
        name = option[2:]
    sign = "=" if option.startswith("--set") else " "
    with_then = f"no {name}" if then is None else f"{name} {then}"
    hint = f"leave out {option}" if then is None else f"give {option}{sign}{then}"
    return f"{with_then}, not {'none' if value is None else value}", hint


@dataclass(frozen=True, slots=True)
class StepReport:
    """The numbers of a step. `waiting` is how many files of items wait for a query time.

    `seconds` are those of the clock; `engine_seconds` those that the engine was at work, in all
    buckets together. Several of these run at once.
    """

    step: int
    batch: int
    queries: int
    query: int | None
    changes: int
    dead_letters: int
    state_bytes: int
    waiting: int
    seconds: float
    engine_seconds: float
    totals: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)
