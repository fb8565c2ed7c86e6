"""Cases as tests of pytest, in a process of its own as users have it."""

import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
CASES = """\
case: it holds
narrative:
    win|3|3|ann
expect some:
    rich(ann)=true: (4,inf)

case: it does not
narrative:
    win|3|3|ann
expect some:
    rich(ann)=true: (3,inf)
"""


def run_pytest(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest that knows the plugin, whether or not it is installed."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    line = [sys.executable, "-m", "pytest", "-p", "horai.tools.pytest_plugin", "-rA", *words]
    return subprocess.run(
        line, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def project(folder: Path) -> None:
    (folder / "horai.toml").write_text('[project]\nrules = ["rules.ec"]\n')
    (folder / "rules.ec").write_text("initiatedAt(rich(X)=true, T) :- happensAt(win(X), T).\n")
    (folder / "tests").mkdir()
    (folder / "tests" / "rich.case").write_text(CASES)


def test_the_cases_of_a_project_are_tests(tmp_path: Path) -> None:
    project(tmp_path)
    found = run_pytest(tmp_path)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "PASSED tests/rich.case::it holds" in found.stdout
    assert "FAILED tests/rich.case::it does not" in found.stdout
    assert "rich.case:10: at the end: - rich(ann)=true: (3,inf)" in found.stdout
    assert "Traceback" not in found.stdout
    chosen = run_pytest(tmp_path, "-k", "holds", "--horai-as-stream", "--horai-engine", "reference")
    assert chosen.returncode == 0, chosen.stdout
    assert "horai: cases as streams, --horai-as-stream " in chosen.stdout
    assert "--horai-as-stream 7\n" in run_pytest(tmp_path, "--horai-as-stream", "7").stdout


def test_mistakes_are_told_in_words(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "tests" / "rich.case").write_text("cas: x\n")
    broken = run_pytest(tmp_path)
    assert broken.returncode == 2
    assert "unknown keyword `cas`: did you mean `case:`?" in broken.stdout
    (tmp_path / "tests" / "rich.case").write_text(CASES)
    (tmp_path / "horai.toml").unlink()
    alone = run_pytest(tmp_path)
    assert alone.returncode == 1
    assert "has no rules" in alone.stdout and "Traceback" not in alone.stdout


def test_the_plugin_is_announced() -> None:
    about = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = about["project"]["entry-points"]["pytest11"]
    assert hasattr(import_module(named["horai"]), "pytest_collect_file")
