"""Every case on a standalone cluster and on two local cores: in batch and as a stream."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.spark import all_cases
from tests.spark.all_cases import WAYS
from tests.spark.clusters import SETTINGS
from tests.spark.given_cases import ROOT

from horai.runtime.spark.shuffle import SparkGrid

LEAST = {"batch": 250, "stream": 250, "lars": 100}  # cases that the project itself has


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("what", sorted(WAYS))
def test_every_case_on_a_cluster(what: str, master: str, tmp_path: Path) -> None:
    module = str(Path(all_cases.__file__).relative_to(ROOT).with_suffix("")).replace("/", ".")
    run = subprocess.run(
        [sys.executable, "-m", module, master, json.dumps(SETTINGS), what, str(tmp_path / "runs")],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=7000,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["cases"] >= LEAST[what]
    assert (found["wrong"], found["executors"]) == ([], 2)


@pytest.mark.slow
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("what", ["lars", "stream"])
def test_every_case_on_local_cores(what: str, grid: SparkGrid, tmp_path: Path) -> None:
    number, wrong = WAYS[what](grid, tmp_path)
    assert number >= LEAST[what]
    assert wrong == []
