"""Every case of the project that can be a stream, as one on a standalone cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.spark.clusters import SETTINGS
from tests.spark.test_streaming import ROOT

DRIVER = """
import json, sys
from pathlib import Path
from horai.spark.connect import connect
from tests.spark.streamed_cases import cases, differs

spark = connect(sys.argv[1], json.loads(sys.argv[2]))
some = cases()
wrong = [
    f"{case.file.name}:{case.line} {case.title}"
    for number, case in enumerate(some)
    if differs(case, Path(sys.argv[3]) / str(number))
]
executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
print(json.dumps({"cases": len(some), "wrong": wrong, "executors": executors}))
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_every_case_as_a_stream_on_a_cluster(master: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", DRIVER, master, json.dumps(SETTINGS), str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=7000,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["cases"] > 50
    assert (found["wrong"], found["executors"]) == ([], 2)
