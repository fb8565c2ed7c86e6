"""A standalone cluster on this machine: a master, two workers, and a driver apart from them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.spark.clusters import SETTINGS
from tests.spark.test_lars_running import LINES as SIGNALS
from tests.spark.test_lars_running import PROGRAM
from tests.spark.test_running import LINES, RULES

import horai

DRIVER = """
import json, shutil, sys, horai
from pathlib import Path
from horai.runtime.spark.connect import connect
from horai.runtime.sinks.table import read_current
spark = connect(sys.argv[1], json.loads(sys.argv[4]))
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
program = horai.load(sys.argv[5])
atoms = program.run(sys.argv[6], engine="spark", buckets=4, step=10)
executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
print(json.dumps({
    "executors": executors,
    "rows": [[str(part) for part in row] for row in result.changelog],
    "letters": [[letter.line, letter.code] for letter in result.dead_letters],
    "current": read_current(here / "table").to_pylist(),
    "lost": stream.known.totals["dead_letters"],
    "atoms": atoms.rows(),
    "lost_signals": [[letter.line, letter.code] for letter in atoms.dead_letters],
}))
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.timeout(900)  # five Javas start here, on whatever else the machine has to do
def test_a_cluster_gives_the_answers_of_one_process(master: str, tmp_path: Path) -> None:
    rules, narrative, driver = (tmp_path / name for name in ("rules.ec", "day.csv", "driver.py"))
    program, signals = tmp_path / "p.lars", tmp_path / "signals.csv"
    program.write_text(PROGRAM)
    signals.write_text("\n".join(SIGNALS) + "\n")
    rules.write_text(RULES)
    narrative.write_text("\n".join(LINES) + "\n")
    driver.write_text(DRIVER)
    run = subprocess.run(
        [
            *(sys.executable, str(driver), master, str(rules), str(narrative)),
            *(json.dumps(SETTINGS), str(program), str(signals)),
        ],
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
    alone = horai.load(program).run(signals, step=10)
    assert found["atoms"] == alone.rows()
    assert found["lost_signals"] == [[one.line, one.code] for one in alone.dead_letters]


def by_text(rows: Iterable[list[object]]) -> list[list[object]]:
    """Rows in one order."""
    return sorted(rows, key=str)
