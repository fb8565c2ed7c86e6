"""What a stream tells of itself: through Spark's listener, and on the pages of Spark."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families
from tests.spark.test_running import RULES

import horai
from horai.cli.app import app
from horai.runtime.spark.shuffle import SparkGrid
from horai.runtime.spark.streaming import Progress
from horai.runtime.streams import StepReport

LINES = "e|1|1|a\ne|2|2|b\ng|30|25|a\ne|60|3|c\n"


def descriptions(grid: SparkGrid) -> list[str]:
    """What the jobs of this Spark were called."""
    store: Any = grid.spark.sparkContext._jsc.sc().statusStore()
    jobs = store.jobsList(None)
    found = [jobs.apply(place).description() for place in range(jobs.size())]
    return [one.get() for one in found if one.isDefined()]


@pytest.mark.timeout(900)
def test_steps_and_micro_batches_are_told(grid: SparkGrid, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(LINES)
    steps: list[StepReport] = []
    progress: list[Progress] = []
    stream = horai.loads(RULES).stream(
        str(tmp_path / "in"),
        sink=f"parquet:{tmp_path / 'out'}",
        checkpoint=tmp_path / "kept",
        trigger="available-now",
        session=grid.spark,
        buckets=2,
        start=0,
        window=20,
        step=20,
        on_step=lambda report, letters, found: steps.append(report),
        on_progress=progress.append,
    )
    stream.wait()
    assert [report.changes for report in steps] == [stream.known.totals["changes"], 0]
    assert all(0 < report.engine_seconds < 2 * report.seconds for report in steps)
    assert steps[-1].totals["too_late"] == 1
    # Spark tells when it comes to it, and stops telling when the stream is over.
    until = time.monotonic() + 60
    while not progress and time.monotonic() < until:
        time.sleep(0.1)
    assert [one.batch for one in progress][:1] == [0]
    assert progress[0].seconds["addBatch"] > 0

    named = descriptions(grid)
    assert "Horai: read and send" in named
    assert any(one.endswith("stage 0: run the engine") for one in named)
    assert grid.spark.sparkContext.getLocalProperty("spark.job.description") is None


@pytest.mark.timeout(900)
def test_numbers_in_files(grid: SparkGrid, tmp_path: Path) -> None:
    (tmp_path / "rules.ec").write_text(RULES)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(LINES)
    words = ["stream", str(tmp_path / "rules.ec"), "--source", str(tmp_path / "in")]
    words += ["--checkpoint", str(tmp_path / "kept"), "--sink", f"table:{tmp_path / 'out'}"]
    words += ["--start", "0", "--step", "20", "--buckets", "1", "--trigger", "available-now"]
    said = CliRunner().invoke(app, [*words, "--metrics", str(tmp_path / "numbers.prom")])
    assert said.exit_code == 0, said.output
    text = (tmp_path / "numbers.prom").read_text()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert families["horai_items"].samples[0].value == 4
    assert families["horai_items"].samples[0].labels == {"stream": "kept"}
    said = CliRunner().invoke(app, [*words, "--metrics-port", "70000"])
    assert said.exit_code == 2
    assert "choose another port" in said.stderr


def test_batch_runs_tell_how_long_the_engine_worked(grid: SparkGrid, tmp_path: Path) -> None:
    (tmp_path / "day.txt").write_text(LINES)
    found = horai.loads(RULES).spark(tmp_path / "day.txt", session=grid.spark, buckets=1)
    assert found.engine_seconds > 0
    assert json.dumps(found.metrics.to_dict())
    found.unpersist()
