"""Streams whose driver is killed, again and again, at any moment."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.spark.conftest import need_java
from tests.spark.test_streaming import (
    CHANGES,
    FINAL,
    RULES,
    SETTINGS,
    changelog,
    drop,
    rows_of,
    stream_of,
    wanted,
)

import horai
from horai.runtime.sinks.table import read_current

DRIVER = """
import sys, horai
from horai.runtime.spark.connect import connect
connect("local[2]", {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"})
here = sys.argv[1]
print("ready", flush=True)
horai.load(f"{here}/rules.ec").stream(
    f"{here}/drop", sink=[f"parquet:{here}/changes", f"table:{here}/table"],
    checkpoint=f"{here}/kept", trigger="available-now", files_per_step=1, buckets=2,
    start=0, window=60, step=20,
).wait()
"""
FILES = 6
KILLS = 2


def run_until_killed(driver: Path, folder: Path, after: float | None) -> bool:
    """Start the stream, and end it as a power cut would; True if it was done before."""
    process = subprocess.Popen(
        [sys.executable, str(driver), str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    process.stdout.readline()  # from here on it runs
    try:
        process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return False
    return process.returncode == 0


def check(folder: Path, seed: int) -> None:
    need_java()
    rules, lines, some = horai.loads(RULES), stream_of(seed), random.Random(seed)
    drop(folder / "drop", lines, FILES)
    (folder / "rules.ec").write_text(RULES, encoding="utf-8")
    driver = folder / "driver.py"
    driver.write_text(DRIVER, encoding="utf-8")
    for _ in range(KILLS):
        run_until_killed(driver, folder, some.uniform(1, 20))
        time.sleep(0.5)  # what Java leaves behind ends with its driver
    assert run_until_killed(driver, folder, None)
    assert rows_of(changelog(folder / "changes"), CHANGES) == wanted(
        rules, lines, "changelog", **SETTINGS
    )
    assert rows_of(read_current(folder / "table"), FINAL) == wanted(
        rules, lines, "final", **SETTINGS
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_driver_that_is_killed(tmp_path: Path) -> None:
    check(tmp_path, 11)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(20, 30))
def test_drivers_that_are_killed(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed)
