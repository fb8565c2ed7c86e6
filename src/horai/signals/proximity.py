"""Proximity: pairs that are close at common points in time, and the intervals they make.

At a common time everybody is where a straight line from one position to the next leads. Places are
sorted into bands of latitude as high as `close` is long, and within a band by longitude. Who is
close to a place is in its band or one beside it, and there within a range of longitudes: so no pair
is missed, and hardly any is looked at in vain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import repeat

import numpy as np
import pyarrow as pa

from horai.io.terms import SYMBOLS
from horai.signals.loops import sweep
from horai.signals.motion import Moves
from horai.signals.positions import Flags, Floats, Ints, coded, numbers, texts, together
from horai.signals.settings import MotionLimits
from horai.temporal.spans import order

PAIRS = pa.schema([("one", SYMBOLS), ("two", SYMBOLS), ("time", pa.int64())])
MEETINGS = pa.schema(
    [("one", SYMBOLS), ("two", SYMBOLS), ("start", pa.int64()), ("end", pa.int64())]
)
RADIUS = 6_371_008.8  # metres, the mean of the earth's radii
FINE = 1e7  # parts of a degree, to sort longitudes as integers
HAIR = 1e-6  # degrees that a range is wider than need be, against rounding


def close_pairs(samples: pa.Table, settings: MotionLimits) -> pa.Table:
    """Pairs of entities, in the order of their names, and the times at which they are close."""
    codes, names = texts(samples, "entity")
    rank = np.empty(len(names), np.int64)
    rank[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    lon, lat, time = (numbers(samples, name) for name in ("lon", "lat", "time"))
    degrees = max(math.degrees(settings.close / RADIUS), HAIR)
    band = np.floor((lat + 90.0) / degrees).astype(np.int64)
    many = int(180.0 / degrees) + 3
    moment = np.unique(time, return_inverse=True)[1]
    group = moment * many + band
    by = order(group, np.floor((lon + 180.0) * FINE).astype(np.int64))
    found = sweep(group[by], lon[by], lat[by], settings.close, degrees)
    a, b = codes[by[found[:, 0]]], codes[by[found[:, 1]]]
    when = time[by[found[:, 0]]]
    one, two = np.where(rank[a] < rank[b], a, b), np.where(rank[a] < rank[b], b, a)
    several = one != two
    words = pa.array(names, pa.string())
    columns = [coded(one[several], words), coded(two[several], words), when[several]]
    return pa.table(dict(zip(PAIRS.names, columns, strict=True)), schema=PAIRS)


def meetings(
    pairs: pa.Table, open_: pa.Table, settled: int | None, settings: MotionLimits
) -> tuple[pa.Table, pa.Table]:
    """The intervals during which pairs are close, and what may still go on.

    `open_` is what was going on before these pairs: from when on it is to be told, and when the two
    were close last (`end`). All pairs until `settled` are known, with None all there will ever be.
    An interval is from the first time at which two are close until just after the last; it is told
    in pieces that end at multiples of `close_piece`.
    """
    step, piece = settings.points(settings.close_step), settings.points(settings.close_piece)
    rows = together([open_, _as_meetings(pairs)], MEETINGS)
    if not rows.num_rows:
        return rows, rows
    pair, who = _numbered(rows)
    start, end = numbers(rows, "start"), numbers(rows, "end")
    by = order(pair, end)
    pair, start, end = pair[by], start[by], end[by]
    again = np.zeros(len(by), np.bool_)
    again[1:] = (pair[1:] == pair[:-1]) & (end[1:] == end[:-1])
    pair, start, end = pair[~again], start[~again], end[~again]
    goes_on = np.zeros(len(pair), np.bool_)  # from the row before
    goes_on[1:] = (pair[1:] == pair[:-1]) & (end[1:] - end[:-1] == step)
    begins = ~goes_on | (end % piece == 0)
    begins[0] = True
    head = np.flatnonzero(begins)
    tail = np.append(head[1:], len(pair)) - 1
    told_on = np.append(goes_on[head[1:]], False)  # the next piece follows at once
    stop = np.where(told_on, np.append(start[head[1:]], 0), end[tail] + 1)
    done: Flags = told_on | (settled is None or end[tail] + step <= settled)
    told = _table(pair[head], start[head], stop, who)
    going = _table(pair[head], start[head], end[tail], who)
    return told.filter(pa.array(done)), going.filter(pa.array(~done))


def _as_meetings(pairs: pa.Table) -> pa.Table:
    time = pairs.column("time")
    return pa.table([pairs.column("one"), pairs.column("two"), time, time], names=MEETINGS.names)


def _numbered(rows: pa.Table) -> tuple[Ints, tuple[pa.Array, pa.Array]]:
    """A number for each pair, and by it the names of both."""
    one, two = rows.column("one").combine_chunks(), rows.column("two").combine_chunks()
    many = max(len(two.dictionary), 1)
    both = np.asarray(one.indices).astype(np.int64) * many + np.asarray(two.indices)
    distinct, number = np.unique(both, return_inverse=True)
    return number.astype(np.int64), (
        one.dictionary.take(pa.array(distinct // many)),
        two.dictionary.take(pa.array(distinct % many)),
    )


def _table(pair: Ints, start: Ints, end: Ints, who: tuple[pa.Array, pa.Array]) -> pa.Table:
    columns = [coded(pair, who[0]), coded(pair, who[1]), start, end]
    made = dict(zip(MEETINGS.names, map(pa.array, columns), strict=True))
    return together([pa.table(made)], MEETINGS)


SAMPLES = pa.schema(
    [("entity", SYMBOLS), ("time", pa.int64()), ("lon", pa.float64()), ("lat", pa.float64())]
)


def samples(
    entity: Ints, time: Ints, places: tuple[Floats, Floats], moved: Moves, step: int
) -> tuple[Ints, Ints, Floats, Floats]:
    """Entities, times (multiples of `step`) and places, for as long as there is no gap.

    They are on a straight line from the position before; before the first of a track is nothing.
    """
    before = np.where(moved.first, time - 1, moved.before_time)
    many = time // step - before // step
    row = np.repeat(np.arange(len(time)), many)
    number = np.arange(1, len(row) + 1) - np.repeat(np.cumsum(many) - many, many)
    when = (before[row] // step + number) * step
    share = (when - before[row]) / (time - before)[row]
    lon, lat = (
        np.where(moved.first, place, old)
        for place, old in zip(places, (moved.before_lon, moved.before_lat), strict=True)
    )
    over = _around(places[0] - lon)  # the short way round
    return (
        entity[row],
        when,
        _around(lon[row] + share * over[row]),
        lat[row] + share * (places[1] - lat)[row],
    )


def _around(degrees: Floats) -> Floats:
    """Degrees beyond half a turn to one side, from the other side."""
    found: Floats = degrees - 360.0 * (degrees > 180.0) + 360.0 * (degrees < -180.0)
    return found


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


# --- on many machines: parts of the earth in which places that are close meet -------------------

FINEST = 15
# Cells differ in size and shape. From anywhere in a cell it is farther than this share of the mean
# length of an edge to where neither the cell nor those beside it are.
SHARE = 0.5
LEVELS = 3  # from small cells to large ones, each of which has 7**3 small ones
EVERYWHERE = 0  # the only cell if what is close is too far for all others


def level_of(close: float) -> int | None:
    """The level of small cells for a distance in metres, None if there are none so large."""
    import h3

    fits = [
        level
        for level in range(FINEST + 1)
        if h3.average_hexagon_edge_length(level, unit="m") * SHARE >= close
    ]
    return max(fits, default=None)


def meeting_cells(lon: Floats, lat: Floats, close: float) -> tuple[Ints, Ints]:
    """To which large cells places go: numbers of places and, beside them, of cells."""
    from h3.api import basic_int as h3

    level = level_of(close)
    if level is None:
        return np.arange(len(lon)), np.full(len(lon), EVERYWHERE)
    # One call for each place: H3 has none for many. There are far fewer places at common times
    # than positions.
    cells = map(h3.latlng_to_cell, lat.tolist(), lon.tolist(), repeat(level))
    distinct, number = np.unique(np.fromiter(cells, np.int64, len(lon)), return_inverse=True)
    above = max(level - LEVELS, 0)
    targets = [
        sorted({h3.cell_to_parent(beside, above) for beside in h3.grid_disk(cell, 1)})
        for cell in distinct.tolist()
    ]
    sizes = np.array([len(some) for some in targets], np.int64)
    flat = np.array([cell for some in targets for cell in some], np.int64)
    begins = np.cumsum(sizes) - sizes
    place = np.repeat(np.arange(len(lon)), sizes[number])
    within = np.arange(len(place)) - np.repeat(
        np.cumsum(sizes[number]) - sizes[number], sizes[number]
    )
    return place, flat[begins[number[place]] + within]
