"""What streams of cases say: in steps without Spark, on Spark itself, and in one process."""

from __future__ import annotations

import json
import os
import random
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest
from tests.spark.feeding import Feed
from tests.spark.given_cases import Given
from tests.spark.streaming import Driver, plain

from horai.errors import RunFailed
from horai.io import AnswerRow, DeadLetter, to_source
from horai.lang.core.printer import show
from horai.lang.core.reader import read_term
from horai.runtime import subscriptions
from horai.runtime.sinks.protocol import About, Changes
from horai.runtime.sinks.table import read_current

Row = tuple[Any, ...]
Letter = tuple[str, str, str]
NAMES = ("kind", "name", "args", "value", "start", "end", "time", "query", "op")
FACT = 7  # so many of them tell what holds; the others, when that was said
PATIENCE = 300.0


class Said(NamedTuple):
    """The changelog, what is known in the end, and rows that were not used."""

    changes: list[Row]
    final: list[Row]
    letters: list[Letter]


# --- in one process -------------------------------------------------------------------------------


def wanted(feed: Feed) -> Said:
    """What one process says of the same rows."""
    rules = feed.given.rules
    if feed.in_time:
        result = rules.run(feed.rows, **feed.settings)
        found = _rows(result.rows("changelog")), _facts(_rows(result.rows("final")))
        return Said(*found, _letters(result.dead_letters))
    told = plain(rules, feed.chunks, feed.settings)
    changes = _rows(told.changes)
    return Said(changes, added_up(changes), _letters(told.letters))


def final(given: Given) -> list[Row]:
    """What is known in the end by the case as it stands."""
    return _facts(_rows(given.rules.run(given.lines, **given.settings).rows("final")))


def _rows(rows: Iterable[AnswerRow]) -> list[Row]:
    found = [
        (
            *(row.kind, row.name, tuple(_written(to_source(arg)) for arg in row.args)),
            None if row.value is None else _written(to_source(row.value)),
            *(row.start, row.end, row.time, row.query, row.op),
        )
        for row in rows
    ]
    return sorted(found, key=str)


def _facts(rows: Iterable[Row]) -> list[Row]:
    return sorted((row[:FACT] for row in rows), key=str)


def _letters(found: Iterable[DeadLetter]) -> list[Letter]:
    """Without their places: lines are counted anew in every chunk."""
    return sorted((letter.text, letter.reason, letter.code) for letter in found)


def added_up(changes: Sequence[Row]) -> list[Row]:
    """What changes leave: only what is there is taken back, and only what is not comes."""
    there: set[Row] = set()
    for query in sorted({row[FACT] for row in changes}):
        now = [row for row in changes if row[FACT] == query]
        gone, new = ([row[:FACT] for row in now if row[-1] == op] for op in "-+")
        assert there.issuperset(gone) and len(set(gone)) == len(gone)
        there.difference_update(gone)
        assert there.isdisjoint(new) and len(set(new)) == len(new)
        there.update(new)
    return sorted(there, key=str)


# --- in steps, without Spark ----------------------------------------------------------------------

EVENTS = ("calm", "restart", "crash", "again", "resize")


def in_steps(feed: Feed, seed: int) -> Said:
    """What the steps of a stream say; between any two of them something may happen."""
    dice = random.Random(seed)
    # No power fails here: files need not reach a disk.
    with (
        patch.object(os, "fsync"),
        patch.object(subscriptions, "STEPS", dice.randint(1, 4)),
        tempfile.TemporaryDirectory() as folder,
    ):
        buckets = dice.randint(1, 4)
        driver = Driver(feed.given.rules, Path(folder) / "c", feed.settings, buckets, feed.delay)
        for batch, chunk in enumerate(feed.chunks):
            event = dice.choice(EVENTS)
            if event == "crash":
                driver.take(batch, chunk, crash=True)
            if event in ("restart", "crash"):
                driver.restart()
            if event == "resize":
                driver.resize(dice.randint(1, 4))
            driver.take(batch, chunk)
            if event == "again":
                driver.restart()
                driver.take(batch, chunk)
        driver.finish()
        changes = _rows(driver.told.changes)
        return Said(changes, added_up(changes), _letters(driver.told.letters))


# --- on Spark -------------------------------------------------------------------------------------


class Failing:
    """A sink that falls over at one step, after the others have written it."""

    parts = ()

    def __init__(self, at: int) -> None:
        self.at, self.steps = at, 0

    def open(self, about: About) -> None: ...

    def write(self, changes: Changes) -> None:
        self.steps += 1
        if self.steps == self.at:
            raise OSError("the disk is full")

    def close(self) -> None: ...


def on_spark(feed: Feed, folder: Path, seed: int) -> Said:
    """What a stream says that fails, or is stopped, at some file and goes on from its checkpoint.

    A file is a chunk, and a step.
    """
    dice = random.Random(seed)
    _drop(folder / "drop", feed.chunks)
    at = dice.randint(1, len(feed.chunks))
    with patch.object(subscriptions, "STEPS", dice.randint(1, 4)):
        if dice.choice((True, False)):
            with pytest.raises(RunFailed, match="the disk is full"):
                _start(feed, folder, [Failing(at)]).wait()
        else:
            _stop_after(feed, folder, at)
        _start(feed, folder).wait()
    files = sorted((folder / "changes").glob("changes-*.parquet"))
    changes = [row for path in files for row in _read(pq.read_table(path))]
    there = _facts(_read(read_current(folder / "table")))
    assert added_up(changes) == there
    return Said(sorted(changes, key=str), there, _letters(_dead_letters(folder / "kept")))


def _drop(folder: Path, chunks: Sequence[Sequence[str]]) -> None:
    folder.mkdir(parents=True)
    for number, chunk in enumerate(chunks):
        path = folder / f"{number:03}.txt"
        path.write_text("".join(f"{line}\n" for line in chunk), encoding="utf-8")
        os.utime(path, (1_700_000_000 + number,) * 2)  # Spark takes older files first


def _start(feed: Feed, folder: Path, more: Sequence[Any] = (), **given: Any) -> Any:
    return feed.given.rules.stream(
        str(folder / "drop"),
        sink=[f"parquet:{folder}/changes", f"table:{folder}/table", *more],
        checkpoint=folder / "kept",
        trigger="available-now",
        files_per_step=1,
        buckets=2,
        watermark_delay=feed.delay,
        **feed.settings,
        **given,
    )


def _stop_after(feed: Feed, folder: Path, at: int) -> None:
    """Stop the stream when it has done so many steps, or one more."""
    reached = threading.Event()
    steps: list[Any] = []

    def on_step(report: Any, letters: object, found: object) -> None:
        steps.append(report)
        if len(steps) == at:
            reached.set()

    stream = _start(feed, folder, on_step=on_step)
    assert reached.wait(PATIENCE)
    stream.stop()


def _read(table: Any) -> list[Row]:
    return [tuple(_plain(name, row[name]) for name in NAMES) for row in table.to_pylist()]


def _plain(name: str, given: Any) -> Any:
    if name == "args":
        return tuple(map(_written, given))
    return _written(given) if name == "value" and given is not None else given


def _written(text: str) -> str:
    """A term as it is written, whoever writes it: there are blanks in lists, or none."""
    return show(read_term(text))


def _dead_letters(folder: Path) -> list[DeadLetter]:
    return [
        DeadLetter(**json.loads(line))
        for path in sorted((folder / "dead-letters").glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
