"""`--incremental`, and the same as a setting of a project."""

from pathlib import Path

import pytest

from .conftest import Run

WINDOWS = ("--start", "0", "--end", "30", "--window", "20", "--step", "10")
DAY = ("run", "rules.ec", "--input", "day.csv", *WINDOWS, "--answers", "changelog")
LATE = "win|3|3|chris\nlose|19|7|chris\n-win|22|3|chris\nwin|25|14|zoe\n"


@pytest.fixture
def late(horai: Run) -> Run:
    Path("day.csv").write_text(LATE)
    return horai


def test_every_way_gives_the_same_output(late: Run) -> None:
    plain = late(*DAY)
    assert plain.exit_code == 0, plain.output
    assert plain.stdout.count("\n") > 3
    for way in ("auto", "always", "never"):
        assert late(*DAY, "--incremental", way).stdout == plain.stdout


def project(setting: str) -> None:
    text = '[project]\nrules = ["rules.ec"]\ninput = ["day.csv"]\n[run]\nstart = 0\n'
    Path("horai.toml").write_text(text + setting + "\n")


def test_it_is_a_setting_of_a_project(late: Run) -> None:
    project('incremental = "always"')
    assert late("run", *WINDOWS).stdout == late("run", *WINDOWS, "--incremental", "never").stdout
    result = late("run", *WINDOWS, "--engine", "reference")
    assert result.exit_code == 2
    assert "the engine 'reference' always works from scratch" in result.stderr
    assert late("query", "holdsFor(rich(zoe)=true,I)").stdout == "I = [(15,inf)]\n"
    assert late("tune", "--step", "10").exit_code in (0, 1)


@pytest.mark.parametrize("setting", ['incremental = "sometimes"', "incremental = true"])
def test_a_wrong_setting_of_a_project_is_explained(late: Run, setting: str) -> None:
    project(setting)
    result = late("run")
    assert result.exit_code == 2
    assert "incremental" in result.stderr and "Traceback" not in result.stderr


def test_a_wrong_option_is_explained(late: Run) -> None:
    result = late(*DAY, "--incremental", "nevr")
    assert result.exit_code == 2
    assert "incremental cannot be 'nevr'" in result.stderr
    assert "did you mean never?" in result.stderr


CASE = """\
rules: rules.ec
narrative: day.csv
run: start 0, end 30, window 30, step 10
expect some:
    rich(zoe)=true: (15,inf)
    rich(chris)=true: none
"""


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("query", "rules.ec", "-i", "day.csv", "holdsFor(rich(zoe)=true,I)"), "I = [(15,inf)]\n"),
        (("test", "day.case"), "1 of 1 case passed"),
    ],
)
def test_other_commands_take_it_too(late: Run, words: tuple[str, ...], shown: str) -> None:
    Path("day.case").write_text(CASE)
    found = [late(*words, "--incremental", way).stdout for way in ("always", "never")]
    assert found[0] == found[1]
    assert shown in found[0]
    wrong = late(*words, "--incremental", "now")
    assert wrong.exit_code == 2
    assert "incremental cannot be 'now'" in wrong.stderr


def test_help_names_the_ways(late: Run) -> None:
    text = " ".join(late("run", "--help").stdout.replace("│", " ").split())
    assert "--incremental" in text
    assert "auto (where it pays), always, never" in text
