"""Streams in steps give the answers of one session: random chunks, orders, restarts, buckets."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn as Draw
from tests.spark.streaming import Driver, Plain, Told
from tests.strategies.staged import staged_runs
from tests.weights import examples

import horai
from horai.errors import RunError
from horai.io import DeadLetter
from horai.rules import Rules
from horai.runtime import bucket, subscriptions

# What may happen between two micro-batches, and during one.
CALM, RESTART, CRASH, AGAIN, RESIZE = "calm", "restart", "crash", "again", "resize"
FINISH = "finish"  # all is read, and then there is more


class Streamed(NamedTuple):
    """A run in micro-batches, and what happens with each of them."""

    rules: str
    chunks: list[list[str]]
    events: list[str]
    settings: dict[str, Any]
    buckets: int
    delay: int
    few: int  # items that wait in a session
    steps: int = subscriptions.STEPS  # after which buckets say anew whom they ask for

    def __repr__(self) -> str:
        said = "\n".join(f"{e}: {c}" for e, c in zip(self.events, self.chunks, strict=True))
        told = f"{self.settings}, {self.buckets} buckets, delay {self.delay}, few {self.few}"
        told += f", steps {self.steps}"
        return f"{self.rules}\n{said}\n{told}"


@st.composite
def streamed(draw: Draw) -> Streamed:
    """Items in the order of their arrival, more or less, cut anywhere."""
    run = draw(staged_runs())
    disorder = draw(st.sampled_from((0, 0, 6, 40)))
    lines = [
        (int(line.split("|")[1]) + draw(st.integers(0, disorder)), line) for line in run.narrative
    ]
    ordered = [line for _, line in sorted(lines, key=lambda pair: pair[0])]
    cuts = sorted(draw(st.lists(st.integers(0, len(ordered)), max_size=6)))
    bounds = [0, *cuts, len(ordered)]
    chunks = [ordered[a:b] for a, b in pairwise(bounds)]
    kinds = st.sampled_from((CALM, CALM, RESTART, CRASH, AGAIN, RESIZE, FINISH))
    events = [draw(kinds) for _ in chunks]
    delay = draw(st.sampled_from((0, 0, 5)))
    few = draw(st.sampled_from((1, 1, 3, bucket.FEW)))
    asked = dict(run.settings)
    for name in ("start", "end"):  # where nobody says it, items do
        asked[name] = draw(st.sampled_from((asked[name], asked[name], None)))
    asked["include_input"] = draw(st.booleans())
    steps = draw(st.sampled_from((1, 2, subscriptions.STEPS)))
    return Streamed(run.rules, chunks, events, asked, run.buckets, delay, few, steps)


@contextmanager
def driving(rules: Rules, run: Streamed) -> Iterator[Driver]:
    """What takes the steps of a stream, with its sizes and a folder for its state."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.object(bucket, "FEW", run.few),
        patch.object(subscriptions, "STEPS", run.steps),
    ):
        yield Driver(rules, Path(folder) / "c", run.settings, run.buckets, run.delay)


def in_steps(rules: Rules, run: Streamed) -> Told:
    with driving(rules, run) as driver:
        for batch, (chunk, event) in enumerate(zip(run.chunks, run.events, strict=True)):
            if event == CRASH:
                driver.take(batch, chunk, crash=True)
            if event in (RESTART, CRASH):
                driver.restart()
            if event == RESIZE:
                driver.resize(1 + (batch + run.buckets) % 4)
            driver.take(batch, chunk)
            if event == FINISH:
                driver.finish()
            if event in (AGAIN, FINISH):
                driver.restart()
                driver.take(batch, chunk)
        driver.finish(crash=True)
        driver.restart()
        driver.finish()
        return driver.told


def with_other_rules(rules: Rules, run: Streamed) -> Told:
    """In steps, with rules that are written in another way now and then, and mean the same."""
    with driving(rules, run) as driver:
        for batch, (chunk, event) in enumerate(zip(run.chunks, run.events, strict=True)):
            if batch and event != CALM:
                driver.rules = horai.loads(run.rules + "\n% again" * batch)
                driver.resize(driver.buckets)
            driver.take(batch, chunk)
        driver.finish()
        return driver.told


def in_one_session(rules: Rules, run: Streamed) -> Told:
    stream = Plain(rules, run.settings, run.delay)
    for chunk, event in zip(run.chunks, run.events, strict=True):
        stream.take(chunk)
        if event == FINISH:
            stream.finish()
    stream.finish()
    return stream.over()


def said(letters: list[DeadLetter]) -> list[tuple[str, str, str]]:
    """Letters without their places: lines are counted anew in every chunk."""
    return sorted((letter.text, letter.reason, letter.code) for letter in letters)


def check(run: Streamed) -> None:
    rules = horai.loads(run.rules)
    try:
        wanted = in_one_session(rules, run)
    except RunError:
        with pytest.raises(RunError):
            in_steps(rules, run)
        return
    found = in_steps(rules, run)
    assert found.queries == wanted.queries
    assert found.changes == wanted.changes
    assert said(found.letters) == said(wanted.letters)
    assert {name: found.totals.get(name, 0) for name in wanted.totals} == wanted.totals
    assert found.totals.get("dead_letters", 0) == len(found.letters)


@examples("heavy")
@given(streamed())
def test_steps_give_the_answers_of_one_session(run: Streamed) -> None:
    check(run)


@examples("heavy")
@given(streamed())
def test_rules_that_mean_the_same_go_on(run: Streamed) -> None:
    rules = horai.loads(run.rules)
    calm = run._replace(events=[CALM for _ in run.events])
    try:
        wanted = in_one_session(rules, calm)
        found = with_other_rules(rules, run)
    except RunError:
        reject()
    assert found.changes == wanted.changes
