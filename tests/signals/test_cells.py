"""Who is close meets in a cell, wherever on earth."""

from __future__ import annotations

import math
from itertools import repeat

import h3
import numpy as np
import pytest
from tests.signals.slow import metres

from horai.signals.positions import Floats
from horai.signals.proximity import EVERYWHERE, SHARE, level_of, meeting_cells


def moved(lon: Floats, lat: Floats, far: float, way: Floats) -> tuple[Floats, Floats]:
    """Places so many metres away in given directions."""
    arc, north = far / 6_371_008.8, np.radians(lat)
    there = np.arcsin(np.sin(north) * math.cos(arc) + np.cos(north) * math.sin(arc) * np.cos(way))
    over = np.arctan2(
        np.sin(way) * math.sin(arc) * np.cos(north),
        math.cos(arc) - np.sin(north) * np.sin(there),
    )
    return (lon + np.degrees(over) + 540) % 360 - 180, np.degrees(there)


def places(many: int, dice: np.random.Generator) -> tuple[Floats, Floats]:
    """All over the earth, and around the twelve places where cells are pentagons."""
    lon = dice.uniform(-180, 180, many)
    lat = np.degrees(np.arcsin(dice.uniform(-1, 1, many)))
    corners = np.array([h3.cell_to_latlng(cell) for cell in h3.get_pentagons(9)])
    near = corners[dice.integers(0, 12, many)] + dice.normal(0, 0.02, (many, 2))
    poles = dice.uniform(89.9, 90, many) * dice.choice([-1, 1], many)
    return (
        np.concatenate([lon, np.clip(near[:, 1], -180, 180), lon, np.full(many, 180.0)]),
        np.concatenate([lat, np.clip(near[:, 0], -90, 90), poles, lat]),
    )


@pytest.mark.parametrize("close", [20.0, 500.0, 5_000.0, 100_000.0])
def test_two_who_are_close_meet(close: float) -> None:
    dice = np.random.default_rng(int(close))
    lon, lat = places(1500, dice)
    x, y = moved(lon, lat, close * 0.999, dice.uniform(0, 2 * math.pi, len(lon)))
    assert metres((lon[0], lat[0]), (x[0], y[0])) == pytest.approx(close * 0.999, rel=1e-6)
    here, theirs = meeting_cells(lon, lat, close), meeting_cells(x, y, close)
    ours = set(zip(*(part.tolist() for part in here), strict=True))
    both = ours & set(zip(*(part.tolist() for part in theirs), strict=True))
    assert {place for place, _ in both} == set(range(len(lon)))
    # That all meet everywhere would be no art.
    assert len(ours) < 3 * len(lon)


def misses(share: float, level: int) -> int:
    """How often who is so many edges away is neither in the same small cell nor beside it."""
    dice = np.random.default_rng(level)
    lon, lat = places(300, dice)
    # The worst places are the corners of cells.
    cells = map(h3.latlng_to_cell, lat.tolist(), lon.tolist(), repeat(level))
    corners = np.array([h3.cell_to_boundary(cell)[0] for cell in cells])
    lon, lat = np.concatenate([lon, corners[:, 1]]), np.concatenate([lat, corners[:, 0]])
    far = h3.average_hexagon_edge_length(level, unit="m") * share * 0.9999
    x, y = moved(lon, lat, far, dice.uniform(0, 2 * math.pi, len(lon)))
    here = map(h3.latlng_to_cell, lat.tolist(), lon.tolist(), repeat(level))
    there = map(h3.latlng_to_cell, y.tolist(), x.tolist(), repeat(level))
    return sum(b not in h3.grid_disk(a, 1) for a, b in zip(here, there, strict=True))


@pytest.mark.parametrize("level", [0, 1, 3, 5, 7, 9, 12])
def test_who_is_close_is_in_a_cell_beside(level: int) -> None:
    assert misses(SHARE, level) == 0
    assert misses(1.2, level) > 0  # it does depend on the share


def test_the_level_suits_the_distance() -> None:
    assert [level_of(close) for close in (0.1, 500.0, 5_000.0, 2e6)] == [15, 7, 4, None]
    place, cell = meeting_cells(np.array([1.0, 2.0]), np.array([1.0, 2.0]), 2e6)
    assert (place.tolist(), cell.tolist()) == ([0, 1], [EVERYWHERE, EVERYWHERE])


def test_no_places() -> None:
    place, cell = meeting_cells(np.zeros(0), np.zeros(0), 500.0)
    assert (len(place), len(cell)) == (0, 0)
