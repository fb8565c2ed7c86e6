"""Critical points of trajectories: gaps, stops, slow motion, changes of speed and turns.

The events are those of K. Patroumpas, E. Alevizos, A. Artikis, M. Vodas, N. Pelekis and
Y. Theodoridis, "Online event recognition from moving vessel trajectories", GeoInformatica 21, 2017.

A *track* is a sequence of positions without a gap in it. What a vessel does ends with its track:
of who is silent nothing is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from horai.signals.loops import follow
from horai.signals.positions import KNOT, Flags, Floats, Ints
from horai.signals.settings import MotionLimits

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

# What is remembered of an entity: its last position; since when it has been standing or slow, and
# whether that has been told; whether its speed is changing; whether it is known to be silent.
INTS = ("time", "stop_since", "stop_told", "slow_since", "slow_told", "changing", "silent")
FLOATS = ("lon", "lat", "speed", "course", "turn_course")


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
    limits = [settings.gap_after, settings.stop_time, settings.slow_time]
    shares = [
        settings.stop_speed,
        settings.slow_speed,
        settings.speed_change,
        settings.speed_noise,
        settings.turn,
        KNOT * settings.seconds,
    ]
    first, before_time, moved = np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros((4, n))
    events = follow(
        offsets,
        time,
        np.stack(columns),
        fresh.view(np.uint8),
        until,
        *memory,
        np.array([settings.points(limit) for limit in limits]),
        np.array(shares),
        first.view(np.uint8),
        before_time,
        moved,
    )
    return Moves(events, first, before_time, *moved)
