"""The demo runs, fits a pipe, and recommends commands that work."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.report.pages import data_of

from horai.cli.app import app

ROOT = Path(__file__).parents[2]


def test_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One test: it takes seconds, and two processes would write the same files."""
    command = [sys.executable, str(ROOT / "scripts" / "demo.py")]
    env = {**os.environ, "COLUMNS": "80"}
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    _is_plain_and_fits_a_pipe(shown)
    _has_written_pages(shown)
    _recommends_what_works(shown, tmp_path, monkeypatch)


def _is_plain_and_fits_a_pipe(shown: str) -> None:
    assert shown.isascii()
    assert max(len(line) for line in shown.splitlines()) <= 80
    assert "Chris is happy during (14,22)" in shown
    assert "none of the reports came too late" in shown


def _has_written_pages(shown: str) -> None:
    assert "build/demo.html" in shown
    data = data_of((ROOT / "build" / "demo.html").read_text(encoding="utf-8"))
    assert data["title"] == "A fleet at sea"
    assert len(data["layers"][0]["spans"]["start"]) > 10_000
    assert data["about"]["items"]["items"] == 200_000
    assert len(data["items"]["start"]) > 190_000  # some are intervals, and those are lanes
    assert "build/demo-map.html" in shown
    drawn = data_of((ROOT / "build" / "demo-map.html").read_text(encoding="utf-8"))["map"]
    assert len(drawn["rows"]) == 7
    assert len(drawn["areas"]) == 4


def _recommends_what_works(shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = re.findall(r"^(?:cd (\S+) && )?[./]*\.venv/bin/horai (.*)$", shown, re.MULTILINE)
    assert len(found) >= 5
    for folder, words in found:
        monkeypatch.chdir(ROOT / folder if folder else tmp_path)
        written = ("graph.svg", "report.html")
        arguments = [str(tmp_path / w) if w in written else w for w in shlex.split(words)]
        result = CliRunner().invoke(app, arguments, input="")
        assert result.exit_code == 0, (words, result.output)


def test_the_narrative_of_the_harbour_is_what_its_script_writes() -> None:
    folder = ROOT / "examples" / "harbour"
    rows = runpy.run_path(str(folder / "generate.py"))["morning"]()
    lines = ["|".join(str(part) for part in row) for row in rows]
    assert (folder / "narrative.csv").read_text().splitlines() == lines
