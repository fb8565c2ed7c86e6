"""`horai tune`: a proposal for people and for machines."""

import json
from pathlib import Path

import pytest

from horai.cli import console

from .conftest import Run

NARRATIVE = "win|5|5|a\nlose|40|21|a\nwin|90|90|b\nwin|95|91|c\nlose|100|99|b\n"
TUNE = ("tune", "rules.ec", "--input", "late.csv", "--step", "10")


@pytest.fixture(autouse=True)
def late(horai: Run) -> None:
    Path("late.csv").write_text(NARRATIVE)


def test_a_table_and_a_proposal(horai: Run) -> None:
    result = horai(*TUNE)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert result.stdout == (
        "5 items, 6 answers, a query every 10\n"
        "lateness of items: 50% at most 1, 90% at most 19, 99% at most 19, 100% at most 19\n"
        "\n"
        "window  items lost  share  answers missing  wrong   share  most of\n"
        "    10           1    20%                1      1  16.67%   rich/1\n"
        "    20           1    20%                1      1  16.67%   rich/1\n"
        "    30           0     0%                0      0      0%\n"
        "\n"
        "--window 30 --step 10: the shortest of these that loses at most 1%\n"
    )


def test_a_terminal_sees_progress(horai: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "is_watched", lambda: True)
    watched = horai(*TUNE)
    assert watched.exit_code == 0
    assert watched.stdout == horai(*TUNE, "--quiet").stdout


def test_json_for_machines(horai: Run) -> None:
    result = horai(*TUNE, "--windows", "10,30", "--max-loss", "20%", "--format", "json")
    found = json.loads(result.stdout)
    assert (found["recommended"], found["max_loss"], found["step"]) == (10, 0.2, 10)
    assert [trial["window"] for trial in found["trials"]] == [10, 30]


def test_when_no_window_will_do(horai: Run) -> None:
    result = horai(*TUNE, "--windows", "10,20")
    assert result.exit_code == 1
    assert "no window that was tried loses at most 1%" in result.stderr
    assert "the shortest" not in result.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--windows", "ten"), "--windows ten: these are no whole numbers"),
        (("--windows", "0"), "window must be above 0, not 0"),
        (("--max-loss", "200%"), "--max-loss 200%: this is no share between 0% and 100%"),
        (("--max-loss", "1%x"), "--max-loss 1%x: this is no share between 0% and 100%"),
        (("--max-loss", "nan"), "--max-loss nan: this is no share between 0% and 100%"),
        (("--step", "-1"), "step must be above 0, not -1"),
        (("--engine", "fast"), "there is no engine 'fast'"),
        (("--input", "nowhere.csv"), "nowhere.csv"),
    ],
)
def test_wrong_use(horai: Run, words: tuple[str, ...], problem: str) -> None:
    result = horai(*TUNE, *words)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stdout == ""


def test_no_input(horai: Run) -> None:
    result = horai("tune", "rules.ec")
    assert result.exit_code == 2
    assert "no input given" in result.stderr


def test_rows_that_cannot_be_read_are_told_once(horai: Run) -> None:
    Path("late.csv").write_text(NARRATIVE + "wine|1|1|a\n")
    result = horai(*TUNE)
    assert result.exit_code == 0
    assert result.stderr.count("did you mean win?") == 1


def test_the_settings_of_a_project_count(horai: Run) -> None:
    Path("horai.toml").write_text(
        '[project]\nrules = ["rules.ec"]\ninput = ["late.csv"]\n'
        '[run]\nwindow = 20\nstep = 10\nanswers = "windows"\nformat = "csv"\n'
    )
    assert "a query every 10\n" in horai("tune").stdout
