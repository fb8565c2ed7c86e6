"""Streams of raw positions on Spark: files, topics, data frames in; recognitions out."""

from __future__ import annotations

import json
import os
import re
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.brokers import Broker
from tests.spark.test_running import horai_cli
from tests.spark.test_streaming import CHANGES, FINAL, changelog, rows_of, wanted

import horai
from horai.errors import UsageError
from horai.rules import Rules
from horai.runtime.sinks.table import read_current
from horai.runtime.spark.shuffle import SparkGrid
from horai.signals import Feed, MotionLimits, Pipeline, positions_of, read_areas, read_positions

pytestmark = pytest.mark.timeout(900)  # workers start, and load or compile what they need

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = EXAMPLES / "positions"
RULES = [*(EXAMPLES / "maritime" / f"{name}.ec" for name in ("rules", "background"))]
RULES += [HERE / "vessels.ec", HERE / "areas.ec"]
PAGE = (EXAMPLES.parent / "docs" / "signals.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TIMING: dict[str, Any] = {"start": 0, "window": 90_000, "step": 3600}


@pytest.fixture(scope="module")
def rules() -> Rules:
    return horai.load(RULES)


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline(areas=read_areas(HERE / "areas.geojson"))


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pyarrow.csv.read_csv(HERE / "positions.csv")


def lateness_of(table: pa.Table) -> int:
    """How far out of order positions are."""
    latest = found = 0
    for moment in table.column("timestamp").to_pylist():
        latest = max(latest, moment)
        found = max(found, latest - moment)
    return found


def drop(folder: Path, table: pa.Table, first: int, last: int, of: int = 6) -> None:
    """Some parts of a table as files of all kinds, one after the other."""
    folder.mkdir(exist_ok=True)
    size = -(-table.num_rows // of)
    for number in range(first, last):
        part = table.slice(number * size, size)
        path = folder / f"{number}.{('csv', 'jsonl', 'parquet')[number % 3]}"
        if path.suffix == ".csv":
            pyarrow.csv.write_csv(part, path)
        elif path.suffix == ".jsonl":
            path.write_text("\n".join(map(json.dumps, part.to_pylist())))
        else:
            pq.write_table(part, path)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


def test_files_of_positions_with_a_restart(
    grid: SparkGrid, rules: Rules, pipeline: Pipeline, table: pa.Table, tmp_path: Path
) -> None:
    feed = Feed(pipeline, lateness=lateness_of(table))
    settings = TIMING | {
        "positions": feed,
        "sink": [f"table:{tmp_path}/table", f"parquet:{tmp_path}/changes"],
        "checkpoint": tmp_path / "checkpoint",
        "files_per_step": 1,
        "watermark_delay": 4 * feed.hindsight,
    }
    drop(tmp_path / "drop", table, 0, 3)
    first = rules.stream(str(tmp_path / "drop"), trigger="100ms", buckets=2, **settings)
    while first.is_running and first.known.batch < 2:
        time.sleep(0.1)
    first.stop()
    drop(tmp_path / "drop", table, 3, 6)
    second = rules.stream(str(tmp_path / "drop"), trigger="available-now", **settings)
    second.wait()
    narrative: Any = pipeline.run(positions_of(table)).narrative()
    found = rows_of(read_current(tmp_path / "table"), FINAL)
    assert found == wanted(rules, narrative, "final", unit="s", **TIMING)
    # Who waits for what is known in hindsight only gets the same at every query time.
    changes = rows_of(changelog(tmp_path / "changes"), CHANGES)
    assert changes == wanted(rules, narrative, "changelog", unit="s", **TIMING)
    assert {row[1] for row in found} >= {"rendezVous", "trawling", "gap", "highSpeedNearCoast"}
    letters = [
        json.loads(line)["code"]
        for path in sorted((tmp_path / "checkpoint" / "dead-letters").glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    assert sorted(letters) == sorted(letter.code for letter in narrative.dead_letters)


def test_a_topic_of_positions(
    kafka: Broker,
    grid: SparkGrid,
    rules: Rules,
    pipeline: Pipeline,
    table: pa.Table,
    tmp_path: Path,
) -> None:
    topic, many = kafka.topic(2), 1500
    rows = table.slice(0, many).to_pylist()
    kafka.send(topic, [*map(json.dumps, rows), "no JSON", None, '{"mmsi": 1}'], keys=7)
    stream = rules.stream(
        kafka.url(topic),
        positions=Feed(pipeline, lateness=86_400),
        sink=f"table:{tmp_path}/table",
        checkpoint=tmp_path / "checkpoint",
        trigger="available-now",
        session=grid.spark,
        **TIMING,
    )
    stream.wait()
    narrative: Any = pipeline.run(positions_of(table.slice(0, many))).narrative()
    found = rows_of(read_current(tmp_path / "table"), FINAL)
    assert found == wanted(rules, narrative, "final", unit="s", **TIMING)
    assert len(found) > 10
    letters = [
        json.loads(line)
        for path in (tmp_path / "checkpoint" / "dead-letters").glob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    bad = sorted(x["code"] for x in letters if x["file"].startswith(f"{kafka.url(topic)}/"))
    kept = [letter.code for letter in narrative.dead_letters]
    assert bad == sorted([*kept, "json", "missing-column", "null"])


def test_a_streaming_data_frame_of_positions(
    grid: SparkGrid, rules: Rules, pipeline: Pipeline, table: pa.Table, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    part = table.slice(0, 800)
    pq.write_table(part, folder / "0.parquet")
    types = "mmsi long, timestamp long, lon double, lat double, sog double, cog double"
    frame = grid.spark.readStream.schema(types).parquet(str(folder))
    stream = rules.stream(
        frame,
        positions=pipeline,
        sink=f"table:{tmp_path}/table",
        checkpoint=tmp_path / "checkpoint",
        trigger="available-now",
        **TIMING,
    )
    stream.wait()
    alone: Any = pipeline.run(positions_of(part.drop_columns(["heading"]))).narrative()
    found = rows_of(read_current(tmp_path / "table"), FINAL)
    assert found == wanted(rules, alone, "final", unit="s", **TIMING)
    whole = grid.spark.read.parquet(str(folder))
    with pytest.raises(UsageError, match="this data frame is no stream"):
        rules.stream(whole, positions=pipeline, sink="console", checkpoint="x", step=60)
    with pytest.raises(UsageError, match="the unit s, the run has min"):
        rules.stream(frame, positions=pipeline, unit="min", sink="console", checkpoint="x")


def test_batch_runs_over_files_and_tables_of_positions(
    grid: SparkGrid, rules: Rules, pipeline: Pipeline, table: pa.Table, tmp_path: Path
) -> None:
    drop(tmp_path / "drop", table, 0, 6)
    files = sorted(map(str, (tmp_path / "drop").iterdir()))
    narrative: Any = pipeline.run(read_positions(files)).narrative()
    alone = rules.run(narrative, unit="s")
    spans = sum(row.kind == "fluent" for row in alone.rows("final"))
    for given in (files, table):
        answers = rules.spark(given, positions=pipeline, session=grid.spark)
        assert answers.count("fluent") == spans > 50
        told = sorted(letter.code for letter in answers.letters)
        assert told == sorted(letter.code for letter in narrative.dead_letters)
        answers.unpersist()
    with pytest.raises(horai.InputError, match="lon 181 is beyond 180"):
        rules.spark(files, positions=pipeline, session=grid.spark, strict=True)


def test_the_command_run_over_positions_on_spark(grid: SparkGrid) -> None:
    """Workers read files, and this process what only it has."""
    words = ["run", *map(str, RULES), "--areas", str(HERE / "areas.geojson"), "--format", "csv"]
    code, alone, error = horai_cli(*words, "--positions", str(HERE / "positions.csv"))
    assert code == 0, error
    words += ["--engine", "spark", "--positions"]
    for place, stdin in (
        (str(HERE / "positions.csv"), None),
        ("-", (HERE / "positions.csv").read_text()),
    ):
        code, out, error = horai_cli(*words, place, stdin=stdin)
        assert code == 0, error
        assert sorted(out.splitlines()) == sorted(alone.splitlines())
    assert len(alone.splitlines()) > 100


def test_the_state_of_a_stream_of_positions(
    grid: SparkGrid, table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    drop(tmp_path / "drop", table.slice(0, 600), 0, 2, 2)
    words = ["stream", *map(str, RULES), "--source", "drop", "--sink", "table:now"]
    words += ["--checkpoint", "state", "--trigger", "available-now", "--step", "3600"]
    positions = [
        *words,
        "--positions",
        "--areas",
        str(HERE / "areas.geojson"),
        "--position-lateness",
        "900",
    ]
    code, out, error = horai_cli(*positions, "--window", "90000")
    assert code == 0, error
    code, out, _ = horai_cli("state", "state")
    assert code == 0 and "not settled yet" in out
    code, out, _ = horai_cli("state", "state", "--entity", "244010003")
    assert code == 0 and "last at" in out and "in port" in out
    code, _, error = horai_cli(*positions, "--window", "90000", "--set", "gap_after=700")
    assert code == 2 and "a stream with gap_after 600.0, not 700.0" in error
    assert "give --set gap_after=600.0" in error
    code, _, error = horai_cli(*words, "--window", "90000")
    assert code == 2 and "a stream of positions, not of items" in error
    code, _, error = horai_cli(*positions[:-2], "--window", "90000", "--position-lateness", "800")
    assert code == 2 and "with lateness 900, not 800" in error
    code, _, error = horai_cli(
        *words, "--window", "90000", "--set", "turn=3", "--position-lateness", "2"
    )
    assert code == 2 and "--position-lateness and --set are about raw positions" in error
    code, _, error = horai_cli(*words, "--window", "90000", "--speed-in", "m/s")
    assert code == 2 and "--speed-in is about raw positions" in error
    code, _, error = horai_cli(*positions, "--window", "90000", "--source", "rows:drop")
    assert code == 2 and "positions cannot be narrative rows" in error
    code, _, error = horai_cli(*positions, "--window", "3600")
    assert code == 2 and "use a window of at least 4860" in error
    code, _, error = horai_cli(*positions, "--window", "90000", "--position-lateness", "-3")
    assert code == 2 and "lateness" in error


def test_what_cannot_be_a_feed(rules: Rules) -> None:
    with pytest.raises(UsageError, match="positions cannot be str"):
        rules.spark("x.csv", positions="yes")
    with pytest.raises(UsageError, match="have the unit s, the run has min"):
        rules.spark("x.csv", positions=Pipeline(), unit="min")
    with pytest.raises(ValueError, match="limits have time-points of 1 min, positions of 1 s"):
        Feed(Pipeline(MotionLimits(unit="min")))
    with pytest.raises(ValueError, match=r"lateness = 1\.5 is no length of time"):
        Feed(lateness=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="made of a Pipeline and a Layout"):
        Feed(MotionLimits())  # type: ignore[arg-type]


def test_the_python_of_the_page(
    grid: SparkGrid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = PAGE.split("## On Spark")
    for _, title, text in FENCE.findall(before):
        if title:
            Path(title).write_text(text)
    Path("areas.ec").write_text(read_areas("areas.geojson").facts())
    for folder in ("positions", "drop"):
        Path(folder).mkdir()
    Path("drop/day.csv").write_bytes(Path("day.csv").read_bytes())
    pq.write_table(pyarrow.csv.read_csv("day.csv"), "positions/day.parquet")
    names: dict[str, Any] = {}
    where = f'parquet("{tmp_path}/positions")'  # Java has begun in another folder
    python = [text for kind, _, text in FENCE.findall(after) if kind == "python"]
    python = [text.replace('parquet("positions")', where) for text in python]
    assert len(python) == 3
    exec(python[0].replace("answers.unpersist()", "spans = answers.spans.collect()"), names)
    exec(python[1].replace("found.unpersist()", "items = found.items.count()"), names)
    exec(python[2], names)
    spans = {(row.name, row.start, row.end) for row in names["spans"]}
    assert spans == {("at", 0, 181), ("moored", 1, 181), ("silent", 361, 1201)}
    assert names["items"] == names["pipeline"].run(read_positions("day.csv")).items.num_rows
    table = read_current(tmp_path / "now").to_pylist()
    assert {(row["name"], row["start"], row["end"]) for row in table} == spans
