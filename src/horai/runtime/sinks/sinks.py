"""Where the answers of a stream go.

A sink is given the changes of every step before the step has happened. If a step is done again,
after something went wrong, the sink is given the same changes again, with the same number; one that
writes under that number has every change exactly once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from horai.runtime.changelog import Changes
from horai.runtime.jars import Part
from horai.runtime.refusals import Refused, unknown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class About:
    """The stream whose answers a sink gets. Its `id` is that of the checkpoint.

    `last` is the number of the last step that has happened, 0 for a stream that begins. Without
    `spark` the stream runs in one process, and changes have no data frames.
    """

    id: str
    last: int
    spark: SparkSession | None = None


class Sink(Protocol):
    """A place for answers.

    One that asks only for data frames of changes says `is_written_there = True`: then rows are not
    brought to the driver.
    """

    @property
    def parts(self) -> tuple[Part, ...]:
        """What a session of Spark has to be started with."""

    def open(self, about: About) -> None:
        """Make ready, or raise `Refused`: it is better said before the first item."""

    def write(self, changes: Changes) -> None:
        """Take the changes of a step; raise whatever went wrong, and the step has not happened."""

    def close(self) -> None:
        """Nothing more will come."""


def sink_of(text: str) -> Sink:
    """The sink that people name: `KIND:PLACE`."""
    kind, colon, place = text.partition(":")
    if kind in ("http", "https"):
        kind, place = "webhook", text
    make = KINDS.get(kind)
    if make is None or not (colon or kind == "console"):
        raise unknown("sink", text, KINDS, FORMS)
    if not place and kind != "console":
        raise Refused(f"the sink {text!r} names no place", f"use {FORMS}")
    return make(place)


FORMS = "parquet:FOLDER, table:FOLDER, delta:FOLDER, delta-table:FOLDER, kafka://HOST:PORT/TOPIC, "
FORMS += "console or webhook:URL"


def _changelog(place: str) -> Sink:
    from horai.runtime.sinks.files import ParquetSink

    return ParquetSink(place)


def _table(place: str) -> Sink:
    from horai.runtime.sinks.table import TableSink

    return TableSink(place)


def _console(place: str) -> Sink:
    from horai.runtime.sinks.console import ConsoleSink

    return ConsoleSink()


def _webhook(place: str) -> Sink:
    from horai.runtime.sinks.webhook import WebhookSink

    return WebhookSink(place)


def _kafka(place: str) -> Sink:
    from horai.runtime.sinks.kafka import KafkaSink

    return KafkaSink(f"kafka:{place}")


def _delta(place: str) -> Sink:
    from horai.runtime.sinks.delta import DeltaSink

    return DeltaSink(place)


def _delta_table(place: str) -> Sink:
    from horai.runtime.sinks.delta import DeltaTableSink

    return DeltaTableSink(place)


KINDS: dict[str, Callable[[str], Sink]] = {
    "parquet": _changelog,
    "table": _table,
    "delta": _delta,
    "delta-table": _delta_table,
    "kafka": _kafka,
    "console": _console,
    "webhook": _webhook,
}
