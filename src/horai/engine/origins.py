"""Where items came from, for those that cannot be used.

Every row handed in has a number of its own, in the order in which rows come. A source is kept
only while one of its rows waits.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from horai.engine.arrow_items import SomeItems, Source, pick
from horai.temporal.spans import Ints


class Reason(StrEnum):
    """Why an item was not used, or not in full."""

    TOO_LATE = "too-late"
    PARTLY_TOO_LATE = "partly-too-late"
    UNKNOWN_RETRACTION = "unknown-retraction"
    OUTSIDE_RUN = "outside-run"


class Dropped(NamedTuple):
    """A row of a source that was not used, or of which a part was not."""

    origin: Source
    row: int
    reason: Reason
    query: int
    text: str

    @property
    def file(self) -> str:
        """The file the row was read from."""
        return str(self.origin.table.column("file")[self.row].as_py())

    @property
    def line(self) -> int:
        """The line of the file."""
        return int(self.origin.table.column("line")[self.row].as_py())

    @property
    def item(self) -> SomeItems:
        """The row as a source of this row only."""
        return pick(self.origin, np.array([self.row]))


class Origins:
    """The sources by the numbers of their rows."""

    def __init__(self) -> None:
        self._next = 0
        self._bases: list[int] = []
        self._sources: list[Source] = []
        self._waiting: list[int] = []  # how many rows of each source wait

    def register(self, source: Source, rows: int) -> Ints:
        """The numbers of the rows of a new source."""
        self._bases.append(self._next)
        self._sources.append(source)
        self._waiting.append(0)
        self._next += rows
        return np.arange(self._next - rows, self._next)

    def find(self, numbers: Ints) -> Iterator[tuple[Source, int]]:
        """For every number the source and the row in it."""
        places = self._places(numbers)
        rows = numbers - np.array(self._bases, np.int64)[places]
        for place, row in zip(places.tolist(), rows.tolist(), strict=True):
            yield self._sources[place], row

    def pick(self, numbers: Ints) -> list[SomeItems]:
        """The rows that have these numbers, source by source; numbers are in order."""
        places = self._places(numbers)
        return [
            pick(self._sources[place], numbers[places == place] - self._bases[place])
            for place in np.unique(places).tolist()
        ]

    def wait(self, numbers: Ints, change: int) -> None:
        """Some rows begin to wait (`change` is 1) or wait no longer (-1)."""
        for place, count in enumerate(np.bincount(self._places(numbers)).tolist()):
            self._waiting[place] += change * count

    def release(self) -> None:
        """Let go of sources of which no row waits."""
        held = [place for place, count in enumerate(self._waiting) if count]
        self._bases = [self._bases[place] for place in held]
        self._sources = [self._sources[place] for place in held]
        self._waiting = [self._waiting[place] for place in held]

    def _places(self, numbers: Ints) -> Ints:
        return np.searchsorted(np.array(self._bases, np.int64), numbers, side="right") - 1

    def to_state(self, waiting: Ints) -> list[dict[str, Any]]:
        """The waiting rows, given by their numbers in order; they get numbers from 0 on."""
        bounds = np.searchsorted(waiting, [*self._bases, self._next]).tolist()
        return [
            source_state(pick(source, waiting[low:high] - base))
            for source, base, low, high in zip(
                self._sources, self._bases, bounds, bounds[1:], strict=False
            )
        ]

    @classmethod
    def from_state(cls, state: list[dict[str, Any]]) -> Origins:
        """The origins of the rows that `to_state` wrote."""
        origins = cls()
        for saved in state:
            source = source_of(saved)
            origins.wait(origins.register(source, source.table.num_rows), 1)
        return origins


def source_state(source: Source) -> dict[str, Any]:
    """A source as plain values."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, source.table.schema) as writer:
        writer.write_table(source.table)
    return {
        "name": source.name,
        "arity": source.arity,
        "kind": source.kind,
        "form": source.form,
        "table": sink.getvalue().to_pybytes(),
    }


def source_of(state: dict[str, Any]) -> SomeItems:
    """The source that `source_state` wrote; what is no such thing raises."""
    try:
        with pa.ipc.open_stream(state["table"]) as reader:
            table = reader.read_all()
        table.validate(full=True)  # Arrow itself would read wherever a forged offset points
    except pa.ArrowNotImplementedError as error:
        raise ValueError(f"no table is like this: {error}") from error
    return SomeItems(**{**state, "table": table})
