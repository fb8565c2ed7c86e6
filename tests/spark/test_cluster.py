"""A standalone cluster on this machine: a master, two workers, and a driver apart from them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyspark
import pytest
from tests.spark.conftest import need_java
from tests.spark.test_running import LINES, RULES

import horai

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
PATIENCE = 180.0

DRIVER = """
import json, shutil, sys, horai
from pathlib import Path
from horai.spark.connect import connect
from horai.spark.sink_table import read_current
spark = connect(sys.argv[1], {
    "spark.executor.memory": "512m", "spark.executor.cores": "1", "spark.cores.max": "2",
    "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
})
rules = horai.load(sys.argv[2])
result = rules.run(sys.argv[3], engine="spark", buckets=4, window=100, step=50)
here = Path(sys.argv[3]).parent / "stream"
(here / "drop").mkdir(parents=True)
shutil.copy(sys.argv[3], here / "drop")
stream = rules.stream(
    str(here / "drop"), sink=f"table:{here}/table", checkpoint=here / "kept",
    trigger="available-now", buckets=4, window=100, step=50,
)
stream.wait()
executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
print(json.dumps({
    "executors": executors,
    "rows": [[str(part) for part in row] for row in result.changelog],
    "letters": [[letter.line, letter.code] for letter in result.dead_letters],
    "current": read_current(here / "table").to_pylist(),
    "lost": stream.known.totals["dead_letters"],
}))
spark.stop()
"""


def start(*words: str, log: Path) -> subprocess.Popen[bytes]:
    """A part of the cluster, with what it says in a file."""
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    with log.open("wb") as out:
        return subprocess.Popen(
            ["bash", str(SPARK_CLASS), *words], stdout=out, stderr=out, env=environment
        )


def wait_for(log: Path, pattern: str) -> str:
    """What a log says sooner or later."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found is not None:
            return found[0]
        time.sleep(0.2)
    pytest.fail(f"the cluster does not start:\n{log.read_text(errors='replace')}")


@pytest.fixture
def master(tmp_path: Path) -> Iterator[str]:
    """The address of a master with two workers."""
    need_java()
    deploy = "org.apache.spark.deploy"
    log = tmp_path / "master.log"
    parts = []
    try:
        words = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        parts.append(start(f"{deploy}.master.Master", *words, log=log))
        address = wait_for(log, r"spark://127\.0\.0\.1:\d+")
        for number in range(2):
            words = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            words += ["--work-dir", str(tmp_path / f"work{number}"), address]
            worker = tmp_path / f"worker{number}.log"
            parts.append(start(f"{deploy}.worker.Worker", *words, log=worker))
        for number in range(2):
            wait_for(tmp_path / f"worker{number}.log", "Successfully registered with master")
        yield address
    finally:
        for part in reversed(parts):
            part.terminate()
        for part in parts:
            part.wait(timeout=60)


@pytest.mark.timeout(900)  # five Javas start here, on whatever else the machine has to do
def test_a_cluster_gives_the_answers_of_one_process(master: str, tmp_path: Path) -> None:
    rules, narrative, driver = (tmp_path / name for name in ("rules.ec", "day.csv", "driver.py"))
    rules.write_text(RULES)
    narrative.write_text("\n".join(LINES) + "\n")
    driver.write_text(DRIVER)
    run = subprocess.run(
        [sys.executable, str(driver), master, str(rules), str(narrative)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    wanted = horai.load(rules).run(narrative, window=100, step=50)
    assert found["executors"] == 2
    assert found["rows"] == [[str(part) for part in row] for row in wanted.changelog]
    assert found["letters"] == [[letter.line, letter.code] for letter in wanted.dead_letters]
    names = ("kind", "name", "args", "value", "start", "end", "time")
    final = [row._asdict() for row in wanted.rows("final")]
    assert by_text([row[name] for name in names] for row in found["current"]) == by_text(
        [list(row[name]) if name == "args" else row[name] for name in names] for row in final
    )
    assert found["lost"] == len(wanted.dead_letters)


def by_text(rows: Iterable[list[object]]) -> list[list[object]]:
    """Rows in one order."""
    return sorted(rows, key=str)
