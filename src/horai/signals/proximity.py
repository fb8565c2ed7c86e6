"""Proximity: pairs that are close at common points in time, and the intervals they make.

At a common time everybody is where a straight line from one position to the next leads. Places are
sorted into bands of latitude as high as `close` is long, and within a band by longitude. Who is
close to a place is in its band or one beside it, and there within a range of longitudes: so no pair
is missed, and hardly any is looked at in vain.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from horai.io.terms import SYMBOLS
from horai.signals.motion import Moves
from horai.signals.positions import Flags, Floats, Ints, coded, numbers, texts, together
from horai.signals.settings import MotionLimits
from horai.signals.sphere import RADIUS, metres
from horai.temporal.kernels import compiled, inside
from horai.temporal.sorting import order

PAIRS = pa.schema([("one", SYMBOLS), ("two", SYMBOLS), ("time", pa.int64())])
MEETINGS = pa.schema(
    [("one", SYMBOLS), ("two", SYMBOLS), ("start", pa.int64()), ("end", pa.int64())]
)
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
    found = _sweep(group[by], lon[by], lat[by], settings.close, degrees)
    a, b = codes[by[found[:, 0]]], codes[by[found[:, 1]]]
    when = time[by[found[:, 0]]]
    one, two = np.where(rank[a] < rank[b], a, b), np.where(rank[a] < rank[b], b, a)
    several = one != two
    words = pa.array(names, pa.string())
    columns = [coded(one[several], words), coded(two[several], words), when[several]]
    return pa.table(dict(zip(PAIRS.names, columns, strict=True)), schema=PAIRS)


@inside()
def _look(
    i: int,
    begin: int,
    end: int,
    most: float,
    lon: Floats,
    lat: Floats,
    close: float,
    found: Ints,
    many: int,
) -> tuple[Ints, int]:
    """The rows close to `i`, from begin to end, whose longitudes are no more than most."""
    for j in range(begin, end):
        if lon[j] > most:
            break
        if metres(lon[i], lat[i], lon[j], lat[j]) <= close:
            if many == len(found):
                more = np.empty((2 * many, 2), np.int64)
                more[:many] = found
                found = more
            found[many, 0], found[many, 1] = i, j
            many += 1
    return found, many


@compiled()
def _sweep(group: Ints, lon: Floats, lat: Floats, close: float, degrees: float) -> Ints:
    """Pairs of rows, each once; rows of a group are in the order of longitudes."""
    found = np.empty((max(64, len(group) // 8), 2), np.int64)
    many, begin, end, after = 0, 0, 0, 0
    for i in range(len(group)):
        if i == end:  # rows from begin to end are a band, those from end to after the next one
            begin, after = i, i
            while end < len(group) and group[end] == group[i]:
                end += 1
            after = end
            while after < len(group) and group[after] == group[i] + 1:
                after += 1
        wide = 180.0
        if abs(lat[i]) + degrees < 90.0:  # else everything around the pole may be near
            ratio = math.sin(math.radians(degrees)) / math.cos(math.radians(lat[i]))
            wide = min(180.0, math.degrees(math.asin(min(1.0, ratio))) + HAIR)
        west, east = lon[i] - wide, lon[i] + wide
        found, many = _look(i, i + 1, end, east, lon, lat, close, found, many)
        if east > 180.0:  # beyond the date line, where longitudes begin anew
            found, many = _look(i, begin, i, east - 360.0, lon, lat, close, found, many)
        if end == after:
            continue
        if wide == 180.0:
            found, many = _look(i, end, after, 180.0, lon, lat, close, found, many)
            continue
        at = end + np.searchsorted(lon[end:after], west)
        found, many = _look(i, at, after, east, lon, lat, close, found, many)
        if east > 180.0:
            found, many = _look(i, end, after, east - 360.0, lon, lat, close, found, many)
        if west < -180.0:
            at = end + np.searchsorted(lon[end:after], west + 360.0)
            found, many = _look(i, at, after, 180.0, lon, lat, close, found, many)
    return found[:many].copy()


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
