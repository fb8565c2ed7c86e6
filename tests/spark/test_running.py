"""Runs on Spark from files, data frames and the command line, and what they tell when they fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from tests.spark.support import told

import horai
from horai.cli.app import app
from horai.errors import RunError, UsageError
from horai.io import InputError
from horai.io.items.read import pieces_of
from horai.runtime.jobs import SparkJob
from horai.runtime.spark.batch import run_job
from horai.runtime.spark.shuffle import SparkGrid
from horai.settings import RunSettings

RULES = """
collectIntervals(close(_, _)=true).
initiatedAt(a(X)=true, T) :- happensAt(e(X), T).
terminatedAt(a(X)=true, T) :- happensAt(g(X), T).
holdsFor(p(X, Y)=true, I) :-
    holdsFor(close(X, Y)=true, C), holdsFor(a(X)=true, J), holdsFor(a(Y)=true, K),
    intersect_all([C, J, K], I).
happensAt(q(X, Y), T) :- happensAt(start(p(X, Y)=true), T).
"""
LINES = [
    *(f"e|{10 * i}|{10 * i}|v{i % 7}" for i in range(1, 60)),
    *(f"g|{10 * i + 9}|{10 * i + 5}|v{i % 5}" for i in range(1, 60)),
    *(f"close|{20 * i}|{20 * i}|{20 * i + 70}|true|v{i % 7}|v{i % 6}" for i in range(1, 30)),
    "e|500|3|v1",
    "oops|1|1",
    "-g|90|15|v1",
]
SETTINGS: dict[str, Any] = {"window": 100, "step": 50}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Rules and a narrative in a folder."""
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "day.csv").write_text("\n".join(LINES) + "\n")
    return tmp_path


def horai_cli(*words: str, stdin: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(words), input=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_files_are_read_by_workers_piece_by_piece(
    grid: SparkGrid, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows keep their lines however the file is cut."""
    monkeypatch.setattr(pieces_of, "__defaults__", (400,))
    monkeypatch.setattr("horai.io.items.read._BLOCK", 256)
    assert len(pieces_of(str(files / "day.csv"), None)) > 3
    rules = horai.loads(RULES)
    job = SparkJob.of(rules, files / "day.csv", RunSettings(**SETTINGS))
    assert told(run_job(grid, job, 3)) == told(rules.run(files / "day.csv", **SETTINGS))


def test_the_engine_by_name_and_input_shown(grid: SparkGrid) -> None:
    rules = horai.loads(RULES)
    found = rules.run(LINES, engine="spark", buckets=3, include_input=True, **SETTINGS)
    assert told(found) == told(rules.run(LINES, include_input=True, **SETTINGS))


def test_data_frames_in_and_out(grid: SparkGrid) -> None:
    rows = [("e", 3, "ann"), ("g", 9, "ann"), ("e", 5, "New York"), ("oops", 1, "x")]
    frame = grid.spark.createDataFrame(rows, "type string, time long, who string")
    rules = horai.loads(RULES)
    found = rules.spark(frame, buckets=3)
    spans = sorted(tuple(row) for row in found.spans.collect())
    assert spans == [("a", ["'New York'"], "true", 6, None), ("a", ["ann"], "true", 4, 10)]
    assert found.events.count() == 0
    assert (found.count("fluent"), found.count("event")) == (2, 0)
    assert [row["code"] for row in found.dead_letters.collect()] == ["unknown-type"]
    assert found.metrics.run.items == 3
    found.unpersist()


def test_the_changelog_as_a_data_frame(grid: SparkGrid) -> None:
    rules = horai.loads(RULES)
    found = rules.spark(LINES, session=grid.spark, buckets=3, answers="changelog", **SETTINGS)
    rows = [tuple(row) for row in found.spans.collect()]
    wanted = rules.run(LINES, answers="changelog", **SETTINGS).changelog
    assert sorted(rows, key=str) == sorted(
        (
            (r.name, [str(a) for a in r.args], r.value, r.start, r.end, r.query, r.op)
            for r in wanted
            if r.kind == "fluent"
        ),
        key=str,
    )


def test_from_the_command_line(grid: SparkGrid, files: Path) -> None:
    words = ["run", str(files / "rules.ec"), "--input", str(files / "day.csv")]
    words += ["--window", "100", "--step", "50", "--answers", "changelog", "--quiet"]
    one, other = horai_cli(*words), horai_cli(*words, "--engine", "spark", "--buckets", "3")
    assert other[0] == 0, other
    assert other[1] == one[1]
    assert [json.loads(line) for line in other[1].splitlines()]


def test_parquet_by_name_and_day(grid: SparkGrid, files: Path) -> None:
    words = ["run", str(files / "rules.ec"), "--input", str(files / "day.csv"), "--engine", "spark"]
    code, _, said = horai_cli(*words, "--unit", "h", "-o", str(files / "answers"), "--quiet")
    assert code == 0, said
    table = pq.read_table(files / "answers" / "spans")
    assert {"name", "day", "args", "value", "start", "end"} <= set(table.column_names)
    wanted = horai.loads(RULES).run(files / "day.csv", unit="h")
    assert table.num_rows == wanted.count("fluent")
    assert (files / "answers" / "spans" / "name=a" / "day=1970-01-01").is_dir()


def test_dead_letters_and_metrics_are_written(grid: SparkGrid, files: Path) -> None:
    words = ["run", str(files / "rules.ec"), "--input", str(files / "day.csv"), "--engine", "spark"]
    lost, counts = files / "lost.jsonl", files / "metrics.json"
    more = ["--window", "100", "--step", "50", "--dead-letters", str(lost), "--metrics"]
    assert horai_cli(*words, *more, str(counts), "--quiet")[0] == 0
    letters = [json.loads(line) for line in lost.read_text().splitlines()]
    one = horai.loads(RULES).run(files / "day.csv", **SETTINGS)
    assert [(x["line"], x["code"]) for x in letters] == [(x.line, x.code) for x in one.dead_letters]
    assert json.loads(counts.read_text())["run"]["items"] == one.metrics.run.items


def test_conditions_without_a_value_are_told(grid: SparkGrid, tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(
        "initiatedAt(slow(X)=true, T) :- happensAt(speed(X, V), T), V < 90.\n"
    )
    (tmp_path / "day.csv").write_text("speed|1|1|a|fast\nspeed|2|2|b|8\nspeed|3|3|c|8,5\n")
    (tmp_path / "none.csv").write_text("")
    words = ["run", str(tmp_path / "rules.ec"), "--input", str(tmp_path / "day.csv")]
    words += ["--input", str(tmp_path / "none.csv")]
    _, _, wanted = horai_cli(*words)
    for more in ((), ("-o", str(tmp_path / "answers"))):
        code, _, said = horai_cli(*words, "--engine", "spark", "--buckets", "2", *more)
        assert code == 0, said
        for line in ("`V < 90` fails for 2 values", "no number", "none.csv has no rows"):
            assert line in said and line in wanted


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_predicate_that_fails_in_a_worker_is_told_as_in_one_process(grid: SparkGrid) -> None:
    def bad(x: Any) -> bool:
        raise ValueError(f"what is {x}?")

    rules = horai.loads(
        "initiatedAt(f(X)=true, T) :- happensAt(e(X), T), bad(X).", predicates=[bad]
    )
    with pytest.raises(RunError) as one:
        rules.run(["e|1|1|ann"])
    with pytest.raises(RunError) as other:
        rules.run(["e|1|1|ann"], engine="spark", buckets=2)
    assert str(other.value) == str(one.value)
    assert "what is ann?" in str(other.value)


def test_a_bad_row_stops_a_strict_run(grid: SparkGrid, files: Path) -> None:
    rules = horai.loads(RULES)
    with pytest.raises(InputError) as one:
        rules.run(files / "day.csv", strict=True)
    with pytest.raises(InputError) as other:
        rules.run(files / "day.csv", strict=True, engine="spark")
    assert str(other.value) == str(one.value)


def test_a_file_that_is_not_there(grid: SparkGrid, files: Path) -> None:
    with pytest.raises(InputError, match="there is no such file"):
        horai.loads(RULES).run(files / "night.csv", engine="spark")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "spark", "--master", "lokal"], "is no master of Spark"),
        (["--engine", "spark", "--master", "spark://127.0.0.1:1"], "no master of Spark answers"),
        (["--engine", "spark", "--buckets", "0"], "buckets"),
        (["--master", "local[2]"], "--master is about runs on Spark\n  = help: add --engine spark"),
        (["--buckets", "3"], "--buckets is about runs on Spark\n  = help: add --engine spark"),
        (["--engine", "sparc"], "did you mean spark?"),
    ],
)
def test_wrong_use(files: Path, words: list[str], said: str, grid: SparkGrid) -> None:
    run = ["run", str(files / "rules.ec"), "--input", str(files / "day.csv")]
    code, _, shown = horai_cli(*run, *words)
    assert code == 2
    assert said in shown


def test_a_session_is_not_for_spark() -> None:
    with pytest.raises(UsageError, match="whole streams only"):
        horai.loads(RULES).session(engine="spark")


def test_data_frames_of_spark_give_data_frames(grid: SparkGrid) -> None:
    """All rows of one event, with columns of other names; intervals and events come back."""
    rules = horai.loads(
        "initiatedAt(fast(V)=true, T) :- happensAt(speed(V, S), T), S > 20. "
        "happensAt(sprint(V), T) :- happensAt(speed(V, S), T), S > 40."
    )
    data = grid.spark.createDataFrame([("b", 5, 45), ("a", 3, 8)], ["ship", "when", "knots"])
    seen = horai.frame(data, event="speed", time="when", arguments=["ship", "knots"])
    found = sorted(seen.recognise(rules).collect())
    assert [tuple(row) for row in found] == [
        ("event", "sprint", ["b"], None, None, None, 5),
        ("fluent", "fast", ["b"], "true", 6, None, None),
    ]
