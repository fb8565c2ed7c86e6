"""`horai run`: how late the stream was, in a file and on a terminal."""

import json
from pathlib import Path

import pytest

from horai.cli import console

from .conftest import Run

LATE = ("run", "rules.ec", "--input", "late.csv", "--start", "0", "--window", "20", "--step", "10")


@pytest.fixture(autouse=True)
def late(horai: Run) -> None:
    Path("late.csv").write_text("win|5|5|a\nlose|15|7|a\nlose|41|21|a\n-win|42|42|b\n")


def test_metrics_go_to_a_file(horai: Run) -> None:
    result = horai(*LATE, "--answers", "changelog", "--metrics", "metrics.json")
    assert result.exit_code == 0
    found = json.loads(Path("metrics.json").read_text())
    assert list(found) == ["run", "windows"]
    assert found["run"]["lateness"][-1] == {"least": 16, "most": 31, "items": 1}
    shown = [(w["query"], w["on_time"], w["late"], w["too_late"]) for w in found["windows"]]
    assert shown == [(10, 1, 0, 0), (20, 0, 1, 0), (30, 0, 0, 0), (40, 0, 0, 0), (42, 0, 0, 1)]
    assert found["run"]["unknown_retractions"] == 1
    assert found["run"]["revised"] == 1


def test_answers_revised_are_unknown_where_changes_are_not_kept(horai: Run) -> None:
    horai(*LATE, "--metrics", "metrics.json")
    assert json.loads(Path("metrics.json").read_text())["run"]["revised"] is None


def test_a_file_that_cannot_be_written(horai: Run) -> None:
    result = horai(*LATE, "--metrics", "no/such/folder.json")
    assert result.exit_code == 2
    assert "no/such/folder.json: there is no folder no/such" in result.stderr


def test_a_pipe_hears_only_of_what_was_lost(horai: Run) -> None:
    assert "on time" not in horai(*LATE).stderr
    Path("late.csv").write_text("win|5|5|a\nlose|15|7|a\n")
    assert horai(*LATE).stderr == ""


def test_a_terminal_hears_it_all(horai: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "is_watched", lambda: True)
    assert "4 items: 1 on time, 1 late, 1 too late, 1 unknown retractions\n" in horai(*LATE).stderr
    assert "on time" not in horai(*LATE, "--quiet").stderr
