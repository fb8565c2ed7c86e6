"""Positions from wherever a stream has them, on their way to the buckets of their entities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from horai.io.formats import Format
from horai.io.letters import UNREADABLE, DeadLetter, InputError
from horai.io.topics import Topic
from horai.signals.columns import Layout
from horai.signals.jsonlines import json_positions
from horai.signals.letters import as_letters, letters_of
from horai.signals.positions import Positions, joined
from horai.signals.reading import from_table, read_positions
from horai.spark.batch import unreadable
from horai.spark.framing import packing
from horai.spark.grid import Pack, Read
from horai.spark.records import Record
from horai.spark.tracks import TrackTask, send_positions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True, slots=True)
class Take:
    """How positions are taken in: if that is `strict`, a row that cannot be read is an error."""

    strict: bool = False
    within: Callable[[Positions], Positions] | None = None  # leaves some of them out


def send(task: TrackTask, take: Take, seq: int, found: Positions) -> Iterator[Record]:
    """Positions on their way."""
    if take.strict and found.letters.num_rows:
        raise InputError.from_letter(as_letters(found.letters)[0])
    found = found if take.within is None else take.within(found)
    yield from send_positions(task, seq, found)


def columns(frame: DataFrame, task: TrackTask, take: Take) -> tuple[DataFrame, Pack]:
    """The rows of a data frame with columns as in a file of positions."""
    layout = task.feed.layout
    layout.places(frame.columns, "<data frame>")  # here it can still be told what is wrong
    return frame, packing(partial(send, task, take), partial(_columns, layout))


def lines(frame: DataFrame, task: TrackTask, take: Take) -> tuple[DataFrame, Pack]:
    """Objects of JSON in the column `value` of a data frame."""
    read = partial(_lines, task.feed.layout)
    return frame.select(frame["value"].cast("binary")), packing(partial(send, task, take), read)


def messages(frame: DataFrame, task: TrackTask, take: Take, topic: Topic) -> tuple[DataFrame, Pack]:
    """The messages of a topic, each an object of JSON."""
    read = partial(_messages, task.feed.layout, topic)
    values = frame.select("partition", "offset", "value")
    return values, packing(partial(send, task, take), read)


def files(
    paths: Sequence[str], task: TrackTask, take: Take, format: Format | None, patient: bool = True
) -> Read:
    """Reads files of positions; who is patient takes one that cannot be read for a dead letter."""

    def read(number: int) -> Iterator[Record]:
        try:
            found = read_positions(paths[number], task.feed.layout, format)
        except InputError as error:
            if take.strict or not patient:
                yield unreadable(number, error)
                return
            letter = DeadLetter(error.file, error.line or 0, error.text, error.reason, UNREADABLE)
            found = Positions(joined([]).table, letters_of([letter]))
        try:
            yield from send(task, take, number, found)
        except InputError as error:
            yield unreadable(number, error)

    return read


def _columns(layout: Layout, table: pa.Table, name: str, before: int) -> Positions:
    return from_table(table, layout, name, before)


def _lines(layout: Layout, table: pa.Table, name: str, before: int) -> Positions:
    values = enumerate(table.column(0).to_pylist(), before + 1)
    return json_positions(((line, raw) for line, raw in values if raw), layout, name)


def _messages(layout: Layout, topic: Topic, table: pa.Table, name: str, before: int) -> Positions:
    parts = []
    for partition in table.column("partition").unique().to_pylist():
        some = table.filter(pc.equal(table.column("partition"), partition))
        offsets, values = (some.column(name).to_pylist() for name in ("offset", "value"))
        rows = zip(offsets, (value or b"" for value in values), strict=True)
        parts.append(json_positions(rows, layout, topic.partition(partition)))
    return joined(parts)
