"""What travels between buckets and what rests in them, in bytes: constants for larger runs.

Everything is done as on Spark, but in one process: bytes do not depend on who moves them.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import NamedTuple

from horai.io import Narrative
from horai.rules import Rules
from horai.runtime.inputs import read_input
from horai.runtime.jobs import SparkJob, task_of
from horai.runtime.records import ANSWERS, DRIVER, LocalGrid, Record
from horai.runtime.rounds import packed
from horai.runtime.spark.batch import load
from horai.runtime.streams import StreamJob, open_or_create_checkpoint
from horai.settings import RunSettings


class Volume(NamedTuple):
    """Blobs and bytes sent to each round, of answers, and for the driver; rounds and stages."""

    sent: dict[int, tuple[int, int]]
    answers: int
    messages: int
    rounds: int
    stages: int


def batch(rules: Rules, path: Path, buckets: int) -> Volume:
    """What a batch run sends."""
    job = SparkJob.of(rules, path, RunSettings(answers="final"))
    grid, plan = LocalGrid(), task_of(job, buckets).plan
    ran = job.run(grid, buckets, partial(load, job, buckets))
    sizes: Counter[int] = Counter()
    blobs: Counter[int] = Counter()
    for records, _ in ran.records:
        for record in records:
            sizes[record.round] += _bytes(record)
            blobs[record.round] += 1
    answers, messages = sizes.pop(ANSWERS, 0), sizes.pop(DRIVER, 0)
    return Volume(
        {round: (blobs[round], size) for round, size in sorted(sizes.items())},
        answers,
        messages,
        len(ran.records) - 1,
        len(plan.stages),
    )


def _bytes(record: Record) -> int:
    return len(record.blob) + len(record.label) + 28


class State(NamedTuple):
    """Bytes of state after each step, events of a step, and bytes sent to later stages."""

    bytes: list[int]
    items: int
    sent: int


def stream(rules: Rules, path: Path, buckets: int, window: int, step: int, steps: int) -> State:
    """The state of a stream that takes a file in so many pieces."""
    settings = RunSettings(window=window, step=step, start=0, answers="changelog")
    asked = StreamJob.of(rules, None, settings)
    lines = path.read_text().splitlines()
    size = len(lines) // steps + 1
    found: list[int] = []
    sent = 0
    with tempfile.TemporaryDirectory() as folder:
        entered = open_or_create_checkpoint(Path(folder), asked, buckets, buckets)
        going = asked.steps(LocalGrid(), entered)
        for batch in range(steps):
            some = lines[batch * size : (batch + 1) * size]
            narrative = read_input(some, rules.schema, asked.clock)
            records = list(packed(going.task.plan.routes, batch, narrative))
            done = going.take(batch, records)
            later = [r for some, _ in done.records for r in some if r.round > 1]
            sent += sum(map(_bytes, later))
            going.commit(done)
            found.append(done.state_bytes)
    return State(found, size, sent)


def sent(rules: Rules, narrative: Narrative, buckets: int) -> tuple[int, int]:
    """Blobs and bytes that reading a piece of input sends to so many buckets."""
    task = task_of(SparkJob.of(rules, None, RunSettings()), buckets)
    records = [r for r in packed(task.plan.routes, 0, narrative) if r.round != DRIVER]
    return len(records), sum(map(_bytes, records))
