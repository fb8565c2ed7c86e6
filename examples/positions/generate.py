"""A day at sea as a tracker sees it: writes positions.csv, areas.geojson and vessels.ec.

    python generate.py [--every SECONDS] [--seed N] [--folder FOLDER]

Seven vessels go from place to place. What they do on the way is planted (`PLANTED`), and the rules
have to find it again, and nothing else. Rows come late and in disorder, some twice, some with
values that cannot be. The same seed gives the same rows.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
HOUR = 3600
DAY = 24 * HOUR
MILE = 1852.0
NORTH = 60.0  # nautical miles in a degree of latitude
HEADER = "mmsi,timestamp,lon,lat,sog,cog,heading"

# Rectangles: west, south, east, north; all is fiction.
AREAS = {
    "port": ("nearPorts", (4.30, 51.98, 4.36, 52.04)),
    "coast": ("nearCoast", (4.30, 52.40, 4.50, 52.70)),
    "roads": ("anchorage", (4.10, 51.84, 4.20, 51.92)),
    "bank": ("fishing", (3.50, 51.90, 3.80, 52.10)),
}


class Stop(NamedTuple):
    """Where a vessel is at a time, in hours; two in a row at the same place mean that it stays."""

    hour: float
    lon: float
    lat: float


def _zigzag(begin: float, end: float) -> list[Stop]:
    """To and fro over the bank, with a turn every five minutes."""
    turns = round((end - begin) * 12)
    return [
        Stop(begin + (end - begin) * i / turns, 3.60 + 0.004 * (i // 2), 52.0 + 0.007 * (i % 2))
        for i in range(turns + 1)
    ]


MEETING = (3.200, 52.500)
BESIDE = (3.202, 52.500)  # 135 metres away
VESSELS: dict[str, tuple[int, list[Stop]]] = {
    "cargo": (
        244010001,
        [
            *(Stop(0, 3.90, 52.20), Stop(2, 4.33, 52.01), Stop(6, 4.33, 52.01)),
            *(Stop(9, 3.60, 52.40), Stop(24, 1.00, 54.60)),
        ],
    ),
    "tanker": (
        244010002,
        [
            *(Stop(0, 4.00, 51.70), Stop(1, 4.15, 51.88), Stop(8, 4.15, 51.88)),
            *(Stop(24, 1.20, 50.60),),
        ],
    ),
    "fishing": (
        244010003,
        [
            *(Stop(0, 4.32, 52.00), Stop(7, 4.32, 52.00), Stop(10, 3.60, 52.00)),
            *_zigzag(10, 12)[1:],
            *(Stop(15, 4.32, 52.00), Stop(24, 4.32, 52.00)),
        ],
    ),
    "cargo ": (
        244010004,
        [
            *(Stop(0, 2.00, 54.00), Stop(14, *MEETING), Stop(15, *MEETING)),
            *(Stop(24, 4.90, 51.20),),
        ],
    ),
    "tanker ": (
        244010005,
        [
            *(Stop(0, 5.60, 53.90), Stop(14, *BESIDE), Stop(15, *BESIDE)),
            *(Stop(24, 0.70, 53.40),),
        ],
    ),
    "passenger": (
        244010006,
        [Stop(4 * i, 2.0 + 1.3 * (i % 2), 51.0 - 0.8 * (i % 2)) for i in range(7)],
    ),
    "pleasure": (
        244010007,
        [Stop(0, 3.50, 53.60), Stop(11, 4.40, 52.75), Stop(14, 4.40, 52.35), Stop(24, 3.0, 51.3)],
    ),
}
SILENT = {244010005: (11.5, 13.0)}  # hours

# What the rules have to find: name, arguments, value, from hour, until hour.
PLANTED: list[tuple[str, tuple[int, ...], str, float, float]] = [
    ("anchoredOrMoored", (244010001,), "true", 2.0, 6.0),
    ("anchoredOrMoored", (244010002,), "true", 1.0, 8.0),
    ("anchoredOrMoored", (244010003,), "true", 0.0, 7.0),
    ("anchoredOrMoored", (244010003,), "true", 15.0, 24.0),
    ("trawling", (244010003,), "true", 10.0, 12.0),
    ("gap", (244010005,), "farFromPorts", 11.5, 13.0),
    ("rendezVous", (244010004, 244010005), "true", 14.0, 15.0),
    ("loitering", (244010004,), "true", 14.0, 15.0),
    ("loitering", (244010005,), "true", 14.0, 15.0),
    ("highSpeedNearCoast", (244010007,), "true", 11.4, 13.6),
]
# And what must not be there, unless it is planted.
WATCHED = {name for name, *_ in PLANTED} | {"tugging", "pilotOps", "searchAndRescue", "drifting"}


class Row(NamedTuple):
    """A message: when it arrives, and what it says."""

    arrives: float
    text: str


def _message(number: int, time: int, lon: float, lat: float, motion: str) -> str:
    return f"{number},{time},{lon:.5f},{lat:.5f},{motion}"


def _voyage(number: int, stops: list[Stop], every: int, dice: random.Random) -> list[Row]:
    """The messages of one vessel: it goes straight and evenly from stop to stop."""
    found = []
    time = dice.randrange(every)
    silent = SILENT.get(number, (0.0, 0.0))
    for here, there in pairwise(stops):
        lasts = (there.hour - here.hour) * HOUR
        east = (there.lon - here.lon) * NORTH * math.cos(math.radians((here.lat + there.lat) / 2))
        north = (there.lat - here.lat) * NORTH
        knots, course = (
            math.hypot(east, north) / lasts * HOUR,
            math.degrees(math.atan2(east, north)),
        )
        while time < there.hour * HOUR:
            share = (time - here.hour * HOUR) / lasts
            lon = here.lon + share * (there.lon - here.lon)
            lat = here.lat + share * (there.lat - here.lat)
            if knots:
                speed, shown = knots * dice.uniform(0.98, 1.02), (course + dice.gauss(0, 1)) % 360
                motion = f"{speed:.1f},{shown % 360:.1f},{round(course) % 360}"
            else:  # it swings a little
                lon, lat = lon + dice.gauss(0, 5) / 68_000, lat + dice.gauss(0, 5) / 111_000
                motion = f"{dice.uniform(0, 0.3):.1f},{dice.uniform(0, 359.9):.1f},511"
            if not silent[0] * HOUR <= time < silent[1] * HOUR:
                late = dice.expovariate(1 / 60) if dice.random() < 0.1 else 0.0
                found.append(Row(time + late, _message(number, time, lon, lat, motion)))
            time += every + dice.randrange(-5, 6)
    return found


def _mistakes(rows: list[Row], dice: random.Random) -> list[Row]:
    """Messages that must not be believed: twice the same, no place on earth, far away."""
    again = [Row(row.arrives + 1, row.text) for row in dice.sample(rows, 20)]
    wrong = [
        _message(244010006, 5000, 181.0, 91.0, "102.3,360.0,511"),
        _message(244010006, 5001, 2.5, 50.5, "17.0,-20.0,511"),
        _message(244010006, 40_001, 12.0, 50.5, "17.0,120.0,120"),
        _message(244010001, 50_001, 2.9, 20.0, "9.0,320.0,320"),
    ]
    return [*again, *(Row(float(text.split(",")[1]), text) for text in wrong)]


def positions(every: int = 120, seed: int = 7) -> str:
    """The messages of a day as CSV, in the order in which they arrive."""
    dice = random.Random(seed)
    rows = [
        row for number, stops in VESSELS.values() for row in _voyage(number, stops, every, dice)
    ]
    rows = sorted([*rows, *_mistakes(rows, dice)], key=lambda row: row.arrives)
    return "\n".join([HEADER, *(row.text for row in rows)]) + "\n"


def areas() -> str:
    """The areas as GeoJSON."""
    features = []
    for name, (kind, (west, south, east, north)) in AREAS.items():
        ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
        features.append(
            {
                "type": "Feature",
                "properties": {"name": name, "type": kind},
                "geometry": {"type": "Polygon", "coordinates": [ring]},
            }
        )
    return json.dumps({"type": "FeatureCollection", "features": features}, indent=1) + "\n"


def facts() -> str:
    """The type of every vessel."""
    lines = [f"vesselType({number}, {kind.strip()})." for kind, (number, _) in VESSELS.items()]
    return "\n".join(["% Written by generate.py.", *lines]) + "\n"


def main() -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=120, help="seconds between two positions")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--folder", type=Path, default=HERE)
    asked = parser.parse_args()
    (asked.folder / "positions.csv").write_text(positions(asked.every, asked.seed))
    (asked.folder / "areas.geojson").write_text(areas())
    (asked.folder / "vessels.ec").write_text(facts())


if __name__ == "__main__":
    main()
