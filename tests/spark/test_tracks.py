"""Positions step by step in buckets give the items of all positions at once, whatever happens."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.signals.making import areas, rows, shapes, table
from tests.signals.slow import Row
from tests.weights import examples

import horai
from horai.io import AnswerRow
from horai.result import Answer
from horai.runtime.checkpoint import Manifest, Store
from horai.runtime.jobs import raw_answers
from horai.runtime.records import (
    BlobLabel,
    LocalGrid,
    Record,
    message,
    packed,
    unpacked,
)
from horai.runtime.rounds import Rounds
from horai.runtime.savepoint import retrack
from horai.runtime.spark.batch import check as outcome_is_fine
from horai.runtime.streams import Steps, StreamJob, open_or_create_checkpoint
from horai.runtime.tracks import TrackTask, derive_step, send_positions
from horai.settings import RunSettings
from horai.signals import Feed, MotionLimits, Pipeline, positions_of
from horai.signals.items import as_rows
from horai.signals.positions import as_letters

TOLD = -20  # the round that items go on to
CLOSE = 130.0


class Run(NamedTuple):
    """Positions in the order in which they come, cut anywhere, and in how many buckets each."""

    chunks: list[list[Row]]
    buckets: list[int]
    lateness: int
    slots: int


@st.composite
def runs(draw: Draw) -> Run:
    """Each position is heard of in time, or later by no more than what is allowed."""
    lateness = draw(st.sampled_from((0, 0, 45, 700)))
    late = [(row.time + draw(st.integers(0, lateness)), row) for row in draw(rows())]
    ordered = [row for _, row in sorted(late, key=lambda pair: pair[0])]
    cuts = sorted(draw(st.lists(st.integers(0, len(ordered)), max_size=5)))
    chunks = [ordered[a:b] for a, b in pairwise([0, *cuts, len(ordered)])]
    one = draw(st.integers(1, 3))
    grown = [one * draw(st.sampled_from((1, 1, 2))) for _ in chunks]
    buckets = [max(grown[: n + 1]) for n in range(len(grown))]
    return Run(chunks, buckets, lateness, draw(st.integers(1, 3)))


def tell(seq: int, items: pa.Table, letters: pa.Table) -> Iterator[Record]:
    blob = packed(as_rows(items))
    yield Record(TOLD, 0, 0, 0, seq, BlobLabel("items").dump(), blob)
    yield message(seq, "letters", as_letters(letters))
    yield message(seq, "rounds", [TOLD])


class Stream:
    """Does what a stream does, without one: steps in front of nothing."""

    def __init__(self, folder: Path, feed: Feed) -> None:
        self.folder, self.feed, self.grid = folder, feed, LocalGrid()
        self.known, self.buckets = Manifest(), 0
        self.items: list[dict[str, Any]] = []
        self.letters: list[tuple[str, str]] = []

    def resize(self, buckets: int) -> None:
        """Go on in more buckets."""
        old, new = (Store(str(self.folder / str(n))) for n in (self.buckets, buckets))
        if self.known.tracks is not None and buckets != self.buckets:
            retrack(self.known.tracks, old, self.buckets, new, buckets)
        self.buckets = buckets

    def step(self, positions: Sequence[Row] | None, slots: int) -> None:
        """Take positions in; with None there are no more."""
        store = Store(str(self.folder / str(self.buckets)))
        task = TrackTask(self.feed, self.buckets, tell, pressed=False, store=store)
        records: list[Record] = []
        if positions is not None:
            records = list(send_positions(task, 0, positions_of(table(positions))))
        latest = [r.blob for r in records if BlobLabel.load(r.label).what == "latest"]
        manifest = Manifest(self.known.number + 1, tracks=self.known.tracks)

        rounds = Rounds(self.grid, slots)
        rounds.listen(records)
        derive_step(task, manifest, [int(time) for time in latest], rounds, positions is None)
        self._hear([record for some, _ in rounds.records for record in some])
        self.known = manifest

    def _hear(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.round == TOLD:
                self.items += unpacked(record.blob).to_pylist()
            elif BlobLabel.load(record.label).what == "letters":
                self.letters += [(code, reason) for *_, reason, code in json.loads(record.blob)]


def check(run: Run) -> None:
    around = areas(shapes(next(filter(None, run.chunks), [Row("a", 0, 10.0, 50.0, *[None] * 3)])))
    feed = Feed(Pipeline(MotionLimits(close=CLOSE), around), lateness=run.lateness)
    with tempfile.TemporaryDirectory() as folder:
        stream = Stream(Path(folder), feed)
        for chunk, buckets in zip(run.chunks, run.buckets, strict=True):
            stream.resize(buckets)
            stream.step(chunk, run.slots)
        stream.step(None, run.slots)
    whole = feed.pipeline.run(positions_of(table([row for some in run.chunks for row in some])))
    assert spelled(stream.items) == spelled(as_rows(whole.items).to_pylist())
    assert sorted(stream.letters) == sorted((x.code, x.reason) for x in whole.dead_letters)


def spelled(rows: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(map(str, rows))


@examples("heavy")
@given(runs())
def test_steps_in_buckets_tell_what_all_at_once_does(run: Run) -> None:
    check(run)


RULES = """
initiatedAt(stopped(V)=true, T) :- happensAt(stop_start(V), T).
terminatedAt(stopped(V)=true, T) :- happensAt(stop_end(V), T).
terminatedAt(stopped(V)=true, T) :- happensAt(gap_start(V), T).
initiatedAt(silent(V)=true, T) :- happensAt(gap_start(V), T).
terminatedAt(silent(V)=true, T) :- happensAt(gap_end(V), T).
initiatedAt(in(V, A)=true, T) :- happensAt(entersArea(V, A), T).
terminatedAt(in(V, A)=true, T) :- happensAt(leavesArea(V, A), T).
collectIntervals(proximity(_, _)=true).
holdsFor(together(V, W)=true, I) :-
    holdsFor(proximity(V, W)=true, P), holdsFor(in(V, near)=true, J), intersect_all([P, J], I).
"""


def answers(run: Run, feed: Feed, timing: dict[str, Any], delay: int) -> list[AnswerRow]:
    """The changes that a stream tells, with a restart before every step."""
    rules = horai.loads(RULES)
    told: list[AnswerRow] = []
    asked = RunSettings(answers="changelog", positions=feed, watermark_delay=delay, **timing)
    stream = StreamJob.of(rules, None, asked)
    with tempfile.TemporaryDirectory() as folder:
        for batch, chunk in enumerate([*run.chunks, None]):
            found = open_or_create_checkpoint(Path(folder) / "c", stream, run.buckets[0], None)
            steps: Steps[list[Record]] = stream.steps(LocalGrid(), found)
            if chunk is None:
                step = steps.finish()
            else:
                assert steps.front is not None
                positions = positions_of(table(chunk))
                step = steps.take(batch, list(send_positions(steps.front, batch, positions)))
            if step is not None:
                outcome_is_fine(step.outcome)
                for raw in raw_answers(step.queries, ("changelog",), step.answers):
                    told.extend(Answer(raw, lambda *_: True).changes)
                steps.commit(step)
    return told


def summed(changes: Sequence[AnswerRow]) -> list[str]:
    """What is left when all changes are done."""
    count: Counter[str] = Counter()
    for row in changes:
        count[str(row._replace(query=None, op=None))] += 1 if row.op == "+" else -1
    assert set(count.values()) <= {0, 1}
    return sorted(row for row, number in count.items() if number)


@examples("heavy")
@given(runs(), st.sampled_from((400, 3000)))
def test_rules_over_positions_step_by_step_and_at_once(run: Run, step: int) -> None:
    everything = [row for some in run.chunks for row in some]
    feed = Feed(
        Pipeline(MotionLimits(close=CLOSE), areas(shapes(everything))), lateness=run.lateness
    )
    timing: dict[str, Any] = {"start": -2, "window": 100_000, "step": step}
    whole = feed.pipeline.run(positions_of(table(everything))).narrative()
    wanted = horai.loads(RULES).run(whole, answers="changelog", unit="s", **timing).rows()
    # Who waits until all is known that may be told in hindsight gets the same at each query time.
    patient = answers(run, feed, timing, 10 * feed.hindsight)
    assert sorted(map(str, patient)) == sorted(map(str, wanted))
    assert summed(answers(run, feed, timing, 0)) == summed(wanted)
    # Where it begins is found out: what is told in hindsight lies after that, too.
    assert summed(answers(run, feed, timing | {"start": None}, 0)) == summed(wanted)


def test_what_is_told_in_hindsight_at_the_end_is_asked_for() -> None:
    """The last query time is past the gap when that becomes known."""
    rows = [Row("a", time, 10.0, 50.0, 9.0, None, None) for time in range(600, 3001, 600)]
    rows.append(Row("a", 3601, 10.0, 50.0, 61.0, None, None))
    run = Run([rows], [1], 0, 1)
    feed = Feed(Pipeline(), lateness=0)
    timing = {"start": 599, "window": 100_000, "step": 3000}
    found = summed(answers(run, feed, timing, 0))
    assert any("silent" in row and "start=3001" in row for row in found)


def test_positions_that_wait_have_come(tmp_path: Path) -> None:
    """So a stream does not end as idle because nothing could be told yet."""
    feed = Feed(Pipeline(), lateness=900)
    asked = RunSettings(positions=feed, window=10_000, step=100)
    stream = StreamJob.of(horai.loads(RULES), None, asked)
    steps: Steps[list[Record]] = stream.steps(
        LocalGrid(), open_or_create_checkpoint(tmp_path / "c", stream, 2, None)
    )
    assert steps.front is not None
    come = table([Row("a", 0, 10.0, 50.0, 9.0, None, None)])
    for batch, positions, came in ((0, come, True), (1, come.slice(0, 0), False)):
        sent = send_positions(steps.front, batch, positions_of(positions))
        step = steps.take(batch, list(sent))
        assert (step.came, step.outcome.arrival) == (came, None)
        steps.commit(step)


def test_a_stream_begins_before_its_first_position() -> None:
    """Of the first one nothing is known at first, and a gap after the others were heard of."""
    quiet = Row("a", 0, 10.0, 50.0, None, None, None)
    others = [Row("b", time, 11.0, 50.0, 9.0, None, None) for time in range(60, 1000, 60)]
    feed = Feed(Pipeline(MotionLimits(close=CLOSE)))
    for first in ([quiet, *others[:2]], [quiet]):
        rest = [row for row in others if row not in first]
        run = Run([first, rest], [2, 2], 0, 1)
        changes = answers(run, feed, {"window": 100_000, "step": 100}, 0)
        assert [(row.name, row.start) for row in changes if row.args == ("a",)] == [("silent", 1)]
