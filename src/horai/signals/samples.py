"""Where everybody is at common points in time, by going straight from one position to the next."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from horai.io.termcolumns import SYMBOLS
from horai.signals.motion import Moves
from horai.signals.positions import Flags, Floats, Ints, numbers
from horai.temporal.kernels import compiled

SAMPLES = pa.schema(
    [("entity", SYMBOLS), ("time", pa.int64()), ("lon", pa.float64()), ("lat", pa.float64())]
)


def samples(
    entity: Ints, time: Ints, places: tuple[Floats, Floats], moved: Moves, step: int
) -> tuple[Ints, Ints, Floats, Floats]:
    """Entities, times (multiples of `step`) and places, for as long as there is no gap."""
    before = (moved.before_time, moved.before_lon, moved.before_lat)
    since = np.where(moved.first, time - 1, moved.before_time)
    row = np.repeat(np.arange(len(time)), time // step - since // step)
    found = np.empty(len(row), np.int64), np.empty(len(row)), np.empty(len(row))
    _interpolate(row, time, places, moved.first, before, step, found)
    return entity[row], *found


def in_slices(samples: pa.Table, rows: int) -> Iterator[tuple[pa.Table, int]]:
    """Samples in the order of time, about so many at a time, and the last time of each slice.

    All samples of a time are in one slice.
    """
    if samples.num_rows <= rows:
        if samples.num_rows:
            yield samples, int(numbers(samples, "time").max())
        return
    time = numbers(samples, "time")
    by = np.argsort(time, kind="stable")
    ordered, when = samples.take(pa.array(by)), time[by]
    begin = 0
    while begin < len(when):
        last = int(when[min(begin + rows, len(when)) - 1])
        end = int(np.searchsorted(when, last, side="right"))
        yield ordered.slice(begin, end - begin), last
        begin = end


@compiled()
def _interpolate(
    row: Ints,
    time: Ints,
    places: tuple[Floats, Floats],
    first: Flags,
    before: tuple[Ints, Floats, Floats],
    step: int,
    found: tuple[Ints, Floats, Floats],
) -> None:
    lon, lat = places
    old_time, old_lon, old_lat = before
    when, x, y = found
    for k in range(len(row)):
        i = row[k]
        if first[i]:
            when[k], x[k], y[k] = time[i], lon[i], lat[i]
            continue
        again = k > 0 and row[k - 1] == i
        when[k] = when[k - 1] + step if again else (old_time[i] // step + 1) * step
        share = (when[k] - old_time[i]) / (time[i] - old_time[i])
        over = lon[i] - old_lon[i]
        if over > 180.0:  # the short way round
            over -= 360.0
        elif over < -180.0:
            over += 360.0
        x[k] = old_lon[i] + share * over
        if x[k] > 180.0:
            x[k] -= 360.0
        elif x[k] < -180.0:
            x[k] += 360.0
        y[k] = old_lat[i] + share * (lat[i] - old_lat[i])
