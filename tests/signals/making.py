"""Random positions, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from hypothesis import strategies as st
from shapely import Geometry, box, unary_union
from tests.signals.slow import Row

from horai.signals import Areas, Positions, positions_of

# Where on earth: at home, at the date line, at the date line far north, at the pole.
BASES = ((10.0, 50.0), (179.999, 0.0), (-179.999, 70.0), (0.0, 89.995), (10.0, 50.0))
PLACE = 0.001  # degrees between two places of the grid
DELAYS = (0, 1, 30, 60, 61, 120, 300, 600, 601, 1500)
SPEEDS = (None, None, 0.0, 0.9, 1.0, 3.0, 4.9, 5.0, 10.0, 12.0, 13.0, 20.0, 61.0)
COURSES = (None, None, 0.0, 10.0, 15.1, 30.0, 180.0, 350.0)


@st.composite
def rows(draw: st.DrawFn, most: int = 14) -> list[Row]:
    """Positions of a few entities that move near each other, with everything that goes wrong."""
    base_lon, base_lat = draw(st.sampled_from(BASES))
    found: list[Row] = []
    for entity in draw(st.sampled_from([["a"], ["a", "b"], ["a", "b", "c"]])):
        time = draw(st.sampled_from([0, 7, 60, 300]))
        x, y = draw(st.integers(-3, 3)), draw(st.integers(-3, 3))
        for _ in range(draw(st.integers(1, most))):
            time += draw(st.sampled_from(DELAYS))
            x, y = x + draw(st.integers(-3, 3)), y + draw(st.integers(-3, 3))
            if draw(st.integers(0, 9)) == 0:
                x += draw(st.sampled_from([-300, 300]))
            lon = (base_lon + x * PLACE + 180) % 360 - 180
            lat = min(base_lat + y * PLACE, 89.9999)
            told = draw(st.sampled_from(SPEEDS)), draw(st.sampled_from(COURSES))
            row = Row(entity, time, lon, lat, *told, draw(st.sampled_from([None, 5.0])))
            found.append(row)
            if draw(st.integers(0, 14)) == 0:
                found.append(row)
    return found


def shapes(rows: Sequence[Row]) -> dict[str, Geometry]:
    """Areas around and beside a place where somebody is."""
    lon, lat = rows[0].lon, rows[0].lat
    around = box(lon - 3 * PLACE, lat - 2 * PLACE, lon + 2 * PLACE, lat + 3 * PLACE)
    hole = around.difference(box(lon, lat, lon + PLACE, lat + PLACE))
    far = box(lon + 4 * PLACE, lat, lon + 8 * PLACE, lat + PLACE)
    return {"near": around, "hole": hole, "both": unary_union([hole, far])}


def areas(shapes: dict[str, Geometry]) -> Areas:
    return Areas(list(shapes), ["some"] * len(shapes), list(shapes.values()))


def table(rows: Sequence[Row]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 7
    types = [pa.string(), pa.int64(), *[pa.float64()] * 5]
    arrays = [pa.array(column, type_) for column, type_ in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=list(Row._fields))


def positions(rows: Sequence[Row], name: str = "<memory>") -> Positions:
    return positions_of(table(rows), name=name)
