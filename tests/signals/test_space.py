"""Areas of GeoJSON files, and pairs that are close, anywhere on earth."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.signals.slow import metres
from tests.weights import examples

from horai.io import InputError
from horai.signals import MotionLimits, Pipeline, SettingsError, areas_of, no_positions, read_areas
from horai.signals.proximity import SAMPLES, close_pairs

SQUARE = [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]]


def feature(name: object, kind: object, shape: Any = None) -> dict[str, object]:
    geometry = {"type": "Polygon", "coordinates": SQUARE} if shape is None else shape
    return {"type": "Feature", "properties": {"name": name, "type": kind}, "geometry": geometry}


def collection(*features: object) -> dict[str, object]:
    return {"type": "FeatureCollection", "features": list(features)}


def test_areas_and_their_facts(tmp_path: Path) -> None:
    many = {"type": "MultiPolygon", "coordinates": [SQUARE]}
    text = json.dumps(collection(feature("Port of Ida", "nearPorts"), feature(7, "fishing", many)))
    (tmp_path / "areas.geojson").write_text(text)
    areas = read_areas(tmp_path / "areas.geojson")
    assert areas.facts() == "areaType('Port of Ida', nearPorts).\nareaType(7, fishing).\n"
    assert len(areas) == 2


BOW = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ([], "this is no FeatureCollection"),
        ({"type": "Feature"}, "this is no FeatureCollection"),
        (collection(3), "feature 1: it has no name or id"),
        (collection(feature("a", None)), "feature 1: it has no type or kind"),
        (collection(feature("a", "k"), feature("a", "k")), "two areas are called a"),
        (
            collection(feature("a", "k", {"type": "Point", "coordinates": [1, 2]})),
            "a is no polygon but Point",
        ),
        (collection(feature("a", "k", BOW)), "a is no valid polygon: Self-intersection"),
        (collection(feature("a", "k", {"type": "Polygon", "coordinates": "x"})), "cannot be read"),
        (
            collection(
                feature(
                    "a",
                    "k",
                    {"type": "Polygon", "coordinates": [[[179, 0], [181, 0], [181, 1], [179, 0]]]},
                )
            ),
            "beyond 180",
        ),
    ],
)
def test_wrong_areas_are_named(content: object, part: str) -> None:
    with pytest.raises(InputError, match=part):
        areas_of(content, "areas.geojson")


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        areas_of(collection(feature("", "k"), feature("b", "k", BOW)))
    assert "feature 1" in str(caught.value) and "feature 2" in str(caught.value)


def test_files_that_are_no_areas(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_areas(tmp_path / "none.geojson")
    (tmp_path / "x.geojson").write_text('{"a":\n nonsense}')
    with pytest.raises(InputError, match=r"x\.geojson:2: this is no JSON"):
        read_areas(tmp_path / "x.geojson")


def test_without_shapely_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shapely", None)
    with pytest.raises(InputError, match=r"pip install 'horai\[space\]'"):
        areas_of(collection(feature("a", "k")), "areas.geojson")
    assert Pipeline().run(no_positions()).items.num_rows == 0  # areas are all that needs it


PLACES = st.one_of(
    st.tuples(st.floats(-180, 180), st.sampled_from([-90.0, 90.0])),
    st.tuples(st.sampled_from([-180.0, 180.0, 179.9999, -179.9999, 0.0]), st.floats(-90, 90)),
    st.tuples(st.floats(-180, 180), st.floats(-90, 90)),
)


@examples("normal")
@given(
    PLACES,
    st.sampled_from([0.0, 1.0, 500.0, 20_000.0, 400_000.0]),
    st.integers(2, 30),
    st.randoms(use_true_random=False),
)
def test_no_pair_is_missed(
    middle: tuple[float, float], close: float, many: int, dice: random.Random
) -> None:
    reach = max(close, 10.0) / 111_195 * 2
    rows = []
    for number in range(many):
        lat = max(-90.0, min(90.0, middle[1] + dice.uniform(-reach, reach)))
        near_pole = abs(lat) > 89
        over = dice.uniform(-180, 180) if near_pole else dice.uniform(-reach, reach) * 2
        lon = (middle[0] + over + 180) % 360 - 180
        rows.append((f"e{number:02}", dice.choice([0, 60]), lon, lat))
    if dice.random() < 0.3:
        rows[1] = (rows[1][0], *rows[0][1:])
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    samples = pa.Table.from_arrays(columns, names=SAMPLES.names).cast(SAMPLES)
    found = close_pairs(samples, MotionLimits(close=close))
    ours = {tuple(row.values()) for row in found.to_pylist()}
    sure, possible = set(), set()
    for one in rows:
        for two in rows:
            if one[0] < two[0] and one[1] == two[1]:
                far = metres(one[2:], two[2:])
                if far <= close * (1 - 1e-9) or (far == 0 and close == 0):
                    sure.add((one[0], two[0], one[1]))
                if far <= close * (1 + 1e-9) + 1e-6:
                    possible.add((one[0], two[0], one[1]))
    assert sure <= ours <= possible


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        ({"gap_after": -1.0}, "gap_after = -1.0 is no limit"),
        ({"turn": float("nan")}, "turn = nan"),
        ({"trust_after": 0}, "nothing would ever be believed"),
        ({"slow_speed": 0.5}, r"slow_speed \(0.5\) is below stop_speed"),
        ({"unit": "h"}, "gap_after = 600.0 s is shorter than a time-point"),
        ({"unit": "fortnight"}, "unknown unit of time 'fortnight'"),
        ({"close_step": 70.0}, "no multiple of close_step"),
        ({"unit": "ns", "gap_after": 1e9}, "too long for time-points"),
        ({"gap_after": 1e7}, "more than 100,000 times close_step"),
    ],
)
def test_limits_that_make_no_sense(wrong: dict[str, Any], part: str) -> None:
    with pytest.raises(SettingsError, match=part):
        MotionLimits(**wrong)
