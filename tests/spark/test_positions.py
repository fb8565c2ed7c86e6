"""Positions to items as stages of Spark: the same as in one process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import horai
from horai.io import InputError
from horai.runtime.spark.frames import derive
from horai.runtime.spark.shuffle import SparkGrid
from horai.signals import Layout, MotionLimits, Pipeline, as_rows, positions_of, read_areas

pytestmark = pytest.mark.timeout(900)  # workers start, and load or compile what they need

EXAMPLES = Path(__file__).parents[2] / "examples"
AREAS = read_areas(EXAMPLES / "positions" / "areas.geojson")


def crowd(rows: int, seed: int) -> pa.Table:
    """Vessels that swarm around a few places, at the date line too, with all sorts of mistakes."""
    dice = np.random.default_rng(seed)
    vessel = dice.integers(0, 30, rows)
    home = np.array([(4.33, 52.01), (3.7, 52.0), (179.9999, -17.0), (4.15, 51.88)])
    places = home[vessel % 4] + dice.normal(0, 0.015, (rows, 2))
    speed = dice.choice([0.2, 3.0, 9.0, 61.0, np.nan], rows, p=[0.3, 0.3, 0.3, 0.02, 0.08])
    odd = dice.random(rows)
    return pa.table(
        {
            "vessel": pa.array([f"Vessel {v}" for v in vessel]),
            "time": pa.array(dice.integers(0, 20_000, rows)),
            "lon": pa.array(np.where(odd < 0.01, 200.0, (places[:, 0] + 180) % 360 - 180)),
            "lat": pa.array(np.where(odd > 0.99, 0.0, places[:, 1])),
            "speed": pa.array(speed, from_pandas=True),
            "course": pa.array(dice.choice([0.0, 90.0, 100.0], rows)),
        }
    )


def test_items_and_letters_are_those_of_one_process(grid: SparkGrid) -> None:
    table = pa.concat_tables([crowd(2000, 1), crowd(2000, 1).slice(0, 40)])
    pipeline = Pipeline(MotionLimits(max_speed=60.0, close=300.0), AREAS)
    whole = pipeline.run(positions_of(table))
    frame = grid.spark.createDataFrame(table.to_pandas()).repartition(3)
    found = derive(frame, pipeline, buckets=2)
    ours = sorted(map(str, (row.asDict() for row in found.items.collect())))
    theirs = as_rows(whole.items)
    assert ours == sorted(map(str, theirs.to_pylist()))
    kinds = set(theirs.column("type").to_pylist())
    assert kinds > {"proximity", "entersArea", "leavesArea", "gap_end", "stop_end", "velocity"}
    letters = sorted((row["code"], row["reason"]) for row in found.dead_letters.collect())
    assert letters == sorted((x.code, x.reason) for x in whole.dead_letters)
    assert {code for code, _ in letters} == {
        "coordinates",
        "motion",
        "duplicate",
        "jump",
        "conflict",
    }
    found.unpersist()


def test_raw_positions_go_in_and_recognitions_come_out(grid: SparkGrid) -> None:
    """The whole way on Spark: files of positions, items, rules."""
    here = EXAMPLES / "positions"
    maritime = EXAMPLES / "maritime"
    files = [maritime / "rules.ec", maritime / "background.ec", *sorted(here.glob("*.ec"))]
    rules = horai.load(files)
    frame = grid.spark.read.csv(str(here / "positions.csv"), header=True, inferSchema=True)
    found = derive(frame, Pipeline(areas=AREAS))
    answers = rules.spark(found.items)
    rows = answers.spans.collect()
    table = frame.toPandas()
    whole = Pipeline(areas=AREAS).run(positions_of(table))
    wanted = rules.run(whole.narrative()).rows("final")
    said = {(row.name, tuple(row.args), row.value, row.start, row.end) for row in rows}
    spans = [row for row in wanted if row.kind == "fluent"]
    assert said == {
        (row.name, tuple(map(str, row.args)), str(row.value), row.start, row.end) for row in spans
    }
    assert ("rendezVous", ("244010004", "244010005")) in {row[:2] for row in said}
    assert answers.letters == []
    answers.unpersist()
    found.unpersist()


def test_nothing_and_wrong_columns(grid: SparkGrid) -> None:
    nothing = grid.spark.createDataFrame([], "vessel string, time long, lon double, lat double")
    found = derive(nothing, Pipeline())
    assert (found.items.collect(), found.dead_letters.collect()) == ([], [])
    with pytest.raises(InputError, match="<data frame>: no column tells lat"):
        derive(nothing.drop("lat"), Pipeline())
    one = grid.spark.createDataFrame(
        [("v", 1, 2.0, 3.0, 5.0)], "v string, t long, x double, y double, s double"
    )
    named = derive(one, Pipeline(), Layout(columns={"entity": "v", "speed": "s"}), until=5000)
    kinds = sorted(row["type"] for row in named.items.collect())
    assert kinds == ["gap_start", "velocity"]
    found.unpersist()
    named.unpersist()
