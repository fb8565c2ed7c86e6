"""Rows whose times lie further ahead of the clock on the wall than a stream allows.

One such row would move a whole stream on: what comes after it in good time would be too late.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from horai.errors import UsageError
from horai.inputs import row_text
from horai.io import Clock, DeadLetter, ItemTable, Narrative
from horai.io.letters import AHEAD
from horai.parameters import length
from horai.signals.letters import letters_about
from horai.signals.positions import Positions, parted
from horai.spark.batch import Send
from horai.spark.records import Record

TIMES = ("arrival", "start", "end")


@dataclass(frozen=True, slots=True)
class Ahead:
    """How many time-points rows may be ahead of now."""

    most: int
    clock: Clock

    def limit(self) -> int:
        """The last time-point that rows may name now."""
        return self.clock.point(dt.datetime.now(dt.UTC)) + self.most


def ahead_of(given: object, clock: Clock) -> Ahead | None:
    """What was asked for, if anything was."""
    if given is None:
        return None
    most = length(given, "max-ahead", 0)
    if clock.unit is None:
        problem = "max-ahead needs a unit: times are compared with those of the clock"
        raise UsageError(problem, "say how long a time-point is, such as --unit s")
    return Ahead(most, clock)


def sending(send: Send, limit: int) -> Send:
    """Sends what lies within the limit; the rest are dead letters."""

    def sent(place: int, narrative: Narrative) -> Iterator[Record]:
        found = [_apart(table, limit) for table in narrative.tables]
        tables = tuple(table for table, _ in found)
        letters = [letter for _, some in found for letter in some]
        yield from send(place, Narrative(tables, [*narrative.dead_letters, *letters]))

    return sent


def positions_within(limit: int) -> Callable[[Positions], Positions]:
    """Leaves out positions that lie beyond the limit; they are dead letters."""

    def within(found: Positions) -> Positions:
        times = found.table.column("time").to_numpy()
        far, kept = parted(found.table, times > limit)
        if not far.num_rows:
            return found
        letters = letters_about(far, _reason(limit), AHEAD)
        return Positions(kept, pa.concat_tables([found.letters, letters]))

    return within


def _apart(table: ItemTable, limit: int) -> tuple[ItemTable, list[DeadLetter]]:
    far = np.zeros(len(table), np.bool_)
    for name in TIMES:
        if name in table.table.column_names:
            beyond = pc.fill_null(pc.greater(table.table.column(name), limit), False)
            far |= beyond.to_numpy()
    if not far.any():
        return table, []
    lost = replace(table, table=table.table.filter(pa.array(far)))
    reason = _reason(limit)
    letters = [DeadLetter(row.file, row.line, row_text(row), reason, AHEAD) for row in lost.items()]
    return replace(table, table=table.table.filter(pa.array(~far))), letters


def _reason(limit: int) -> str:
    return f"it names a time after {limit}, further ahead of the clock than the stream allows"
