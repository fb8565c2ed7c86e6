"""The state in the checkpoint of a stream, of rules or of positions, for people who look."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.engine.answer import Part
from horai.engine.core.staged import CompiledStage
from horai.engine.symbols import Symbols
from horai.io.terms import from_source, to_source
from horai.predicates import Predicate
from horai.rules import rules_of
from horai.runtime.answers import AnswerPart, answer_table
from horai.runtime.bucket import only, owned, session_of
from horai.runtime.checkpoint import Checkpoint, Identity, open_checkpoint
from horai.runtime.jobs import SparkJob, task_of
from horai.runtime.streams import demand_predicates
from horai.runtime.tasks import RunTask, StageTask
from horai.settings import RunSettings, Schedule
from horai.signals.pipeline import State
from horai.temporal.spans import INF


def followed(found: Checkpoint) -> dict[str, int] | None:
    """How far positions are settled, and of how many entities; None if these are items."""
    tracks = found.last.tracks
    if tracks is None:
        return None
    states = list(_states(found))
    return {
        "settled": tracks.until,
        "latest": tracks.latest,
        "entities": sum(state.tracks.num_rows for state in states),
        "waiting": sum(state.waiting.num_rows for state in states),
    }


def track_of(found: Checkpoint, name: str) -> list[str]:
    """The track of an entity: where it was last, the areas it is in, what waits."""
    lines: list[str] = []
    for state in _states(found):
        for row in _of(state.tracks, name):
            silent = ", and silent since" if row["move_silent"] else ""
            place = f"{row['move_lat']:.5f}, {row['move_lon']:.5f}"
            lines.append(f"last at {row['move_time']}{silent}: latitude and longitude {place}")
        lines += [f"in {row['area']}" for row in _of(state.inside, name)]
        lines += [f"a position of {row['time']} waits" for row in _of(state.waiting, name)]
    return lines


def _states(found: Checkpoint) -> Iterator[State]:
    assert found.last.tracks is not None
    for bucket in range(found.identity.groups):
        yield State.from_bytes(found.store.read_tracks(0, bucket, found.last.tracks.number))


def _of(table: pa.Table, name: str) -> list[dict[str, Any]]:
    """The rows about an entity, named as source text or as it is shown."""
    column = table.column("entity").cast(pa.string())
    known = [
        text for text in pc.unique(column).to_pylist() if name in (text, str(from_source(text)))
    ]
    rows: list[dict[str, Any]] = table.filter(
        pc.is_in(column, value_set=pa.array(known, pa.string()))
    ).to_pylist()
    return rows


@dataclass(frozen=True, slots=True)
class BucketSize:
    """The size of the state of a bucket of a stage."""

    stage: int
    bucket: int
    bytes: int
    items: int  # in the window, replicas included
    answers: int  # that may still change
    open: int  # intervals without an end


class SavedStream:
    """A stream as it was after its last step."""

    def __init__(self, folder: Path, predicates: dict[str, Predicate] | None = None) -> None:
        self.checkpoint: Checkpoint = open_checkpoint(folder)
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

    def buckets(self) -> list[BucketSize]:
        """The sizes of the state of every bucket of every stage."""
        found: list[BucketSize] = []
        for stage, bucket, session in self._sessions():
            answers, items = session.held()
            path = self.checkpoint.store.path("state", stage.number, bucket, self._state)
            ends = [table.end for table in answers.fluents]
            found.append(
                BucketSize(
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
        """The state of an entity: what may still change, and the items in the window."""
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

    @cached_property
    def _job(self) -> SparkJob:
        return job_again(self.checkpoint.identity, self.predicates)

    @cached_property
    def _task(self) -> RunTask:
        return task_of(self._job, self.checkpoint.identity.groups, goes_on=True)

    def _sessions(self) -> Iterator[tuple[StageTask, int, CompiledStage]]:
        last, plan = self.checkpoint.last, self._task.plan
        if last.state is None:
            return
        assert last.start is not None
        schedule = Schedule.of(self._job.settings, last.start)
        for stage in plan.stages:
            for bucket in range(plan.routes.buckets if stage.is_split else 1):
                session = session_of(self._task, stage, schedule)
                _, parts = self.checkpoint.store.read_state(stage.number, bucket, self._state)
                session.restore(parts["session"])
                yield stage, bucket, session


def job_again(identity: Identity, predicates: dict[str, Predicate]) -> SparkJob:
    """The job of a stream, from what its checkpoint says."""
    names = ("window", "step", "start", "end", "tick", "allen_memory")
    given = {name: identity.settings[name] for name in (*names, "include_input")}
    settings = RunSettings(answers="changelog", **given)
    demand_predicates(identity, predicates)
    return SparkJob(rules_of(identity.rules, predicates), None, settings)


def _rows(part: Part) -> int:
    return sum(len(t.start) for t in part.fluents) + sum(len(t.time) for t in part.events)


def _about(part: Part, name: str, symbols: Symbols) -> Iterator[tuple[int, str]]:
    """The rows of a part that name an entity."""
    for row in answer_table([AnswerPart(part)], symbols, lambda *_: True).rows():
        args = [to_source(arg) for arg in row.args]
        if name not in args and name not in map(str, row.args):
            continue
        head = f"{row.name}({', '.join(args)})"
        if row.time is not None:
            yield row.time, f"{head} at {row.time}"
        elif row.start is not None and row.value is not None:
            until = "on" if row.end is None else f"until {row.end}"
            yield row.start, f"{head}={to_source(row.value)} from {row.start} {until}"
