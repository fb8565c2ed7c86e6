"""Whatever is killed, and whenever: a stream that is started again says what it would have said.

The driver, an executor of a cluster, or a Python worker dies at a random moment. The changelog and
the table are those of a run in one process: nothing is doubled, nothing is lost.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.spark import fleet
from tests.spark.clusters import SETTINGS
from tests.spark.test_running import LINES, RULES

import horai
from horai.runtime.sinks.table import read_current

FILES = 6
PATIENCE = 400.0
TRIES = 8
TIMES = {"start": 0, "window": 300, "step": 50}
DRIVER = """
import json, sys, horai
from horai.runtime.spark.connect import connect
folder, master, settings, times = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:5])
spark = connect(master, settings)
stream = horai.load(folder + "/rules.ec").stream(
    folder + "/in",
    sink=["parquet:" + folder + "/changes", "table:" + folder + "/table"],
    checkpoint=folder + "/checkpoint", trigger="available-now", files_per_step=1, buckets=2, **times
)
stream.wait()
spark.stop()
"""


def prepare(folder: Path) -> None:
    """Rules, and a folder of files in the order of arrival."""
    (folder / "rules.ec").write_text(RULES)
    (folder / "driver.py").write_text(DRIVER)
    lines = sorted(LINES, key=lambda line: int(line.split("|")[1]))
    (folder / "all.txt").write_text("\n".join(lines) + "\n")
    (folder / "in").mkdir()
    size = len(lines) // FILES + 1
    began = time.time() - FILES
    for number in range(FILES):
        path = folder / "in" / f"{number}.txt"
        path.write_text("\n".join(lines[number * size : (number + 1) * size]) + "\n")
        os.utime(path, (began + number, began + number))  # Spark takes older files first


def start(folder: Path, master: str, settings: dict[str, str]) -> subprocess.Popen[bytes]:
    words = [str(folder / "driver.py"), str(folder), master, json.dumps(settings)]
    with (folder / "driver.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, *words, json.dumps(TIMES)],
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def commits(folder: Path) -> int:
    return len(list((folder / "checkpoint" / "commits").glob("*.json")))


def family(root: int) -> set[int]:
    """A process and all that it started, directly or not; never anybody else's."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def victims(what: str, driver: subprocess.Popen[bytes]) -> list[int]:
    """Whom to kill. Executors are started by workers of the cluster, and these by the test."""
    if what == "driver":
        return [driver.pid]
    root, name = (
        (os.getpid(), "CoarseGrainedExecutorBackend")
        if what == "executor"
        else (driver.pid, "pyspark.daemon")
    )
    return sorted(pid for pid in family(root) if name in command(pid))


def command(pid: int) -> str:
    """What a process was started with."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""  # it is over


def disturbed(folder: Path, what: str, master: str, settings: dict[str, str], seed: int) -> int:
    """Run until it is through, with one killing on the way; how many starts that took."""
    dice = random.Random(seed)
    wanted = dice.randint(0, FILES - 2)
    pause = dice.uniform(0, 1.5)
    killed = False
    for attempt in range(1, TRIES + 1):
        driver = start(folder, master, settings)
        until = time.monotonic() + PATIENCE
        try:
            while driver.poll() is None and time.monotonic() < until:
                if not killed and commits(folder) >= wanted and _has_begun(folder):
                    time.sleep(pause)
                    some = victims(what, driver)
                    if some and driver.poll() is None:
                        os.kill(dice.choice(some), signal.SIGKILL)
                        killed = True
                time.sleep(0.05)
        finally:
            _kill_all(driver)
        if driver.returncode == 0 and killed:
            return attempt
        if driver.returncode == 0:  # it was through before: once more from the beginning, sooner
            for name in ("checkpoint", "changes", "table"):
                shutil.rmtree(folder / name)
            wanted, pause = wanted // 2, 0.0
    pytest.fail((folder / "driver.log").read_text(errors="replace"))


def _has_begun(folder: Path) -> bool:
    """Has Spark taken a micro-batch?"""
    return any((folder / "checkpoint" / "spark").glob("offsets/[0-9]*"))


def _kill_all(driver: subprocess.Popen[bytes]) -> None:
    """The driver with its Java, which would go on for a while."""
    with suppress(ProcessLookupError):
        os.killpg(driver.pid, signal.SIGKILL)
    driver.wait(timeout=60)


def check(folder: Path) -> None:
    """The changelog is that of a run in one process, and the table is its sum."""
    run = horai.load(folder / "rules.ec").run(folder / "all.txt", answers="changelog", **TIMES)  # type: ignore[arg-type]
    wanted = fleet.batch_changes(run)
    files = sorted((folder / "changes").glob("*.parquet"))
    rows = [row for path in files for row in pq.read_table(path).to_pylist()]
    found = fleet.stream_changes(rows)
    assert found == wanted
    assert any(op == "-" for _, op, *_ in found)  # something was taken back on the way
    table = Counter(
        tuple(row[2:]) for row in fleet.stream_changes(read_current(folder / "table").to_pylist())
    )
    assert table == fleet.summed(wanted)


LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
MASTER = "local[2,4]"  # a task may fail three times


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("what", ["driver", pytest.param("worker", marks=pytest.mark.slow)])
def test_a_process_is_killed(what: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    disturbed(tmp_path, what, MASTER, LOCAL, seed=1)
    check(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_an_executor_is_killed(master: str, tmp_path: Path) -> None:
    prepare(tmp_path)
    disturbed(tmp_path, "executor", master, SETTINGS, seed=1)
    check(tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", range(2, 22))
def test_killing_at_random(seed: int, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    prepare(tmp_path)
    what = ("driver", "worker", "executor")[seed % 3]
    if what == "executor":
        disturbed(tmp_path, what, request.getfixturevalue("master"), SETTINGS, seed)
    else:
        disturbed(tmp_path, what, MASTER, LOCAL, seed)
    check(tmp_path)
