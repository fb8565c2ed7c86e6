"""LARS programs on Spark: from files, data frames and the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import Phase, given
from tests.spark.lars_runs import LarsRun, alone, in_buckets, split_runs, told
from tests.spark.test_running import horai_cli
from tests.weights import examples

import horai
from horai.errors import RunError, UsageError
from horai.io import InputError
from horai.io.items.read import pieces_of
from horai.runtime.lars.buckets import ProgramJob
from horai.runtime.spark.batch import run_job
from horai.runtime.spark.shuffle import SparkGrid
from horai.settings import RunSettings

PROGRAM = """
late(B) :- bus(B), not seen(B, _) [30 s].
slow(B, S) :- speed(B, S) [20 s], S < 40, not late(B).
last(B, S) :- speed(B, S) [1 # per speed(A, _)].
fleet(N) :- N = count { B : speed(B, _) [60 s] }.
bus(v1). bus(v2). bus(v9).
"""
LINES = [
    *(f"seen|{10 * i}|{10 * i}|v{i % 7}|{i}" for i in range(1, 40)),
    *(f"speed|{9 * i + 3 * (i % 3)}|{9 * i}|v{i % 5}|{i % 13 * 7}" for i in range(1, 40)),
    *(f"speed|{9 * i}|{9 * i}|v{i % 5}|{i % 11 * 9}" for i in range(1, 40)),  # the later one counts
    "seen|300|3|v1|0",
    "oops",
    "-speed|90|9|v1|7",
    "-seen|95|90|nobody|1",
    "other|100|100|x",
]
SETTINGS: dict[str, Any] = {"step": 10, "start": 0}
LATE: dict[str, Any] = SETTINGS | {"allowed_lateness": 50, "filter": "none"}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A program and its signals in a folder."""
    (tmp_path / "p.lars").write_text(PROGRAM)
    (tmp_path / "day.csv").write_text("\n".join(LINES) + "\n")
    return tmp_path


def test_files_are_read_by_workers_piece_by_piece(
    grid: SparkGrid, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signals keep their order, which decides what the last one is, however the file is cut."""
    monkeypatch.setattr(pieces_of, "__defaults__", (400,))
    monkeypatch.setattr("horai.io.items.read._BLOCK", 256)
    assert len(pieces_of(str(files / "day.csv"), None)) > 3
    program, input = horai.loads(PROGRAM, language="lars"), [str(files / "day.csv")]
    found = told(run_job(grid, ProgramJob(program, input, RunSettings.of("lars", "run", LATE)), 3))
    assert found == told(program.run(input, **LATE))
    codes = {letter.code for letter in found["letters"]}
    assert {"too-late", "unknown-retraction"} < codes


def test_the_engine_by_name(grid: SparkGrid) -> None:
    program = horai.loads(PROGRAM, language="lars")
    found = program.run(LINES, engine="spark", buckets=3, **SETTINGS)
    assert told(found) == told(program.run(LINES, **SETTINGS))
    assert found.engine == "spark"
    assert len(found.reasons) == 1
    assert "no argument in common (<rules>:5)" in found.reasons[0]


# A run on Spark takes seconds: an example that fails is kept as it is.
@examples("spark", phases=[Phase.generate])
@given(split_runs())
def test_random_runs(grid: SparkGrid, run: LarsRun) -> None:
    assert in_buckets(run, grid) == alone(run)


def test_programs_with_several_answers(grid: SparkGrid) -> None:
    program = horai.loads(
        "a(X) :- s(X), not b(X). b(X) :- s(X), not a(X). :- s(z) [0].", language="lars"
    )
    rows = ["s|0|0|x", "s|1|1|y", "s|2|2|z"]
    found = program.run(rows, engine="spark", models="all")
    assert told(found) == told(program.run(rows, models="all"))
    frames = program.spark(rows, session=grid.spark, models="all")
    assert {(row["query"], row["model"]) for row in frames.atoms.collect()} == {
        *((0, 1), (0, 2), (1, 1), (1, 2))
    }
    assert [row["query"] for row in frames.unanswered.collect()] == [2]
    frames.unpersist()


def test_data_frames_in_and_out(grid: SparkGrid) -> None:
    rows = [("speed", 1, "ann", 30), ("speed", 3, "New York", 20), ("seen", 9, "v1", 1)]
    frame = grid.spark.createDataFrame(rows, "type string, time long, who string, n long")
    found = horai.loads(PROGRAM, language="lars").spark(
        frame, buckets=3, end=12, filter="slow,last"
    )
    atoms = {(row["query"], row["name"], *row["args"]) for row in found.atoms.collect()}
    assert atoms == {
        *((query, name, "ann", "30") for query in range(1, 13) for name in ("slow", "last")),
        *((q, name, "'New York'", "20") for q in range(3, 13) for name in ("slow", "last")),
    }
    assert found.dead_letters.count() == 0
    assert found.unanswered.count() == 0
    assert found.engine_seconds > 0
    found.unpersist()


@pytest.mark.parametrize("form", ["windows", "final", "changelog"])
@pytest.mark.parametrize("asked", [SETTINGS, LATE], ids=["once", "revised"])
def test_forms_of_answers_as_data_frames(grid: SparkGrid, form: str, asked: dict[str, Any]) -> None:
    program = horai.loads(PROGRAM, language="lars")
    found = program.spark(LINES, session=grid.spark, buckets=3, answers=form, **asked)
    wanted = program.run(LINES, **asked)
    rows = [row.asDict() | {"kind": "atom"} for row in found.atoms.collect()]
    for row in rows:
        row["args"] = [int(arg) if arg.isdecimal() else arg for arg in row["args"]]
    assert sorted(map(ordered, rows)) == sorted(ordered(row.as_dict()) for row in wanted.rows(form))
    assert sorted(found.letters) == sorted(wanted.dead_letters)
    found.unpersist()


def ordered(row: dict[str, Any]) -> str:
    """A row as text, whatever the order of its columns."""
    return json.dumps(row, sort_keys=True)


def test_from_the_command_line(grid: SparkGrid, files: Path) -> None:
    words = ["run", str(files / "p.lars"), "--input", str(files / "day.csv"), "--step", "10"]
    words += ["--allowed-lateness", "50", "--answers", "changelog", "--quiet"]
    one, other = horai_cli(*words), horai_cli(*words, "--engine", "spark", "--buckets", "3")
    assert other[0] == 0, other
    assert other == one
    assert [json.loads(line) for line in other[1].splitlines()]


def test_parquet_by_name_and_day(grid: SparkGrid, files: Path) -> None:
    words = ["run", str(files / "p.lars"), "--input", str(files / "day.csv"), "--engine", "spark"]
    words += ["--unit", "s", "--step", "10", "--quiet"]
    letters = files / "lost.jsonl"
    code, _, said = horai_cli(*words, "-o", str(files / "answers"), "--dead-letters", str(letters))
    assert code == 0, said
    table = pq.read_table(files / "answers" / "atoms")
    wanted = horai.loads(PROGRAM, language="lars").run(files / "day.csv", unit="s", step=10)
    assert table.num_rows == len(wanted.rows("windows"))
    assert (files / "answers" / "atoms" / "name=last" / "day=1970-01-01").is_dir()
    assert len(letters.read_text().splitlines()) == len(wanted.dead_letters)


# --- what is wrong --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--master", "local[2]"], "--master is about runs on Spark"),
        (["--buckets", "2"], "--buckets is about runs on Spark"),
        (["--engine", "spark", "--live"], "Spark runs over whole streams"),
        (["--engine", "spark", "--state", "s"], "Spark runs over whole streams"),
        (["--engine", "spark", "--output-every", "change"], "Spark runs over whole streams"),
        (["--engine", "spark", "-o", "folder", "--format", "csv"], "is written as Parquet"),
        (["--engine", "sparkk"], "did you mean spark?"),
    ],
)
def test_what_cannot_be_combined_is_told(files: Path, more: list[str], said: str) -> None:
    code, _, error = horai_cli("run", str(files / "p.lars"), "-i", str(files / "day.csv"), *more)
    assert code == 2
    assert said in error


def test_plans(files: Path) -> None:
    code, out, _ = horai_cli("plan", str(files / "p.lars"), "--spark")
    assert code == 0
    assert out.startswith("part 1 of 3, in buckets\n  works out  late/1, slow/2\n")
    code, out, _ = horai_cli("plan", str(files / "p.lars"), "--spark", "--format", "json")
    assert [part["split"] for part in json.loads(out)] == [True, True, False]
    code, out, _ = horai_cli("plan", str(files / "p.lars"))
    assert code == 0
    assert "part 1 of 3" not in out


def test_sessions_are_those_of_one_process() -> None:
    with pytest.raises(UsageError, match="whole streams only"):
        horai.loads("h(X) :- b(X).", language="lars").session(engine="spark")


def test_wrong_forms_of_answers_are_refused_before_spark_starts() -> None:
    program = horai.loads("h(X) :- b(X).", language="lars")
    with pytest.raises(UsageError, match="answers cannot be 'all'"):
        program.spark([], answers="all")
    with pytest.raises(UsageError, match="changes are those of one model"):
        program.spark([], answers="changelog", models="all")


def test_what_goes_wrong_in_a_bucket_is_told_as_in_one_process(grid: SparkGrid) -> None:
    text = "n(X, f(N)) :- n(X, N). n(X, 1) :- s(X)."
    with pytest.raises(RunError, match="without end") as here:
        horai.loads(text, language="lars").run(["s|1|1|x"])
    with pytest.raises(RunError) as there:
        horai.loads(text, language="lars").run(["s|1|1|x"], engine="spark", buckets=2)
    assert str(here.value) in str(there.value)


def test_strict_runs_stop_at_a_bad_row(grid: SparkGrid, files: Path) -> None:
    with pytest.raises(InputError, match="oops"):
        horai.loads(PROGRAM, language="lars").run(
            str(files / "day.csv"), engine="spark", strict=True
        )
