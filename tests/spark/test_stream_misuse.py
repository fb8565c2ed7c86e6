"""Streams that are asked for in a wrong way: what is said, and that nothing is spoilt by it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.spark.test_running import horai_cli
from tests.spark.test_streaming import (
    CHANGES,
    RULES,
    SETTINGS,
    changelog,
    drop,
    rows_of,
    rules,
    run,
    stream_of,
    wanted,
)

import horai
from horai.errors import RunFailed, UsageError
from horai.rules import Rules
from horai.runtime.sinks.table import read_current
from horai.runtime.spark.batch import explained
from horai.runtime.spark.shuffle import SparkGrid

__all__ = ["rules"]

COLUMNS = "type string, time long, vessel string, speed double"
ROW = "velocity|3|3|ann|2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--source", "nowhere", "--sink", "console"], "there is no folder nowhere"),
        (["--source", "./no/where", "--sink", "console"], "there is no folder ./no/where"),
        (["--source", "drop", "--sink", "parquet:o", "--sink", "table:./o"], "o is named twice"),
        (["--source", "drop", "--sink", "parquet:drop"], "drop is named twice: as the source and"),
        (["--source", "drop", "--sink", "delta:c"], "c is named twice: as the checkpoint and as a"),
        (
            ["--source", "drop", "--sink", "console", "--buckets", "0"],
            "buckets must be above 0, not 0\n  = help: give a whole number",
        ),
        (
            ["--source", "drop", "--sink", "console", "--files-per-step", "0"],
            "files-per-step must be above 0, not 0\n  = help: give a whole number",
        ),
        (
            ["--source", "drop", "--sink", "console", "--metrics", "no/m.jsonl"],
            "--metrics no/m.jsonl: there is no folder no",
        ),
        (
            ["--source", "drop", "--sink", "console", "--metrics", "no/m.prom"],
            "--metrics no/m.prom: there is no folder no",
        ),
    ],
)
def test_wrong_words(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "drop").mkdir()
    (tmp_path / "rules.ec").write_text(RULES, encoding="utf-8")
    code, _, shown = horai_cli("stream", "rules.ec", *words, "--checkpoint", "c", "--step", "10")
    assert code == 2
    assert said in shown
    assert not (tmp_path / "c").exists()


def test_a_source_that_is_the_checkpoint(rules: Rules, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="named twice: as the source and as the checkpoint"):
        rules.stream(str(tmp_path), sink="console", checkpoint=tmp_path, step=5)


@pytest.mark.parametrize("given", [None, "", 7])
def test_a_checkpoint_that_is_no_folder(rules: Rules, given: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a stream needs a checkpoint"):
        rules.stream(str(tmp_path), sink="console", checkpoint=given, step=5)


def test_another_source_is_refused_before_it_spoils_what_was_read(
    grid: SparkGrid, rules: Rules, tmp_path: Path
) -> None:
    lines = stream_of(3, 40)
    drop(tmp_path / "drop", lines[:20], 1)
    run(rules, tmp_path)
    (tmp_path / "other").mkdir()
    for other, what in (("tcp:127.0.0.1:1", "a server"), (str(tmp_path / "other"), "other")):
        said = rf"reads the folder .*drop, not .*{what}"
        with pytest.raises(UsageError, match=said):
            rules.stream(
                other, sink="console", checkpoint=tmp_path / "checkpoint", buckets=2, **SETTINGS
            )
    drop(tmp_path / "drop", lines[20:], 1, 1)
    run(rules, tmp_path)
    found = changelog(tmp_path / "changes")
    assert {row[-1] for row in rows_of(found, CHANGES)} == {"+", "-"}


def test_what_was_not_set_is_to_be_left_out(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    drop(tmp_path / "drop", [ROW], 1)
    run(rules, tmp_path)
    with pytest.raises(UsageError, match=r"with no end, not 500\n  hint: leave out --end"):
        run(rules, tmp_path, end=500)
    with pytest.raises(UsageError, match=r"with window 60, not none\n  hint: give --window 60"):
        run(rules, tmp_path, window=None)


def test_a_checkpoint_is_for_one_stream_at_a_time(
    grid: SparkGrid, rules: Rules, tmp_path: Path
) -> None:
    lines = stream_of(4, 60)
    drop(tmp_path / "drop", lines[:30], 1)
    asked: dict[str, Any] = SETTINGS | {"buckets": 2, "sink": f"parquet:{tmp_path}/changes"}
    asked["checkpoint"] = tmp_path / "checkpoint"
    first = rules.stream(str(tmp_path / "drop"), trigger="100ms", **asked)
    try:
        with pytest.raises(UsageError, match=r"checkpoint of a stream that runs: process \d+ on "):
            rules.stream(str(tmp_path / "drop"), **asked)
    finally:
        first.stop()
    drop(tmp_path / "drop", lines[30:], 1, 1)
    run(rules, tmp_path, sink=asked["sink"])
    found = rows_of(changelog(tmp_path / "changes"), CHANGES)
    assert found == wanted(rules, lines, "changelog", **SETTINGS)


def test_what_was_half_written_when_a_stream_was_killed_is_removed(
    grid: SparkGrid, rules: Rules, tmp_path: Path
) -> None:
    drop(tmp_path / "drop", [ROW], 1)
    run(rules, tmp_path)
    folders = [tmp_path / "checkpoint" / name for name in ("state", "commits", ".")]
    folders += [tmp_path / "changes", tmp_path / "table"]
    half = [folder / f".file.arrow.{'0a' * 16}" for folder in folders]
    others = [folder / ".file.arrow" for folder in folders]
    for path in half + others:
        path.write_bytes(b"half of it")
    run(rules, tmp_path)
    assert not any(path.exists() for path in half)
    assert all(path.exists() for path in others)


def test_an_old_file_is_read_whenever_it_comes(
    grid: SparkGrid, rules: Rules, tmp_path: Path
) -> None:
    drop(tmp_path / "drop", ["velocity|3|3|ann|2"], 1)
    run(rules, tmp_path)
    drop(tmp_path / "drop", ["velocity|30|30|ann|9"], 1, 1)
    os.utime(tmp_path / "drop" / "001.txt", (1_600_000_000, 1_600_000_000))
    run(rules, tmp_path)
    ends = [row["end"] for row in read_current(tmp_path / "table").to_pylist()]
    assert ends == [31]


def test_files_may_have_any_name(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    names = ["a b.txt", "100%.txt", "x%20y.txt", "\N{LATIN SMALL LETTER U WITH DIAERESIS}+#.txt"]
    folder = tmp_path / "in 50%25"
    (folder / "drop").mkdir(parents=True)
    for number, name in enumerate(names):
        (folder / "drop" / name).write_text(f"velocity|3|3|v{number}|2\n", encoding="utf-8")
    run(rules, folder)
    rows = read_current(folder / "table").to_pylist()
    assert sorted(row["args"] for row in rows) == [["v0"], ["v1"], ["v2"], ["v3"]]


def test_a_session_runs_several_streams(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    drop(tmp_path / "drop", [ROW, "velocity|50|50|ann|9"], 1)
    both = [
        rules.stream(
            str(tmp_path / "drop"),
            sink=f"parquet:{tmp_path}/{name}/changes",
            checkpoint=tmp_path / name / "kept",
            trigger="100ms",
            buckets=2,
            **SETTINGS,
        )
        for name in ("one", "two")
    ]
    for stream in both:
        stream.wait(until_idle=2)
    rows = [rows_of(changelog(tmp_path / name / "changes"), CHANGES) for name in ("one", "two")]
    assert rows[0] == rows[1] != []


def test_a_sink_that_takes_nothing_fails_the_stream(
    grid: SparkGrid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("horai.runtime.sinks.webhook.PAUSE", 0.01)
    (tmp_path / "rules.ec").write_text(RULES, encoding="utf-8")
    drop(tmp_path / "drop", [ROW, "velocity|50|50|ann|9"], 1)
    sinks = ["--sink", "webhook:http://127.0.0.1:1/x", "--trigger", "available-now"]
    words = ["stream", "rules.ec", "--source", "drop", "--checkpoint", "c", "--step", "20", *sinks]
    code, _, shown = horai_cli(*words)
    assert code == 1  # neither rules nor input are wrong
    assert "the webhook http://127.0.0.1:1/x does not take answers" in shown


def test_what_cannot_be_written_fails_the_stream_until_it_can(
    grid: SparkGrid, rules: Rules, tmp_path: Path
) -> None:
    drop(tmp_path / "drop", [ROW, "velocity|50", "velocity|50|50|ann|9"], 1)
    (tmp_path / "checkpoint").mkdir()
    blocked = tmp_path / "checkpoint" / "dead-letters"
    blocked.write_text("in the way", encoding="utf-8")
    with pytest.raises(RunFailed, match=r"dead-letters: .*; what was not done comes again"):
        run(rules, tmp_path)
    blocked.unlink()
    run(rules, tmp_path)
    assert [path.name for path in blocked.iterdir()] == ["000000002.jsonl"]
    ends = [row["end"] for row in read_current(tmp_path / "table").to_pylist()]
    assert ends == [51]


def test_a_socket_where_nobody_listens(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    stream = rules.stream(
        "tcp:127.0.0.1:1", sink="console", checkpoint=tmp_path / "c", buckets=2, **SETTINGS
    )
    with pytest.raises(RunFailed) as caught:
        stream.wait()
    assert str(caught.value) == "Spark could not finish the run: Connection refused"


def test_savepoints_that_are_none(grid: SparkGrid, rules: Rules, tmp_path: Path) -> None:
    drop(tmp_path / "drop", [ROW], 1)
    with pytest.raises(UsageError, match="is no savepoint"):
        run(rules, tmp_path, from_savepoint=tmp_path / "nowhere")
    run(rules, tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    code, _, shown = horai_cli(
        "state", str(tmp_path / "checkpoint"), "--savepoint", str(tmp_path / "file" / "saved")
    )
    assert code == 2
    assert "saved cannot be written: Not a directory" in shown


def test_a_frame_that_streams_and_answers_that_cannot_be_written(
    grid: SparkGrid, rules: Rules, tmp_path: Path
) -> None:
    whole = grid.spark.createDataFrame([("velocity", 1, "ann", 2.0)], COLUMNS)
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match="the data frame streams"):
        rules.spark(grid.spark.readStream.schema(COLUMNS).json(str(tmp_path / "in")))
    (tmp_path / "file").write_text("", encoding="utf-8")
    found = rules.spark(whole)
    with pytest.raises(RunFailed, match="Spark could not finish the run"):
        found.write_parquet(tmp_path / "file" / "answers")
    found.unpersist()


def test_workers_without_horai_are_told_of() -> None:
    from pyspark.errors import PythonException

    said = (
        "An exception was thrown:\nModuleNotFoundError: No module named 'horai'\n SQLSTATE: 38000"
    )
    with pytest.raises(UsageError, match=r"workers has no Horai\n.*PYSPARK_PYTHON"), explained():
        raise PythonException(said)


def test_answers_of_spark_are_not_asked_for_in_one_process() -> None:
    with pytest.raises(UsageError, match="add engine spark"):
        horai.loads(RULES).run([ROW], buckets=3)
