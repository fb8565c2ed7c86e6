"""The earth as a sphere, and cells in which places that are close meet."""

from __future__ import annotations

from itertools import repeat

import numpy as np

from horai.signals.positions import Floats, Ints

RADIUS = 6_371_008.8  # metres, the mean of the earth's radii
KNOT = 1852.0 / 3600.0  # metres per second
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
