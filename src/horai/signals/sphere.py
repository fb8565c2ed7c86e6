"""Distances and directions on the earth, taken for a sphere; for use inside compiled loops."""

from __future__ import annotations

import math

from horai.temporal.kernels import inside

RADIUS = 6_371_008.8  # metres, the mean of the earth's radii
KNOT = 1852.0 / 3600.0  # metres per second


@inside()
def metres(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """The distance along a great circle (haversine)."""
    up = math.sin(math.radians(lat2 - lat1) / 2)
    over = math.sin(math.radians(lon2 - lon1) / 2)
    scale = math.cos(math.radians(lat1)) * math.cos(math.radians(lat2))
    return 2 * RADIUS * math.asin(min(1.0, math.sqrt(up * up + scale * over * over)))


@inside()
def bearing(lon1: float, lat1: float, lon2: float, lat2: float) -> float:
    """In which direction the great circle from one place to another begins, from 0 to 360."""
    over = math.radians(lon2 - lon1)
    north1, north2 = math.radians(lat1), math.radians(lat2)
    x = math.sin(over) * math.cos(north2)
    y = math.cos(north1) * math.sin(north2) - math.sin(north1) * math.cos(north2) * math.cos(over)
    return math.degrees(math.atan2(x, y)) % 360.0


@inside()
def between(one: float, other: float) -> float:
    """The angle between two directions, the short way round."""
    apart = abs(one - other) % 360.0
    return min(apart, 360.0 - apart)
