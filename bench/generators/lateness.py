"""Makes a stream arrive as streams do: some items late, some taken back.

    on_time = fleet.narrative(200_000, 1_000)
    late = delayed(on_time, Lateness(window=4_000, step=500, delayed=0.2, retracted=0.1))

Which items are late is drawn evenly, how late they are from a Gamma distribution of shape 2. So do
Tsilionis, Artikis and Paliouras (JAIR 73, 2022, section 5.2.1) delay their streams. There the mean
delay is eight steps for all windows (96 hours with steps of 12 hours, 8 hours with steps of one),
and what comes too late for its window is lost. Here the distribution is cut off where that begins,
so that windows of all sizes answer for the same items; `truncated=False` lets it happen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from horai.io import ItemTable, Narrative

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

SHAPE = 2
FAR = 40.0  # scales: a delay beyond is less probable than the precision of a float can say
SCALES: Floats = np.linspace(0.0, FAR, 40_001)


def distribution(scales: Floats) -> Floats:
    """How probable a delay of at most so many scales is: Gamma of shape 2.

    >>> distribution(np.array([0.0, 1.0, 40.0])).round(3).tolist()
    [0.0, 0.264, 1.0]
    """
    return 1.0 - (1.0 + scales) * np.exp(-scales)


QUANTILES = distribution(SCALES)


@dataclass(frozen=True)
class Lateness:
    """Shares of items that are late and taken back, for windows of one size.

    `fraction` is the mean delay, before it is cut off, as a share of the window. Query times are
    `origin` and all that are a number of steps away from it.
    """

    window: int
    step: int
    delayed: float = 0.0
    retracted: float = 0.0
    fraction: float = 0.5
    truncated: bool = True
    origin: int = 0

    @property
    def scale(self) -> float:
        """The parameter theta, in time-points."""
        return self.fraction * self.window / SHAPE

    def last_query(self, start: Ints) -> Ints:
        """For items the last query time whose window they are in.

        >>> Lateness(window=20, step=10).last_query(np.array([1, 10, 11])).tolist()
        [20, 20, 30]
        """
        latest = start + self.window - 1 - self.origin
        return self.origin + latest // self.step * self.step

    def delays(self, room: Ints, dice: np.random.Generator) -> Ints:
        """A delay for each item: of a time-point at least, and of no more than there is room."""
        most = distribution(np.clip(room / self.scale, 0.0, FAR)) if self.truncated else 1.0
        drawn = np.interp(dice.random(len(room)) * most, QUANTILES, SCALES) * self.scale
        whole = np.maximum(np.ceil(drawn), 1.0).astype(np.int64)
        return np.minimum(whole, np.maximum(room, 0)) if self.truncated else whole


def delayed(narrative: Narrative, lateness: Lateness, seed: int = 7) -> Narrative:
    """The items of a narrative, some of them late, and retractions of some; in order of arrival."""
    tables = tuple(
        _delayed(table, lateness, np.random.default_rng([seed, number]))
        for number, table in enumerate(narrative.tables)
    )
    return Narrative(tables, narrative.dead_letters)


def _delayed(table: ItemTable, lateness: Lateness, dice: np.random.Generator) -> ItemTable:
    columns = table.table
    arrival: Ints = columns.column("arrival").to_numpy().copy()
    last = lateness.last_query(columns.column("start").to_numpy())
    late = np.flatnonzero(dice.random(len(arrival)) < lateness.delayed)
    arrival[late] += lateness.delays((last - arrival)[late], dice)
    wrong = np.flatnonzero(dice.random(len(arrival)) < lateness.retracted)
    taken_back = arrival[wrong] + lateness.delays((last - arrival)[wrong], dice)
    # Retractions behind all items: sorting keeps them there where both arrive at once.
    rows = np.concatenate([np.arange(len(arrival)), wrong])
    ops = np.ones(len(rows), dtype=np.int64)
    ops[len(arrival) :] = -1
    arrivals = np.concatenate([arrival, taken_back])
    order = np.argsort(arrivals, kind="stable")
    made = columns.take(pa.array(rows[order]))
    made = _with(_with(made, "arrival", arrivals[order]), "op", ops[order])
    return replace(table, table=made)


def _with(table: pa.Table, name: str, values: Ints) -> pa.Table:
    """The table with other values in a column."""
    place = table.schema.get_field_index(name)
    field = table.schema.field(place)
    return table.set_column(place, field, pa.array(values, field.type))
