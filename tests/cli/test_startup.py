"""What a small run does not wait for: modules that take long to load and that it has no use for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
HEAVY = {"networkx", "pandas", "plotly", "pyarrow.fs", "pyarrow.parquet", "rich.console"}
LOOK = """\
import json, sys
from horai.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)))
"""


def loaded(folder: Path, *words: str) -> set[str]:
    """The modules that a process has loaded when its command is done."""
    environment = {k: v for k, v in os.environ.items() if k != "FORCE_COLOR"}
    found = subprocess.run(
        [sys.executable, "-c", LOOK, *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        check=True,
    )
    return set(json.loads(found.stdout.splitlines()[-1]))


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("toy", "voting")]


@pytest.mark.parametrize("name", ["maritime", "netbill", *SLOW])
def test_a_hundred_events_load_nothing_heavy(name: str, tmp_path: Path) -> None:
    rows = (EXAMPLES / name / "narrative.csv").read_text().splitlines(keepends=True)[:100]
    (tmp_path / "few.csv").write_text("".join(rows))
    output = tmp_path / "answers.jsonl"
    modules = loaded(EXAMPLES / name, "run", "-i", str(tmp_path / "few.csv"), "-o", str(output))
    assert output.stat().st_size > 0
    assert modules & HEAVY == set()


def test_a_command_does_not_load_the_others(tmp_path: Path) -> None:
    modules = loaded(EXAMPLES / "toy", "run", "-o", str(tmp_path / "answers.jsonl"))
    assert {name for name in modules if name.startswith("horai.report")} == set()
    assert "horai.cli.plan" not in modules
