"""What a stream keeps in its checkpoint, for people who look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from horai.engine.answer import Part
from horai.engine.staged import StagedSession
from horai.engine.symbols import Symbols
from horai.errors import UsageError
from horai.io.terms import to_source
from horai.kept_tracks import followed, track_of
from horai.predicates import Predicate
from horai.rows import Step, answer_table
from horai.schedule import Settings
from horai.spark.bucket import owned, session_of
from horai.spark.changes import only
from horai.spark.checkpoint import Checkpoint, Identity, open_checkpoint
from horai.spark.refusals import Refused
from horai.spark.savepoint import save
from horai.spark.tasks import Clockwork, RunTask, StageTask
from horai.spark_jobs import Job, task_of
from horai.streams import rules_again
from horai.temporal.spans import INF


@dataclass(frozen=True, slots=True)
class Bucket:
    """What a bucket of a stage keeps."""

    stage: int
    bucket: int
    bytes: int
    items: int  # in the window, guests included
    answers: int  # that may still change
    open: int  # intervals without an end


class Kept:
    """A stream as it was after its last step."""

    def __init__(self, folder: Path, predicates: dict[str, Predicate] | None = None) -> None:
        try:
            self.checkpoint: Checkpoint = open_checkpoint(folder)
        except Refused as error:
            raise UsageError(error.problem, error.hint) from error
        self.predicates = predicates or {}

    @property
    def about(self) -> dict[str, Any]:
        """The stream and how far it has come, as plain values."""
        identity, last = self.checkpoint.identity, self.checkpoint.last
        return {
            "rules": [name for name, _ in identity.rules],
            "settings": {n: value for n, value in identity.settings.items() if value is not None},
            "positions": followed(self.checkpoint),
            "buckets": identity.buckets,
            "step": last.number,
            "batch": last.batch,
            "start": last.start,
            "query": last.query,
            "arrival": None if last.seen is None else last.seen.arrival,
            "ended": last.ended,
            "waiting": len(last.items),
            "totals": last.totals,
        }

    def buckets(self) -> list[Bucket]:
        """What every bucket of every stage keeps."""
        found: list[Bucket] = []
        for stage, bucket, session in self._sessions():
            answers, items = session.held()
            path = self.checkpoint.store.state(stage.number, bucket, self._state)
            ends = [table.end for table in answers.fluents]
            found.append(
                Bucket(
                    stage.number + 1,
                    bucket,
                    path.stat().st_size,
                    _rows(items),
                    _rows(answers),
                    sum(int(np.count_nonzero(end == INF)) for end in ends),
                )
            )
        return found

    def entity(self, name: str) -> dict[str, list[str]]:
        """What is kept about an entity: what may still change, and the items in the window."""
        found: dict[str, set[tuple[int, str]]] = {"answers": set(), "items": set()}
        for stage, bucket, session in self._sessions():
            answers, items = session.held()
            mine = partial(owned, stage, session.symbols, self._task.plan.routes, bucket)
            found["answers"].update(_about(only(answers, mine), name, session.symbols))
            found["items"].update(_about(items, name, session.symbols))
        told = {what: [text for _, text in sorted(lines)] for what, lines in found.items()}
        if self.checkpoint.last.tracks is not None:
            told["positions"] = track_of(self.checkpoint, name)
        return told

    @property
    def _state(self) -> int:
        number = self.checkpoint.last.state
        assert number is not None
        return number

    @property
    def _task(self) -> RunTask:
        return self._made()[0]

    def _made(self) -> tuple[RunTask, Clockwork]:
        identity, last = self.checkpoint.identity, self.checkpoint.last
        job = job_again(identity, self.predicates)
        settings = job.settings
        assert last.start is not None
        clock = Clockwork(last.start, [], settings.window, settings.tick, settings.allen_memory)
        return task_of(job, 0, identity.groups, goes_on=True), clock

    def _sessions(self) -> Iterator[tuple[StageTask, int, StagedSession]]:
        if self.checkpoint.last.state is None:
            return
        task, clock = self._made()
        for stage in task.plan.stages:
            for bucket in range(task.plan.routes.buckets if stage.is_split else 1):
                session = session_of(task, stage, clock)
                _, parts = self.checkpoint.store.read_state(stage.number, bucket, self._state)
                session.restore(parts["session"])
                yield stage, bucket, session


def save_stream(folder: Path, target: Path) -> int:
    """Copy a stream to a savepoint; returns the number of its last step."""
    try:
        return save(folder, target).number
    except Refused as error:
        raise UsageError(error.problem, error.hint) from error


def job_again(identity: Identity, predicates: dict[str, Predicate]) -> Job:
    """The job of a stream, from what its checkpoint says."""
    names = ("window", "step", "start", "end", "tick", "allen_memory")
    settings = Settings(**{name: identity.settings[name] for name in names})
    shown = bool(identity.settings["include_input"])
    return Job(
        rules_again(identity, predicates), None, settings, answers="changelog", include_input=shown
    )


def _rows(part: Part) -> int:
    return sum(len(t.start) for t in part.fluents) + sum(len(t.time) for t in part.events)


def _about(part: Part, name: str, symbols: Symbols) -> Iterator[tuple[int, str]]:
    """The rows of a part that name an entity."""
    for row in answer_table([Step(part)], symbols, lambda *_: True).rows():
        args = [to_source(arg) for arg in row.args]
        if name not in args and name not in map(str, row.args):
            continue
        head = f"{row.name}({', '.join(args)})"
        if row.time is not None:
            yield row.time, f"{head} at {row.time}"
        elif row.start is not None and row.value is not None:
            until = "on" if row.end is None else f"to {row.end}"
            yield row.start, f"{head}={to_source(row.value)} from {row.start} {until}"
