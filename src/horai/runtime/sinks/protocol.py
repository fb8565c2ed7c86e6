"""The protocol of sinks: where the answers of a stream go.

A sink is given the changes of every step before the step has happened. If a step is done again,
after something went wrong, the sink is given the same changes again, with the same number; one that
writes under that number has every change exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from horai.runtime.changelog import Changes
from horai.runtime.jars import Part

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


class Sink:
    """A place for answers. Any object with these methods will do.

    One that asks only for data frames of changes says `is_written_there = True`: then rows are not
    brought to the driver. `parts` are those that a session of Spark has to be started with.
    """

    parts: tuple[Part, ...] = ()
    is_written_there = False

    def open(self, about: About) -> None:
        """Make ready, or raise `Refused`: it is better said before the first item."""

    def write(self, changes: Changes) -> None:
        """Take the changes of a step; raise whatever went wrong, and the step has not happened."""
        raise NotImplementedError

    def close(self) -> None:
        """Nothing more will come."""
