"""Critical points of trajectories: gaps, stops, slow motion, changes of speed and turns.

The events are those of K. Patroumpas, E. Alevizos, A. Artikis, M. Vodas, N. Pelekis and
Y. Theodoridis, "Online event recognition from moving vessel trajectories", GeoInformatica 21, 2017.

A *track* is a sequence of positions without a gap in it. What a vessel does ends with its track:
of who is silent nothing is known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from horai.signals.positions import Flags, Floats, Ints
from horai.signals.settings import MotionLimits
from horai.signals.sphere import KNOT, bearing, between, metres
from horai.temporal.kernels import compiled, inside

NEVER = -(2**63)

EVENTS = (
    "gap_start",
    "gap_end",
    "stop_start",
    "stop_end",
    "slow_motion_start",
    "slow_motion_end",
    "change_in_speed_start",
    "change_in_speed_end",
    "change_in_heading",
)
GAP, STOP, SLOW, SPEED, TURN = 0, 2, 4, 6, 8  # the start of each; its end comes next

# What is remembered of an entity: its last position; since when it has been standing or slow, and
# whether that has been told; whether its speed is changing; whether it is known to be silent.
INTS = ("time", "stop_since", "stop_told", "slow_since", "slow_told", "changing", "silent")
TIME, STOP_SINCE, STOP_TOLD, SLOW_SINCE, SLOW_TOLD, CHANGING, SILENT = range(7)
FLOATS = ("lon", "lat", "speed", "course", "turn_course")
LON, LAT, KNOTS, COURSE, TURNED = range(5)


class Moves(NamedTuple):
    """How positions follow each other.

    Each row of `events` is a place in EVENTS, an entity and a time. The others say of each
    position: is it the first of a track, which one was before, and its speed and course, told or
    worked out from the one before (NaN if neither is possible).
    """

    events: Ints
    first: Flags
    before_time: Ints
    before_lon: Floats
    before_lat: Floats
    speed: Floats
    course: Floats


def moves(
    offsets: Ints,
    time: Ints,
    columns: tuple[Floats, Floats, Floats, Floats],
    fresh: Flags,
    until: int,
    memory: tuple[Ints, Floats],
    settings: MotionLimits,
) -> Moves:
    """Critical points of positions (`columns`: lon, lat, speed, course) by entity and time.

    `offsets` says where the rows of each entity begin. `until` is how far all is known: who has
    been silent for long then has a gap. What is remembered of entities (`memory`, columns INTS and
    FLOATS) is brought up to date.
    """
    n = len(time)
    limits = (
        settings.points(settings.gap_after),
        settings.points(settings.stop_time),
        settings.points(settings.slow_time),
    )
    shares = (
        settings.stop_speed,
        settings.slow_speed,
        settings.speed_change,
        settings.speed_noise,
        settings.turn,
        KNOT * settings.seconds,
    )
    found = Moves(
        np.empty((0, 3), np.int64),
        np.zeros(n, np.bool_),
        np.zeros(n, np.int64),
        *(np.zeros(n, np.float64) for _ in range(4)),
    )
    events = _follow(offsets, time, columns, fresh, until, *memory, limits, shares, found[1:])
    return found._replace(events=events)


@inside()
def _tell(events: Ints, many: int, code: int, who: int, when: int) -> int:
    events[many, 0] = code
    events[many, 1] = who
    events[many, 2] = when
    return many + 1


@inside()
def _end_track(ints: Ints, who: int, events: Ints, many: int) -> int:
    """All that goes on ends at the last position, and then there is silence."""
    last = ints[who, 0]
    if ints[who, STOP_TOLD]:
        many = _tell(events, many, STOP + 1, who, last)
    if ints[who, SLOW_TOLD]:
        many = _tell(events, many, SLOW + 1, who, last)
    if ints[who, CHANGING]:
        many = _tell(events, many, SPEED + 1, who, last)
    ints[who, STOP_SINCE], ints[who, STOP_TOLD] = NEVER, 0
    ints[who, SLOW_SINCE], ints[who, SLOW_TOLD] = NEVER, 0
    ints[who, CHANGING], ints[who, SILENT] = 0, 1
    return _tell(events, many, GAP, who, last)


@inside()
def _lasting(
    is_so: bool, now: int, least: int, ints: Ints, who: int, since: int, events: Ints, many: int
) -> int:
    """Stops and slow motion: told when they have lasted, with the time at which they began."""
    code = STOP if since == STOP_SINCE else SLOW
    if not is_so:
        if ints[who, since + 1]:
            many = _tell(events, many, code + 1, who, now)
        ints[who, since], ints[who, since + 1] = NEVER, 0
        return many
    if ints[who, since] == NEVER:
        ints[who, since] = now
    if not ints[who, since + 1] and ints[who, since] <= now - least:
        ints[who, since + 1] = 1
        many = _tell(events, many, code, who, ints[who, since])
    return many


@compiled()
def _follow(
    offsets: Ints,
    time: Ints,
    columns: tuple[Floats, Floats, Floats, Floats],
    fresh: Flags,
    until: int,
    ints: Ints,
    floats: Floats,
    limits: tuple[int, int, int],
    shares: tuple[float, float, float, float, float, float],
    found: tuple[Flags, Ints, Floats, Floats, Floats, Floats],
) -> Ints:
    lon, lat, told_speed, told_course = columns
    gap, stop_time, slow_time = limits
    stop_speed, slow_speed, change, noise, turn, knot = shares
    first, before_time, before_lon, before_lat, speed, course = found
    events = np.empty((max(64, len(time) // 4), 3), np.int64)
    many = 0
    for who in range(len(offsets) - 1):
        for i in range(offsets[who], offsets[who + 1]):
            if many + 16 > len(events):  # one position makes fewer than that
                more = np.empty((2 * len(events), 3), np.int64)
                more[:many] = events[:many]
                events = more
            now, last = time[i], ints[who, 0]
            first[i] = last == NEVER or ints[who, SILENT] == 1 or fresh[i] or last < now - gap
            if first[i] and last != NEVER:
                if not ints[who, SILENT]:
                    many = _end_track(ints, who, events, many)
                many = _tell(events, many, GAP + 1, who, now)
            speed[i], course[i] = told_speed[i], told_course[i]
            if first[i]:
                floats[who, KNOTS] = floats[who, COURSE] = floats[who, TURNED] = math.nan
            else:
                before_time[i] = last
                before_lon[i], before_lat[i] = floats[who, LON], floats[who, LAT]
                far = metres(before_lon[i], before_lat[i], lon[i], lat[i])
                if math.isnan(speed[i]):
                    speed[i] = far / (now - last) / knot
                if math.isnan(course[i]):
                    course[i] = floats[who, COURSE]
                    if far > 0:
                        course[i] = bearing(before_lon[i], before_lat[i], lon[i], lat[i])
            ints[who, TIME], ints[who, SILENT] = now, 0
            floats[who, LON], floats[who, LAT] = lon[i], lat[i]
            s = speed[i]
            many = _lasting(s < stop_speed, now, stop_time, ints, who, STOP_SINCE, events, many)
            is_slow = stop_speed <= s < slow_speed
            many = _lasting(is_slow, now, slow_time, ints, who, SLOW_SINCE, events, many)
            other = floats[who, KNOTS]
            is_changing = abs(s - other) > max(change * other, noise)
            if is_changing != (ints[who, CHANGING] == 1):
                many = _tell(events, many, SPEED if is_changing else SPEED + 1, who, now)
                ints[who, CHANGING] = 1 if is_changing else 0
            if s >= stop_speed and not math.isnan(course[i]):
                if math.isnan(floats[who, TURNED]):
                    floats[who, TURNED] = course[i]
                elif between(course[i], floats[who, TURNED]) > turn:
                    many = _tell(events, many, TURN, who, now)
                    floats[who, TURNED] = course[i]
            floats[who, KNOTS], floats[who, COURSE] = s, course[i]
        if many + 16 > len(events):
            more = np.empty((2 * len(events), 3), np.int64)
            more[:many] = events[:many]
            events = more
        last = ints[who, 0]
        if last != NEVER and not ints[who, SILENT] and last < until - gap:
            many = _end_track(ints, who, events, many)
    return events[:many].copy()
