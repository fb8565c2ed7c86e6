# cython: language_level=3, boundscheck=False, wraparound=False
# mypy: disable-error-code="valid-type,type-arg,untyped-decorator,import-untyped"
"""Loops over positions, compiled ahead of time: who is believed, what tracks tell, who is close.

Numpy has no operation for them, for what a position says depends on what those before it said.
"""

from __future__ import annotations

import cython
import numpy as np
from cython.cimports.libc.math import asin, atan2, cos, fabs, floor, isnan, sin, sqrt

Ints = np.ndarray

RADIUS = cython.declare(cython.double, 6_371_008.8)  # metres, the mean of the earth's radii
RADIAN = cython.declare(cython.double, 3.141592653589793 / 180.0)
HAIR = cython.declare(cython.double, 1e-6)  # degrees that a range is wider, against rounding
NEVER = cython.declare(cython.longlong, -(2**63))
NOBODY_KNOWS = cython.declare(cython.double, float("nan"))

# What a row is, as in `cleaning`.
GOOD = cython.declare(cython.int, 0)
FRESH = cython.declare(cython.int, 1)
DUPLICATE = cython.declare(cython.int, 2)
CONFLICT = cython.declare(cython.int, 3)
JUMP = cython.declare(cython.int, 4)

# Events and what is remembered of an entity, by their places in the lists of `motion`. The end of
# what starts comes next, and so does whether it has been told since when it lasts.
GAP = cython.declare(cython.int, 0)
STOP = cython.declare(cython.int, 2)
SLOW = cython.declare(cython.int, 4)
SPEED = cython.declare(cython.int, 6)
TURN = cython.declare(cython.int, 8)
TIME = cython.declare(cython.int, 0)
STOP_SINCE = cython.declare(cython.int, 1)
SLOW_SINCE = cython.declare(cython.int, 3)
CHANGING = cython.declare(cython.int, 5)
SILENT = cython.declare(cython.int, 6)
LON = cython.declare(cython.int, 0)
LAT = cython.declare(cython.int, 1)
KNOTS = cython.declare(cython.int, 2)
COURSE = cython.declare(cython.int, 3)
TURNED = cython.declare(cython.int, 4)


@cython.cfunc
@cython.exceptval(check=False)
def metres(
    lon1: cython.double, lat1: cython.double, lon2: cython.double, lat2: cython.double
) -> cython.double:
    """The distance along a great circle (haversine)."""
    up: cython.double = sin((lat2 - lat1) * RADIAN / 2)
    over: cython.double = sin((lon2 - lon1) * RADIAN / 2)
    scale: cython.double = cos(lat1 * RADIAN) * cos(lat2 * RADIAN)
    return 2 * RADIUS * asin(min(1.0, sqrt(up * up + scale * over * over)))


@cython.cfunc
@cython.exceptval(check=False)
def bearing(
    lon1: cython.double, lat1: cython.double, lon2: cython.double, lat2: cython.double
) -> cython.double:
    """In which direction the great circle from one place to another begins, from 0 to 360."""
    over: cython.double = (lon2 - lon1) * RADIAN
    north1: cython.double = lat1 * RADIAN
    north2: cython.double = lat2 * RADIAN
    x: cython.double = sin(over) * cos(north2)
    y: cython.double = cos(north1) * sin(north2) - sin(north1) * cos(north2) * cos(over)
    return atan2(x, y) / RADIAN % 360.0


@cython.cclass
class Growing:
    """Integers one after the other, as many as come."""

    kept: cython.longlong[::1]
    many: cython.Py_ssize_t

    def __init__(self) -> None:
        self.kept = np.empty(1024, np.int64)
        self.many = 0

    @cython.cfunc
    def put(self, value: cython.longlong) -> cython.void:
        """One more."""
        if self.many == self.kept.shape[0]:
            self.kept = np.concatenate([self.kept, self.kept])
        self.kept[self.many] = value
        self.many += 1

    @cython.cfunc
    def event(
        self, code: cython.longlong, who: cython.longlong, when: cython.longlong
    ) -> cython.void:
        """What is told of somebody."""
        self.put(code)
        self.put(who)
        self.put(when)

    def rows(self, width: int) -> Ints:
        """So many of them to a row."""
        return np.asarray(self.kept)[: self.many].reshape(-1, width).copy()


# --- which positions are believed ----------------------------------------------------------------


def judge(
    entity: cython.const[cython.longlong][::1],
    time: cython.const[cython.longlong][::1],
    values: cython.const[cython.double][:, ::1],
    ints: cython.longlong[:, ::1],
    floats: cython.double[:, ::1],
    fastest: cython.double,
    trust: cython.longlong,
    verdict: cython.schar[::1],
    speed: cython.double[::1],
) -> None:
    """Judge rows by entity and time; the first two of the values are the place.

    What is remembered of entities (`ints`, `floats`) is as `cleaning` says.
    """
    n: cython.Py_ssize_t = entity.shape[0]
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    v: cython.Py_ssize_t
    far: cython.double
    while i < n:
        who: cython.longlong = entity[i]
        j = i + 1
        while j < n and entity[j] == who and time[j] == time[i]:
            j += 1
        known: cython.bint = ints[who, 0] != NEVER
        best: cython.Py_ssize_t = i
        nearest: cython.double = -1.0
        for k in range(i, j):
            again: cython.bint = k > i
            for v in range(values.shape[0]):
                a: cython.double = values[v, k]
                b: cython.double = values[v, k - 1] if again else a
                if a != b and not (isnan(a) and isnan(b)):
                    again = False
            verdict[k] = DUPLICATE if again else CONFLICT
            if again:
                continue
            far = 0.0
            if known:
                far = metres(floats[who, 0], floats[who, 1], values[0, k], values[1, k])
            far = floor(far * 1000 + 0.5)  # millimetres: what is less is noise of computing
            if nearest < 0 or far < nearest:
                best, nearest = k, far
        verdict[best] = GOOD
        lon: cython.double = values[0, best]
        lat: cython.double = values[1, best]
        if known:
            far = metres(floats[who, 0], floats[who, 1], lon, lat)
            speed[best] = far / (cython.cast(cython.double, time[i]) - ints[who, 0])
            if speed[best] > fastest:
                fits: cython.bint = False
                if ints[who, 1] > 0:
                    far = metres(floats[who, 2], floats[who, 3], lon, lat)
                    fits = far / (cython.cast(cython.double, time[i]) - ints[who, 2]) <= fastest
                ints[who, 1] = ints[who, 1] + 1 if fits else 1
                ints[who, 2] = time[i]
                floats[who, 2] = lon
                floats[who, 3] = lat
                verdict[best] = FRESH if ints[who, 1] >= trust else JUMP
        if verdict[best] != JUMP:
            ints[who, 0] = time[i]
            ints[who, 1] = 0
            floats[who, 0] = lon
            floats[who, 1] = lat
        i = j


# --- what tracks tell ----------------------------------------------------------------------------


@cython.cfunc
def end_track(ints: cython.longlong[:, ::1], who: cython.Py_ssize_t, found: Growing) -> cython.void:
    """All that goes on ends at the last position, and then there is silence."""
    last: cython.longlong = ints[who, TIME]
    if ints[who, STOP_SINCE + 1]:
        found.event(STOP + 1, who, last)
    if ints[who, SLOW_SINCE + 1]:
        found.event(SLOW + 1, who, last)
    if ints[who, CHANGING]:
        found.event(SPEED + 1, who, last)
    ints[who, STOP_SINCE] = ints[who, SLOW_SINCE] = NEVER
    ints[who, STOP_SINCE + 1] = ints[who, SLOW_SINCE + 1] = ints[who, CHANGING] = 0
    ints[who, SILENT] = 1
    found.event(GAP, who, last)


@cython.cfunc
def lasting(
    is_so: cython.bint,
    least: cython.longlong,
    ints: cython.longlong[:, ::1],
    who: cython.Py_ssize_t,
    since: cython.int,
    found: Growing,
) -> cython.void:
    """Stops and slow motion: told when they have lasted, with the time at which they began."""
    now: cython.longlong = ints[who, TIME]
    code: cython.int = STOP if since == STOP_SINCE else SLOW
    if not is_so:
        if ints[who, since + 1]:
            found.event(code + 1, who, now)
        ints[who, since] = NEVER
        ints[who, since + 1] = 0
        return
    if ints[who, since] == NEVER:
        ints[who, since] = now
    if not ints[who, since + 1] and ints[who, since] <= now - least:
        ints[who, since + 1] = 1
        found.event(code, who, ints[who, since])


def follow(
    offsets: cython.const[cython.longlong][::1],
    time: cython.const[cython.longlong][::1],
    told: cython.const[cython.double][:, ::1],
    fresh: cython.const[cython.uchar][::1],
    until: cython.longlong,
    ints: cython.longlong[:, ::1],
    floats: cython.double[:, ::1],
    limits: cython.const[cython.longlong][::1],
    shares: cython.const[cython.double][::1],
    first: cython.uchar[::1],
    before_time: cython.longlong[::1],
    moved: cython.double[:, ::1],
) -> Ints:
    """Critical points of rows by entity and time, as `moves` of `motion` says.

    What is `told` of a row: longitude, latitude, speed, course. How it `moved`: longitude and
    latitude of the one before, speed, course.
    """
    gap: cython.longlong = limits[0]
    stop_speed: cython.double = shares[0]
    found: Growing = Growing()
    who: cython.Py_ssize_t
    i: cython.Py_ssize_t
    last: cython.longlong
    for who in range(offsets.shape[0] - 1):
        for i in range(offsets[who], offsets[who + 1]):
            now: cython.longlong = time[i]
            last = ints[who, TIME]
            lon: cython.double = told[0, i]
            lat: cython.double = told[1, i]
            speed: cython.double = told[2, i]
            course: cython.double = told[3, i]
            first[i] = last == NEVER or ints[who, SILENT] == 1 or fresh[i] or last < now - gap
            if first[i]:
                if last != NEVER:
                    if not ints[who, SILENT]:
                        end_track(ints, who, found)
                    found.event(GAP + 1, who, now)
                floats[who, KNOTS] = floats[who, COURSE] = floats[who, TURNED] = NOBODY_KNOWS
            else:
                before_time[i] = last
                moved[0, i] = floats[who, LON]
                moved[1, i] = floats[who, LAT]
                far: cython.double = metres(floats[who, LON], floats[who, LAT], lon, lat)
                if isnan(speed):
                    speed = far / cython.cast(cython.double, now - last) / shares[5]
                if isnan(course):
                    course = floats[who, COURSE]
                    if far > 0:
                        course = bearing(floats[who, LON], floats[who, LAT], lon, lat)
            moved[2, i] = speed
            moved[3, i] = course
            ints[who, TIME] = now
            ints[who, SILENT] = 0
            floats[who, LON] = lon
            floats[who, LAT] = lat
            lasting(speed < stop_speed, limits[1], ints, who, STOP_SINCE, found)
            is_slow: cython.bint = stop_speed <= speed and speed < shares[1]
            lasting(is_slow, limits[2], ints, who, SLOW_SINCE, found)
            other: cython.double = floats[who, KNOTS]
            changing: cython.bint = fabs(speed - other) > max(shares[2] * other, shares[3])
            if changing != (ints[who, CHANGING] == 1):
                found.event(SPEED if changing else SPEED + 1, who, now)
                ints[who, CHANGING] = changing
            if speed >= stop_speed and not isnan(course):
                apart: cython.double = fabs(course - floats[who, TURNED]) % 360.0
                if isnan(floats[who, TURNED]):
                    floats[who, TURNED] = course
                elif min(apart, 360.0 - apart) > shares[4]:
                    found.event(TURN, who, now)
                    floats[who, TURNED] = course
            floats[who, KNOTS] = speed
            floats[who, COURSE] = course
        last = ints[who, TIME]
        if last != NEVER and not ints[who, SILENT] and last < until - gap:
            end_track(ints, who, found)
    return found.rows(3)


# --- who is close to whom ------------------------------------------------------------------------


@cython.cfunc
def at_least(
    lon: cython.const[cython.double][::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    least: cython.double,
) -> cython.Py_ssize_t:
    """The first row from begin to end whose longitude is not below."""
    while begin < end:
        middle: cython.Py_ssize_t = (begin + end) // 2
        if lon[middle] < least:
            begin = middle + 1
        else:
            end = middle
    return begin


@cython.cfunc
def look(
    i: cython.Py_ssize_t,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    most: cython.double,
    lon: cython.const[cython.double][::1],
    lat: cython.const[cython.double][::1],
    close: cython.double,
    found: Growing,
) -> cython.void:
    """The rows close to `i`, from begin to end, whose longitudes are no more than most."""
    j: cython.Py_ssize_t
    for j in range(begin, end):
        if lon[j] > most:
            break
        if metres(lon[i], lat[i], lon[j], lat[j]) <= close:
            found.put(i)
            found.put(j)


def sweep(
    group: cython.const[cython.longlong][::1],
    lon: cython.const[cython.double][::1],
    lat: cython.const[cython.double][::1],
    close: cython.double,
    degrees: cython.double,
) -> Ints:
    """Pairs of rows, each once; rows of a group are in the order of longitudes."""
    found: Growing = Growing()
    n: cython.Py_ssize_t = group.shape[0]
    # Rows from begin to end are a band, those from end to after the next one.
    begin: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t = 0
    after: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    for i in range(n):
        if i == end:
            begin = i
            while end < n and group[end] == group[i]:
                end += 1
            after = end
            while after < n and group[after] == group[i] + 1:
                after += 1
        wide: cython.double = 180.0
        if fabs(lat[i]) + degrees < 90.0:  # else everything around the pole may be near
            ratio: cython.double = sin(degrees * RADIAN) / cos(lat[i] * RADIAN)
            wide = min(180.0, asin(min(1.0, ratio)) / RADIAN + HAIR)
        west: cython.double = lon[i] - wide
        east: cython.double = lon[i] + wide
        look(i, i + 1, end, east, lon, lat, close, found)
        if east > 180.0:  # beyond the date line, where longitudes begin anew
            look(i, begin, i, east - 360.0, lon, lat, close, found)
        if wide == 180.0:
            look(i, end, after, 180.0, lon, lat, close, found)
            continue
        look(i, at_least(lon, end, after, west), after, east, lon, lat, close, found)
        if east > 180.0:
            look(i, end, after, east - 360.0, lon, lat, close, found)
        if west < -180.0:
            look(i, at_least(lon, end, after, west + 360.0), after, 180.0, lon, lat, close, found)
    return found.rows(2)
