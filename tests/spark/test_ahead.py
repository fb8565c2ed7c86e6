"""Rows that are further ahead of the clock than a stream allows."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.spark.test_streaming import FINAL, RULES, drop, rows_of

import horai
from horai.errors import UsageError
from horai.io import Narrative, TimeScale, Unit
from horai.runtime.inputs import read_input
from horai.runtime.sinks.table import read_current
from horai.runtime.spark.shuffle import SparkGrid
from horai.runtime.streams import StreamJob, positions_within, sending
from horai.settings import RunSettings
from horai.signals import positions_of

SECONDS = TimeScale("s")
GOOD = ["velocity|1000|1000|ann|2", "velocity|1070|1070|ann|8"]
FAR = "velocity|253400000000|253400000000|ann|3"  # in the year 9999
SETTINGS: dict[str, Any] = {"start": 900, "window": 600, "step": 60, "unit": "s"}


def limit(unit: Unit, skew: int | None) -> int | None:
    asked = RunSettings(step=10, unit=unit, future_skew=skew)
    return StreamJob.of(horai.loads(RULES), None, asked).limit()


def test_the_limit_moves_with_the_clock() -> None:
    before = int(dt.datetime.now(dt.UTC).timestamp())
    found = limit("s", 60)
    after = int(dt.datetime.now(dt.UTC).timestamp())
    assert found is not None and before + 60 <= found <= after + 60
    assert limit("d", 0) in (before // 86400, after // 86400)
    assert limit("s", None) is None


def test_it_takes_a_unit() -> None:
    with pytest.raises(UsageError, match="future-skew needs a unit"):
        RunSettings(future_skew=3)
    with pytest.raises(UsageError, match="future-skew"):
        RunSettings(future_skew=-1, unit="s")


def test_items_that_name_a_time_beyond_the_limit() -> None:
    """Arrival, start and end count; what has no end is not ahead of anything."""
    lines = ["velocity|10|10|ann|2", "velocity|10|11|bob|2", "velocity|11|10|cat|2"]
    lines += [
        f"close|1|1|{end}|true|ann|{who}" for end, who in (("inf", "x"), (10, "y"), (11, "z"))
    ]
    narrative = read_input(lines, horai.loads(RULES).schema, TimeScale())
    got: list[Narrative] = []

    def send(place: int, narrative: Narrative) -> Any:
        got.append(narrative)
        return iter(())

    assert list(sending(send, 10)(0, narrative)) == []
    kept = sorted((item.name, *map(str, item.args)) for item in got[0].items())
    assert kept == [("close", "ann", "x"), ("close", "ann", "y"), ("velocity", "ann", "2")]
    letters = [(letter.line, letter.code, letter.text) for letter in got[0].dead_letters]
    wanted = [(number, "ahead", lines[number - 1]) for number in (2, 3, 6)]
    assert sorted(letters) == wanted
    assert "a time after 10" in got[0].dead_letters[0].reason


def test_positions_beyond_the_limit() -> None:
    times = [5, 10, 11]
    columns = {"mmsi": [1, 2, 3], "timestamp": times, "lon": [4.0] * 3, "lat": [52.0] * 3}
    found = positions_within(10)(positions_of(pa.table(columns)))
    assert found.table.column("time").to_pylist() == [5, 10]
    assert found.letters.column("code").to_pylist() == ["ahead"]
    assert found.letters.column("line").to_pylist() == [3]


def stream(folder: Path, **more: Any) -> None:
    horai.loads(RULES).stream(
        str(folder / "drop"),
        sink=f"table:{folder}/table",
        checkpoint=folder / "checkpoint",
        trigger="available-now",
        **SETTINGS | {"buckets": 2} | more,
    ).wait()


def test_a_row_of_a_wrong_year_does_not_move_a_stream_on(grid: SparkGrid, tmp_path: Path) -> None:
    """Where it has stopped a stream, that goes on once the row is left out."""
    drop(tmp_path / "drop", [GOOD[0], FAR, GOOD[1]], 1)
    with pytest.raises(UsageError, match="leave such rows out with --future-skew"):
        stream(tmp_path)
    stream(tmp_path, future_skew=3600)
    rows = rows_of(read_current(tmp_path / "table"), FINAL)
    result = horai.loads(RULES).run(GOOD, **SETTINGS).rows("final")
    assert [(row[1], row[4], row[5]) for row in rows] == [("slow", 1001, 1071)]
    assert [(row.name, row.start, row.end) for row in result] == [("slow", 1001, 1071)]
    paths = (tmp_path / "checkpoint" / "dead-letters").glob("*.jsonl")
    letters = [json.loads(line) for path in paths for line in path.read_text().splitlines()]
    assert [(letter["code"], letter["text"]) for letter in letters] == [("ahead", FAR)]
