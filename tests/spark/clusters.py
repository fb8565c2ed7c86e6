"""A standalone cluster on this machine: a master and two workers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
import pytest

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
PATIENCE = 180.0
# Of a driver: two executors, and all on this machine.
SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
}


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


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a master with two workers."""
    deploy = "org.apache.spark.deploy"
    log = folder / "master.log"
    parts = []
    try:
        words = ["--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        parts.append(start(f"{deploy}.master.Master", *words, log=log))
        address = wait_for(log, r"spark://127\.0\.0\.1:\d+")
        for number in range(2):
            words = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            words += ["--work-dir", str(folder / f"work{number}"), address]
            worker = folder / f"worker{number}.log"
            parts.append(start(f"{deploy}.worker.Worker", *words, log=worker))
        for number in range(2):
            wait_for(folder / f"worker{number}.log", "Successfully registered with master")
        yield address
    finally:
        for part in reversed(parts):
            part.terminate()
        for part in parts:
            part.wait(timeout=60)
